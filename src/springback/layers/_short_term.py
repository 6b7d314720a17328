"""The short-term part F of many streams in two forms: a matrix per stream, or the last few inputs and posteriors.

Both hold F as it was right after the last pull; it relaxes by one frame when it is read and pulled. Both are modified
in place.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from springback.layers import _gate

_FLUSH_BELOW = 1e-30


class MatrixState(NamedTuple):
    """F as a matrix; B streams, K units, n features.

    Parameters
    ----------
    short_term : Tensor
        F, (B, K, n); with a constant component in what pulls, (B, K, n + 1), the class memory last.
    responsibility : Tensor
        Sum of past posteriors with decay, (B, K); moves if `beta` is given.
    total : Tensor
        Sum of the decay over past inputs, (B, 1); moves if `beta` is given.
    answered, shares, agreement : Tensor
        A `Gate`.
    """

    short_term: Tensor
    responsibility: Tensor
    total: Tensor
    answered: Tensor
    shares: Tensor
    agreement: Tensor


class WindowState(NamedTuple):
    """F as the last D inputs and how strongly each pulled: F = sum_d weight_d strength_d x_d^T.

    Parameters
    ----------
    inputs : Tensor
        (B, D, n), or (B, D, n + 1) with a constant component.
    strengths : Tensor
        Pull times posterior, (B, D, K).
    weights : Tensor
        Decay since each was seen, (D,).
    position : Tensor
        Where the next one goes, (1,).
    responsibility, total : Tensor
        As in `MatrixState`.
    seen : Tensor
        Frames since rest, (B, 1); counted if the distance of unrelated frames is measured, as is the next.
    direction : Tensor
        Running mean of the directions of the features, (B, n).
    answered, shares, agreement : Tensor
        A `Gate`.
    """

    inputs: Tensor
    strengths: Tensor
    weights: Tensor
    position: Tensor
    responsibility: Tensor
    total: Tensor
    seen: Tensor
    direction: Tensor
    answered: Tensor
    shares: Tensor
    agreement: Tensor


SHARED_PARTS = ("weights", "position")
"""The parts of a `WindowState` that all streams share; of everything else, the first axis counts the streams."""

SpringState = MatrixState | WindowState


def at_rest(
    n_streams: int, weight: Tensor, window: int | None, dtype: torch.dtype, *, constant: bool = False
) -> SpringState:
    """A state without a past, on the device of `weight` (K, n); whether what pulls has a constant component.

    Examples
    --------
    >>> at_rest(2, torch.eye(3), None, torch.float32).short_term.shape
    torch.Size([2, 3, 3])
    """
    k, n = weight.shape[0], weight.shape[1] + constant

    def zeros(*shape: int) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=weight.device)

    sums, gate = (zeros(n_streams, k), zeros(n_streams, 1)), _gate.at_rest(n_streams, weight, dtype)
    if window is None:
        return MatrixState(zeros(n_streams, k, n), *sums, *gate)
    position = torch.zeros(1, dtype=torch.int64, device=weight.device)
    past = zeros(n_streams, window, n), zeros(n_streams, window, k), zeros(window)
    return WindowState(*past, position, *sums, zeros(n_streams, 1), zeros(n_streams, weight.shape[1]), *gate)


def read(state: SpringState, direction: Tensor, tune: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """F x of every stream, before relaxing: (B, n) -> (B, K).

    Parameters
    ----------
    tune : Callable[[Tensor], Tensor] | None
        What takes the place of the dot product with a remembered input, from the dot products (B, 1, D); it needs a
        window.

    Examples
    --------
    >>> read(at_rest(2, torch.eye(3), 4, torch.float32), torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if isinstance(state, MatrixState):
        return torch.bmm(direction.unsqueeze(1), state.short_term.transpose(1, 2)).squeeze(1)
    overlap = torch.bmm(direction.unsqueeze(1), state.inputs.transpose(1, 2))
    alike = overlap if tune is None else tune(overlap)
    return torch.bmm(alike * state.weights, state.strengths).squeeze(1)


def pull(
    state: SpringState, decay: float, strength: Tensor, direction: Tensor, theta: Tensor | None, gain: float
) -> None:
    """F <- decay F + gain theta strength x^T, in place; strength (B, K), direction (B, n), theta (K, n).

    Examples
    --------
    >>> state = at_rest(1, torch.eye(2), None, torch.float32)
    >>> pull(state, 0.5, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), None, 3.0)
    >>> state.short_term
    tensor([[[0., 3.],
             [0., 0.]]])
    """
    if isinstance(state, WindowState):
        state.weights.mul_(decay).index_fill_(0, state.position, 1.0)
        state.inputs.index_copy_(1, state.position, direction.unsqueeze(1))
        state.strengths.index_copy_(1, state.position, strength.unsqueeze(1) * gain)
        state.position.add_(1).remainder_(len(state.weights))
        return
    matrix = state.short_term
    if theta is None:
        matrix.baddbmm_(strength.unsqueeze(-1), direction.unsqueeze(1), beta=decay, alpha=gain)
    else:
        matrix.mul_(decay).addcmul_(strength.unsqueeze(-1) * direction.unsqueeze(1), theta, value=gain)
    # Values that decay for a long time become denormal numbers, which make reading many times slower.
    torch.hardshrink(matrix, _FLUSH_BELOW, out=matrix)


def as_matrix(state: SpringState) -> Tensor:
    """F of every stream, (B, K, n); the state's own memory if it is a matrix.

    Examples
    --------
    >>> as_matrix(at_rest(2, torch.eye(3), 4, torch.float32)).shape
    torch.Size([2, 3, 3])
    """
    if isinstance(state, MatrixState):
        return state.short_term
    return torch.einsum("d,bdk,bdn->bkn", state.weights, state.strengths, state.inputs)


def scale(state: SpringState, factor: Tensor) -> None:
    """Multiply F and the sums of every stream by its own factor (B,), in place.

    Examples
    --------
    >>> scale(state := at_rest(2, torch.eye(3), None, torch.float32), torch.zeros(2))
    """
    linear_in_f = state.short_term if isinstance(state, MatrixState) else state.strengths
    for part in (linear_in_f, state.responsibility, state.total):
        part.mul_(factor.to(part.dtype).reshape(-1, *[1] * (part.ndim - 1)))


def forget(state: SpringState, kept: Tensor) -> None:
    """Return the streams that are not kept, (B,), to rest, in place.

    Examples
    --------
    >>> forget(at_rest(2, torch.eye(3), None, torch.float32), torch.tensor([True, False]))
    """
    scale(state, kept)
    measured = (state.seen, state.direction) if isinstance(state, WindowState) else ()
    for part in (*measured, state.answered, state.shares, state.agreement):
        part.mul_(kept.to(part.dtype).unsqueeze(-1))
