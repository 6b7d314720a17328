"""Springs: the settings of heads whose weights are pulled by their inputs and spring back; one record per memory."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from springback import check
from springback.elastic.plasticity import INFERENCES, STRONGEST_PULL, Inference, Likelihood, Plasticity

PosteriorFrom = Literal["layer", "output"]

_SHARPEST = 1e8


class Fading:
    """What all springs share."""

    memory: float

    @property
    def decay(self) -> float:
        """What is left of F after one frame."""
        return math.exp(-1 / self.memory)


@dataclass(frozen=True, kw_only=True)
class LayerSprings(Fading):
    """What springs have that add to the output of a layer, W x + b, and leave it unchanged at rest.

    The prior of a class is `softmax(b)`, because a bias is ln P up to a constant (Eq. S18). The defaults of pull and
    memory suit a convolutional network that was trained on still digits and follows their occluded video; choose your
    own with `tune_head` or `tune_elastic`.

    Parameters
    ----------
    pull : float | None
        How far an input pulls the class it belongs to, in logits if inputs have unit length. None: 1 / (beta P_k).
    memory : float
        Time constant of the relaxation, in frames (or in the unit of the time stamps).
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
    >>> LayerSprings(pull=0.0).never_move
    True
    """

    pull: float | None = 20.0
    memory: float = 1.1
    unit_inputs: bool = True
    inference: Inference | None = None
    kappa: float = 1.0
    beta: float | None = None
    posterior_from: PosteriorFrom = "layer"
    constant: float = 0.0
    continuity: float = 2.0

    likelihood: ClassVar[Likelihood] = "layer"

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.pull is not None:
            check.real(f"{name}.pull", self.pull, low=0, high=STRONGEST_PULL)
        check.real(f"{name}.memory", self.memory, above=0)
        if self.inference is not None:
            check.one_of(f"{name}.inference", self.inference, INFERENCES)
        check.real(f"{name}.kappa", self.kappa, above=0, high=_SHARPEST)
        if self.beta is not None:
            check.real(f"{name}.beta", self.beta, above=0)
        derivable = self.pull is not None or self.beta is not None
        check.require(derivable, f"{name}.pull", "be a number unless beta is given", None)
        check.one_of(f"{name}.posterior_from", self.posterior_from, ("layer", "output"))
        check.real(f"{name}.constant", self.constant, low=0, high=1)
        check.real(f"{name}.continuity", self.continuity, low=0, high=1e6)

    @property
    def posterior_rule(self) -> Inference:
        """The inference that is used."""
        return self.inference or "softmax"

    @property
    def never_move(self) -> bool:
        """Whether the layer is plain and stays plain."""
        return self.pull == 0 and self.beta is None


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

    def __post_init__(self) -> None:
        super().__post_init__()
        check.real("Springs.weight_dependence", self.weight_dependence, high=1)
        if self.novelty_threshold is not None:
            check.real("Springs.novelty_threshold", self.novelty_threshold, low=-1, high=1)
        plain = self.weight_dependence == 1 and self.novelty_threshold is None
        must = "be 0 with a weight dependence or a novelty threshold"
        check.require(self.constant == 0 or plain, "Springs.constant", must, self.constant)


@dataclass(frozen=True, kw_only=True)
class WindowSprings(LayerSprings):
    """Springs that keep F as the last inputs and their posteriors, which takes far less memory for many classes.

    It takes the parameters of `LayerSprings`, and:

    Parameters
    ----------
    window : int
        How many inputs are kept.
    tuning : float | None
        None: an input adds to F x in proportion to its similarity x.x_i to the present one. A number: in proportion to
        exp(tuning (cos(x, x_i) - 1) / distance), a tuning curve around each remembered input, where `distance` is the
        mean 1 - cos of unrelated frames (`springback.heads.Scale`), which is measured unless it is given. 0: whatever
        the inputs look like. It needs unit inputs.

    Examples
    --------
    >>> WindowSprings(pull=5.0, memory=2.0, window=12, tuning=3.0).window
    12
    """

    window: int = 48
    tuning: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check.integer("WindowSprings.window", self.window, low=1)
        if self.tuning is not None:
            check.real("WindowSprings.tuning", self.tuning, low=0, high=1e6)
            check.require(self.unit_inputs, "WindowSprings.tuning", "be None without unit inputs", self.tuning)


@dataclass(frozen=True, kw_only=True)
class CentroidSprings(Plasticity, Fading):
    """The paper's own model in a layer: rows of W are centroids, and inputs pull them.

    It takes the parameters of `springback.elastic.Plasticity`, and `posterior_from` as in `LayerSprings`. The output is
    kappa u + G0 with the exponential likelihood (Section S3) and max(u + G0, 0) with the linear one (Section S4), with
    u the cosine between the input and G = W + F. The prior of a centroid is `softmax(b)`.

    Examples
    --------
    >>> CentroidSprings(pull=3.0, likelihood="linear").posterior_rule
    'ratio'
    """

    posterior_from: PosteriorFrom = "layer"

    constant: ClassVar[float] = 0.0
    continuity: ClassVar[float] = 0.0
    never_move: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check.one_of("CentroidSprings.posterior_from", self.posterior_from, ("layer", "output"))


AnySprings = Springs | WindowSprings | CentroidSprings
"""Any memory whose inputs pull."""
