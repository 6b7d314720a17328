"""An answer for "none of these": a rule that refuses frames of classes that a frozen head was not trained on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from springback import check


@dataclass(frozen=True, eq=False)
class NoneOfThese:
    """Refuses frames of unknown classes, with a promised rate of false alarms.

    A frame is as strange as its logits are small, all together, as the logarithm of the sum of their exponentials: a
    frame of an unknown class has little of what speaks for any class, also where one class is far ahead of the others,
    and so the largest probability is high. Strangeness is
    compared with that of rows of known classes: `p_values` are the shares of these rows that are at least as strange
    (conformal p-values). A frame that could have been one of them is refused with a probability of at most
    `false_alarms`. Rows that the head was fitted to look less strange than the stream and break the promise; use others
    from where the stream comes from. It serves any frozen head: of arrays, of PyTorch, or in an ONNX file.

    Rows of one object or one recording resemble each other, so that many of them say little about the next object. Say
    by `groups` which belong together: each group then counts as one, and the promise holds for rows of another group.
    It takes 1 / false_alarms groups, less one, to refuse anything.

    Parameters
    ----------
    logits : Any
        Of rows of known classes, (N, K), without memory: `rows @ weight.T + bias`, or what a network gives.
    groups : Any
        Which object or recording each row shows, (N,); None: each row is one by itself.

    Examples
    --------
    >>> rule = NoneOfThese(5 * np.eye(2)[[0, 1] * 50] + np.random.default_rng(0).normal(size=(100, 2)))
    >>> rule.refuses([[5.0, 0.0], [1.0, -9.0]], false_alarms=0.05)
    array([False,  True])
    """

    logits: NDArray[Any]
    groups: Any = None

    def __post_init__(self) -> None:
        strange = strangeness(self.logits)
        given = np.arange(len(strange)) if self.groups is None else np.asarray(self.groups)
        check.array("groups", given, shape=strange.shape, dtype=given.dtype, finite=False)
        _, group, size = np.unique(given, return_inverse=True, return_counts=True)
        order = np.argsort(strange)
        below = np.concatenate([[0.0], np.cumsum(1 / size[group[order]])])
        vars(self).update(_known=strange[order], _below=below, _n_groups=len(size))

    def p_values(self, logits: Any) -> NDArray[np.float64]:
        """Share of the known rows that are at least as strange, counting the frame itself, (T,).

        With groups, it is the mean of their shares, counting one more group in which all rows are.
        """
        own = vars(self)
        below = own["_below"][np.searchsorted(own["_known"], strangeness(logits), side="left")]
        return np.asarray((1 + own["_n_groups"] - below) / (1 + own["_n_groups"]))

    def refuses(self, logits: Any, *, false_alarms: float = 0.05) -> NDArray[np.bool_]:
        """Whether each frame (T, K) shows none of the classes, (T,)."""
        rate = check.real("false_alarms", false_alarms, above=0, high=1)
        least, few = 1 / (1 + vars(self)["_n_groups"]), "rows" if self.groups is None else "groups"
        check.require(rate >= least, "false_alarms", f"be at least {least:.2g} with so few {few}", rate)
        return np.asarray(self.p_values(logits) <= rate)


def strangeness(logits: Any) -> NDArray[np.float64]:
    """How little speaks for any class: minus the logarithm of the sum of the exponentials of each row, (T,).

    Examples
    --------
    >>> strangeness([[0.0, 0.0], [5.0, -9.0]]).round(2)
    array([-0.69, -5.  ])
    """
    rows = check.array("logits", np.asarray(logits, np.float64), shape=(None, None), dtype=np.float64)
    return np.asarray(-logsumexp(rows, axis=1))
