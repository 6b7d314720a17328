"""Settings that suit many streams, which a search tries first.

They were chosen on the validation streams of the first splits of `springback_bench.stream_sets`: of 201 observers, 240
springs, 120 class memories and, on 13 of the recorded streams, 201 observers that learn, drawn at random, these come
within half a point of the best of their kind, on the mean over the streams; the first of the latter is the default
(`python -m springback_bench.comparison.first_settings`). The names are those of `springback.heads.tuning.RANGES`.
"""

from typing import Any

from springback.heads.tuning_result import Variant

_SPRINGS = ("hold", "memory", "sharpness", "constant", "tuning", "centred")
_CLASSES = ("springs", "memory", "sharpness", "hold", "novelty_odds", "evidence")
_OBSERVER = ("memory", "kappa", "novelty_odds", "evidence", "gain", "sharpness", "centred")
_LEARNING = (*_OBSERVER, "strength")


def _named(names: tuple[str, ...], *rows: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


KNOWN: dict[Variant, tuple[dict[str, Any], ...]] = {
    "springs": _named(
        _SPRINGS,
        (2.699, 0.2, None, 0.0, 3.0, True),
        (4.65, 0.5206, 150.0, 0.05, None, True),
        (0.9613, 1.013, None, 0.0, 1.0, False),
        (0.535, 19.15, 50.0, 0.0, None, False),
        (6.302, 0.2, None, 0.0, 3.0, False),
        (10.01, 3.453, 15.0, 0.0, 8.0, False),
        (1.388, 2.584, 5.0, 0.5, None, True),
        (4.607, 0.2, None, 0.0, 3.0, True),
    ),
    "classes": _named(
        _CLASSES,
        (True, 1.965, 25.64, 0.6359, 0.002153, 0.5),
        (True, 0.5206, 85.99, 2.698, 0.0004438, 1.0),
        (True, 5.656, 13.1, 0.435, 0.007172, 0.5),
        (True, 0.3825, 9.715, 1.231, 0.009406, 0.25),
        (True, 1.406, 45.35, 0.6382, 0.1674, 0.5),
        (False, 0.553, 57.22, 1.273, 8.289e-05, 0.5),
        (True, 19.86, 0.366, 8.418, 0.2589, 0.05),
        (False, 2.749, 26.73, 5.654, 0.005852, 0.5),
    ),
    "observer": _named(
        _OBSERVER,
        (0.5444, 7.96, 0.0001258, 0.1, 1.0, 11.28, True),
        (5.312, 8.841, 0.0534, 0.1, 1.0, 3.686, True),
        (2.14, 1.381, 0.06545, 0.0, 1.0, 1.619, False),
        (7.186, 22.04, 0.1924, 0.0, 0.4, 37.66, False),
        (1.099, 6.655, 0.02036, 0.25, 1.0, 1.671, False),
        (4.937, 11.75, 0.0003905, 0.0, 0.15, 19.45, True),
        (1.74, 6.172, 0.002794, 0.0, 0.6, 10.59, False),
        (0.7471, 1.64, 0.05624, 0.1, 1.0, 6.646, False),
    ),
    "learning": _named(
        _LEARNING,
        (1.5, 3.5, 0.07, 0.15, 1.0, 4.0, True, 0.5),
        (4.081, 3.315, 0.1284, 0.5, 1.0, 2.941, True, 7.793),
        (31.41, 14.75, 0.001377, 0.05, 1.0, 1.466, False, 1.025),
        (2.239, 3.227, 0.05997, 1.0, 0.25, 1.13, False, 4.042),
        (0.5808, 47.23, 0.0015, 0.05, 0.25, 1.035, False, 6.983),
        (13.03, 28.13, 0.0001414, 0.05, 1.0, 3.068, True, 0.9144),
        (0.6041, 11.65, 6.762e-05, 0.5, 1.0, 3.145, True, 1.616),
        (0.9298, 39.78, 0.002508, 0.0, 0.6, 2.486, False, 2.299),
    ),
}
