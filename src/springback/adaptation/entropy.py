"""Entropy minimisation at test time, at batch size one (after Wang et al. 2021, "Tent", ICLR).

Tent follows the gradient of the entropy of a network's output with respect to the scale and shift of its normalisation
layers. The paper's CNN has none, so scale and shift stand where one would: on the features the last layer receives.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit


def minimise_entropy(
    features: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any], *, learning_rate: float, momentum: float = 0.9
) -> NDArray[np.float32]:
    """Logits (T, K) of a linear layer whose features are scaled and shifted, frame by frame, towards certainty.

        y = W (a * x + b) + bias,   p = softmax(y),   H = -sum p ln p
        dH/dy_k = -p_k (ln p_k + H);   a and b follow -dH/da and -dH/db by gradient descent with momentum

    The logits of a frame are those before its own step. `learning_rate = 0` is the frozen network.

    Examples
    --------
    >>> x, w = np.array([[1.0, 0.9], [1.0, 0.9]]), 2 * np.eye(2)
    >>> minimise_entropy(x, w, np.zeros(2), learning_rate=1.0).round(2)
    array([[2.  , 1.8 ],
           [2.4 , 1.44]], dtype=float32)
    """
    check.real("learning_rate", learning_rate, low=0)
    check.real("momentum", momentum, low=0, high=1)
    x = np.ascontiguousarray(features, np.float32)
    w = np.ascontiguousarray(weight, np.float32)
    check.array("weight", w, shape=(None, None), dtype=np.float32)
    check.array("features", x, shape=(None, w.shape[1]), dtype=np.float32)
    check.array("bias", np.asarray(bias, np.float32), shape=(len(w),), dtype=np.float32)
    return np.asarray(_run(x, w, np.asarray(bias, np.float32), np.float32(learning_rate), np.float32(momentum)))


@njit(cache=True, fastmath=True)
def _run(x: Any, w: Any, bias: Any, rate: Any, momentum: Any) -> Any:
    steps, n = x.shape
    scale, shift = np.ones(n, np.float32), np.zeros(n, np.float32)
    speed_scale, speed_shift = np.zeros(n, np.float32), np.zeros(n, np.float32)
    logits = np.empty((steps, w.shape[0]), np.float32)
    for t in range(steps):
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
    return logits
