"""The spiking network twice: with short-term STDP and with static weights."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import readout
from springback.records import NOISE_LABEL
from springback.spiking.constants import circuit_constants, short_term_constants, steps
from springback.spiking.model import SpikingModel
from springback.spiking.network import STREAMING, StreamState, flat_frames, init
from springback.spiking.params import ShortTermStdp
from springback.spiking.present import Schedule, present_frames, schedule_of
from springback.spiking.presets import streaming_at
from springback.spiking.recorded import short_term_of
from springback.spiking.recording import N_OUT, Recorder, new_recorder
from springback.spiking.state import STEP
from springback.studio.controls import Settings
from springback.studio.pair import EVENT, N_ANSWERS, Answer, Floats, Frame

_DTYPE = "float32"


class SpikingPair:
    """Two circuits that receive the same input spikes: as `springback.spiking.track`, one frame at a time.

    It owns its states and moves them in place; spikes are recorded for the raster.

    Examples
    --------
    >>> from springback.studio.controls import defaults_of
    >>> from springback.pretrained import shipped_digits, shipped_spiking
    >>> pair = SpikingPair(shipped_spiking(), defaults_of("spiking"))
    >>> [answer.predicted for answer in pair.step(shipped_digits().pixels[0])]
    [0, 0]
    """

    map_shape = (28, 28)
    spikes = True
    says = "400 spiking neurons, trained without labels; short-term STDP on and off."

    def __init__(self, shipped: SpikingModel, settings: Settings, *, seed: int = 0) -> None:
        self._shipped, self._seed = shipped, seed
        self.unit_labels = shipped.neuron_labels
        self._circuit = shipped.preset.circuit
        self._constants = circuit_constants(self._circuit, _DTYPE)
        self._members = (shipped.neuron_labels[:, None] == np.arange(readout.N_CLASSES)).astype(np.float64)
        self._per_frame = steps(streaming_at(1.0).show_ms, self._circuit.dt_ms)
        self._recorder = new_recorder(self._circuit, self._per_frame, short_term=False, dtype=_DTYPE)
        self.set(settings)

    def set(self, settings: Settings) -> None:
        """Go on with other settings; what is stretched stays stretched."""
        preset = self._shipped.preset
        self._short_term = replace(
            preset.short_term,
            pull=settings["pull"],
            weight_dependence=settings["weight_dependence"],
            memory_ms=settings["memory"],
            threshold_shift_mv=settings["threshold"],
        )
        self._schedule: Schedule = schedule_of(streaming_at(settings["intensity"]), self._circuit)
        self._plastic = short_term_constants(self._short_term, self._circuit, *self._shipped.weights, _DTYPE)
        if hasattr(self, "_adapting"):
            self._adapting.circuit.theta[:] = self._begun(self._short_term).circuit.theta
        else:
            self.restart()

    def restart(self) -> None:
        """Back to rest, at the beginning of the random stream."""
        self._adapting, self._static = self._begun(self._short_term), self._begun(None)
        self._n_seen = 0

    def step(self, frame: Frame) -> tuple[Answer, Answer]:
        """Show both the next frame (28, 28) for 350 ms."""
        constants, rates, soma = self._plastic
        answers = (
            self._show(frame, self._adapting, (constants, self._adapting.short_term, rates, soma)),
            self._show(frame, self._static, (None, None, None, None)),
        )
        self._n_seen += 1
        return answers

    def resting(self, units: NDArray[np.int64]) -> Floats:
        """W of some neurons, (n, 784)."""
        return self._shipped.weights.resting[:, units].T

    def short_term(self, units: NDArray[np.int64]) -> Floats:
        """F of some neurons as it stands, (n, 784)."""
        return short_term_of(self._adapting, self._circuit)[:, units].T

    def sensed(self, frames: NDArray[np.uint8]) -> Floats:
        """The pixels as they are, (n, 784)."""
        return frames.reshape(len(frames), -1).astype(np.float64)

    def _begun(self, short_term: ShortTermStdp | None) -> StreamState:
        return init(self._shipped.weights, self._circuit, short_term)

    def _show(self, frame: Frame, state: StreamState, plastic: tuple[Any, ...]) -> Answer:
        counts = np.zeros((1, self._circuit.n_neurons), np.int32)
        began = int(state.circuit.tally[STEP])
        self._recorder.tally[:] = 0
        show: Any = present_frames
        show(
            self._constants,
            self._shipped.weights.resting,
            state.circuit,
            self._schedule,
            flat_frames(frame[None], self._circuit.n_inputs),
            np.uint64(self._seed),
            STREAMING,
            self._n_seen,
            counts,
            None,
            None,
            *plastic,
            self._recorder,
        )
        rates = counts[0] @ self._members / np.maximum(self._members.sum(axis=0), 1)
        posterior = np.zeros(N_ANSWERS)
        if rates.sum() > 0:
            posterior[:NOISE_LABEL] = rates / rates.sum()
        else:
            posterior[NOISE_LABEL] = 1.0
        predicted = int(readout.classify(counts, self.unit_labels)[0])
        return Answer(counts[0], posterior, predicted, self._events(self._recorder, began))

    def _events(self, recorder: Recorder, began: int) -> NDArray[np.void]:
        n = int(recorder.tally[N_OUT])
        events = np.zeros(n, EVENT)
        events["unit"] = recorder.out_index[:n]
        events["moment"] = (recorder.out_step[:n] - began) * 256 // self._per_frame
        events["strength"] = 255
        return events
