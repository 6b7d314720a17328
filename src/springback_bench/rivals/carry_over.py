"""Kernel carry-over: the last answer counts as far as the frame looks like the last one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback_bench.rivals.rival import KERNEL, STRENGTH, Rival


class CarryOverState(NamedTuple):
    """The features of the last frame scaled to length one, (n,), and its posterior, (K,); both 0 before the first."""

    direction: NDArray[np.float32]
    posterior: NDArray[np.float32]


class CarryOver(HeadClassifier):
    """The posterior of the last frame is added to the logits, weighted by how similar the two frames are.

        z_t = W x_t + b + strength * exp(-sharpness (1 - cos(x_t, x_(t-1)))) softmax(z_(t-1))

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight, bias : NDArray[Any]
        The frozen linear head, (K, n) and (K,).
    strength : float
        What a certain answer to an identical frame adds to the logit of its class; 0: the head as it is.
    sharpness : float
        How fast the weight falls when frames differ.

    Examples
    --------
    >>> model = CarryOver(4 * np.eye(2), np.zeros(2), strength=5.0, sharpness=2.0)
    >>> model.track([[1.0, 0.2], [0.6, 0.7]]).argmax(axis=1), (4 * np.array([0.6, 0.7])).argmax()
    (array([0, 0]), np.int64(1))
    """

    def __init__(
        self, weight: NDArray[Any], bias: NDArray[Any], *, strength: float = 5.0, sharpness: float = 5.0
    ) -> None:
        self.strength = check.real("strength", strength, low=0, high=1e9)
        self.sharpness = check.real("sharpness", sharpness, low=0, high=1e8)
        super().__init__(weight, bias)

    def _init(self) -> CarryOverState:
        return CarryOverState(np.zeros(self.n_inputs, np.float32), np.zeros(self.n_classes, np.float32))

    def _run(self, state: CarryOverState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        logits = _carry_over(
            *state, rows, self.weight, self.bias, np.float32(self.strength), np.float32(self.sharpness)
        )
        return self._answers(logits)


@njit(cache=True, makes_arrays=True)
def _carry_over(
    direction: Any, posterior: Any, rows: Any, weight: Any, bias: Any, strength: Any, sharpness: Any
) -> Any:
    logits = np.empty((rows.shape[0], weight.shape[0]), np.float32)
    for t in range(rows.shape[0]):
        x = rows[t]
        length = np.sqrt((x * x).sum())
        unit = x / length if length > 0 else np.zeros_like(x)
        z = weight @ x + bias + strength * np.exp(-sharpness * (1 - (unit * direction).sum())) * posterior
        logits[t] = z
        posterior[:] = np.exp(z - z.max())
        posterior /= posterior.sum()
        direction[:] = unit
    return logits


RIVALS = (
    Rival(
        name="carry-over",
        title="carry-over",
        about="the last posterior is added to the logits as far as the two frames are alike",
        method=CarryOver,
        ranges={"strength": STRENGTH, "sharpness": KERNEL},
        first=(
            (7.181, 3.459),
            (11.44, 2.836),
            (2.517, 0.3576),
            (0.9284, 0.5528),
            (2.323, 82.16),
            (26.2, 3.52),
            (6.371, 0.4738),
            (19.59, 4.123),
        ),
    ),
)
