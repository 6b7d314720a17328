"""Numbers with one byte each, which keeps shipped models and the states of many streams small."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check

LEVELS = 255
LARGEST = 1e6
"""The largest low or step that is accepted, far above any weight of a trained model."""


class Codes(NamedTuple):
    """Rows of numbers as bytes: `value = low + step * code`, with a low and a step for each row.

    Parameters
    ----------
    code : NDArray[np.uint8]
        Uint8, the shape of the numbers.
    low : NDArray[np.float32]
        Float32 (rows,).
    step : NDArray[np.float32]
        Float32 (rows,).
    """

    code: NDArray[np.uint8]
    low: NDArray[np.float32]
    step: NDArray[np.float32]


def encode(values: NDArray[Any]) -> Codes:
    """The nearest of 256 evenly spaced numbers between the smallest and the largest of each row (rows, ...).

    Examples
    --------
    >>> encode(np.array([[0.0, 0.5, 1.0]])).code
    array([[  0, 128, 255]], dtype=uint8)
    """
    flat = np.asarray(values, np.float64).reshape(len(values), -1)
    low = flat.min(axis=1)
    step = (flat.max(axis=1) - low) / LEVELS
    code = np.rint((flat - low[:, None]) / np.where(step > 0, step, 1.0)[:, None])
    return Codes(code.astype(np.uint8).reshape(values.shape), low.astype(np.float32), step.astype(np.float32))


def decode(codes: Codes) -> NDArray[np.float32]:
    """The decoded numbers, each within half a step of the original.

    Examples
    --------
    >>> decode(encode(np.array([[0.0, 0.25, 1.0]], np.float32))).round(2)
    array([[0.  , 0.25, 1.  ]], dtype=float32)
    """
    check.require(codes.code.ndim > 0 and codes.code.size > 0, "codes", "have rows", codes.code.shape)
    rows = len(codes.code)
    check.array("codes", codes.code, shape=(None,) * codes.code.ndim, dtype=np.uint8)
    for name, numbers in (("low", codes.low), ("step", codes.step)):
        most = float(abs(check.array(name, numbers, shape=(rows,), dtype=np.float32)).max())
        check.require(most <= LARGEST, name, f"be at most {LARGEST:g} in size", most)
    flat = codes.code.reshape(rows, -1)
    return np.asarray(codes.low[:, None] + codes.step[:, None] * flat, np.float32).reshape(codes.code.shape)
