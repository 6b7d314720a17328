"""Class feedback: the recent answers of the network are added to its next ones."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.streaming.stream_classifier import StreamClassifier, softmax
from springback_bench.rivals.rival import MEMORY, SHARPNESS, STRENGTH, Rival


class ClassFeedbackState(NamedTuple):
    """What recent answers add to the logits, (K,)."""

    feedback: NDArray[np.float64]


class ClassFeedback(StreamClassifier):
    """The update of an elastic head without features: the posterior pulls a bias per class, which springs back.

        z_t = y_t + d^g F_(t-1),   F_t = d^g F_(t-1) + pull * softmax(kappa z_t),   d = exp(-1 / memory)

    Here, y_t are the logits of a frame and g is the time since the frame before (1 without time stamps). Unlike an
    elastic head, it does not ask whether a frame looks like the recent ones. The answer is softmax(z_t).

    Input: logits (T, K). `relax` decays the feedback by `d ** elapsed`, to 0 at rest.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    pull : float
        What one certain answer adds to the logit of its class; 0: the network as it is.
    memory : float
        Time constant in steps, or in seconds if times are dates or durations.
    kappa : float
        Sharpness of the posterior that is fed back.

    Examples
    --------
    >>> model = ClassFeedback(2, pull=2.0, memory=2.0)
    >>> model.track([[3.0, 0.0], [0.0, 0.5]]).round(3)
    array([[0.953, 0.047],
           [0.645, 0.355]])
    """

    def __init__(self, n_classes: int, *, pull: float = 2.0, memory: float = 2.0, kappa: float = 1.0) -> None:
        self.pull = check.real("pull", pull, low=0, high=1e9)
        self.memory = check.real("memory", memory, above=0, high=1e12)
        self.kappa = check.real("kappa", kappa, above=0, high=1e8)
        super().__init__(n_classes)

    @property
    def _decay(self) -> float:
        return float(np.exp(-1 / self.memory))

    def _init(self) -> ClassFeedbackState:
        return ClassFeedbackState(np.zeros(self.n_classes))

    def _run(self, state: ClassFeedbackState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        return softmax(_feed_back(state.feedback, rows, gaps, self._decay, self.pull, self.kappa))

    def _relax(self, state: ClassFeedbackState, elapsed: float) -> None:
        state.feedback[:] *= self._decay**elapsed


@njit(cache=True, makes_arrays=True)
def _feed_back(feedback: Any, logits: Any, gaps: Any, decay: float, pull: float, kappa: float) -> Any:
    moved = np.empty_like(logits)
    for t in range(logits.shape[0]):
        feedback *= decay ** gaps[t]
        z = logits[t] + feedback
        moved[t] = z
        posterior = np.exp(kappa * (z - z.max()))
        feedback += pull * posterior / posterior.sum()
    return moved


RIVALS = (
    Rival(
        name="class-feedback",
        title="class feedback",
        about="posteriors fed back as biases that fade: the elastic update without features",
        method=ClassFeedback,
        reads="logits",
        ranges={"pull": STRENGTH, "memory": MEMORY, "kappa": SHARPNESS},
        first=(
            (1.656, 2.109, 4.928),
            (1.464, 4.359, 6.741),
            (0.07773, 13.32, 9.599),
            (16.02, 0.4605, 6.792),
            (0.5849, 3.522, 7.52),
            (0.7492, 6.147, 3.493),
            (8.371, 11.26, 0.05791),
            (1.592, 2.351, 2.346),
        ),
        microseconds=1,
    ),
)
