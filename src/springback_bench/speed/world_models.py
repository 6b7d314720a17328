"""Models that foretell the next observation of a stream: elastic clustering and what it is compared with.

Each states, before an observation, K directions and K weights: a von Mises-Fisher mixture on the unit sphere, see
`random_worlds`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from springback.elastic import Elasticity, Exponential, init, prepare, track
from springback.elastic.density import log_vmf_normaliser
from springback.extras import require_extra
from springback_paper.inputs.exact_directions import unit

Floats = NDArray[np.float64]
Settings = dict[str, float]
KAPPAS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


@dataclass(frozen=True)
class WorldStream:
    """A stream of observations and what is known before it.

    Unit directions (T, n) in time order, resting centroids and prior learned from still examples, and the exact score.
    """

    x: Floats
    resting: Floats
    prior: Floats
    exact: Floats | None


@dataclass(frozen=True)
class WorldModel:
    """A model of the table.

    Parameters
    ----------
    log_density : Callable[[Stream, Settings, Any], Floats]
        (stream, settings, learned) -> log density of every observation before it is seen, (T,).
    grid : dict[str, tuple[float, ...]]
        The values of each setting to choose from.
    learn : Callable[[list[Stream]], Any]
        Training streams -> whatever `log_density` wants to know of them.
    """

    log_density: Callable[[WorldStream, Settings, Any], Floats]
    grid: dict[str, tuple[float, ...]]
    learn: Callable[[list[WorldStream]], Any] = lambda _: None

    def settings(self) -> Iterator[Settings]:
        """Every combination of the grid."""
        for values in product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))


def mixture_log_density(x: Floats, centres: Floats, weights: Floats, kappa: float) -> Floats:
    """Log density of x (T, n) under von Mises-Fisher mixtures of unit centres (T, K, n) and weights (T, K), (T,).

    Examples
    --------
    >>> mixture_log_density(np.eye(2), np.stack([np.eye(2)] * 2), np.full((2, 2), 0.5), 4.0).round(3)
    array([-0.938, -0.938])
    """
    with np.errstate(divide="ignore"):
        joint = np.log(weights) + kappa * np.einsum("tkn,tn->tk", centres, x)
    return np.asarray(logsumexp(joint, axis=1) + log_vmf_normaliser(x.shape[1], kappa))


def score(model: WorldModel, stream: WorldStream, settings: Settings, learned: Any) -> float:
    """Mean log density of a stream, in nats per observation.

    Examples
    --------
    >>> stream = WorldStream(np.eye(2), np.eye(2), np.array([0.5, 0.5]), None)
    >>> round(score(MODELS["static mixture"], stream, {"kappa": 4.0}, None), 3)
    -0.938
    """
    return float(np.mean(model.log_density(stream, settings, learned)))


def choose(model: WorldModel, training: list[WorldStream]) -> tuple[Settings, Any]:
    """The settings with the best mean score on the training streams, and what was learned from these.

    Examples
    --------
    >>> choose(MODELS["static mixture"], [WorldStream(np.eye(2), np.eye(2), np.array([0.5, 0.5]), None)])[0]
    {'kappa': 256.0}
    """
    learned = model.learn(training)

    def mean_score(settings: Settings) -> float:
        return float(np.mean([score(model, stream, settings, learned) for stream in training]))

    return max(model.settings(), key=mean_score), learned


def _static(stream: WorldStream, settings: Settings, learned: Any) -> Floats:  # noqa: ARG001
    steps = len(stream.x)
    centres, weights = np.tile(stream.resting, (steps, 1, 1)), np.tile(stream.prior, (steps, 1))
    return mixture_log_density(stream.x, centres, weights, settings["kappa"])


def _nearest(
    stream: WorldStream, rate: Callable[[Floats, int], float], weigh: Callable[[Floats, int], Floats], kappa: float
) -> Floats:
    """Move the nearest centroid towards each observation by `rate(counts, k)` of the way."""
    centres, counts = stream.resting.copy(), np.zeros(len(stream.prior))
    weights = stream.prior.copy()
    said, sure = np.empty((*stream.x.shape[:1], *centres.shape)), np.empty((len(stream.x), len(counts)))
    for t, x in enumerate(stream.x):
        said[t], sure[t] = unit(centres), weights
        k = int((said[t] @ x).argmax())
        counts[k] += 1
        centres[k] += rate(counts, k) * (x - centres[k])
        weights = weigh(weights, k)
    return mixture_log_density(stream.x, said, sure, kappa)


def _online_k_means(stream: WorldStream, settings: Settings, learned: Any) -> Floats:  # noqa: ARG001
    start, seen = settings["start_count"], len(stream.prior) * settings["start_count"]

    def weigh(weights: Floats, k: int) -> Floats:
        nonlocal seen
        seen += 1
        return np.asarray(weights + (np.eye(len(weights))[k] - weights) / seen)

    return _nearest(stream, lambda counts, k: float(1 / (start + counts[k])), weigh, settings["kappa"])


def _moving_averages(stream: WorldStream, settings: Settings, learned: Any) -> Floats:  # noqa: ARG001
    rate, floor = settings["rate"], 0.01

    def weigh(weights: Floats, k: int) -> Floats:
        moved = weights + settings["weight_rate"] * (np.eye(len(weights))[k] - weights)
        return np.asarray((1 - floor) * moved + floor / len(weights))

    return _nearest(stream, lambda counts, k: rate, weigh, settings["kappa"])  # noqa: ARG005


def _river(stream: WorldStream, settings: Settings, learned: Any) -> Floats:  # noqa: ARG001
    require_extra("the model river KMeans", "river")
    from river import cluster

    model: Any = cluster.KMeans(n_clusters=len(stream.prior), halflife=settings["halflife"], seed=0)
    features = range(stream.x.shape[1])
    model.learn_one(dict.fromkeys(features, 0.0))
    for k, centre in enumerate(stream.resting):
        for j in features:
            model.centers[k][j] = float(centre[j])
    said = np.empty((*stream.x.shape[:1], *stream.resting.shape))
    for t, x in enumerate(stream.x):
        said[t] = unit(np.array([[model.centers[k][j] for j in features] for k in range(len(stream.prior))]))
        model.learn_one(dict(enumerate(x.tolist())))
    weights = np.tile(stream.prior, (len(stream.x), 1))
    return mixture_log_density(stream.x, said, weights, settings["kappa"])


def _elastic(stream: WorldStream, settings: Settings, learned: Any) -> Floats:  # noqa: ARG001
    params = Elasticity(
        kappa=settings["kappa"], pull=None, beta=settings["beta"], kernel=Exponential(memory=settings["memory"])
    )
    model = prepare(params, stream.resting, stream.prior)
    _, response = track(model, init(model), stream.x)
    return response.log_density


def _fit_linear(training: list[WorldStream]) -> Floats:
    """Ridge regression of each direction on the two before it, pooled over the training streams."""
    before = np.concatenate([np.hstack([s.x[1:-1], s.x[:-2]]) for s in training])
    after = np.concatenate([s.x[2:] for s in training])
    return np.asarray(np.linalg.solve(before.T @ before + 1e-2 * np.eye(before.shape[1]), before.T @ after))


def _linear_dynamics(stream: WorldStream, settings: Settings, learned: Any) -> Floats:
    """A linear forecast beside the resting centroids, mixed with a weight of its own.

    In every world the map is learned again, by least squares over the stream so far, starting from the map of the
    training streams.
    """
    n = stream.x.shape[1]
    squares, products = settings["trust"] * np.eye(2 * n), settings["trust"] * learned
    steps, k = len(stream.x), len(stream.prior)
    said, sure = np.empty((steps, k + 1, n)), np.empty((steps, k + 1))
    for t, x in enumerate(stream.x):
        said[t, :k], sure[t, :k] = stream.resting, stream.prior
        guess = np.zeros(n)
        if t >= 2:
            past = np.concatenate([stream.x[t - 1], stream.x[t - 2]])
            guess = past @ np.linalg.solve(squares, products)
            squares += np.outer(past, past)
            products = products + np.outer(past, x)
        known = bool(np.linalg.norm(guess) > 1e-9)
        said[t, k] = unit(guess) if known else stream.resting[0]
        share = settings["share"] if known else 0.0
        sure[t, :k] *= 1 - share
        sure[t, k] = share
    return mixture_log_density(stream.x, said, sure, settings["kappa"])


MODELS: dict[str, WorldModel] = {
    "static mixture": WorldModel(_static, {"kappa": KAPPAS}),
    "online k-means": WorldModel(_online_k_means, {"start_count": (1.0, 10.0, 100.0), "kappa": KAPPAS}),
    "moving averages": WorldModel(
        _moving_averages,
        {"rate": (0.02, 0.1, 0.3, 0.5, 0.7, 0.9), "weight_rate": (0.0, 0.1, 0.4, 0.7), "kappa": KAPPAS},
    ),
    "river KMeans": WorldModel(_river, {"halflife": (0.02, 0.1, 0.3, 0.5, 0.7, 0.9), "kappa": KAPPAS}),
    "learned linear dynamics": WorldModel(
        _linear_dynamics, {"trust": (1.0, 30.0), "share": (0.3, 0.7, 0.9), "kappa": KAPPAS}, _fit_linear
    ),
    "elastic clustering": WorldModel(
        _elastic,
        {"memory": (0.3, 0.5, 1.0, 2.0, 5.0, 10.0), "beta": (0.03, 0.1, 0.5, 2.0, 10.0, 100.0), "kappa": KAPPAS},
    ),
}
"""Every model of the table, by name."""
