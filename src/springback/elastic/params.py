"""What the user chooses, and the constants the compiled loops need for it."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic import density, likelihoods
from springback.elastic.kernels import Exponential, ExponentialSum, Kernel, Windowed
from springback.elastic.likelihoods import BIAS_RULES, INFERENCES, LIKELIHOODS, BiasRule, Inference, Likelihood
from springback.magnitude import largest_entries

_STRONGEST_PULL = 1e9
_LARGEST_CENTROID = 1e9
"""Beyond these, squares leave the range of single precision."""

NEVER_NOVEL = -2.0
"""Below every cosine: no input is novel."""


@dataclass(frozen=True, kw_only=True)
class Elasticity:
    """How centroids are pulled and how they spring back.

    Parameters
    ----------
    likelihood : Likelihood
        "exponential" (a von Mises-Fisher mixture, S3) or "linear" (S4).
    inference : Inference | None
        "softmax", "ratio" or "maximum" (one centroid takes all); None: soft-max for the exponential and ratio for
        the linear model, which are their exact posteriors.
    kappa : float
        Concentration in front of the cosine; 1 in the paper.
    pull : float | None
        Gamma, how far an input pulls the centroid it belongs to; None: f(0) / (beta P_k), the optimum.
    beta : float | None
        Odds of a novel object, on the scale of f; None: biases stay at rest (the paper's simulations).
    kernel : Kernel
        Decay f(t) of the pull with time, in steps.
    weight_dependence : float
        C in `theta = max(0, c + (1 - c) W)`, the share of the input that pulls; 1: all of it.
    bias_rule : BiasRule
        Linear model only: bias from the prior by "exact" inversion, the paper's "line", or "zero".
    novelty : float | None
        An input whose largest similarity is below this is none of the classes and pulls no centroid.
    pull_threshold : float
        Centroids with a smaller posterior are not pulled; bounds the error of F (see `dense`).
    unit_inputs : bool
        Scale every input to length one before it pulls; False: pull with the input as it is (Eq. "F_sup").

    Examples
    --------
    >>> Elasticity(pull=3.0, kernel=Exponential(memory=2.0)).pull
    3.0
    """

    likelihood: Likelihood = "exponential"
    inference: Inference | None = None
    kappa: float = 1.0
    pull: float | None = None
    beta: float | None = None
    kernel: Kernel = field(default_factory=lambda: Exponential(memory=2.0))
    weight_dependence: float = 1.0
    bias_rule: BiasRule = "exact"
    novelty: float | None = None
    pull_threshold: float = 0.0
    unit_inputs: bool = True

    def __post_init__(self) -> None:
        check.one_of("Elasticity.likelihood", self.likelihood, LIKELIHOODS)
        if self.inference is not None:
            check.one_of("Elasticity.inference", self.inference, INFERENCES)
        check.real("Elasticity.kappa", self.kappa, above=0, high=1e8)
        if self.pull is not None:
            check.real("Elasticity.pull", self.pull, low=0, high=_STRONGEST_PULL)
        if self.beta is not None:
            check.real("Elasticity.beta", self.beta, above=0)
        both_missing = self.pull is None and self.beta is None
        check.require(not both_missing, "Elasticity.pull", "be given, or beta to derive it from", None)
        if not isinstance(self.kernel, Exponential | ExponentialSum | Windowed):
            raise TypeError(f"Elasticity.kernel must be Exponential, ExponentialSum or Windowed; got {self.kernel!r}")
        check.real("Elasticity.weight_dependence", self.weight_dependence, high=1)
        check.one_of("Elasticity.bias_rule", self.bias_rule, BIAS_RULES)
        if self.novelty is not None:
            check.real("Elasticity.novelty", self.novelty, low=-1, high=1)
        check.real("Elasticity.pull_threshold", self.pull_threshold, low=0, high=1)


def elasticity_of(*, memory: float, kernel: Kernel | None = None, **others: Any) -> Elasticity:
    """The parameters of an estimator as an `Elasticity`; a refusal names the estimator's own arguments.

    Examples
    --------
    >>> elasticity_of(memory=-1.0, pull=1.0)
    Traceback (most recent call last):
    ValueError: memory must be > 0; got -1.0
    """
    try:
        return Elasticity(kernel=Exponential(memory=memory) if kernel is None else kernel, **others)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).removeprefix("Exponential.").removeprefix("Elasticity.")) from None


class Constants(NamedTuple):
    """Resting centroids and derived numbers, read-only; K centroids, n features.

    Parameters
    ----------
    by_feature : NDArray[Any]
        Resting W transposed, (n, K): a lit pixel reads one row.
    theta : NDArray[Any]
        Weight dependence, (n, K); (0, 0) if there is none.
    norm_squared : NDArray[np.float64]
        |W_k|^2, (K,).
    prior, bias : NDArray[np.float64]
        P(C_k | B), and the resting bias: ln P (exponential) or G0 (linear), (K,).
    gain : NDArray[np.float64]
        Pull of each centroid, (K,).
    weights, memories : NDArray[np.float64]
        Of the exponentials in f(t) / f(0), (M,); M = 0 for a windowed kernel.
    frames : int
        Length of the window; 0 for exponentials.
    odds, beta : float
        F(0), and the odds of a novel object (0: biases at rest).
    inference, bias_rule : int
        Places in `INFERENCES` and `BIAS_RULES`.
    """

    by_feature: NDArray[Any]
    theta: NDArray[Any]
    norm_squared: NDArray[np.float64]
    prior: NDArray[np.float64]
    bias: NDArray[np.float64]
    gain: NDArray[np.float64]
    weights: NDArray[np.float64]
    memories: NDArray[np.float64]
    frames: int
    odds: float
    beta: float
    kappa: float
    novelty: float
    pull_threshold: float
    log_normaliser: float
    linear: bool
    inference: int
    bias_rule: int
    unit_inputs: bool

    @property
    def resting(self) -> NDArray[Any]:
        """The resting centroids W, (K, n)."""
        return self.by_feature.T


def _refuse_extreme_centroids(resting: NDArray[Any]) -> None:
    largest = largest_entries(resting)
    extreme = (largest > _LARGEST_CENTROID) | ((largest > 0) & (largest < 1 / _LARGEST_CENTROID))
    check.require(
        not extreme.any(),
        "resting",
        f"have a largest entry within {1 / _LARGEST_CENTROID:g} ... {_LARGEST_CENTROID:g} in each row (scale the rows "
        "to length one)",
        float(largest[extreme][0]) if extreme.any() else None,
    )


def constants_of(params: Elasticity, resting: NDArray[Any], prior: NDArray[Any] | None = None) -> Constants:
    """Turn parameters, resting centroids (K, n) and prior (K,) into constants; the prior is uniform if not given.

    float32 centroids make a float32 model, anything else a float64 one.

    Examples
    --------
    >>> constants_of(Elasticity(beta=0.5), np.eye(2)).gain
    array([4., 4.])
    """
    resting = np.array(resting, np.float32 if np.asarray(resting).dtype == np.float32 else np.float64, order="C")
    check.array("resting", resting, shape=(None, None), dtype=resting.dtype)
    k, n = resting.shape
    check.require(k > 0 and n > 0, "resting", "hold at least one centroid and one feature", resting.shape)
    _refuse_extreme_centroids(resting)
    prior = np.full(k, 1 / k) if prior is None else np.array(prior, np.float64)
    check.array("prior", prior, shape=(k,), dtype=np.float64)
    check.require(bool((prior >= 0).all() and prior.sum() > 0), "prior", "be >= 0 and not all zero", prior)
    if abs(prior.sum() - 1) > 1e-12:
        prior = prior / prior.sum()

    linear = params.likelihood == "linear"
    inference = params.inference or ("ratio" if linear else "softmax")
    if not linear:
        with np.errstate(divide="ignore"):
            bias = np.log(prior)
        log_normaliser = density.log_vmf_normaliser(n, params.kappa)
    else:
        exact, line = likelihoods.exact_bias(prior), likelihoods.line_bias(prior)
        bias = {"exact": exact, "line": line, "zero": np.zeros(k)}[params.bias_rule]
        log_normaliser = density.log_linear_normaliser(n)

    kernel = params.kernel
    odds = float(kernel(np.zeros(1))[0])
    beta = 0.0 if params.beta is None else float(params.beta)
    if params.pull is not None:
        gain = np.full(k, float(params.pull))
    else:
        check.require(bool((prior > 0).all()), "prior", "be > 0 for every class if the pull is derived from it", prior)
        gain = odds / (beta * prior)
        check.require(
            bool(gain.max() <= _STRONGEST_PULL),
            "beta",
            f"be at least {odds / (_STRONGEST_PULL * prior.min()):g} for this prior, or pull be given",
            beta,
        )
    c = params.weight_dependence
    theta = np.zeros((0, 0), resting.dtype) if c == 1 else np.maximum(c + (1 - c) * resting.T, 0)
    constants = Constants(
        by_feature=np.ascontiguousarray(resting.T),
        theta=np.ascontiguousarray(theta, resting.dtype),
        norm_squared=(resting.astype(np.float64) ** 2).sum(axis=1),
        prior=prior,
        bias=bias,
        gain=gain,
        weights=np.zeros(0) if isinstance(kernel, Windowed) else np.array(kernel.weights, np.float64) / odds,
        memories=np.zeros(0) if isinstance(kernel, Windowed) else np.array(kernel.memories, np.float64),
        frames=kernel.frames if isinstance(kernel, Windowed) else 0,
        odds=odds,
        beta=beta,
        kappa=float(params.kappa),
        novelty=NEVER_NOVEL if params.novelty is None else float(params.novelty),
        pull_threshold=float(params.pull_threshold),
        log_normaliser=log_normaliser,
        linear=linear,
        inference=INFERENCES.index(inference),
        bias_rule=BIAS_RULES.index(params.bias_rule),
        unit_inputs=bool(params.unit_inputs),
    )
    for value in constants:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return constants
