"""What the user chooses: how a layer's weights are pulled and how they spring back."""

import math
from dataclasses import dataclass
from typing import Literal

from springback import check

Likelihood = Literal["layer", "exponential", "linear"]
Inference = Literal["softmax", "ratio", "maximum"]
BiasRule = Literal["exact", "line", "zero"]
PosteriorFrom = Literal["layer", "output"]


@dataclass(frozen=True, kw_only=True)
class Springs:
    """How the weights of a layer are pulled by its inputs and how they spring back; K units, n features.

    The prior of a unit is `softmax(b)`: Eq. "G0", b = ln P up to a constant. Defaults: pull and memory serve a
    convolutional network trained on still digits on their occluded video; choose your own with `tune_elastic`.

    Parameters
    ----------
    pull : float | None
        Gamma, how far an input pulls the unit it belongs to, in logits if inputs have unit length; None: 1 / (beta
        P_k), the optimum of the theory.
    memory : float
        Time constant of the relaxation, in frames; the paper's lambda is 1 / memory.
    unit_inputs : bool
        Scale inputs to length one before they pull F and before F is read; W always sees them as they are. False:
        both use the input as it is (Eq. "F_sup").
    likelihood : Likelihood
        "layer": the output is that of the layer, W x + b, plus what F adds; at rest it is untouched. "exponential"
        (S3), "linear" (S4): rows of W are centroids, and the output is kappa u + G0 or max(u + G0, 0), with u the
        cosine between the input and G = W + F.
    inference : Inference | None
        Posterior that pulls: "softmax", "ratio" (of the positive parts), "maximum" (one takes all); None: "ratio"
        for the linear model and "softmax" otherwise.
    kappa : float
        Concentration: in front of the cosine or, for "layer", of the logits when the posterior is taken.
    beta : float | None
        Odds of a novel object on the scale of f(0) = 1; moves the biases (Eqs. "thr", "thr_cos"). None: biases stay
        at rest.
    weight_dependence : float
        C in `theta = max(0, c + (1 - c) W)`, the share of an input that pulls; 1: all of it.
    bias_rule : BiasRule
        Linear model only: bias from the prior by "exact" inversion, the paper's "line", or "zero".
    novelty : float | None
        An input whose largest cosine to any row of G is below this pulls nothing.
    posterior_from : PosteriorFrom
        "layer": the posterior is taken from the layer; "output": from the output of the whole network.
    window : int | None
        None: F is a matrix per stream; D: F is kept as the last D inputs and their posteriors, which for many
        classes takes far less memory ("layer" only, without weight dependence and novelty).

    Examples
    --------
    >>> Springs(pull=5.0, memory=2.0).decay
    0.6065306597126334
    """

    pull: float | None = 20.0
    memory: float = 1.1
    unit_inputs: bool = True
    likelihood: Likelihood = "layer"
    inference: Inference | None = None
    kappa: float = 1.0
    beta: float | None = None
    weight_dependence: float = 1.0
    bias_rule: BiasRule = "exact"
    novelty: float | None = None
    posterior_from: PosteriorFrom = "layer"
    window: int | None = None

    def __post_init__(self) -> None:
        if self.pull is not None:
            check.real("Springs.pull", self.pull, low=0)
        check.real("Springs.memory", self.memory, above=0)
        check.one_of("Springs.likelihood", self.likelihood, ("layer", "exponential", "linear"))
        if self.inference is not None:
            check.one_of("Springs.inference", self.inference, ("softmax", "ratio", "maximum"))
        check.real("Springs.kappa", self.kappa, above=0)
        if self.beta is not None:
            check.real("Springs.beta", self.beta, above=0)
        if self.pull is None and self.beta is None:
            raise ValueError("Springs.pull must be a number unless Springs.beta is given; got None for both")
        check.real("Springs.weight_dependence", self.weight_dependence, high=1)
        check.one_of("Springs.bias_rule", self.bias_rule, ("exact", "line", "zero"))
        if self.novelty is not None:
            check.real("Springs.novelty", self.novelty, low=-1, high=1)
        check.one_of("Springs.posterior_from", self.posterior_from, ("layer", "output"))
        if self.window is not None:
            check.integer("Springs.window", self.window, low=1)
            plain = self.likelihood == "layer" and self.weight_dependence == 1 and self.novelty is None
            check.require(plain, "Springs.window", "be None with centroids, weight dependence or novelty", self.window)

    @property
    def decay(self) -> float:
        """What is left of F after one frame."""
        return math.exp(-1 / self.memory)

    @property
    def posterior_rule(self) -> Inference:
        """The inference that applies if none was chosen."""
        return self.inference or ("ratio" if self.likelihood == "linear" else "softmax")

    @property
    def never_move(self) -> bool:
        """Whether the layer is, and stays, the plain one."""
        return self.pull == 0 and self.beta is None and self.likelihood == "layer"
