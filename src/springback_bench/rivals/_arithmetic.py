"""Arithmetic that the compiled loops of several methods share."""

from typing import Any

import numpy as np

from springback.compiled import njit


@njit(cache=True, makes_arrays=True)
def unit(x: Any) -> Any:
    """A vector scaled to length one; zeros stay zeros."""
    return x / max(np.sqrt((x * x).sum()), x.dtype.type(1e-12))


@njit(cache=True, makes_arrays=True)
def unit_rows(rows: Any) -> Any:
    """Each row scaled to length one."""
    units = np.empty_like(rows)
    for k in range(rows.shape[0]):
        units[k] = unit(rows[k])
    return units


@njit(cache=True, makes_arrays=True)
def log_softmax(logits: Any) -> Any:
    """Logarithms of the probabilities (K,) of one frame."""
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


@njit(cache=True, makes_arrays=True)
def entropy_of(log_p: Any) -> Any:
    """Entropy in nats of probabilities given by their logarithms, (K,)."""
    return -(np.exp(log_p) * log_p).sum()
