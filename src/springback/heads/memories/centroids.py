"""The paper's own model in a layer: rows of weights are centroids."""

from dataclasses import dataclass
from typing import Any, ClassVar

from springback import check
from springback.elastic.plasticity import Plasticity
from springback.heads.memories.memory import Memory, Part, PosteriorFrom, floats
from springback.heads.memories.springs import SpringState, spring_parts
from springback.heads.scale import Scale
from springback.streaming.pace import UNITS, MemoryIn


@dataclass(frozen=True, kw_only=True)
class CentroidSprings(Plasticity, Memory):
    """The paper's own model in a layer: rows of W are centroids, and inputs pull them.

    It takes the parameters of `springback.elastic.Plasticity`, and `posterior_from` and `memory_in` as in
    `LayerSprings`. The output is kappa u + G0 with the exponential likelihood (Section S3) and max(u + G0, 0) with the
    linear one (Section S4), with u the cosine between the input and G = W + F. The prior of a centroid is `softmax(b)`.

    Examples
    --------
    >>> CentroidSprings(pull=3.0, likelihood="linear").posterior_rule
    'ratio'
    """

    posterior_from: PosteriorFrom = "layer"
    memory_in: MemoryIn = "frames"

    State: ClassVar[Any] = SpringState
    searched: ClassVar[tuple[str, ...]] = ("pull", "memory")
    fading: ClassVar[tuple[str, ...]] = ("short_term", "responsibility", "total")

    def __post_init__(self) -> None:
        super().__post_init__()
        check.one_of("CentroidSprings.memory_in", self.memory_in, UNITS)
        check.one_of("CentroidSprings.posterior_from", self.posterior_from, ("layer", "output"))

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled kernel knows these settings."""
        plain = self.weight_dependence == 1 and self.beta is None and self.novelty_threshold is None
        usual = self.posterior_from == "layer" and self.posterior_rule == "softmax"
        return plain and usual and self.likelihood == "exponential"

    @property
    def reads_weights(self) -> bool:
        """The kernel compares inputs with W + F."""
        return True

    def parts(self, n_classes: int, n_features: int) -> dict[str, Part]:
        """The parts of the state of one stream."""
        return spring_parts(n_classes, n_features)

    def numbers(self, scale: Scale | None) -> tuple[float, ...]:  # noqa: ARG002 - centroids have no units
        """The settings as the compiled kernel takes them."""
        return floats(self.memory, -1.0 if self.pull is None else self.pull, self.kappa, self.unit_inputs)
