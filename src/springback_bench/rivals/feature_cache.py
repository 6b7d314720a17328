"""A cache of certain features for each class (after Karmanov et al. 2024, "TDA", CVPR)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Range
from springback_bench.rivals._arithmetic import entropy_of, log_softmax, unit
from springback_bench.rivals.rival import KERNEL, STRENGTH, Rival

_UNSURE = (0.2, 0.5)
"""A frame enters the negative cache if its entropy, as a share of ln K, lies between these bounds of the article."""

_POSSIBLE = 0.03
"""Such a frame then speaks against every class with a probability above this one."""


class FeatureCacheState(NamedTuple):
    """Unit features (K, shots, n) and entropies (K, shots) of two caches, and what the second speaks against."""

    keys: NDArray[np.float32]
    entropies: NDArray[np.float64]
    negative_keys: NDArray[np.float32]
    negative_entropies: NDArray[np.float64]
    against: NDArray[np.float32]


class FeatureCache(HeadClassifier):
    """Logits plus the votes of a small cache of certain frames, minus those of uncertain ones (after TDA).

        z = W x + b + strength sum_i exp(-sharpness (1 - cos(x, c_i))) e_i
                    - negative_strength sum_i exp(-negative_sharpness (1 - cos(x, u_i))) a_i

    The cache keeps, for each class, the `n_shots` frames c_i with the lowest entropy that the head gave to the class;
    e_i is 1 for that class. The negative cache keeps the `n_negative` frames u_i of each class with the lowest entropy
    between 0.2 and 0.5 ln K; a_i is 1 for every class to which the head gave more than 0.03. A frame enters a cache
    first, so that it can vote for itself. The article has vision-language models, where the logits are 100 times a
    cosine; for other networks, its strengths are only a starting point.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen head, (K, n).
    bias : NDArray[Any]
        Biases of the frozen head, (K,).
    strength, sharpness, n_shots : float, float, int
        The cache: what an identical frame adds to a logit, how fast this falls with the angle, frames of a class. The
        defaults are those of the article.
    negative_strength, negative_sharpness, n_negative : float, float, int
        The same for the negative cache. With strengths of 0, the head answers as it is.

    Examples
    --------
    >>> model = FeatureCache(np.eye(2), np.zeros(2), strength=2.0, sharpness=5.0)
    >>> model.track([[4.0, 2.0], [4.0, 2.2], [1.5, 1.6]]).round(2)
    array([[0.98, 0.02],
           [1.  , 0.  ],
           [0.72, 0.28]])
    """

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        *,
        strength: float = 2.0,
        sharpness: float = 5.0,
        n_shots: int = 3,
        negative_strength: float = 0.117,
        negative_sharpness: float = 1.0,
        n_negative: int = 2,
    ) -> None:
        self.strength = check.real("strength", strength, low=0, high=1e9)
        self.sharpness = check.real("sharpness", sharpness, low=0, high=1e8)
        self.n_shots = check.integer("n_shots", n_shots, low=1)
        self.negative_strength = check.real("negative_strength", negative_strength, low=0, high=1e9)
        self.negative_sharpness = check.real("negative_sharpness", negative_sharpness, low=0, high=1e8)
        self.n_negative = check.integer("n_negative", n_negative, low=1)
        super().__init__(weight, bias)

    def _init(self) -> FeatureCacheState:
        k, n = self.weight.shape
        return FeatureCacheState(
            np.zeros((k, self.n_shots, n), np.float32),
            np.full((k, self.n_shots), np.inf),
            np.zeros((k, self.n_negative, n), np.float32),
            np.full((k, self.n_negative), np.inf),
            np.zeros((k, self.n_negative, k), np.float32),
        )

    def _run(self, state: FeatureCacheState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        positive, negative = (self.strength, self.sharpness), (self.negative_strength, self.negative_sharpness)
        return self._answers(_vote(*state, rows, self.weight, self.bias, positive, negative))


@njit(cache=True, makes_arrays=True)
def _vote(
    keys: Any,
    entropies: Any,
    negative_keys: Any,
    negative_entropies: Any,
    against: Any,
    rows: Any,
    weight: Any,
    bias: Any,
    positive: Any,
    negative: Any,
) -> Any:
    k = len(weight)
    logits = np.empty((rows.shape[0], k))
    for t in range(rows.shape[0]):
        frozen = weight @ rows[t] + bias
        direction, log_p = unit(rows[t]), log_softmax(frozen)
        entropy, mine = entropy_of(log_p), frozen.argmax()
        place = _place(entropies[mine], entropy)
        if place >= 0:
            keys[mine, place] = direction
        if _UNSURE[0] < entropy / np.log(k) < _UNSURE[1]:
            place = _place(negative_entropies[mine], entropy)
            if place >= 0:
                negative_keys[mine, place] = direction
                against[mine, place] = np.exp(log_p) > _POSSIBLE
        logits[t] = frozen
        for one in range(k):
            for shot in range(keys.shape[1]):
                if np.isfinite(entropies[one, shot]):
                    angle = 1 - np.dot(keys[one, shot], direction)
                    logits[t, one] += positive[0] * np.exp(-positive[1] * angle)
            for shot in range(negative_keys.shape[1]):
                if np.isfinite(negative_entropies[one, shot]):
                    angle = 1 - np.dot(negative_keys[one, shot], direction)
                    vote = negative[0] * np.exp(-negative[1] * angle)
                    for other in range(k):
                        logits[t, other] -= vote * against[one, shot, other]
    return logits


@njit(cache=True, makes_arrays=True)
def _place(entropies: Any, entropy: float) -> int:
    """Where a frame enters the cache of its class, which it does in place of a less certain one; -1: nowhere."""
    place = entropies.argmax()
    if entropy < entropies[place]:
        entropies[place] = entropy
        return int(place)
    return -1


RIVALS = (
    Rival(
        name="tda",
        title="TDA",
        about="a cache of certain and of uncertain frames votes (after Karmanov et al. 2024)",
        method=FeatureCache,
        ranges={
            "strength": STRENGTH,
            "sharpness": KERNEL,
            "n_shots": Range(1, 30, log=True, whole=True),
            "negative_strength": Range(0.0, 3.0, per_spread=1),
            "negative_sharpness": KERNEL,
        },
        first=(
            (1.267, 1.372, 3, 0.2082, 0.5958),
            (1.592, 2.182, 13, 0.5717, 55.37),
            (0.0309, 0.1276, 6, 0.2277, 0.405),
            (22.5, 2.547, 4, 2.161, 3.714),
            (17.65, 9.314, 8, 2.303, 17.81),
            (0.1301, 0.635, 24, 0.8056, 12.8),
            (0.6497, 0.1539, 10, 0.7385, 8.513),
            (0.7101, 1.318, 6, 0.604, 0.8906),
        ),
        microseconds=10,
    ),
)
