"""Springs: the settings of a head whose weights are pulled by its inputs and spring back."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from springback import check
from springback.elastic.plasticity import Likelihood, Plasticity

PosteriorFrom = Literal["layer", "output"]


@dataclass(frozen=True, kw_only=True)
class Springs(Plasticity):
    """How the weights of a layer are pulled by its inputs and how they spring back.

    Besides the parameters below, it takes those of `springback.elastic.Plasticity`: `unit_inputs`, `inference`,
    `kappa`, `beta`, `weight_dependence`, `bias_rule` and `novelty`. The prior of a unit is `softmax(b)`, because a bias
    is ln P up to a constant (Eq. S18). The defaults of pull and memory suit a convolutional network that was trained on
    still digits and follows their occluded video; choose your own with `tune_head` or `tune_elastic`.

    Parameters
    ----------
    pull : float | None
        How far an input pulls the unit it belongs to, in logits if inputs have unit length. None: 1 / (beta P_k).
    memory : float
        Time constant of the relaxation, in frames.
    likelihood : Likelihood
        "layer": the output is that of the layer, W x + b, plus what F adds; at rest it is unchanged. `unit_inputs`
        also scales the inputs with which F is read, while W always sees them as they are; `kappa` multiplies the
        logits when the posterior is computed. "exponential" (Section S3), "linear" (Section S4): rows of W are
        centroids, and the output is kappa u + G0 or max(u + G0, 0), with u the cosine between the input and G = W + F.
    posterior_from : PosteriorFrom
        "layer": the posterior is taken from the layer, as if its memory always counted; "output": from the output of
        the whole network as it is returned.
    constant : float
        Share of a constant component in what pulls: 0 for features alone, 1 for class memory alone, which remembers
        which classes were seen lately but not how they looked. In between, an input pulls as
        `[sqrt(1 - constant) x, sqrt(constant)]` (only for "layer", without weight dependence and novelty).
    window : int | None
        None: F is a matrix per stream. D: F is kept as the last D inputs and their posteriors, which takes far less
        memory for many classes (only for "layer", without weight dependence and novelty).
    tuning : float | None
        None: an input adds to F x in proportion to its similarity x.x_i to the present one. A number: in proportion to
        exp(tuning (cos(x, x_i) - 1) / distance), a tuning curve around each remembered input, where `distance` is the
        mean 1 - cos of unrelated frames (`springback.heads.Scale`), which is measured unless it is given. 0: whatever
        the inputs look like. It needs a window and unit inputs.
    continuity : float
        How sure the head must be that its stream is continuous before it uses what it remembers: F counts in full if
        neighbouring frames agree by twice this many standard errors more than in random order, and not at all below
        this many; see `springback.heads.continuity`. 0: F always counts. Only for "layer".

    Examples
    --------
    >>> Springs(pull=5.0, memory=2.0).decay
    0.6065306597126334
    """

    pull: float | None = 20.0
    memory: float = 1.1
    likelihood: Likelihood = "layer"
    posterior_from: PosteriorFrom = "layer"
    constant: float = 0.0
    window: int | None = None
    tuning: float | None = None
    continuity: float = 2.0

    LIKELIHOODS: ClassVar[tuple[Likelihood, ...]] = ("layer", "exponential", "linear")

    def __post_init__(self) -> None:
        super().__post_init__()
        check.one_of("Springs.posterior_from", self.posterior_from, ("layer", "output"))
        check.real("Springs.constant", self.constant, low=0, high=1)
        plain = self.likelihood == "layer" and self.weight_dependence == 1 and self.novelty is None
        fits = self.constant == 0 or plain
        check.require(fits, "Springs.constant", "be 0 with centroids, weight dependence or novelty", self.constant)
        if self.window is not None:
            check.integer("Springs.window", self.window, low=1)
            check.require(plain, "Springs.window", "be None with centroids, weight dependence or novelty", self.window)
        if self.tuning is not None:
            check.real("Springs.tuning", self.tuning, low=0, high=1e6)
            fits = self.window is not None and self.unit_inputs
            check.require(fits, "Springs.tuning", "be None without a window or without unit inputs", self.tuning)
        check.real("Springs.continuity", self.continuity, low=0, high=1e6)

    @property
    def decay(self) -> float:
        """What is left of F after one frame."""
        return math.exp(-1 / self.memory)

    @property
    def never_move(self) -> bool:
        """Whether the layer is plain and stays plain."""
        return self.pull == 0 and self.beta is None and self.likelihood == "layer"
