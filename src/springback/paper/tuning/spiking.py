"""The parameters that the spiking network streams with, as a space to search."""

from collections.abc import Mapping
from typing import NamedTuple

from springback.spiking.params import ShortTermStdp, Streaming


class Range(NamedTuple):
    """Where a parameter may lie; `log` draws it evenly on a logarithmic scale."""

    low: float
    high: float
    log: bool = False


STREAMING_SPACE = {
    "pull": Range(0.02, 1.0, log=True),
    "weight_dependence": Range(-1.0, 0.0),
    "memory_ms": Range(200, 3000, log=True),
    "tau_trace_ms": Range(10, 150, log=True),
    "efficacy_max": Range(1.0, 20.0, log=True),
    "threshold_shift_mv": Range(-8.0, 1.0),
    "intensity": Range(2.0, 4.0),
}

STATIC_SPACE = {"intensity": Range(2.0, 8.0), "threshold_shift_mv": Range(-8.0, 4.0)}
"""The operating point of a network without short-term STDP."""


def streaming_of(values: Mapping[str, float]) -> tuple[Streaming, ShortTermStdp]:
    """The parameters of streaming at a point of `STREAMING_SPACE`.

    Examples
    --------
    >>> streaming, short_term = streaming_of({"pull": 0.2, "intensity": 3.0, "threshold_shift_mv": -1.0})
    >>> streaming.threshold_shift_mv, short_term.pull
    (-1.0, 0.2)
    """
    shown = {name: value for name, value in values.items() if name in STATIC_SPACE}
    rest = {name: value for name, value in values.items() if name not in STATIC_SPACE}
    return Streaming(**shown), ShortTermStdp(**rest)  # type: ignore[arg-type]
