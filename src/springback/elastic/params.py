"""The parameters of elastic clustering, and the constants that the compiled loops derive from them."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic import density
from springback.elastic._biases import circle_bias, line_bias, sphere_bias
from springback.elastic._sphere import bias_table
from springback.elastic.kernels import Exponential, ExponentialSum, Kernel, Windowed
from springback.elastic.plasticity import BIAS_RULES, INFERENCES, STRONGEST_PULL, Plasticity
from springback.streaming.row_scaling import largest_entries

BiasUpdate = Literal["theorem", "algorithm"]

BIAS_UPDATES: tuple[BiasUpdate, ...] = ("theorem", "algorithm")

_LARGEST_CENTROID = 1e9
"""Beyond this, squares leave the range of single precision."""

NEVER_NOVEL = -2.0
"""Below every cosine, so that no input is novel."""


@dataclass(frozen=True, kw_only=True)
class Elasticity(Plasticity):
    """How centroids are pulled and how they spring back.

    Besides the parameters below, it takes those of `Plasticity`: `pull`, `memory`, `unit_inputs`, `likelihood`,
    `inference`, `kappa`, `beta`, `weight_dependence`, `bias_rule` and `novelty_threshold`.

    Parameters
    ----------
    kernel : Kernel | None
        Decay f(t) of the pull with time, in steps. None: `exp(-t / memory)`; if it is given, `memory` is not used.
    pull_threshold : float
        Centroids with a posterior of at most this are not pulled; the error of F stays bounded (see `docs/elastic.md`).
    bias_update : BiasUpdate
        How the recent past moves the prior, if `beta` is given. "theorem": by Eq. S25, the optimum. "algorithm": by
        Algorithm 1 as it is written, `F0 += gamma Q` and `P = (W0 + F0) / Z`, with Z such that P sums to one.

    Examples
    --------
    >>> Elasticity(pull=3.0, memory=2.0).decay_kernel
    Exponential(memory=2.0, odds=1.0)
    """

    kernel: Kernel | None = None
    pull_threshold: float = 0.0
    bias_update: BiasUpdate = "theorem"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.kernel, Exponential | ExponentialSum | Windowed | None):
            raise TypeError(f"Elasticity.kernel must be Exponential, ExponentialSum or Windowed; got {self.kernel!r}")
        check.real("Elasticity.pull_threshold", self.pull_threshold, low=0, high=1)
        check.one_of("Elasticity.bias_update", self.bias_update, BIAS_UPDATES)
        moves = self.bias_update == "theorem" or self.beta is not None
        check.require(moves, "Elasticity.bias_update", "be 'theorem' unless beta is given", self.bias_update)

    @property
    def decay_kernel(self) -> Kernel:
        """The kernel f(t) that is used: the given one, or an exponential with the time constant `memory`."""
        return Exponential(memory=self.memory) if self.kernel is None else self.kernel


def elasticity_of(**params: Any) -> Elasticity:
    """The parameters of an estimator as an `Elasticity`; error messages name the estimator's own arguments.

    Examples
    --------
    >>> elasticity_of(memory=-1.0, pull=1.0)
    Traceback (most recent call last):
    ValueError: memory must be > 0; got -1.0
    """
    try:
        return Elasticity(**params)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).removeprefix("Elasticity.")) from None


class Constants(NamedTuple):
    """Resting centroids and derived numbers, read-only; K centroids, n features.

    Parameters
    ----------
    by_feature : NDArray[Any]
        Resting W transposed, (n, K), so that a non-zero feature reads one row.
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
        f(0), and the odds of a novel object (0: biases at rest).
    inference, bias_rule : int
        Indices into `INFERENCES` and `BIAS_RULES`.
    bias_table : NDArray[np.float64]
        Rows of the bias rule "sphere", see `_sphere.bias_table`, (3, M); M = 0 for the others.
    pulls_prior : bool
        Whether an input pulls the prior as Algorithm 1 is written.
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
    novelty_threshold: float
    pull_threshold: float
    log_normaliser: float
    linear: bool
    inference: int
    bias_rule: int
    bias_table: NDArray[np.float64]
    pulls_prior: bool
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

    The bias is ln P (Eq. S18) or follows by the bias rule (Eqs. S39 and S66, or `_sphere`), a pull that is not given is
    the optimum f(0) / (beta P) (Eqs. S24 and S70), and theta is the weight dependence (Eq. S101).

    float32 centroids make a float32 model, anything else a float64 one.

    Examples
    --------
    >>> constants_of(Elasticity(pull=None, beta=0.5), np.eye(2)).gain
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
    if not linear:
        with np.errstate(divide="ignore"):
            bias = np.log(prior)
        log_normaliser = density.log_vmf_normaliser(n, params.kappa)
    else:
        rules = {"sphere": sphere_bias(prior, n), "circle": circle_bias(prior), "line": line_bias(prior)}
        bias = rules.get(params.bias_rule, np.zeros(k))
        log_normaliser = density.log_linear_normaliser(n)

    kernel = params.decay_kernel
    odds = float(kernel(np.zeros(1))[0])
    beta = 0.0 if params.beta is None else float(params.beta)
    if params.pull is not None:
        gain = np.full(k, float(params.pull))
    else:
        check.require(bool((prior > 0).all()), "prior", "be > 0 for every class if the pull is derived from it", prior)
        gain = odds / (beta * prior)
        check.require(
            bool(gain.max() <= STRONGEST_PULL),
            "beta",
            f"be at least {odds / (STRONGEST_PULL * prior.min()):g} for this prior, or pull be given",
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
        novelty_threshold=NEVER_NOVEL if params.novelty_threshold is None else float(params.novelty_threshold),
        pull_threshold=float(params.pull_threshold),
        log_normaliser=log_normaliser,
        linear=linear,
        inference=INFERENCES.index(params.posterior_rule),
        bias_rule=BIAS_RULES.index(params.bias_rule),
        bias_table=bias_table(n) if linear and params.bias_rule == "sphere" else np.zeros((3, 0)),
        pulls_prior=params.bias_update == "algorithm",
        unit_inputs=bool(params.unit_inputs),
    )
    for value in constants:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return constants
