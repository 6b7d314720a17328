"""Entropy minimisation at test time, at batch size one (after Wang et al. 2021, "Tent", ICLR).

Tent follows the gradient of the entropy of a network's output with respect to the scale and shift of its normalisation
layers. The paper's CNN has none, so scale and shift stand where one would: on the features the last layer receives.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Choice
from springback_bench.rivals.rival import RATE, Rival


class EntropyState(NamedTuple):
    """Scale and shift of the features, and the momentum of both, (n,) each."""

    scale: NDArray[np.float32]
    shift: NDArray[np.float32]
    scale_momentum: NDArray[np.float32]
    shift_momentum: NDArray[np.float32]


class EntropyMinimisation(HeadClassifier):
    """A linear head whose features are scaled and shifted, frame by frame, towards certainty (after Tent).

        y = W (a * x + b) + bias,   p = softmax(y),   H = -sum p ln p
        dH/dy_k = -p_k (ln p_k + H);   a and b follow -dH/da and -dH/db by gradient descent with momentum

    The answer to a frame is the one before its own gradient step. `learning_rate = 0` is the frozen network.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen head, (K, n).
    bias : NDArray[Any]
        Biases of the frozen head, (K,).
    learning_rate : float
        Step of the gradient descent; the default is that of the article on ImageNet.
    momentum : float
        Share of the last update that the next one keeps; the default is that of the article.

    Examples
    --------
    >>> model = EntropyMinimisation(2 * np.eye(2), np.zeros(2), learning_rate=1.0)
    >>> model.track([[1.0, 0.9], [1.0, 0.9]]).round(2)
    array([[0.55, 0.45],
           [0.72, 0.28]])
    """

    def __init__(
        self, weight: NDArray[Any], bias: NDArray[Any], *, learning_rate: float = 0.00025, momentum: float = 0.9
    ) -> None:
        self.learning_rate = check.real("learning_rate", learning_rate, low=0)
        self.momentum = check.real("momentum", momentum, low=0, high=1)
        super().__init__(weight, bias)

    def _init(self) -> EntropyState:
        zeros = [np.zeros(self.n_inputs, np.float32) for _ in range(3)]
        return EntropyState(np.ones(self.n_inputs, np.float32), *zeros)

    def _run(self, state: EntropyState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        rate, momentum = np.float32(self.learning_rate), np.float32(self.momentum)
        return self._answers(_descend(state, rows, self.weight, self.bias, rate, momentum))


@njit(cache=True, makes_arrays=True, fastmath=True)
def _descend(state: Any, x: Any, w: Any, bias: Any, rate: Any, momentum: Any) -> Any:
    scale, shift = state.scale.copy(), state.shift.copy()
    speed_scale, speed_shift = state.scale_momentum.copy(), state.shift_momentum.copy()
    logits = np.empty((x.shape[0], w.shape[0]), np.float32)
    for t in range(x.shape[0]):
        y = w @ (scale * x[t] + shift) + bias
        logits[t] = y
        log_p = y - y.max()
        log_p -= np.log(np.exp(log_p).sum())
        p = np.exp(log_p)
        entropy = -(p * log_p).sum()
        slope = (-p * (log_p + entropy)) @ w
        speed_scale = momentum * speed_scale + slope * x[t]
        speed_shift = momentum * speed_shift + slope
        scale -= rate * speed_scale
        shift -= rate * speed_shift
    state.scale[:], state.shift[:] = scale, shift
    state.scale_momentum[:], state.shift_momentum[:] = speed_scale, speed_shift
    return logits


RIVALS = (
    Rival(
        name="entropy",
        title="entropy minimisation",
        about="scale and shift of the features follow the gradient of the entropy (after TENT)",
        method=EntropyMinimisation,
        ranges={"learning_rate": RATE, "momentum": Choice((0.0, 0.9))},
        first=(
            (0.0922, 0.0),
            (0.0005776, 0.0),
            (0.000305, 0.0),
            (1.881e-05, 0.0),
            (0.002411, 0.0),
            (0.000515, 0.0),
            (0.0007857, 0.0),
            (3.275e-05, 0.0),
        ),
    ),
)
