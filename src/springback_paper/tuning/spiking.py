"""The parameters that spiking networks stream with, as spaces to search."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from springback.heads.search import Range
from springback.spiking.presets import Preset, moraitis_2020, springback_2026

STREAMING_SPACE = {
    "pull": Range(0.005, 0.2, log=True),
    "weight_dependence": Range(-2.0, 0.0),
    "memory_ms": Range(200, 2000, log=True),
    "tau_trace_ms": Range(50, 1000, log=True),
    "efficacy_max": Range(2.0, 10.0, log=True),
    "delay_ms": Range(0.0, 900.0),
    "pause_ms": Range(100.0, 700.0),
    "threshold_shift_mv": Range(-9.0, -1.0),
    "intensity": Range(2.4, 4.0),
}
_SHOWN = ("intensity", "threshold_shift_mv")


class Search(NamedTuple):
    """One search: where a network starts from, its free parameters, and whether it has short-term STDP."""

    preset: Callable[..., Preset]
    space: Mapping[str, Range]
    adapts: bool = True


SEARCHES = {
    "spiking": Search(springback_2026, STREAMING_SPACE),
    "spiking-static": Search(
        springback_2026, {"intensity": Range(2.0, 8.0), "threshold_shift_mv": Range(-14.0, 0.0)}, adapts=False
    ),
    "paper": Search(moraitis_2020, {"weight_dependence": Range(-0.8, -0.1), "intensity": Range(2.2, 4.0)}),
    "paper-static": Search(moraitis_2020, {"intensity": Range(2.5, 5.0)}, adapts=False),
}
"""Searches by name; of the paper's network, only what the paper leaves open is free."""


def with_streaming(preset: Preset, values: Mapping[str, float], *, adapts: bool = True) -> Preset:
    """A preset that streams with other values; those of a static network are its operating point.

    Examples
    --------
    >>> found = with_streaming(springback_2026(), {"pull": 0.2, "intensity": 3.0})
    >>> found.short_term.pull, found.streaming.intensity
    (0.2, 3.0)
    """
    shown = {name: value for name, value in values.items() if name in _SHOWN}
    if not adapts:
        return replace(preset, static=replace(preset.static, **shown))  # type: ignore[arg-type]
    rest = {name: value for name, value in values.items() if name not in _SHOWN}
    streaming = replace(preset.streaming, **shown)  # type: ignore[arg-type]
    return replace(preset, streaming=streaming, short_term=replace(preset.short_term, **rest))  # type: ignore[arg-type]
