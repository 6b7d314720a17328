"""Rows of real numbers, and how they are scaled: to length one, or so that squares and sums do not overflow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST, LARGEST = 2.0**-20, 2.0**20
"""A row whose largest entry is within these bounds is not scaled."""


def real_numbers(name: str, given: Any) -> NDArray[Any]:
    """What is given as an array of real numbers; anything else is refused.

    Examples
    --------
    >>> real_numbers("X", [[1.0, 2.0], [3.0]])
    Traceback (most recent call last):
    ValueError: X must hold rows of numbers, all of the same length; got rows that are not
    """
    try:
        array = np.asarray(given)
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold rows of numbers, all of the same length; got rows that are not") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers; got dtype {array.dtype}")
    return array


def largest_entries(rows: NDArray[Any]) -> NDArray[Any]:
    """The largest absolute value of each row (..., n); NaN or infinity if the row contains one.

    Examples
    --------
    >>> largest_entries(np.array([[1.0, -3.0], [0.0, 2.0]]))
    array([3., 2.])
    """
    return np.asarray(np.maximum(rows.max(axis=-1, initial=0), -rows.min(axis=-1, initial=0)))


def moderate(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows (..., n), each multiplied by a power of two if its largest entry is out of range.

    The direction of a row does not change, except for entries that are smaller than the row's largest by more than the
    dtype can represent. If every row is in range, the given array itself is returned.

    Examples
    --------
    >>> moderate(np.array([[3e300, 4e300], [3.0, 4.0], [0.0, 5e-324]])).round(2)
    array([[0.56, 0.75],
           [3.  , 4.  ],
           [0.  , 0.5 ]])
    """
    largest = largest_entries(rows)
    strange = (largest > 0) & ((largest < SMALLEST) | (largest > LARGEST))
    if not strange.any():
        return rows
    _, exponent = np.frexp(largest[strange])
    scaled = rows.copy()
    scaled[strange] = np.ldexp(scaled[strange], -exponent[..., None])
    return scaled


def unit_rows(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Rows scaled to length one; a row of zeros stays.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
