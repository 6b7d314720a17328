"""Springs: a head whose weights are pulled by their inputs and spring back."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from springback import check
from springback.elastic.plasticity import Inference, Likelihood, check_pull
from springback.heads.memories.memory import Memory, Part, PosteriorFrom, floats, gate_parts, sums
from springback.heads.scale import Scale
from springback.streaming.pace import UNITS, MemoryIn

NOT_TUNED = -1.0
"""In the place of `WindowSprings.tuning`: similarity is the dot product."""

NEVER_NOVEL = -2.0
"""In the place of `Springs.novelty_threshold`: every input pulls."""


class SpringState(NamedTuple):
    """F as a matrix; B streams, K classes, n features. Centroids have the same parts.

    Parameters
    ----------
    short_term : Any
        F, (B, K, n); with a constant component in what pulls, (B, K, n + 1), the class memory last; with nothing but
        class memory, (B, K, 1).
    responsibility : Any
        Sum of past posteriors with decay, (B, K); moves if `beta` is given.
    total : Any
        Sum of the decay over past inputs, (B, 1); moves if `beta` is given.
    answered, shares, agreement : Any
        A `Gate`.
    """

    short_term: Any
    responsibility: Any
    total: Any
    answered: Any
    shares: Any
    agreement: Any


def spring_parts(n_classes: int, width: int) -> dict[str, Part]:
    """The parts of a `SpringState` whose inputs have this width."""
    matrix = Part((n_classes, width), dtype="float32")
    return {"short_term": matrix, "responsibility": sums(n_classes), "total": sums(1), **gate_parts(n_classes)}


@dataclass(frozen=True, kw_only=True)
class LayerSprings(Memory):
    """What springs have that add to the output of a layer, W x + b, and leave it unchanged at rest.

    The prior of a class is `softmax(b)`, because a bias is ln P up to a constant (Eq. S18). The defaults of pull and
    memory suit a convolutional network that was trained on still digits and follows their occluded video; choose your
    own with `tune_head` or `tune_elastic`.

    Parameters
    ----------
    pull : float | None
        How far an input pulls the class it belongs to, in logits if inputs have unit length. None: 1 / (beta P_k).
    memory : float
        Time constant of the relaxation, in frames.
    memory_in : MemoryIn
        "frames": time stamps are counted in usual steps of the stream. "time": the memory is in their unit, which is
        seconds for dates.
    unit_inputs : bool
        Scale inputs to length one before they pull, and before F is read with them; W always sees them as they are.
    inference : Inference | None
        How the posterior that pulls is computed: "softmax" (also None), "ratio" (of the positive parts) or "maximum".
    kappa : float
        Multiplies the logits when the posterior is computed.
    beta : float | None
        Odds of a novel object; it moves the biases (Eq. S25). None: biases stay at rest.
    posterior_from : PosteriorFrom
        "layer": the posterior is taken from the layer, as if its memory always counted; "output": from the output of
        the whole network as it is returned.
    constant : float
        Share of a constant component in what pulls: 0 for features alone, 1 for class memory alone, which remembers
        which classes were seen lately but not how they looked. In between, an input pulls as
        `[sqrt(1 - constant) x, sqrt(constant)]`.
    continuity : float
        How sure the head must be that its stream is continuous before it uses what it remembers: F counts in full if
        neighbouring frames agree by twice this many standard errors more than in random order, and not at all below
        this many; see `springback.heads.continuity`. 0: F always counts.

    Examples
    --------
    >>> LayerSprings(pull=0.0).never_moves
    True
    """

    pull: float | None = 20.0
    memory: float = 1.1
    memory_in: MemoryIn = "frames"
    unit_inputs: bool = True
    inference: Inference | None = None
    kappa: float = 1.0
    beta: float | None = None
    posterior_from: PosteriorFrom = "layer"
    constant: float = 0.0
    continuity: float = 2.0

    likelihood: ClassVar[Likelihood] = "layer"
    searched: ClassVar[tuple[str, ...]] = ("pull", "memory", "kappa", "constant")

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_pull(self)
        check.one_of(f"{name}.memory_in", self.memory_in, UNITS)
        check.one_of(f"{name}.posterior_from", self.posterior_from, ("layer", "output"))
        check.reals(self, "constant", low=0, high=1)
        check.reals(self, "continuity", low=0, high=1e6)

    @property
    def posterior_rule(self) -> Inference:
        """The inference that is used."""
        return self.inference or "softmax"

    @property
    def never_moves(self) -> bool:
        """Whether the layer is frozen and stays so."""
        return self.pull == 0 and self.beta is None

    @property
    def reads_weights(self) -> bool:
        """Whether biases move."""
        return self.beta is not None

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled kernel knows these settings."""
        return self.posterior_from == "layer" and self.posterior_rule == "softmax"

    def width(self, n_features: int) -> int:
        """How many numbers pull: the features, and the constant component, if either has a share."""
        return 1 if self.constant == 1 else n_features + (self.constant > 0)

    def numbers_of_pull(self) -> tuple[float, ...]:
        """The settings that all springs of a layer give to their kernel."""
        pull, beta = -1.0 if self.pull is None else self.pull, 0.0 if self.beta is None else self.beta
        given = (self.memory, pull, self.kappa, beta, self.constant, self.continuity, self.unit_inputs)
        return floats(*given, self.memory_in == "frames")


@dataclass(frozen=True, kw_only=True)
class Springs(LayerSprings):
    """How the weights of a layer are pulled by its inputs and how they spring back: F is a matrix for each stream.

    It takes the parameters of `LayerSprings`, and:

    Parameters
    ----------
    weight_dependence : float
        c in `theta = max(0, c + (1 - c) W)`, the share of an input that pulls (Eq. S101); 1: all of it.
    novelty_threshold : float | None
        An input whose largest cosine to any row of G = W + F is below this belongs to no class and pulls nothing.

    Examples
    --------
    >>> Springs(pull=5.0, memory=2.0).decay
    0.6065306597126334
    """

    weight_dependence: float = 1.0
    novelty_threshold: float | None = None

    State: ClassVar[Any] = SpringState
    fading: ClassVar[tuple[str, ...]] = ("short_term", "responsibility", "total")

    def __post_init__(self) -> None:
        super().__post_init__()
        check.reals(self, "weight_dependence", high=1)
        check.reals(self, "novelty_threshold", low=-1, high=1, or_none=True)
        plain = self.weight_dependence == 1 and self.novelty_threshold is None
        must = "be 0 with a weight dependence or a novelty threshold"
        check.require(self.constant == 0 or plain, "Springs.constant", must, self.constant)

    @property
    def reads_weights(self) -> bool:
        """Whether biases move, or inputs may be novel."""
        return self.beta is not None or self.novelty_threshold is not None

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled kernel knows these settings.

        Examples
        --------
        >>> Springs().is_compiled, Springs(weight_dependence=0.5).is_compiled
        (True, False)
        """
        return super().is_compiled and self.weight_dependence == 1

    def parts(self, n_classes: int, n_features: int) -> dict[str, Part]:
        """The parts of the state of one stream.

        Examples
        --------
        >>> Springs().parts(3, 8)["short_term"].shape
        (3, 8)
        """
        return spring_parts(n_classes, self.width(n_features))

    def numbers(self, scale: Scale | None) -> tuple[float, ...]:  # noqa: ARG002 - springs have no units
        """The settings as the compiled kernel takes them."""
        novelty = NEVER_NOVEL if self.novelty_threshold is None else self.novelty_threshold
        return (*self.numbers_of_pull(), float(novelty), NOT_TUNED, 0.0)
