"""Probabilities corrected by how frequent classes are in the stream (after Marsden et al. 2024, "ROID", WACV)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.search import Range
from springback.streaming.stream_classifier import StreamClassifier, softmax
from springback_bench.rivals.rival import STRENGTH, Rival


class PriorCorrectionState(NamedTuple):
    """The sum of recent probabilities, (K,), and how many frames count in it, (1,)."""

    total: NDArray[np.float64]
    frames: NDArray[np.float64]


class PriorCorrection(StreamClassifier):
    """The network's probabilities, times a smoothed share of each class among recent ones (the last step of ROID).

        total_t = d^g total_(t-1) + p_t,   frames_t = d^g frames_(t-1) + 1,   d = exp(-1 / memory)
        pi = total_t / frames_t,   s = max(1 / frames_t, 1 / K) / max pi
        answer_t ~ p_t ((pi + s) / (1 + s K)) ^ strength

    Here, p_t are the probabilities of a frame and g is the time since the frame before (1 without time stamps). In the
    article, pi is the mean over a batch and the number of frames is its size; at batch size one, a running mean takes
    its place. The gradient steps of the article are in `springback_bench.rivals.networks.roid`.

    Input: logits (T, K). `relax` decays total and frames by `d ** elapsed`, to 0 at rest.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    memory : float
        Time constant of the running mean in steps, or in seconds if times are dates or durations; 0: none.
    strength : float
        Power of the correction; 1 in the article, 0: the network as it is.

    Examples
    --------
    >>> model = PriorCorrection(2, memory=5.0)
    >>> model.track(np.log([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5]])).round(2)
    array([[0.94, 0.06],
           [0.95, 0.05],
           [0.6 , 0.4 ]])
    """

    def __init__(self, n_classes: int, *, memory: float = 20.0, strength: float = 1.0) -> None:
        self.memory = check.real("memory", memory, low=0, high=1e12)
        self.strength = check.real("strength", strength, low=0, high=1e6)
        super().__init__(n_classes)

    @property
    def _decay(self) -> float:
        return float(np.exp(-1 / self.memory)) if self.memory else 0.0

    def _init(self) -> PriorCorrectionState:
        return PriorCorrectionState(np.zeros(self.n_classes), np.zeros(1))

    def _run(self, state: PriorCorrectionState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        factors = _smoothed_shares(*state, softmax(rows), gaps, self._decay)
        return softmax(rows + self.strength * np.log(factors))

    def _relax(self, state: PriorCorrectionState, elapsed: float) -> None:
        for part in state:
            part[:] *= self._decay**elapsed


@njit(cache=True, makes_arrays=True)
def _smoothed_shares(total: Any, frames: Any, probabilities: Any, gaps: Any, decay: float) -> Any:
    k = len(total)
    factors = np.empty_like(probabilities)
    for t in range(len(probabilities)):
        kept = decay ** gaps[t]
        total *= kept
        total += probabilities[t]
        frames *= kept
        frames += 1
        shares = total / frames
        smooth = max(1 / frames[0], 1 / k) / shares.max()
        factors[t] = (shares + smooth) / (1 + smooth * k)
    return factors


RIVALS = (
    Rival(
        name="prior-correction",
        title="prior correction",
        about="probabilities times the recent share of each class (the last step of ROID)",
        method=PriorCorrection,
        reads="logits",
        ranges={"memory": Range(0.2, 1000.0, log=True), "strength": STRENGTH},
        first=(
            (9.764, 2.811),
            (10.61, 16.93),
            (3.245, 4.398),
            (34.6, 2.461),
            (5.812, 7.072),
            (171.6, 1.038),
            (2.578, 12.53),
            (4.338, 1.869),
        ),
        microseconds=1,
    ),
)
