"""The heads in plain NumPy, frame by frame: slow, and as the equations are written. One file for each memory.

The compiled head and the PyTorch layer are tested against these lines.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.heads.reference.shown import Shown, gate_of
from springback.heads.scale import Scale
from springback.heads.settings import Settings


def follow(
    settings: Settings,
    weight: NDArray[Any],
    bias: NDArray[Any],
    rows: NDArray[Any],
    *,
    gaps: NDArray[Any] | None = None,
    centre: NDArray[Any] | None = None,
    scale: Scale | None = None,
) -> NDArray[np.float64]:
    """Class probabilities (T, K) of a stream of features (T, n) that begins at rest.

    Parameters
    ----------
    gaps : NDArray[Any] | None
        Time since the frame before, (T,); None: 1 everywhere.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> follow(Springs(pull=0.0), np.eye(2), np.zeros(2), np.ones((1, 2)))
    array([[0.5, 0.5]])
    """
    rows, weight, bias = (np.asarray(one, np.float64) for one in (rows, weight, bias))
    gaps = np.ones(len(rows)) if gaps is None else gaps
    logits = rows @ weight.T + bias
    centred = rows - (np.asarray(centre, np.float64) if centre is not None and settings.centred else 0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    units = centred / np.where(lengths > 0, lengths, 1)
    frames = settings.frames_of(gaps)
    gate = gate_of(logits.argmax(axis=1), lengths[:, 0] > 0, frames, logits.shape[1], settings.continuity)
    inputs = units if settings.unit_inputs else centred
    shown = Shown(weight, bias, logits, units, inputs, gaps, scale, *gate)
    answers: NDArray[np.float64] = settings.form(__name__).follow(settings, shown)
    return answers
