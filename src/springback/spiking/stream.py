"""A trained model on a stream with time stamps: its frames, the gaps between them, its position as arrays."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state import RunState
from springback.spiking.inference import Counts, StreamRun, flat_frames, init
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import LongTermStdp
from springback.spiking.state_files import parts_as_arrays, parts_from
from springback.streaming.time_stamps import as_times, times_of_frames

_MEMORIES = 40
"""After this many time constants of silence, a state cannot be distinguished from rest in double precision."""

_SHORTEST_GAP = 1e-9
_SURELY_SEEN = 10
"""Frames without a spike of which some must show more than noise; noise between the digits of a video lasts four."""

_STREAMED = 20
"""How many training images are streamed to see whether a trained network answers."""


class Place(NamedTuple):
    """The position in a stream with time stamps: its state, and when its last frame began (NaN: no frame yet)."""

    state: RunState
    clock: float


def place_at_rest(model: SpikingModel, *, adapts: bool = True) -> Place:
    """The beginning of a stream."""
    preset = model.preset
    return Place(init(model.weights, preset.circuit, preset.short_term if adapts else None), float("nan"))


def stream_run(model: SpikingModel, state: RunState | None = None, *, adapts: bool = True) -> StreamRun:
    """A run of a model from the given state, or from rest."""
    state = place_at_rest(model, adapts=adapts).state if state is None else state
    short_term = None if state.short_term is None else model.preset.short_term
    return StreamRun(model.weights, state, circuit=model.preset.circuit, short_term=short_term)


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
    run, counts = stream_run(model, place.state), [np.zeros((0, model.preset.circuit.n_neurons), np.int32)]
    for start, stop in pairwise(cuts):
        if start < stop and gaps[start] > _SHORTEST_GAP:
            _be_silent(run, model, float(gaps[start]), recorder)
        counts.append(run.show(rows[start:stop], model.preset.streaming, seed=seed, recorder=recorder))
    found = np.concatenate(counts)
    warn_if_silent(rows, found)
    return Place(run.state, float(stamps[-1]) if len(stamps) else place.clock), found


def warn_if_silent(rows: NDArray[np.uint8], counts: Counts, remedy: str = "") -> None:
    """Warn if no neuron has fired in a stretch of a stream in which there was something to see."""
    n_lit = int(rows.any(axis=1).sum())
    if n_lit >= _SURELY_SEEN and not counts.any():
        warnings.warn(
            f"no neuron fired in {n_lit} frames that are not dark, so all answers are empty: the drive is below the "
            f"thresholds; {remedy}raise Preset.streaming.intensity, or choose the settings of the stream on recordings "
            "like this one",
            UserWarning,
            stacklevel=3,
        )


def warn_if_it_will_be_silent(model: SpikingModel, images: NDArray[np.uint8]) -> None:
    """Warn if no neuron of a trained network fires when the first training images are streamed."""
    rows, rule = flat_frames(images[:_STREAMED], model.preset.circuit.n_inputs), model.preset.long_term
    counts = stream_run(model).show(rows, model.preset.streaming, seed=model.seed)
    of_digits = rule.weight_length is None and rule.weight_sum == LongTermStdp.weight_sum
    brightness = f"pass brightness={images.mean():.4g}, the mean of the training images, to the preset, "
    warn_if_silent(rows, counts, brightness if of_digits else "")


def pass_silence(model: SpikingModel, state: RunState, elapsed: float, recorder: Recorder | None = None) -> RunState:
    """The state after `elapsed` frame durations without input; the random numbers of the next frame stay the same."""
    run = stream_run(model, state)
    _be_silent(run, model, elapsed, recorder)
    return run.state


def _be_silent(run: StreamRun, model: SpikingModel, elapsed: float, recorder: Recorder | None) -> None:
    shown, circuit = model.preset.streaming, model.preset.circuit
    longest = _MEMORIES * float(np.max(model.preset.short_term.memory_ms)) / shown.show_ms + _MEMORIES
    lasting = min(elapsed, longest) * shown.show_ms
    if round(lasting / circuit.dt_ms) >= 1:
        before = run.state.n_seen
        run.show(np.zeros((1, circuit.n_inputs), np.uint8), replace(shown, show_ms=lasting), recorder=recorder)
        run.state = run.state._replace(n_seen=before)


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


def place_arrays(place: Place) -> dict[str, NDArray[Any]]:
    """The arrays of a place by name; records become one array for each of their fields."""
    state = place.state
    return parts_as_arrays(clock=place.clock, n_seen=state.n_seen, circuit=state.circuit, short_term=state.short_term)


def place_from(model: SpikingModel, arrays: Mapping[str, NDArray[Any]], *, adapts: bool) -> Place:
    """The place that these arrays hold, if it is one of this model."""
    rest = place_at_rest(model, adapts=adapts)
    found = parts_from(arrays, "this circuit", clock=rest.clock, **rest.state._asdict())
    clock = float(found.pop("clock")[0])
    check.require(not np.isinf(clock), "state.clock", "be a time, or NaN before the first frame", clock)
    state = RunState(**{**found, "n_seen": int(found["n_seen"][0])})
    stream_run(model, state)  # refuses a state that this circuit cannot have
    return Place(state, clock)
