"""An answer for "none of these": a rule that refuses frames of classes that a frozen head was not trained on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check


@dataclass(frozen=True, eq=False)
class NoneOfThese:
    """Refuses frames of unknown classes, with a promised rate of false alarms.

    A frame is as strange as its largest logit is small: a frame of an unknown class has little of what speaks for any
    class, also where one class is far ahead of the others, and so the largest probability is high. Strangeness is
    compared with that of rows of known classes: `p_values` are the shares of these rows that are at least as strange
    (conformal p-values). A frame that could have been one of them is refused with a probability of at most
    `false_alarms`. Rows that the head was fitted to look less strange than the stream and break the promise; use others
    from where the stream comes from. It serves any frozen head: of arrays, of PyTorch, or in an ONNX file.

    Parameters
    ----------
    logits : Any
        Of rows of known classes, (N, K), without memory: `rows @ weight.T + bias`, or what a network gives.

    Examples
    --------
    >>> rule = NoneOfThese(5 * np.eye(2)[[0, 1] * 50] + np.random.default_rng(0).normal(size=(100, 2)))
    >>> rule.refuses([[5.0, 0.0], [1.0, -9.0]], false_alarms=0.05)
    array([False,  True])
    """

    logits: NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", np.sort(strangeness(self.logits)))

    def p_values(self, logits: Any) -> NDArray[np.float64]:
        """Share of the known rows that are at least as strange, counting the frame itself, (T,)."""
        known: NDArray[np.float64] = vars(self)["_known"]
        below = np.searchsorted(known, strangeness(logits), side="left")
        return np.asarray((1 + len(known) - below) / (1 + len(known)))

    def refuses(self, logits: Any, *, false_alarms: float = 0.05) -> NDArray[np.bool_]:
        """Whether each frame (T, K) shows none of the classes, (T,)."""
        rate = check.real("false_alarms", false_alarms, above=0, high=1)
        least = 1 / (1 + len(self.logits))
        check.require(rate >= least, "false_alarms", f"be at least {least:.2g} with so few rows", rate)
        return np.asarray(self.p_values(logits) <= rate)


def strangeness(logits: Any) -> NDArray[np.float64]:
    """How little speaks for any class: minus the largest logit of each row, (T,)."""
    rows = np.asarray(logits, np.float64)
    strange: NDArray[np.float64] = -check.array("logits", rows, shape=(None, None), dtype=np.float64).max(axis=1)
    return strange
