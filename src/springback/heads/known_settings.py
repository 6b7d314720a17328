"""Settings that suit many streams, which a search tries first.

They were chosen on the validation streams of the first splits of `springback.datasets.streams`: of 201 observers, 240
springs and 120 class memories drawn at random, these come within half a point of the best of their kind, on the mean
over the streams (`python -m benchmarks.streams.known`). The names are those of `springback.heads.tuning.RANGES`.
"""

from typing import Any

from springback.heads.found import Variant

_SPRINGS = ("hold", "memory", "sharpness", "constant", "tuning", "centred")
_CLASSES = ("springs", "memory", "sharpness", "hold", "novelty", "evidence")
_OBSERVER = ("memory", "kappa", "novelty", "evidence", "gain", "sharpness", "centred")


def _named(names: tuple[str, ...], *rows: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


KNOWN: dict[Variant, tuple[dict[str, Any], ...]] = {
    "springs": _named(
        _SPRINGS,
        (2.7, 0.2, None, 0.0, 3.0, True),
        (4.65, 0.521, 150.0, 0.05, None, True),
        (0.961, 1.01, None, 0.0, 1.0, False),
        (0.535, 19.1, 50.0, 0.0, None, False),
        (6.3, 0.2, None, 0.0, 3.0, False),
        (10.0, 3.45, 15.0, 0.0, 8.0, False),
        (1.39, 2.58, 5.0, 0.5, None, True),
        (5.01, 0.2, None, 0.0, 3.0, False),
    ),
    "classes": _named(
        _CLASSES,
        (True, 1.41, 45.3, 0.638, 0.167, 0.5),
        (True, 0.521, 86.0, 2.7, 0.000444, 1.0),
        (True, 5.66, 13.1, 0.435, 0.00717, 0.5),
        (True, 0.382, 9.71, 1.23, 0.00941, 0.25),
        (False, 0.233, 13.4, 0.21, 0.00658, 1.0),
        (True, 19.9, 0.366, 8.42, 0.259, 0.05),
        (False, 2.75, 26.7, 5.65, 0.00585, 0.5),
        (True, 1.96, 25.6, 0.636, 0.00215, 0.5),
    ),
    "observer": _named(
        _OBSERVER,
        (0.544, 7.96, 0.000126, 0.1, 1.0, 11.3, True),
        (5.31, 8.84, 0.0534, 0.1, 1.0, 3.69, True),
        (2.14, 1.38, 0.0654, 0.0, 1.0, 1.62, False),
        (7.19, 22.0, 0.192, 0.0, 0.4, 37.7, False),
        (1.74, 6.17, 0.00279, 0.0, 0.6, 10.6, False),
        (4.94, 11.8, 0.00039, 0.0, 0.15, 19.4, True),
        (1.1, 6.66, 0.0204, 0.25, 1.0, 1.67, False),
        (1.18, 6.77, 0.0041, 0.25, 0.08, 12.6, False),
    ),
}
