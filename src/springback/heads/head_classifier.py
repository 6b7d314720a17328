"""Methods that read features: what the last, linear layer of a frozen network receives."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback import check
from springback.streaming.stream_classifier import StreamClassifier


class HeadClassifier(StreamClassifier):
    """A `StreamClassifier` whose input is features: rows (T, n) that a frozen linear head receives.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the head, (K, n). A copy is kept, so that the head stays frozen.
    bias : NDArray[Any]
        Biases of the head, (K,).

    Examples
    --------
    A method that answers every frame as the frozen head does:

    >>> class Frozen(HeadClassifier):
    ...     def _init(self):
    ...         return ()
    ...
    ...     def _run(self, state, rows, gaps):
    ...         return self._answers(rows @ self.weight.T + self.bias)
    >>> Frozen(np.eye(2), np.zeros(2)).step([1.0, 1.0])
    array([0.5, 0.5])
    """

    dtype = np.float32

    def __init__(self, weight: NDArray[Any], bias: NDArray[Any]) -> None:
        self.weight = np.array(weight, np.float32, order="C")
        check.array("weight", self.weight, shape=(None, None), dtype=np.float32)
        self.bias = np.array(bias, np.float32)
        check.array("bias", self.bias, shape=(len(self.weight),), dtype=np.float32)
        super().__init__(*self.weight.shape)

    @staticmethod
    def _answers(logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probabilities; NaN where logits are not finite, which whoever follows the frames refuses."""
        return np.asarray(softmax(np.asarray(logits, np.float64), axis=1))
