"""What a frame gives before any memory is asked, and the precision in which memory is kept."""

import math
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from torch.nn.functional import linear

import torch
from springback.heads.settings import Settings
from springback.streaming.row_scaling import LARGEST, SMALLEST
from torch import Tensor


class Sensed(NamedTuple):
    """The part that does not depend on the past.

    Parameters
    ----------
    rest : Tensor
        Resting output, (..., K).
    direction : Tensor
        What is remembered: the input minus the centre, of unit length if the settings say so, (..., n). If springs
        have a constant component, it comes last, (..., n + 1), or alone, (..., 1), if it has all of the share.
    length : Tensor
        Of the input minus the centre, (..., 1).
    """

    rest: Tensor
    direction: Tensor
    length: Tensor


def state_dtype(dtype: torch.dtype) -> torch.dtype:
    """float64 for float64, float32 for everything else: half precision is too coarse for short-term sums."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """Inside, `torch.autocast` is off on the device of `x`; nothing happens if it is off already.

    Examples
    --------
    >>> with torch.autocast("cpu"), without_autocast(torch.ones(1)):
    ...     (torch.eye(2) @ torch.eye(2)).dtype
    torch.float32
    """
    device = x.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def moderating(x: Tensor) -> Tensor:
    """By what to divide rows (..., n) so that their squares neither overflow nor underflow, (..., 1); mostly 1.

    Examples
    --------
    >>> moderating(torch.tensor([[3.0, 4.0], [3e30, -4e30]]))
    tensor([[1.0000e+00],
            [4.0000e+30]])
    """
    largest = x.abs().amax(dim=-1, keepdim=True)
    strange = (largest > LARGEST) | ((largest < SMALLEST) & (largest > 0))
    return torch.where(strange, largest, 1.0)


def sense(
    settings: Settings,
    weight: Tensor,
    bias: Tensor | None,
    x: Tensor,
    dtype: torch.dtype,
    centre: Tensor | None = None,
) -> Sensed:
    """The part of a frame's arithmetic that needs no state, for any number of frames (..., n) at once.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> sense(Springs(), torch.eye(2), None, torch.tensor([[3.0, 4.0]]), torch.float32).direction
    tensor([[0.6000, 0.8000]])
    """
    rest = linear(x, weight, bias)
    with torch.no_grad(), without_autocast(x):
        wide = x.to(dtype)
        if centre is not None and settings.centred:
            wide = wide - centre.to(dtype)
        by = moderating(wide)
        scaled = wide / by
        part = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
        length = part * by
        if settings.unit_inputs:
            direction = (scaled / part).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        else:
            direction = torch.where(length.isfinite(), wide, 0.0)
        if settings.constant > 0:
            of_features, of_classes = math.sqrt(1 - settings.constant), math.sqrt(settings.constant)
            classes = of_classes * length.isfinite().to(dtype)
            direction = classes if of_features == 0 else torch.cat([of_features * direction, classes], dim=-1)
        return Sensed(rest, direction, length)
