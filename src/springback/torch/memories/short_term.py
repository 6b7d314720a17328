"""The short-term part F of many streams in torch: a matrix, or a window of the last inputs and how each pulled."""

from collections.abc import Callable

import torch
from springback.heads.memory import SpringState, WindowState
from torch import Tensor

_FLUSH_BELOW = 1e-30

PulledState = SpringState | WindowState


def read(state: PulledState, direction: Tensor, tune: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """F x of every stream, before relaxing: (B, n) -> (B, K).

    Parameters
    ----------
    tune : Callable[[Tensor], Tensor] | None
        What takes the place of the dot product with a remembered input, from the dot products (B, 1, D); it needs a
        window.

    Examples
    --------
    >>> from springback.heads import Springs, WindowSprings
    >>> from springback.torch.algorithm import init
    >>> read(init(WindowSprings(window=4), torch.eye(3), 2), torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if isinstance(state, SpringState):
        return torch.bmm(direction.unsqueeze(1), state.short_term.transpose(1, 2)).squeeze(1)
    overlap = torch.bmm(direction.unsqueeze(1), state.keys.transpose(1, 2))
    alike = overlap if tune is None else tune(overlap)
    return torch.bmm(alike * state.odds.unsqueeze(1), state.strengths).squeeze(1)


def pull(
    state: PulledState, decay: float, strength: Tensor, direction: Tensor, theta: Tensor | None, gain: float
) -> None:
    """F <- decay F + gain theta strength x^T, in place; strength (B, K), direction (B, n), theta (K, n).

    Examples
    --------
    >>> from springback.heads import Springs, WindowSprings
    >>> from springback.torch.algorithm import init
    >>> state = init(Springs(), torch.eye(2), 1)
    >>> pull(state, 0.5, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), None, 3.0)
    >>> state.short_term
    tensor([[[0., 3.],
             [0., 0.]]])
    """
    if isinstance(state, WindowState):
        state.odds.mul_(decay).scatter_(1, state.position, 1.0)
        for part, new in ((state.keys, direction), (state.strengths, strength * gain)):
            here = state.position.unsqueeze(-1).expand(-1, 1, part.shape[-1])
            part.scatter_(1, here, new.unsqueeze(1))
        state.position.add_(1).remainder_(state.odds.shape[1])
        return
    matrix = state.short_term
    if theta is None:
        matrix.baddbmm_(strength.unsqueeze(-1), direction.unsqueeze(1), beta=decay, alpha=gain)
    else:
        matrix.mul_(decay).addcmul_(strength.unsqueeze(-1) * direction.unsqueeze(1), theta, value=gain)
    # Values that decay for a long time become denormal numbers, which make reading many times slower.
    torch.hardshrink(matrix, _FLUSH_BELOW, out=matrix)


def as_matrix(state: PulledState) -> Tensor:
    """F of every stream, (B, K, n); the state's own memory if it is a matrix.

    Examples
    --------
    >>> from springback.heads import Springs, WindowSprings
    >>> from springback.torch.algorithm import init
    >>> as_matrix(init(WindowSprings(window=4), torch.eye(3), 2)).shape
    torch.Size([2, 3, 3])
    """
    if isinstance(state, SpringState):
        matrix: Tensor = state.short_term
        return matrix
    return torch.einsum("bd,bdk,bdn->bkn", state.odds, state.strengths, state.keys)
