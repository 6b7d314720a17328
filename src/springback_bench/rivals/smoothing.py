"""Exponential smoothing of a network's outputs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.search import Choice
from springback.streaming.stream_classifier import StreamClassifier, softmax
from springback_bench.rivals.rival import MEMORY, Rival


class SmoothingState(NamedTuple):
    """The moving average, (K,)."""

    average: NDArray[np.float64]


class Smoothing(StreamClassifier):
    """A moving average of a network's outputs that forgets over `memory` frames.

        s_t = d^g s_(t-1) + (1 - d) y_t,   d = exp(-1 / memory)

    Here, g is the time since the frame before (1 without time stamps), and y_t are the probabilities of a frame, or its
    logits. The average starts at 0. The answer is its share of the sum (probabilities), or its softmax (logits).

    Input: logits (T, K). `relax` decays the average by `d ** elapsed`, to 0 at rest.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    memory : float
        Time constant in steps, or in seconds if times are dates or durations; 0: no smoothing.
    average : str
        What is averaged: "probabilities" or "logits".

    Examples
    --------
    >>> model = Smoothing(2, memory=1.0)
    >>> model.track([[3.0, 0.0], [0.0, 1.0]]).round(3)
    array([[0.953, 0.047],
           [0.453, 0.547]])
    >>> model.step([3.0, 0.0]).round(3)
    array([0.953, 0.047])
    >>> model.relax(10.0).step([0.0, 1.0]).round(3)
    array([0.269, 0.731])
    """

    def __init__(self, n_classes: int, *, memory: float = 1.0, average: str = "probabilities") -> None:
        self.memory = check.real("memory", memory, low=0, high=1e12)
        self.average = check.one_of("average", average, ("probabilities", "logits"))
        super().__init__(n_classes)

    @property
    def _decay(self) -> float:
        return float(np.exp(-1 / self.memory)) if self.memory else 0.0

    def _init(self) -> SmoothingState:
        return SmoothingState(np.zeros(self.n_classes))

    def _run(self, state: SmoothingState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.average == "logits":
            return softmax(_smooth(state.average, rows, gaps, self._decay))
        smoothed = _smooth(state.average, softmax(rows), gaps, self._decay)
        return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))

    def _relax(self, state: SmoothingState, elapsed: float) -> None:
        state.average[:] *= self._decay**elapsed


@njit(cache=True, makes_arrays=True)
def _smooth(average: Any, outputs: Any, gaps: Any, decay: float) -> Any:
    smoothed = np.empty_like(outputs)
    for t in range(outputs.shape[0]):
        kept = decay ** gaps[t]
        for k in range(outputs.shape[1]):
            average[k] = (1 - decay) * outputs[t, k] + kept * average[k]
            smoothed[t, k] = average[k]
    return smoothed


RIVALS = (
    Rival(
        name="smoothing",
        title="smoothing",
        about="exponential average of probabilities or logits",
        method=Smoothing,
        reads="logits",
        ranges={"memory": MEMORY, "average": Choice(("probabilities", "logits"))},
        first=(
            (3.301, "logits"),
            (8.613, "logits"),
            (1.087, "logits"),
            (6.897, "probabilities"),
            (2.206, "logits"),
            (0.7997, "logits"),
            (3.108, "probabilities"),
            (9.13, "probabilities"),
        ),
        microseconds=1,
    ),
)
