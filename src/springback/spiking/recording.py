"""What a compiled run can keep of itself: spikes, and potentials and F of chosen neurons at regular times."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.spiking.constants import steps
from springback.spiking.params import Circuit
from springback.spiking.short_term import decay_synapse
from springback.spiking.state import N_SLOTS

N_OUT, N_SAMPLES = 0, 1

MOST_RECORDED = 1 << 30
"""Output spikes that a recording has room for: 12 GiB."""


class Recorder(NamedTuple):
    """Buffers that a compiled run fills.

    Parameters
    ----------
    out_index, out_step
        Output spikes.
    neurons : NDArray[np.int32]
        (m) whose potentials and F are sampled.
    every : int
        Steps between two samples.
    potential : NDArray[Any]
        (samples, m) mV.
    short_term : NDArray[Any]
        (samples, n_inputs, m) F; empty if not wanted.
    tally : NDArray[np.int64]
        Int64: number of output spikes, number of samples.
    """

    out_index: NDArray[np.int32]
    out_step: NDArray[np.int64]
    neurons: NDArray[np.int32]
    every: int
    potential: NDArray[Any]
    short_term: NDArray[Any]
    tally: NDArray[np.int64]


def new_recorder(
    circuit: Circuit, n_steps: int, *, neurons: Sequence[int] = (), every_steps: int = 1, short_term: bool, dtype: str
) -> Recorder:
    """Buffers for a run of `n_steps`: room for every spike that refractory periods allow, and for every sample."""
    check.integer("every_steps", every_steps, low=1)
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
        out_index=np.zeros(n_spikes, np.int32),
        out_step=np.zeros(n_spikes, np.int64),
        neurons=chosen,
        every=int(every_steps),
        potential=np.zeros((n_samples, len(chosen)), dtype),
        short_term=np.zeros((n_samples if short_term else 0, circuit.n_inputs, len(chosen)), dtype),
        tally=np.zeros(2, np.int64),
    )


@njit(cache=True, nogil=True)
def record_spike(recorder, k, step):  # type: ignore[no-untyped-def]
    """Keep one output spike."""
    at = recorder.tally[N_OUT]
    if at < recorder.out_index.shape[0]:
        recorder.out_index[at] = k
        recorder.out_step[at] = step
        recorder.tally[N_OUT] = at + 1


@njit(cache=True, nogil=True)
def record_sample(recorder, state, stretch, synapse_rates, step):  # type: ignore[no-untyped-def]
    """Keep potentials and F of the chosen neurons, if this is a step for it."""
    at = recorder.tally[N_SAMPLES]
    if step % recorder.every != 0 or at >= recorder.potential.shape[0]:
        return
    for i in range(recorder.neurons.shape[0]):
        k = recorder.neurons[i]
        recorder.potential[at, i] = state.v[k]
        if stretch is not None and recorder.short_term.shape[0] > 0:
            s = stretch.slot_of[k]
            if 0 <= s < stretch.tally[N_SLOTS]:
                for j in range(stretch.short.shape[1]):
                    if synapse_rates is not None:
                        decay_synapse(j, s, k, stretch.short, stretch.stamp, synapse_rates, step)
                    recorder.short_term[at, j, i] = stretch.short[s, j] * stretch.slots[s].scale
    recorder.tally[N_SAMPLES] = at + 1
