"""Settings that suit many streams, which a search tries first.

They were chosen on the validation streams of the first splits of `springback.datasets.streams`: of 280 observers, 160
springs and 50 class memories drawn at random, these together come within half a point of the best, on the mean over the
streams. The names are those of `springback.heads.tuning.RANGES`.
"""

from typing import Any

from springback.heads.found import Variant

_SPRINGS = ("hold", "memory", "kappa", "constant", "centred")
_CLASSES = ("memory", "novelty", "evidence", "sharpness")
_OBSERVER = ("memory", "kappa", "novelty", "evidence", "gain", "sharpness", "centred")


def _named(names: tuple[str, ...], *rows: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


KNOWN: dict[Variant, tuple[dict[str, Any], ...]] = {
    "springs": _named(
        _SPRINGS,
        (1.2, 1.5, 2.5, 0.2, True),
        (0.3, 5.8, 7.4, 0.2, True),
        (6.2, 2.6, 1.9, 0.0, True),
        (0.53, 0.82, 1.3, 1.0, True),
        (1.2, 22.0, 1.3, 0.2, True),
        (1.2, 5.8, 3.8, 0.0, True),
        (1.5, 0.62, 0.54, 0.0, True),
        (1.4, 3.1, 0.42, 0.2, False),
    ),
    "classes": _named(
        _CLASSES,
        (3.1, 0.95, 0.5, 4.5),
        (0.61, 0.45, 0.25, 7.8),
        (1.0, 0.0086, 1.0, 1.4),
        (0.72, 0.0019, 0.25, 27.0),
        (18.0, 0.0046, 0.5, 15.0),
    ),
    "observer": _named(
        _OBSERVER,
        (0.54, 8.0, 1e-4, 0.1, 1.0, 11.0, True),
        (7.2, 22.0, 0.19, 0.0, 0.4, 38.0, False),
        (1.1, 6.7, 0.02, 0.25, 1.0, 1.7, False),
        (2.1, 1.4, 0.065, 0.0, 1.0, 1.6, False),
        (5.3, 8.8, 0.053, 0.1, 1.0, 3.7, True),
        (4.9, 12.0, 4e-4, 0.0, 0.15, 19.0, True),
        (1.1, 13.0, 1e-5, 0.0, 0.4, 5.6, True),
        (1.2, 6.8, 0.004, 0.25, 0.08, 13.0, False),
    ),
}
