"""A trained spiking network with all parameters that are needed to run it again."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.params import Circuit, ShortTermStdp, Streaming
from springback.spiking.presets import Preset
from springback.spiking.weights import Weights, check_weights
from springback.streaming import readout

MOST_CLASSES = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class SpikingModel:
    """A trained network; it is immutable.

    Parameters
    ----------
    preset : Preset
        All its parameters: of the circuit, of learning, and of how images and frames are shown.
    weights : Weights
        Resting weights and thresholds.
    neuron_labels : NDArray[np.int64]
        Int64 (n_neurons,), the index of each neuron's class in `classes`, -1 for none; from training data.
    classes : NDArray[Any]
        The classes: whole numbers or strings, sorted.
    seed : int
        Seed of its training.
    data : str
        A name for the data it was trained on.
    n_seen : int
        How many images it has learned from.

    Examples
    --------
    >>> preset = Preset(circuit=Circuit(n_inputs=2, n_neurons=3), name="tiny")
    >>> model = SpikingModel(preset=preset, weights=Weights(np.zeros((2, 3)), np.zeros(3)), neuron_labels=np.arange(3))
    >>> model.preset.name, model.headline
    ('tiny', '3 of 3 neurons labelled')
    """

    preset: Preset
    weights: Weights
    neuron_labels: NDArray[np.int64]
    classes: NDArray[Any] = field(default_factory=lambda: readout.DIGITS)
    seed: int = 0
    data: str = "unnamed"
    n_seen: int = 0

    def __post_init__(self) -> None:
        check.line("preset", self.preset.name)
        check.line("data", self.data)
        check.integer("seed", self.seed, low=0, high=2**64 - 1)
        check.integer("n_seen", self.n_seen, low=0, high=2**53)
        circuit = self.preset.circuit
        object.__setattr__(self, "weights", check_weights(self.weights, circuit))
        readout.no_answer(readout.check_classes(self.classes))
        most = len(self.classes)
        check.require(most <= MOST_CLASSES, "classes", f"be at most {MOST_CLASSES:,}", most)
        labels = check.array("neuron_labels", self.neuron_labels, shape=(circuit.n_neurons,), dtype=np.int64)
        known = bool(((labels >= readout.UNLABELLED) & (labels < most)).all())
        check.require(known, "neuron_labels", f"lie in -1 ... {most - 1}, the places of the classes", labels)
        check_memory(self.preset.short_term, circuit)

    @property
    def headline(self) -> str:
        """How many neurons have a label, as a short text."""
        return f"{int((self.neuron_labels >= 0).sum())} of {len(self.neuron_labels)} neurons labelled"

    def streaming_as(self, presentation: Streaming | None = None, short_term: ShortTermStdp | None = None) -> Self:
        """The same network with another way to show frames, or another short-term plasticity.

        Examples
        --------
        >>> from springback.data.pretrained import shipped_spiking
        >>> shipped_spiking().streaming_as(short_term=ShortTermStdp(pull=0.5)).preset.short_term.pull
        0.5
        """
        preset = replace(
            self.preset,
            streaming=presentation or self.preset.streaming,
            short_term=short_term or self.preset.short_term,
        )
        return replace(self, preset=preset)

    def static(self) -> Self:
        """The same network streaming as suits it best without short-term STDP; follow a video with `adapts=False`.

        Examples
        --------
        >>> from springback.data.pretrained import shipped_spiking
        >>> shipped_spiking().static().preset.streaming.intensity
        4.64
        """
        return self.streaming_as(self.preset.static)


def check_memory(short_term: ShortTermStdp, circuit: Circuit) -> None:
    """Refuse time constants that fit neither all neurons, nor each neuron, nor each synapse."""
    n, k = circuit.n_inputs, circuit.n_neurons
    shape = np.shape(short_term.memory_ms)
    check.require(shape in ((), (k,), (n, k)), "memory_ms", f"have shape (), ({k},) or ({n}, {k})", shape)
