"""The spiking network as a pair: with short-term STDP, and with static weights."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from springback.spiking import (
    Recorder,
    RunState,
    ShortTermStdp,
    Streaming,
    init,
    short_term_of,
    track,
)
from springback.spiking.model import SpikingModel
from springback.streaming import readout
from springback.streaming.records import NOISE_LABEL
from springback_studio.controls import Settings
from springback_studio.pair import EVENT, N_ANSWERS, Floats, Frame, PairAnswer


class SpikingPair:
    """Two circuits that receive the same input spikes: as `springback.spiking.track`, one frame at a time.

    The spikes of every frame are recorded for the raster.

    Examples
    --------
    >>> from springback_studio.controls import defaults_of
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
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
        self._members = (shipped.neuron_labels[:, None] == np.arange(readout.N_CLASSES)).astype(np.float64)
        self._use(settings)
        self._adapting, self._static = self._begun(self._short_term), self._begun(None)

    def set(self, settings: Settings) -> None:
        """Continue with other settings; the short-term state is kept."""
        self._use(settings)

    def _use(self, settings: Settings) -> None:
        self._short_term = replace(
            self._shipped.preset.short_term,
            pull=settings["pull"],
            weight_dependence=settings["weight_dependence"],
            memory_ms=settings["memory"],
        )
        self._presentation = Streaming(intensity=settings["intensity"], threshold_shift_mv=settings["threshold"])

    def restart(self) -> None:
        """Return to rest, at the beginning of the random stream."""
        self._adapting, self._static = self._begun(self._short_term), self._begun(None)

    def step(self, frame: Frame) -> tuple[PairAnswer, PairAnswer]:
        """Show both the next frame (28, 28) for 350 ms."""
        self._adapting, adapted = self._show(frame, self._adapting, self._short_term)
        self._static, static = self._show(frame, self._static, None)
        return adapted, static

    def resting(self, units: NDArray[np.int64]) -> Floats:
        """W of some neurons, (n, 784)."""
        return self._shipped.weights.resting[:, units].T

    def short_term(self, units: NDArray[np.int64]) -> Floats:
        """The current F of some neurons, (n, 784)."""
        return short_term_of(self._adapting, self._circuit)[:, units].T

    def sensed(self, frames: NDArray[np.uint8]) -> Floats:
        """The pixels themselves, (n, 784)."""
        return frames.reshape(len(frames), -1).astype(np.float64)

    def _begun(self, short_term: ShortTermStdp | None) -> RunState:
        return init(self._shipped.weights, self._circuit, short_term)

    def _show(self, frame: Frame, state: RunState, short_term: ShortTermStdp | None) -> tuple[RunState, PairAnswer]:
        recorder = Recorder()
        state, counts = track(
            self._shipped.weights,
            state,
            frame[None],
            circuit=self._circuit,
            presentation=self._presentation,
            short_term=short_term,
            seed=self._seed,
            recorder=recorder,
        )
        rates = counts[0] @ self._members / np.maximum(self._members.sum(axis=0), 1)
        posterior = np.zeros(N_ANSWERS)
        if rates.sum() > 0:
            posterior[:NOISE_LABEL] = rates / rates.sum()
        else:
            posterior[NOISE_LABEL] = 1.0
        predicted = int(readout.classify(counts, self.unit_labels)[0])
        return state, PairAnswer(counts[0], posterior, predicted, _events(recorder))


def _events(recorder: Recorder) -> NDArray[np.void]:
    """The recorded spikes of one frame as marks for the raster."""
    run = recorder.recording()
    events = np.zeros(len(run.out_index), EVENT)
    events["unit"] = run.out_index
    events["moment"] = run.out_step * 256 // run.n_steps
    events["strength"] = 255
    return events
