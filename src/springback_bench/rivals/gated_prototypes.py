"""Inertia that gives way to surprise, and prototypes that adapt (after Zhou et al. 2026, "SIGHT", arXiv 2605.04617)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Range
from springback_bench.rivals._arithmetic import log_softmax, unit, unit_rows
from springback_bench.rivals.rival import Rival


class GatedPrototypesState(NamedTuple):
    """The prototypes, (K, n), and for each class the last posterior and its habit, its share so far, (K,) each."""

    prototypes: NDArray[np.float32]
    posterior: NDArray[np.float64]
    habit: NDArray[np.float64]


class GatedPrototypes(HeadClassifier):
    """The last answer is kept unless the features surprise; where they then point tells the next class (after SIGHT).

        z = sum_k q_k mu_k,   surprise = 1 - exp(-sensitivity (1 - cos(x, z))^2)
        route_k ~ softmax(cos(x - z, mu_k - z) / temperature) sqrt(h_k)
        q_k <- p_k ((1 - surprise) q_k + surprise route_k), divided by the sum
        mu_k <- norm((1 - spring) (mu_k + rate q_k (x - mu_k)) + spring w_k),   h <- h + habit_rate (q - h)

    x are features, and w_k the weights of a class, both scaled to length one; p is the answer of the frozen head.
    Prototypes start at w, q and h with equal shares.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight, bias : NDArray[Any]
        The frozen linear head, (K, n) and (K,).
    sensitivity : float
        How soon a frame is a surprise.
    temperature : float
        How far the directions from the expected features to those of each class tell classes apart.
    rate : float
        Share of the way to the features that the prototype of a certain class goes.
    spring : float
        Share of the way back to the weights that all prototypes go.
    habit_rate : float
        Weight of the newest frame in the share of each class. Defaults are those of the article, except `spring`.

    Examples
    --------
    >>> model = GatedPrototypes(4 * np.eye(2), np.zeros(2))
    >>> model.track([[1.0, 0.2], [0.6, 0.7]]).argmax(axis=1), (4 * np.array([0.6, 0.7])).argmax()
    (array([0, 0]), np.int64(1))
    """

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        *,
        sensitivity: float = 1.0,
        temperature: float = 0.2,
        rate: float = 0.01,
        spring: float = 0.001,
        habit_rate: float = 0.05,
    ) -> None:
        self.sensitivity = check.real("sensitivity", sensitivity, low=0, high=1e9)
        self.temperature = check.real("temperature", temperature, low=1e-3)
        self.rate = check.real("rate", rate, low=0, high=1)
        self.spring = check.real("spring", spring, low=0, high=1)
        self.habit_rate = check.real("habit_rate", habit_rate, low=0, high=1)
        super().__init__(weight, bias)

    def _init(self) -> GatedPrototypesState:
        equal = np.full(self.n_classes, 1 / self.n_classes)
        return GatedPrototypesState(unit_rows(self.weight), equal, equal.copy())

    def _run(self, state: GatedPrototypesState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        settings = (self.sensitivity, self.temperature, self.rate, self.spring, self.habit_rate)
        return np.asarray(_follow(*state, rows, self.weight, self.bias, *settings))


@njit(cache=True, makes_arrays=True)
def _follow(
    prototypes: Any,
    posterior: Any,
    habit: Any,
    rows: Any,
    weight: Any,
    bias: Any,
    sensitivity: float,
    temperature: float,
    rate: float,
    spring: float,
    habit_rate: float,
) -> Any:
    k = len(bias)
    answers, pointing, home = np.empty((len(rows), k)), np.empty(k), unit_rows(weight)
    for t in range(len(rows)):
        x = unit(rows[t])
        expected = np.zeros_like(x)
        for one in range(k):
            expected += np.float32(posterior[one]) * prototypes[one]
        surprise = 1 - np.exp(-sensitivity * (1 - (x * unit(expected)).sum()) ** 2)
        deviation = unit(x - expected)
        for one in range(k):
            pointing[one] = (deviation * unit(prototypes[one] - expected)).sum() / temperature
        route = np.exp(log_softmax(pointing)) * np.sqrt(habit)
        route /= route.sum()
        seen = log_softmax((weight @ rows[t] + bias).astype(np.float64))
        answer = np.exp(log_softmax(seen + np.log((1 - surprise) * posterior + surprise * route + 1e-300)))
        posterior[:] = answers[t] = answer
        habit += habit_rate * (answer - habit)
        for one in range(k):
            step = np.float32(rate * answer[one])
            moved = prototypes[one] + step * (x - prototypes[one])
            prototypes[one] = unit(moved + np.float32(spring) * (home[one] - moved))
    return answers


RIVALS = (
    Rival(
        name="sight",
        title="SIGHT",
        about="the last answer is kept unless the features surprise; prototypes adapt (after Zhou et al. 2026)",
        method=GatedPrototypes,
        ranges={
            "sensitivity": Range(0.03, 1000.0, log=True),
            "temperature": Range(0.01, 1.0, log=True),
            "rate": Range(1e-4, 0.3, log=True),
            "spring": Range(1e-5, 0.3, log=True),
            "habit_rate": Range(1e-4, 0.3, log=True),
        },
        first=(
            (0.04333, 0.5044, 0.2509, 0.0001239, 0.1027),
            (0.04877, 0.0115, 0.0001176, 0.0001354, 0.0007317),
            (6.663, 0.01072, 0.1251, 1.992e-05, 0.0002811),
            (171.9, 0.6764, 0.2765, 0.005491, 0.02069),
            (0.1084, 0.01526, 0.2722, 3.332e-05, 0.0004119),
            (6.396, 0.08559, 0.1546, 0.006563, 0.006133),
            (5.302, 0.03126, 0.0001099, 7.268e-05, 0.02548),
            (0.9271, 0.7469, 0.0003463, 0.002011, 0.0002081),
        ),
        microseconds=12,
    ),
)
