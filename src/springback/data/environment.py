"""The paper's random continuous environment: hidden classes, wandering objects, one seen at a time; its inference."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check

ROWS_PER_BLOCK = 256


class Inference(NamedTuple):
    """The result of inference for each observation, given all earlier ones.

    Parameters
    ----------
    posterior : NDArray[np.float64]
        P(C_k | X_t, history), float64 (T, K).
    log_likelihood : NDArray[np.float64]
        Log p(X_t | history), float64 (T,), in nats.

    Examples
    --------
    >>> Inference(posterior=np.array([[0.75, 0.25]]), log_likelihood=np.array([-0.2])).posterior.argmax(axis=1)
    array([0])
    """

    posterior: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]


def gaussian_log_density(
    squared_distance: NDArray[np.float64], variance: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """The log density of an isotropic Gaussian in n dimensions at a squared distance from its centre.

    Examples
    --------
    >>> gaussian_log_density(np.array([0.0]), np.array([1.0]), 2).round(4)
    array([-1.8379])
    """
    density: NDArray[np.float64] = -0.5 * (squared_distance / variance + n * np.log(2.0 * np.pi * variance))
    return density


def infer_forward(
    points: NDArray[np.float64],
    times: NDArray[np.float64],
    *,
    log_novel: NDArray[np.float64],
    beta: float,
    odds: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    diffusion: float,
) -> Inference:
    """The posterior of every observation from those of all earlier ones (Theorem S2.1, Eq. S7).

        p(X_t, C_k | history) = [sum_i N(X_t; X_{t_i}, diffusion^2 (t - t_i) I) P_{t_i}(C_k) f(t - t_i)
                                 + beta p(X_t | C_k, B) P(C_k | B)] / [sum_i f(t - t_i) + beta]

    The posterior is its share of the sum over k, and that sum is p(X_t | history). In Theorem S2.2 (Eq. S15), the term
    with beta is inside the sum over i. This is a misprint: it belongs outside, once, as in Theorem S2.1 and here.

    The time grows as T^2 n, and the memory as T.

    Parameters
    ----------
    points : NDArray[np.float64]
        X_t, (T, n).
    times : NDArray[np.float64]
        (T,), increasing.
    log_novel : NDArray[np.float64]
        Log of beta p(X_t | C_k, B) P(C_k | B), (T, K).
    odds : Callable[[NDArray[np.float64]], NDArray[np.float64]]
        Ages t - t_i -> f(t - t_i), elementwise.

    Examples
    --------
    >>> alone = infer_forward(
    ...     np.zeros((1, 2)), np.zeros(1), log_novel=np.log([[0.3, 0.1]]), beta=0.5, odds=np.ones_like, diffusion=1.0
    ... )
    >>> alone.posterior, alone.log_likelihood.round(3)
    (array([[0.75, 0.25]]), array([-0.223]))
    """
    from scipy.spatial.distance import cdist

    n_steps, n = points.shape
    posterior = np.empty_like(log_novel)
    log_likelihood = np.empty(n_steps)
    for start in range(0, n_steps, ROWS_PER_BLOCK):
        stop = min(start + ROWS_PER_BLOCK, n_steps)
        squared_distance = cdist(points[start:stop], points[:stop], "sqeuclidean")
        for t in range(start, stop):
            ages = times[t] - times[:t]
            chances = odds(ages)
            with np.errstate(divide="ignore"):
                log_continued = np.log(chances)
            log_continued += gaussian_log_density(squared_distance[t - start, :t], diffusion**2 * ages, n)
            largest = max(log_continued.max(initial=-np.inf), log_novel[t].max())
            joint = np.exp(log_continued - largest) @ posterior[:t] + np.exp(log_novel[t] - largest)
            total = joint.sum()
            posterior[t] = joint / total
            log_likelihood[t] = largest + np.log(total) - np.log(chances.sum() + beta)
    return Inference(posterior, log_likelihood)


Decay = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""f: ages t - t_i > 0 -> odds >= 0 of being seen again, elementwise."""


@dataclass(frozen=True, eq=False)
class Observations:
    """What was seen of an environment, and the truth behind it.

    Made by `RandomContinuousEnvironment.sample`.

    Parameters
    ----------
    points : NDArray[np.float64]
        X_t, float64 (T, n).
    times : NDArray[np.float64]
        Float64 (T,), increasing.
    labels : NDArray[np.int64]
        Class of the object seen, int64 (T,).
    parents : NDArray[np.int64]
        Index of the earlier observation that this one continues, int64 (T,); -1 if the object is novel.
    objects : NDArray[np.int64]
        Which object is seen, numbered from 0 in order of appearance, int64 (T,).
    novel : NDArray[np.bool_]
        Whether the object is seen for the first time, bool (T,).

    Examples
    --------
    >>> world = RandomContinuousEnvironment(means=np.eye(2), spreads=1.0, diffusion=0.1, beta=0.5, decay=2.0)
    >>> seen = world.sample(5, seed=0)
    >>> len(seen), seen.points.shape, bool((seen.novel == (seen.parents == -1)).all())
    (5, (5, 2), True)
    """

    points: NDArray[np.float64]
    times: NDArray[np.float64]
    labels: NDArray[np.int64]
    parents: NDArray[np.int64]
    objects: NDArray[np.int64]
    novel: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomContinuousEnvironment:
    """A world of objects that wander at random, come back with fading odds, and give way to novel ones.

    Supplement, Section S1, Assumptions 1-9. At time t a past observation i is continued with odds f(t - t_i), or a
    novel object appears with odds beta. A continued object keeps its class and has moved by a Wiener increment,
    X_t ~ N(X_{t_i}, diffusion^2 (t - t_i) I); a novel one has class k with probability P(C_k | B), and
    X_t ~ N(means[k], spreads[k]^2 I).

    With `identity="observation"` every past observation has its odds, as in the normaliser of Assumption 8 and the sum
    of Theorem S2.1: an object that was seen often is more likely to be seen again, and it may continue from any place
    where it was seen. Later observations then say nothing about an earlier label, and the inference below is exact.
    With `identity="object"` every object has its odds only once, those of the time it was last seen, and continues from
    there, as Assumption 7 says. The theorem then counts observations that have been superseded, and is an
    approximation. The two assumptions contradict each other, and the theorem holds for the first reading.

    The error of the approximation was measured against the sum over every possible past of five observations (two
    classes on a line, the world of the tests, 800 worlds, observations three to five): 0.025 on average for a class
    probability, and 0.02 nats per observation for the log-likelihood. If novel objects are rare (beta 0.02, decay 10),
    it is 0.006 and 0.17 nats.

    The switching rate alpha of Assumption 6 is not a parameter: f and beta already determine how often the object
    changes.

    Parameters
    ----------
    means : NDArray[np.float64]
        Centre of each class, float64 (K, n).
    spreads : float | NDArray[np.float64]
        Standard deviation of each class around its centre: one number, or float64 (K,).
    diffusion : float
        Standard deviation, per coordinate, of an object's move in one unit of time.
    beta : float
        Odds of a novel object.
    decay : float | Decay
        The odds f: a time constant, for f(t) = exp(-t / decay), or a function of an array of ages.
    prior : NDArray[np.float64] | None
        P(C_k | B), float64 (K,), positive, sums to one; None: uniform.
    identity : str
        What the odds f belong to: "observation" or "object".

    Examples
    --------
    >>> world = RandomContinuousEnvironment(
    ...     means=np.array([[-1.0, 0.0], [1.0, 0.0]]), spreads=0.3, diffusion=0.2, beta=0.1, decay=2.0
    ... )
    >>> watches = [world.sample(200, seed=seed) for seed in range(20)]
    >>> exact = [world.exact_posterior(seen.points, seen.times).argmax(axis=1) == seen.labels for seen in watches]
    >>> nearest_mean = [(seen.points[:, 0] > 0) == seen.labels for seen in watches]
    >>> round(float(np.mean(exact)), 2), round(float(np.mean(nearest_mean)), 2)
    (0.95, 0.84)
    """

    means: NDArray[np.float64]
    spreads: float | NDArray[np.float64]
    diffusion: float
    beta: float
    decay: float | Decay
    prior: NDArray[np.float64] | None = None
    identity: str = "observation"

    def __post_init__(self) -> None:
        name = type(self).__name__
        means = check.array(f"{name}.means", self.means, shape=(None, None), dtype=np.float64)
        check.require(means.size > 0, f"{name}.means", "have at least one class and one dimension", means.shape)
        n_classes = len(means)
        self._keep("means", means)
        if isinstance(self.spreads, np.ndarray):
            spreads = check.array(f"{name}.spreads", self.spreads, shape=(n_classes,), dtype=np.float64)
            check.require(bool((spreads > 0).all()), f"{name}.spreads", "be > 0", spreads.tolist())
            self._keep("spreads", spreads)
        else:
            check.real(f"{name}.spreads", self.spreads, above=0)
        check.real(f"{name}.diffusion", self.diffusion, above=0)
        check.real(f"{name}.beta", self.beta, above=0)
        if not callable(self.decay):
            check.real(f"{name}.decay", self.decay, above=0)
        if self.prior is not None:
            prior = check.array(f"{name}.prior", self.prior, shape=(n_classes,), dtype=np.float64)
            check.require(bool((prior > 0).all()), f"{name}.prior", "be > 0", prior.tolist())
            check.require(abs(prior.sum() - 1.0) < 1e-9, f"{name}.prior", "sum to one", float(prior.sum()))
            self._keep("prior", prior)
        check.one_of(f"{name}.identity", self.identity, ("observation", "object"))

    def _keep(self, field: str, value: NDArray[np.float64]) -> None:
        own = value.copy()
        own.flags.writeable = False
        object.__setattr__(self, field, own)

    def odds(self, ages: NDArray[np.float64]) -> NDArray[np.float64]:
        """The odds f(t - t_i) of continuing observations of the given ages, same shape.

        Examples
        --------
        >>> world = RandomContinuousEnvironment(means=np.eye(2), spreads=1.0, diffusion=1.0, beta=0.1, decay=2.0)
        >>> world.odds(np.array([0.0, 2.0]))
        array([1. , 0.36787944])
        """
        if not callable(self.decay):
            return np.exp(-ages / self.decay)
        odds = np.asarray(self.decay(ages), dtype=np.float64)
        check.require(odds.shape == ages.shape, "decay(ages)", f"have shape {ages.shape}", odds.shape)
        allowed = np.isfinite(odds) & (odds >= 0)
        check.require(bool(allowed.all()), "decay(ages)", "be finite and >= 0", odds[~allowed][:1].tolist())
        return odds

    def sample(self, times: int | NDArray[np.float64], seed: int | np.random.Generator) -> Observations:
        """Observe the environment at the given times, or a given number of times at 0, 1, 2, ...

        The first object is novel. With the same seed, a longer sample starts with the observations of a shorter one.

        Examples
        --------
        >>> world = RandomContinuousEnvironment(means=np.eye(2), spreads=1.0, diffusion=0.1, beta=0.5, decay=2.0)
        >>> seen = world.sample(np.array([0.0, 0.5, 4.0]), seed=3)
        >>> len(seen), bool(seen.novel[0]), int(seen.parents[0])
        (3, True, -1)
        """
        if isinstance(times, int | np.integer):
            times = np.arange(check.integer("times", times, low=1), dtype=np.float64)
        times = _increasing(times).copy()
        n_steps, n = len(times), self.means.shape[1]
        choice, kind, place = _generator(seed).spawn(3)
        which = choice.random(n_steps)
        class_steps = np.cumsum(self._prior())[:-1]
        labels = np.searchsorted(class_steps, kind.random(n_steps), side="right").astype(np.int64)
        points = place.standard_normal((n_steps, n))
        parents = np.full(n_steps, -1, dtype=np.int64)
        objects = np.zeros(n_steps, dtype=np.int64)
        can_go_on = np.ones(n_steps)
        spreads = self._spreads()
        n_objects = 0
        for t in range(n_steps):
            ladder = np.cumsum(np.append(self.odds(times[t] - times[:t]) * can_go_on[:t], self.beta))
            parent = int(np.searchsorted(ladder[:-1], which[t] * ladder[-1], side="right"))
            if parent == t:
                points[t] = self.means[labels[t]] + spreads[labels[t]] * points[t]
                objects[t] = n_objects
                n_objects += 1
                continue
            points[t] = points[parent] + self.diffusion * np.sqrt(times[t] - times[parent]) * points[t]
            parents[t], labels[t], objects[t] = parent, labels[parent], objects[parent]
            if self.identity == "object":
                can_go_on[parent] = 0.0
        return Observations(points, times, labels, parents, objects, parents < 0)

    def infer(self, points: NDArray[np.float64], times: NDArray[np.float64]) -> Inference:
        """The posterior and the log-likelihood of every observation given all earlier ones, by Theorem S2.1.

        Exact for `identity="observation"`, and an approximation for `identity="object"` (see the class). The recursion
        and its equation are in `springback.data.environment.infer_forward`.

        Parameters
        ----------
        points : NDArray[np.float64]
            X_t, (T, n).
        times : NDArray[np.float64]
            (T,), increasing.

        Examples
        --------
        >>> means = np.array([[-1.0], [1.0]])
        >>> world = RandomContinuousEnvironment(means=means, spreads=0.5, diffusion=0.5, beta=0.1, decay=5.0)
        >>> world.infer(np.array([[-1.0], [-0.5], [0.0]]), np.arange(3.0)).posterior[:, 0].round(3)
        array([1.   , 0.999, 0.989])
        """
        from scipy.spatial.distance import cdist

        times = _increasing(times)
        n = self.means.shape[1]
        points = check.array("points", np.asarray(points, dtype=np.float64), shape=(len(times), n), dtype=np.float64)
        log_class = gaussian_log_density(cdist(points, self.means, "sqeuclidean"), self._spreads() ** 2, n)
        return infer_forward(
            points,
            times,
            log_novel=np.log(self.beta) + np.log(self._prior()) + log_class,
            beta=self.beta,
            odds=self.odds,
            diffusion=self.diffusion,
        )

    def exact_posterior(self, points: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(C_k | X_t, history) of every observation, float64 (T, K); see `infer`.

        Examples
        --------
        >>> world = RandomContinuousEnvironment(means=np.eye(2), spreads=1.0, diffusion=1.0, beta=1.0, decay=1.0)
        >>> world.exact_posterior(np.array([[0.5, 0.5]]), np.array([0.0]))
        array([[0.5, 0.5]])
        """
        return self.infer(points, times).posterior

    def log_likelihood(self, points: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log p(X_t | history) of every observation in nats, float64 (T,); see `infer`.

        Examples
        --------
        >>> world = RandomContinuousEnvironment(means=np.zeros((1, 2)), spreads=1.0, diffusion=1.0, beta=1.0, decay=1.0)
        >>> world.log_likelihood(np.zeros((1, 2)), np.array([0.0])).round(4)
        array([-1.8379])
        """
        return self.infer(points, times).log_likelihood

    def _prior(self) -> NDArray[np.float64]:
        return np.full(len(self.means), 1.0 / len(self.means)) if self.prior is None else self.prior

    def _spreads(self) -> NDArray[np.float64]:
        return np.broadcast_to(np.asarray(self.spreads, dtype=np.float64), (len(self.means),))


def _increasing(times: NDArray[np.float64]) -> NDArray[np.float64]:
    times = check.array("times", np.asarray(times, dtype=np.float64), shape=(None,), dtype=np.float64)
    check.require(len(times) > 0, "times", "have at least one entry", "none")
    smallest = float(np.diff(times).min(initial=np.inf))
    check.require(smallest > 0, "times", "increase at every step", f"a step of {smallest:g}")
    return times


def _generator(seed: int | np.random.Generator) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(check.integer("seed", seed, low=0))
