"""A stream with gaps: what happens between frames in which the circuit sees nothing."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.network import Counts, StreamState, flat_frames, init, track
from springback.time_stamps import as_times, times_of_frames

_MEMORIES = 40
"""After this many time constants of silence, a state cannot be distinguished from rest in double precision."""

_SHORTEST_GAP = 1e-9


class Place(NamedTuple):
    """The position in a stream with time stamps: its state, and when its last frame began (NaN: no frame yet)."""

    state: StreamState
    clock: float


def place_at_rest(model: SpikingModel, *, adapts: bool = True) -> Place:
    """The beginning of a stream."""
    preset = model.preset
    return Place(init(model.weights, preset.circuit, preset.short_term if adapts else None), float("nan"))


def follow(
    model: SpikingModel,
    place: Place,
    frames: NDArray[np.uint8],
    times: Any = None,
    *,
    seed: int = 0,
    recorder: Recorder | None = None,
) -> tuple[Place, Counts]:
    """Output spikes (n, n_neurons) to the next frames, and the position in the stream after them.

    Parameters
    ----------
    times : Any
        When each frame begins: numbers count frame durations, dates and durations are converted; one frame apart if
        not given. In a gap the circuit sees nothing.
    recorder : Recorder | None
        Receives the spikes and what its monitors watch, also those of the gaps.
    """
    rows = flat_frames(frames, model.preset.circuit.n_inputs)
    stamps = _stamps(place.clock, len(rows), times, model.preset.streaming.show_ms / 1000)
    gaps = np.diff(stamps, prepend=stamps[:1] - 1 if np.isnan(place.clock) else place.clock) - 1
    cuts = [0, *(int(at) for at in np.flatnonzero(gaps > _SHORTEST_GAP) if at), len(rows)]
    state, counts = place.state, [np.zeros((0, model.preset.circuit.n_neurons), np.int32)]
    for start, stop in pairwise(cuts):
        if start < stop and gaps[start] > _SHORTEST_GAP:
            state = pass_silence(model, state, float(gaps[start]), recorder)
        state, part = _show(model, state, rows[start:stop], seed, recorder)
        counts.append(part)
    return Place(state, float(stamps[-1]) if len(stamps) else place.clock), np.concatenate(counts)


def pass_silence(
    model: SpikingModel, state: StreamState, elapsed: float, recorder: Recorder | None = None
) -> StreamState:
    """The state after `elapsed` frame durations without input; the random numbers of the next frame stay the same."""
    shown = model.preset.streaming
    longest = _MEMORIES * float(np.max(model.preset.short_term.memory_ms)) / shown.show_ms + _MEMORIES
    lasting = min(elapsed, longest) * shown.show_ms
    if round(lasting / model.preset.circuit.dt_ms) < 1:
        return state
    black = np.zeros((1, model.preset.circuit.n_inputs), np.uint8)
    paused = model.streaming_as(replace(shown, show_ms=lasting))
    return _show(paused, state, black, 0, recorder)[0]._replace(n_seen=state.n_seen)


def _show(
    model: SpikingModel, state: StreamState, rows: NDArray[np.uint8], seed: int, recorder: Recorder | None
) -> tuple[StreamState, Counts]:
    preset = model.preset
    return track(
        model.weights,
        state,
        rows,
        circuit=preset.circuit,
        presentation=preset.streaming,
        short_term=None if state.short_term is None else preset.short_term,
        seed=seed,
        recorder=recorder,
    )


def in_frames(name: str, times: Any, frame_s: float) -> NDArray[np.float64]:
    """Time stamps in frame durations: numbers are already in this unit, dates and durations are converted.

    Examples
    --------
    >>> in_frames("time", 3, 0.35), in_frames("time", np.timedelta64(700, "ms"), 0.35)
    (array([3.]), array([2.]))
    """
    stamps = as_times(name, times)
    return stamps / frame_s if np.asarray(times).dtype.kind in "MmO" else stamps


def _stamps(clock: float, n: int, times: Any, frame_s: float) -> NDArray[np.float64]:
    """When each frame begins, in frame durations; dates and durations are converted."""
    stamps = times_of_frames(clock, n, times if times is None else in_frames("times", times, frame_s))
    apart = np.diff(stamps, prepend=stamps[:1] - 1 if np.isnan(clock) else clock)
    enough = bool((apart >= 1 - 1e-6).all())
    check.require(enough, "times", "be at least 1 apart, the duration of a frame", apart.min(initial=1))
    return stamps
