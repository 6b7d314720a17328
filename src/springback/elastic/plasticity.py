"""How an input pulls and how the pull fades: the parameters that `Elasticity` and `springback.torch.Springs` share."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from springback import check

Likelihood = Literal["exponential", "linear", "layer"]
Inference = Literal["softmax", "ratio", "maximum"]
BiasRule = Literal["sphere", "circle", "line", "zero"]

INFERENCES: tuple[Inference, ...] = ("softmax", "ratio", "maximum")
BIAS_RULES: tuple[BiasRule, ...] = ("sphere", "circle", "line", "zero")

STRONGEST_PULL = 1e9
"""Beyond this, squares leave the range of single precision."""

_SHARPEST = 1e8


@dataclass(frozen=True, kw_only=True)
class Plasticity:
    """Short-term plasticity: how far an input pulls the centroid it belongs to, and for how long.

    `Elasticity` adds what only centroids have, and `springback.torch.Springs` what only layers have. In the latter, a
    row of weights is a centroid.

    Parameters
    ----------
    pull : float | None
        Gamma, how far an input pulls the centroid it belongs to. None: f(0) / (beta P_k), the optimum (Eq. S24).
    memory : float
        Time constant of the relaxation, in frames or in the unit of `times`; the paper's lambda is 1 / memory.
    unit_inputs : bool
        Scale every input to length one before it pulls. False: it pulls as it is (Eq. S88).
    likelihood : Likelihood
        "exponential" (a von Mises-Fisher mixture, Section S3) or "linear" (Section S4).
    inference : Inference | None
        How the posterior that pulls is computed: "softmax", "ratio" (of the positive parts) or "maximum" (one centroid
        takes all). None: "ratio" for the linear model and "softmax" otherwise, which are the exact posteriors (Eqs.
        S26 and S77).
    kappa : float
        Concentration, a factor in front of the cosine; 1 in the paper.
    beta : float | None
        Odds of a novel object, on the scale of f; it moves the biases (Eqs. S25 and S71). None: biases stay at rest,
        as in the paper's simulations.
    weight_dependence : float
        c in `theta = max(0, c + (1 - c) W)`, the share of an input that pulls (Eq. S101); 1: all of it.
    bias_rule : BiasRule
        Linear model only: how the bias follows from the prior. "sphere": the bias that gives each class its prior if
        inputs lie anywhere on the unit sphere of all features. "circle": the same for two features, which is the
        paper's Eq. S39. "line": the paper's approximation of it (Eq. S66). "zero": no bias.
    novelty_threshold : float | None
        An input whose largest cosine to any centroid is below this belongs to none of them and pulls nothing.

    Examples
    --------
    >>> Plasticity(pull=3.0, likelihood="linear").posterior_rule
    'ratio'
    """

    pull: float | None = 1.0
    memory: float = 2.0
    unit_inputs: bool = True
    likelihood: Likelihood = "exponential"
    inference: Inference | None = None
    kappa: float = 1.0
    beta: float | None = None
    weight_dependence: float = 1.0
    bias_rule: BiasRule = "sphere"
    novelty_threshold: float | None = None

    LIKELIHOODS: ClassVar[tuple[Likelihood, ...]] = ("exponential", "linear")

    def __post_init__(self) -> None:
        check_pull(self)
        check.one_of(f"{type(self).__name__}.likelihood", self.likelihood, self.LIKELIHOODS)
        check.reals(self, "weight_dependence", high=1)
        check.one_of(f"{type(self).__name__}.bias_rule", self.bias_rule, BIAS_RULES)
        check.reals(self, "novelty_threshold", low=-1, high=1, or_none=True)

    @property
    def posterior_rule(self) -> Inference:
        """The inference that is used: the chosen one, or the exact one for the likelihood."""
        return self.inference or ("ratio" if self.likelihood == "linear" else "softmax")


def check_pull(rule: Any) -> None:
    """Refuse a pull, a memory or an inference that no rule can have, of the theory or of a layer."""
    check.reals(rule, "pull", low=0, high=STRONGEST_PULL, or_none=True)
    check.reals(rule, "memory", above=0)
    if rule.inference is not None:
        check.one_of(f"{type(rule).__name__}.inference", rule.inference, INFERENCES)
    check.reals(rule, "kappa", above=0, high=_SHARPEST)
    check.reals(rule, "beta", above=0, or_none=True)
    derivable = rule.pull is not None or rule.beta is not None
    check.require(derivable, f"{type(rule).__name__}.pull", "be a number unless beta is given", None)
