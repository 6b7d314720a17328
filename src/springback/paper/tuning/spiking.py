"""The parameters that the spiking network streams with, as a space to search."""

from typing import NamedTuple

from springback.spiking.params import Presentation, ShortTermStdp
from springback.spiking.presets import streaming_at


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


def streaming_of(values: dict[str, float]) -> tuple[ShortTermStdp, Presentation]:
    """The parameters of streaming at a point of `STREAMING_SPACE`."""
    rest = {name: value for name, value in values.items() if name != "intensity"}
    return ShortTermStdp(**rest), streaming_at(values["intensity"])  # type: ignore[arg-type]
