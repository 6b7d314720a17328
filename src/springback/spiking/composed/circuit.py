"""`ComposedCircuit`: neurons, inhibition and plasticity in one record that runs on spike trains; `Layers` of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.composed import _prepare
from springback.spiking.composed._kernel import normalise, run_steps
from springback.spiking.composed._prepare import (
    ACCUMULATES,
    INHIBITORY,
    INPUTS,
    MULTIPLIES,
    UPDATES,
    Log,
    SampleBuffers,
    Stretch,
)
from springback.spiking.composed.composition import Composition
from springback.spiking.composed.parts import DivisiveInhibition, GlobalInhibition, PartnerInhibition
from springback.spiking.composed.response import CircuitResponse, ComposedState, Sampled, checked_arrays
from springback.spiking.constants import steps
from springback.spiking.encoding import SpikeTrain, check_train
from springback.spiking.operations import Operations
from springback.spiking.params import ShortTermStdp, check_steps

Floats = NDArray[np.float64]

_SPIKES_PER_CALL = 1 << 22
"""Room for output spikes in one call of the kernel; a longer run takes several."""


@dataclass(frozen=True, eq=False)
class ComposedCircuit(Composition):
    """A layer of spiking neurons, composed of parts; computed in double precision.

    Parameters
    ----------
    weights : Floats
        (n_inputs, n_neurons) resting weights W, at least 0.
    neurons : Lif
        `Lif`, `AdaptiveLif` or `StochasticLif`.
    inhibition : Inhibition | None
        `PartnerInhibition`, `GlobalInhibition`, `DivisiveInhibition` or None.
    plasticity : Plasticity | Sequence[Plasticity] | None
        At most one rule that changes W (`PairStdp`, `TripletStdp`), one that changes the efficacy temporarily
        (`ShortTermStdp`, `TsodyksMarkram`), and `Normalisation`.
    thresholds_mv : Floats
        (n_neurons,) added to the threshold of each neuron, or empty; the adaptive part of `AdaptiveLif` starts there.
    dt_ms, tau_excitatory_ms : float
        Time step, and decay of the excitatory conductance.

    Examples
    --------
    >>> from springback.spiking.composed import GlobalInhibition, Lif, PairStdp, poisson_spikes
    >>> weights = np.full((50, 4), 0.3)
    >>> circuit = ComposedCircuit(weights, neurons=Lif(), inhibition=GlobalInhibition(), plasticity=PairStdp())
    >>> response = circuit.run(poisson_spikes(np.full(50, 30.0), 1000.0, seed=1))
    >>> response.counts.shape, bool((response.weights != circuit.weights).any())
    ((1, 4), True)
    """

    def __or__(self, other: "ComposedCircuit | Layers") -> "Layers":
        """Two layers: the spikes of this circuit drive the other."""
        return Layers([self]) | other

    def rest(self) -> ComposedState:
        """The state at rest."""
        return ComposedState(_prepare.rest_arrays(self))

    def learned(self, response: CircuitResponse) -> Self:
        """The same circuit with the weights and thresholds that a run has left."""
        return replace(self, weights=response.weights, thresholds_mv=response.thresholds_mv)

    def run(
        self,
        spikes: SpikeTrain,
        *,
        state: ComposedState | None = None,
        frame_ms: float | None = None,
        neurons: Sequence[int] = (),
        every_ms: float | None = None,
        seed: int = 0,
    ) -> CircuitResponse:
        """Run the circuit on a spike train, from rest or from the state of an earlier response.

        Any division of a spike train into runs gives the same spikes.

        Parameters
        ----------
        state : ComposedState | None
            `response.state` of the run before; None: rest.
        frame_ms : float | None
            Count spikes and operations in frames of this length; None: the whole run is one frame.
        neurons, every_ms
            Record potential, threshold, conductances and F of these neurons at this interval; None: at every step.
        seed : int
            Of stochastic neurons.
        """
        n_steps = check_train(spikes, self.n_inputs)
        check_steps("the spike train", n_steps * self.dt_ms, self.dt_ms)
        rest = _prepare.rest_arrays(self)
        arrays = rest if state is None else checked_arrays(state, rest)
        begun = 0 if state is None else state.n_steps
        frame_steps = max(n_steps, 1)
        if frame_ms is not None:
            frame_steps = max(steps(check.real("frame_ms", frame_ms, above=0), self.dt_ms, "frame_ms"), 1)
        log = self._new_log(n_steps, frame_steps, arrays, self._samples(neurons, every_ms, n_steps))
        index, step = self._run(Stretch(*spikes, 0, n_steps, frame_steps, begun), arrays, log, seed)
        return CircuitResponse(
            index=index,
            step=step,
            n_steps=n_steps,
            dt_ms=self.dt_ms,
            counts=log.counts,
            operations=self._operations(log, n_steps, frame_steps),
            state=ComposedState(arrays, begun + n_steps),
            sampled=self._sampled(log.samples) if len(neurons) else None,
        )

    def _run(
        self, whole: Stretch, arrays: dict[str, NDArray[Any]], log: Log, seed: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Call the kernel until the end; returns the output spikes."""
        membrane = _prepare.membrane_of(self, arrays)
        parts = _prepare.parts_of(self, arrays, seed)
        advance: Any = run_steps
        every = None
        if self.normalisation is not None:
            every = max(steps(self.normalisation.every_ms, self.dt_ms, "every_ms"), 1)
        index, step = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        at, room = 0, max(_SPIKES_PER_CALL // self.n_neurons, 1)
        while at < whole.n_steps:
            n = min(whole.n_steps - at, room)
            if self.normalisation is not None and every is not None:
                since = (whole.first_step + at) % every
                if since == 0:
                    normalise(arrays["weights"], self.normalisation.weight_sum)
                n = min(n, every - since)
            log.length[0] = 0
            advance(membrane, arrays["weights"], whole._replace(begin=at, n_steps=n), log, *parts)
            index.append(log.which[: log.length[0]].copy())
            step.append(log.step[: log.length[0]].copy())
            at += n
        return np.concatenate(index), np.concatenate(step)

    def _new_log(self, n_steps: int, frame_steps: int, arrays: dict[str, NDArray[Any]], samples: SampleBuffers) -> Log:
        room = self.n_neurons * min(n_steps, max(_SPIKES_PER_CALL // self.n_neurons, 1))
        n_frames = -(-n_steps // frame_steps)
        return Log(
            which=np.zeros(room, np.int32),
            step=np.zeros(room, np.int64),
            length=np.zeros(1, np.int64),
            counts=np.zeros((n_frames, self.n_neurons), np.int32),
            operations=np.zeros((n_frames, 5), np.int64),
            fan_out=(arrays["weights"] != 0).sum(axis=1).astype(np.int64),
            samples=samples,
        )

    def _samples(self, neurons: Sequence[int], every_ms: float | None, n_steps: int) -> SampleBuffers:
        chosen = [check.integer("neurons", one, low=0, high=self.n_neurons - 1) for one in neurons]
        must = "come with the neurons to record"
        check.require(every_ms is None or len(chosen) > 0, "every_ms", must, every_ms)
        every = 1 if len(chosen) > 0 else max(n_steps, 1)
        if every_ms is not None:
            every = max(steps(check.real("every_ms", every_ms, above=0), self.dt_ms, "every_ms"), 1)
        n_samples, n_chosen = -(-n_steps // every), len(chosen)
        n_pulled = self.n_inputs if isinstance(self.short_term, ShortTermStdp) else 0
        shapes = [*[(n_samples, n_chosen)] * 4, (n_samples, n_pulled, n_chosen)]
        return SampleBuffers(np.array(chosen, np.int64), every, *(np.zeros(shape) for shape in shapes))

    def _sampled(self, samples: SampleBuffers) -> Sampled:
        return Sampled(
            neurons=samples.neurons,
            time_ms=np.arange(len(samples.potential), dtype=np.float64) * (samples.every * self.dt_ms),
            potential_mv=samples.potential,
            threshold_mv=samples.threshold,
            excitation=samples.excitation,
            inhibition=samples.inhibition,
            short_term=samples.short_term,
        )

    def _operations(self, log: Log, n_steps: int, frame_steps: int) -> Operations:
        partners = isinstance(self.inhibition, PartnerInhibition)
        k = self.n_neurons
        recurrent = {PartnerInhibition: k + k * (k - 1), GlobalInhibition: k * k, DivisiveInhibition: k}
        synapses = self.n_inputs * k + recurrent.get(type(self.inhibition), 0)
        lengths = np.diff(np.append(np.arange(0, n_steps, frame_steps), n_steps)).astype(np.int64)
        counted = log.operations
        return Operations(
            input_spikes=counted[:, INPUTS],
            output_spikes=log.counts.sum(axis=1, dtype=np.int64),
            inhibitory_spikes=counted[:, INHIBITORY],
            effective_acs=counted[:, ACCUMULATES],
            effective_macs=counted[:, MULTIPLIES],
            dense=lengths * synapses,
            updates=counted[:, UPDATES],
            places=lengths * (2 * k if partners else k),
        )


class Layers:
    """Circuits in a row: `first | second`, or `Layers([first, second, third])`.

    A spike of one layer arrives at the next in the same step, as an input spike does.

    Parameters
    ----------
    circuits : Sequence[ComposedCircuit]
        Each must have as many inputs as the one before has neurons, and the same time step.

    Examples
    --------
    >>> import numpy as np
    >>> from springback.spiking.composed import ComposedCircuit, Lif, spikes_at
    >>> relay = ComposedCircuit(np.full((1, 1), 40.0), neurons=Lif())
    >>> [one.time_ms.tolist() for one in (relay | relay).run(spikes_at([0], [5.0], 50.0))]
    [[6.0], [7.0]]
    """

    def __init__(self, circuits: Sequence[ComposedCircuit]) -> None:
        self.circuits = tuple(circuits)
        check.require(len(self.circuits) > 0, "Layers", "have at least one circuit", 0)
        for number, (one, following) in enumerate(zip(self.circuits, self.circuits[1:], strict=False), start=1):
            must = f"be {one.n_neurons}, the neurons of layer {number}"
            check.require(
                following.n_inputs == one.n_neurons, f"inputs of layer {number + 1}", must, following.n_inputs
            )
            same = following.dt_ms == one.dt_ms
            check.require(same, f"dt_ms of layer {number + 1}", f"be {one.dt_ms:g}, as before", following.dt_ms)

    def __or__(self, other: "ComposedCircuit | Layers") -> "Layers":
        return Layers([*self.circuits, *(other.circuits if isinstance(other, Layers) else [other])])

    def __iter__(self) -> Iterator[ComposedCircuit]:
        return iter(self.circuits)

    def __len__(self) -> int:
        return len(self.circuits)

    def run(
        self,
        spikes: SpikeTrain,
        *,
        states: Sequence[ComposedState] | None = None,
        neurons: Sequence[Sequence[int]] | None = None,
        seed: int = 0,
        **how: Any,
    ) -> list[CircuitResponse]:
        """Run all layers on a spike train; the response of each, the last one last.

        Parameters
        ----------
        states : Sequence[ComposedState] | None
            One for each layer, to continue from; None: rest.
        neurons : Sequence[Sequence[int]] | None
            The neurons to record in each layer.
        how : Any
            `frame_ms` and `every_ms`, as `ComposedCircuit.run` takes them.
        """
        for name, given in (("states", states), ("neurons", neurons)):
            if given is not None:
                check.require(
                    len(given) == len(self), name, f"have one entry for each of {len(self)} layers", len(given)
                )
        responses: list[CircuitResponse] = []
        for number, circuit in enumerate(self.circuits):
            chosen = () if neurons is None else neurons[number]
            mine = {name: value for name, value in how.items() if name != "every_ms" or len(chosen) > 0}
            state = None if states is None else states[number]
            # Layers that are alike must not fire by the same random numbers.
            response = circuit.run(spikes, state=state, neurons=chosen, seed=seed + number * 1_000_003, **mine)
            responses.append(response)
            spikes = response.spikes
        return responses
