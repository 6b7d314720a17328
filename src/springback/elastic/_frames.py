"""Conversion of frames to the form that the compiled loops need; unusable input is refused here."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import FrameError
from springback.elastic.params import Constants
from springback.streaming.channel_scaling import Channels
from springback.streaming.row_scaling import LARGEST, SMALLEST, largest_entries, moderate, real_numbers

_LONGEST = {"float32": 1e12, "float64": 1e100}
"""Inputs that pull with their own length must have their largest entry below this, and above its inverse."""


def as_frames(constants: Constants, frames: Any, channels: Channels | None = None) -> NDArray[Any]:
    """Frames as the compiled loops need them: (T, n), contiguous, of the model's dtype, finite, of moderate length.

    Only the direction of a frame matters (unless `unit_inputs` is False), so one that is nearly silent or huge is
    multiplied by a power of two, which changes nothing else. Raw channels are scaled first if `channels` are given.
    """
    given = _real_rows("frames", frames)
    wanted = constants.by_feature.shape[0]
    check.require(given.ndim == 2 and given.shape[1] == wanted, "frames", f"have shape (any, {wanted})", given.shape)
    return _within_range(constants, "frames", given, channels)


def as_frame(constants: Constants, x: Any, channels: Channels | None = None) -> NDArray[Any]:
    """One frame x (n,) as `as_frames` gives it, (1, n)."""
    given = _real_rows("x", x)
    wanted = constants.by_feature.shape[0]
    check.require(given.shape == (1, wanted), "x", f"be one frame of shape ({wanted},)", np.shape(x))
    return _within_range(constants, "x", given, channels)


def bounds_of_frames(constants: Constants) -> tuple[float, float]:
    """A frame whose largest absolute value is within these bounds is neither scaled nor refused."""
    if constants.unit_inputs:
        return SMALLEST, LARGEST
    most = _LONGEST[constants.by_feature.dtype.name]
    return 1 / most, most


def _real_rows(name: str, frames: Any) -> NDArray[Any]:
    given = np.atleast_2d(real_numbers(name, frames))
    return given if given.dtype in (np.float32, np.float64) else given.astype(np.float64)


def _within_range(constants: Constants, name: str, rows: NDArray[Any], channels: Channels | None) -> NDArray[Any]:
    refuse_not_finite(name, rows)
    if channels is not None:
        rows = channels.scaled(rows)
        refuse_not_finite(name, rows)
    dtype = constants.by_feature.dtype
    if constants.unit_inputs:
        rows = moderate(rows)
    else:
        _refuse_extreme_lengths(name, rows, *bounds_of_frames(constants))
    return np.ascontiguousarray(rows, dtype)


def refuse_not_finite(name: str, rows: NDArray[Any]) -> None:
    """Refuse rows with NaN or infinity; the message names the first of them."""
    finite = np.isfinite(largest_entries(rows))
    if not finite.all():
        first = int(np.flatnonzero(~finite)[0])
        what = "NaN" if np.isnan(rows[first]).any() else "infinity (inf)"
        raise ValueError(
            f"{name} must be finite everywhere; got {what} in row {first}: leave the row out and give times, or put "
            "zeros in its place, which only let time pass"
        )


def _refuse_extreme_lengths(name: str, rows: NDArray[Any], least: float, most: float) -> None:
    largest = largest_entries(rows)
    extreme = (largest > most) | ((largest > 0) & (largest < least))
    if extreme.any():
        raise FrameError(
            f"{name} must have a largest entry within {least:g} ... {most:g} if unit_inputs is False; got "
            f"{float(largest[extreme][0]):g}: scale the data, or leave unit_inputs at True"
        )
