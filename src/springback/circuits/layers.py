"""`Layers`: circuits in a row, each driven by the output spikes of the one before."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from springback import check
from springback.circuits.response import Response
from springback.circuits.state import CircuitState
from springback.spiking.encoding import SpikeTrain


class Layer(Protocol):
    """What is needed of a `Circuit` to be a layer."""

    @property
    def n_inputs(self) -> int: ...  # noqa: D102
    @property
    def n_neurons(self) -> int: ...  # noqa: D102
    @property
    def dt_ms(self) -> float: ...  # noqa: D102
    @property
    def run(self) -> Callable[..., Response]: ...  # noqa: D102


class Layers:
    """Circuits in a row: `first | second`, or `Layers([first, second, third])`.

    A spike of one layer arrives at the next in the same step, as an input spike does.

    Parameters
    ----------
    circuits : Sequence[Circuit]
        Each must have as many inputs as the one before has neurons, and the same time step.

    Examples
    --------
    >>> import numpy as np
    >>> from springback.circuits import Circuit, Lif, spikes_at
    >>> relay = Circuit(np.full((1, 1), 40.0), neurons=Lif())
    >>> [one.time_ms.tolist() for one in (relay | relay).run(spikes_at([0], [5.0], 50.0))]
    [[6.0], [7.0]]
    """

    def __init__(self, circuits: Sequence[Layer]) -> None:
        self.circuits = tuple(circuits)
        check.require(len(self.circuits) > 0, "Layers", "have at least one circuit", 0)
        for number, (one, following) in enumerate(zip(self.circuits, self.circuits[1:], strict=False), start=1):
            must = f"be {one.n_neurons}, the neurons of layer {number}"
            check.require(
                following.n_inputs == one.n_neurons, f"inputs of layer {number + 1}", must, following.n_inputs
            )
            same = following.dt_ms == one.dt_ms
            check.require(same, f"dt_ms of layer {number + 1}", f"be {one.dt_ms:g}, as before", following.dt_ms)

    def __or__(self, other: "Layer | Layers") -> "Layers":
        return Layers([*self.circuits, *(other.circuits if isinstance(other, Layers) else [other])])

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.circuits)

    def __len__(self) -> int:
        return len(self.circuits)

    def run(
        self,
        spikes: SpikeTrain,
        *,
        states: Sequence[CircuitState] | None = None,
        neurons: Sequence[Sequence[int]] | None = None,
        seed: int = 0,
        **how: Any,
    ) -> list[Response]:
        """Run all layers on a spike train; the response of each, the last one last.

        Parameters
        ----------
        states : Sequence[CircuitState] | None
            One for each layer, to go on from; None: rest.
        neurons : Sequence[Sequence[int]] | None
            The neurons to record in each layer.
        how : Any
            `frame_ms` and `every_ms`, as `Circuit.run` takes them.
        """
        for name, given in (("states", states), ("neurons", neurons)):
            if given is not None:
                check.require(
                    len(given) == len(self), name, f"have one entry for each of {len(self)} layers", len(given)
                )
        responses: list[Response] = []
        for number, circuit in enumerate(self.circuits):
            chosen = () if neurons is None else neurons[number]
            mine = {name: value for name, value in how.items() if name != "every_ms" or len(chosen) > 0}
            state = None if states is None else states[number]
            # Layers that are alike must not fire by the same random numbers.
            response = circuit.run(spikes, state=state, neurons=chosen, seed=seed + number * 1_000_003, **mine)
            responses.append(response)
            spikes = response.spikes
        return responses
