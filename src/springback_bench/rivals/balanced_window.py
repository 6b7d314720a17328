"""Votes of remembered frames that are balanced over the classes and diverse (after "GOTTA", arXiv 2605.19890)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Range
from springback_bench.rivals._arithmetic import log_softmax, unit
from springback_bench.rivals.rival import KERNEL, STRENGTH, Rival


class BalancedWindowState(NamedTuple):
    """The frames kept: unit features (D, n), answers (D, K), cosines (D, D), ages (D,), and their number, (1,)."""

    directions: NDArray[np.float32]
    posteriors: NDArray[np.float64]
    cosines: NDArray[np.float32]
    ages: NDArray[np.int64]
    filled: NDArray[np.int64]


class BalancedWindow(HeadClassifier):
    """Frames that are kept for being few of their class and unlike others vote for the classes that they were given.

        z = W x + b + strength * sum_i exp(-sharpness (1 - cos(x, x_i))) q_i

    A frame joins the window with its answer q. If the window is full, the class with the most frames in it (by their
    largest q) gives one up: of its two frames that are most alike, the older one. Of the articles on such buffers only
    the idea is taken; how they update a network from theirs does not apply to a linear head.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight, bias : NDArray[Any]
        The frozen linear head, (K, n) and (K,).
    window : int
        How many frames are kept, D.
    strength : float
        What an identical frame that was certain adds to the logit of its class; 0: the head as it is.
    sharpness : float
        How fast a vote falls when frames differ.

    Examples
    --------
    >>> model = BalancedWindow(4 * np.eye(2), np.zeros(2), window=3, strength=5.0, sharpness=2.0)
    >>> model.track([[1.0, 0.2], [0.6, 0.7]]).argmax(axis=1), (4 * np.array([0.6, 0.7])).argmax()
    (array([0, 0]), np.int64(1))
    """

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        *,
        window: int = 64,
        strength: float = 1.0,
        sharpness: float = 5.0,
    ) -> None:
        self.window = check.integer("window", window, low=2, high=10_000)
        self.strength = check.real("strength", strength, low=0, high=1e9)
        self.sharpness = check.real("sharpness", sharpness, low=0, high=1e8)
        super().__init__(weight, bias)

    def _init(self) -> BalancedWindowState:
        return BalancedWindowState(
            np.zeros((self.window, self.n_inputs), np.float32),
            np.zeros((self.window, self.n_classes)),
            np.zeros((self.window, self.window), np.float32),
            np.zeros(self.window, np.int64),
            np.zeros(1, np.int64),
        )

    def _run(self, state: BalancedWindowState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        return np.asarray(_vote(*state, rows, self.weight, self.bias, self.strength, self.sharpness))


@njit(cache=True, makes_arrays=True)
def _vote(
    directions: Any,
    posteriors: Any,
    cosines: Any,
    ages: Any,
    filled: Any,
    rows: Any,
    weight: Any,
    bias: Any,
    strength: float,
    sharpness: float,
) -> Any:
    window = len(directions)
    answers = np.empty((len(rows), len(bias)))
    for t in range(len(rows)):
        x = unit(rows[t])
        count = filled[0]
        alike = directions[:count] @ x
        z = (weight @ rows[t] + bias).astype(np.float64)
        for i in range(count):
            z += strength * np.exp(-sharpness * (1 - alike[i])) * posteriors[i]
        answers[t] = np.exp(log_softmax(z))
        ages[:count] += 1
        place = count
        if count == window:
            place = _to_give_up(posteriors, cosines, ages)
        else:
            filled[0] += 1
        directions[place], posteriors[place], ages[place] = x, answers[t], 0
        cosines[place, :count] = alike
        cosines[:count, place] = alike
    return answers


@njit(cache=True, makes_arrays=True)
def _to_give_up(posteriors: Any, cosines: Any, ages: Any) -> Any:
    """The older of the two frames most alike within the class that has the most; its only frame if it has one."""
    size = len(posteriors)
    classes = np.empty(size, np.int64)
    counts = np.zeros(posteriors.shape[1], np.int64)
    for i in range(size):
        classes[i] = posteriors[i].argmax()
        counts[classes[i]] += 1
    most = counts.argmax()
    if counts[most] == 1:
        return ages.argmax()
    best, largest = -1, -np.inf
    for i in range(size):
        if classes[i] != most:
            continue
        for j in range(i):
            if classes[j] == most and cosines[i, j] > largest:
                largest = cosines[i, j]
                best = i if ages[i] > ages[j] else j
    return best


RIVALS = (
    Rival(
        name="balanced-window",
        title="balanced window",
        about="frames kept for being few of their class and unlike others vote (after GOTTA)",
        method=BalancedWindow,
        ranges={"window": Range(4, 256, log=True, whole=True), "strength": STRENGTH, "sharpness": KERNEL},
        first=(
            (4, 0.7106, 0.3082),
            (42, 1.417, 62.57),
            (7, 23.91, 9.403),
            (5, 1.771, 0.3148),
            (54, 14.75, 21.24),
            (41, 0.4628, 17.1),
            (132, 0.06521, 6.476),
            (12, 0.6166, 2.936),
        ),
        microseconds=30,
    ),
)
