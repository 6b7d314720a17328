"""Recording of a run: spikes, and the potentials and F of chosen neurons at regular intervals."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.spiking._short_term import decay_slot
from springback.spiking._state import N_SLOTS
from springback.spiking.constants import steps
from springback.spiking.params import Circuit, Presentation

N_OUT, N_SAMPLES, N_STEPS, BEGAN = range(4)

MOST_RECORDED = 1 << 30
"""The largest number of output spikes in a recording; they take 12 GiB."""


class Recorder(NamedTuple):
    """Buffers that a run fills; created by `init_recorder` and passed to `track`.

    Parameters
    ----------
    n_steps : int
        Capacity in steps.
    out_index, out_step
        Output spikes: which neuron, and in which step of the stream.
    neurons : NDArray[np.int32]
        (m) whose potentials and F are sampled.
    every : int
        Steps between two samples.
    potential : NDArray[Any]
        (samples, m) mV.
    short_term : NDArray[Any]
        (samples, n_inputs, m) F; empty if not wanted.
    tally : NDArray[np.int64]
        Int64: numbers of output spikes, of samples and of steps; the step in which recording started.
    """

    n_steps: int
    out_index: NDArray[np.int32]
    out_step: NDArray[np.int64]
    neurons: NDArray[np.int32]
    every: int
    potential: NDArray[Any]
    short_term: NDArray[Any]
    tally: NDArray[np.int64]

    def spikes(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The output spikes so far: which neuron fired, and how many steps after the start of the recording."""
        n = int(self.tally[N_OUT])
        return self.out_index[:n], self.out_step[:n] - self.tally[BEGAN]

    def samples(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """The samples so far: steps since the start of the recording, potentials (n, m) in mV, F (n, n_inputs, m)."""
        n = int(self.tally[N_SAMPLES])
        return np.arange(n) * self.every, self.potential[:n], self.short_term[:n]


def init_recorder(
    circuit: Circuit,
    presentation: Presentation,
    n_frames: int,
    *,
    neurons: Sequence[int] = (),
    every_steps: int = 1,
    short_term: bool = False,
    dtype: str = "float32",
) -> Recorder:
    """An empty recorder for `n_frames` frames; pass it to `track`, which fills it.

    A recorder that is passed to several calls continues where the last call stopped.

    Parameters
    ----------
    neurons, every_steps
        Sample the potentials of these neurons at this interval.
    short_term : bool
        Whether to sample their F too.
    dtype : str
        Dtype of the samples: "float32" or "float64".

    Examples
    --------
    >>> from springback.spiking import Weights, init, Streaming, track
    >>> circuit, shown = Circuit(n_inputs=4, n_neurons=2), Streaming(intensity=4.0)
    >>> weights = Weights(np.full((4, 2), [9.0, 0.0]), np.full(2, 20.0))
    >>> recorder = init_recorder(circuit, shown, n_frames=1)
    >>> frame = np.full((1, 4), 255, np.uint8)
    >>> _ = track(weights, init(weights, circuit, None), frame, circuit=circuit, presentation=shown, recorder=recorder)
    >>> neuron, step = recorder.spikes()
    >>> set(neuron.tolist()), bool(step.max() < recorder.n_steps)
    ({0}, True)
    """
    check.integer("n_frames", n_frames, low=0)
    check.require(
        presentation.spikes_min == 0,
        "Presentation.spikes_min",
        "be 0 in a run that is recorded, since a frame that is shown again has no fixed length",
        presentation.spikes_min,
    )
    n_steps = n_frames * frame_steps(presentation, circuit)
    return new_recorder(circuit, n_steps, neurons=neurons, every_steps=every_steps, short_term=short_term, dtype=dtype)


def frame_steps(presentation: Presentation, circuit: Circuit) -> int:
    """How many steps a frame takes, with the pause after it."""
    n_show = steps(presentation.show_ms, circuit.dt_ms, "show_ms")
    return n_show + steps(presentation.rest_ms, circuit.dt_ms, "rest_ms")


def new_recorder(
    circuit: Circuit, n_steps: int, *, neurons: Sequence[int] = (), every_steps: int = 1, short_term: bool, dtype: str
) -> Recorder:
    """An empty recorder that can hold every spike that refractory periods allow in `n_steps`, and every sample."""
    check.integer("every_steps", every_steps, low=1)
    check.one_of("dtype", dtype, ("float32", "float64"))
    gap = max(steps(circuit.excitatory.refractory_ms, circuit.dt_ms), 1)
    n_spikes = circuit.n_neurons * (n_steps // gap + 1)
    check.require(
        n_spikes <= MOST_RECORDED,
        "the run",
        f"leave room for at most {MOST_RECORDED:,} output spikes (record fewer steps at a time)",
        n_spikes,
    )
    n_samples = (n_steps // every_steps + 1) if len(neurons) else 0
    chosen = np.array([check.integer("neurons", one, low=0, high=circuit.n_neurons - 1) for one in neurons], np.int32)
    return Recorder(
        n_steps=int(n_steps),
        out_index=np.zeros(n_spikes, np.int32),
        out_step=np.zeros(n_spikes, np.int64),
        neurons=chosen,
        every=int(every_steps),
        potential=np.zeros((n_samples, len(chosen)), dtype),
        short_term=np.zeros((n_samples if short_term else 0, circuit.n_inputs, len(chosen)), dtype),
        tally=np.zeros(4, np.int64),
    )


def check_recorder(recorder: Recorder, circuit: Circuit, n_steps: int) -> None:
    """Refuse a recorder of another circuit, or one without room for another `n_steps`."""
    if not isinstance(recorder, Recorder):
        raise TypeError(f"recorder must be made by init_recorder; got {type(recorder).__name__}")
    fits = recorder.short_term.shape[1] == circuit.n_inputs and recorder.neurons.max(initial=0) < circuit.n_neurons
    check.require(fits, "recorder", "have been made for this circuit", "one of another")
    left = recorder.n_steps - int(recorder.tally[N_STEPS])
    check.require(n_steps <= left, "recorder", f"have room for the {n_steps} steps of these frames", f"{left} left")


@njit(cache=True, nogil=True)
def record_spike(recorder, k, step):  # type: ignore[no-untyped-def]
    """Keep one output spike."""
    at = recorder.tally[N_OUT]
    if at < recorder.out_index.shape[0]:
        recorder.out_index[at] = k
        recorder.out_step[at] = step
        recorder.tally[N_OUT] = at + 1


@njit(cache=True, nogil=True)
def record_step(recorder, state, short_term, step):  # type: ignore[no-untyped-def]
    """Count a step; if it is one of those that are sampled, keep the potentials and F of the chosen neurons."""
    tally = recorder.tally
    if tally[N_STEPS] == 0:
        tally[BEGAN] = step
    tally[N_STEPS] += 1
    at = tally[N_SAMPLES]
    if (step - tally[BEGAN]) % recorder.every != 0 or at >= recorder.potential.shape[0]:
        return
    for i in range(recorder.neurons.shape[0]):
        k = recorder.neurons[i]
        recorder.potential[at, i] = state.v[k]
        if short_term is not None and recorder.short_term.shape[0] > 0:
            stretch = short_term.state
            s = stretch.slot_of[k]
            if 0 <= s < stretch.tally[N_SLOTS]:
                decay_slot(s, k, stretch.short, stretch.stamp, short_term.synapse_rates, step)
                for j in range(stretch.short.shape[1]):
                    recorder.short_term[at, j, i] = stretch.short[s, j] * stretch.slots[s].scale
    tally[N_SAMPLES] = at + 1
