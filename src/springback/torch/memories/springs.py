"""Springs in torch: F is a matrix for each stream."""

import torch
from springback.heads.memories.centroids import CentroidSprings
from springback.heads.memories.springs import Springs, SpringState
from springback.heads.scale import Scale
from springback.torch.memories.frame import Sensed, without_autocast
from springback.torch.memories.pull import FLUSH_BELOW, SpringReading, pulling, read_added, similarity
from torch import Tensor


def read(
    springs: Springs,
    weight: Tensor,
    bias: Tensor | None,
    state: SpringState,
    sensed: Sensed,
    scale: Scale | None,  # noqa: ARG001 - springs have no units
) -> SpringReading:
    """Read one frame from the relaxed state; nothing moves."""
    with without_autocast(sensed.direction):
        with torch.no_grad():
            along = torch.bmm(sensed.direction.unsqueeze(1), state.short_term.transpose(1, 2)).squeeze(1)
        reading = read_added(springs, weight, bias, state, sensed, along * springs.decay)
        if springs.novelty_threshold is None:
            return reading
        with torch.no_grad():
            closest = similarity(springs, weight, state.short_term, sensed).amax(dim=-1, keepdim=True)
        return reading._replace(novel=closest < springs.novelty_threshold)


def move(
    springs: Springs | CentroidSprings, weight: Tensor, bias: Tensor | None, state: SpringState, reading: SpringReading
) -> Tensor:
    """Relax by one frame and let the frame pull, F <- decay F + pull theta Q x, in place; returns its posterior Q.

    Examples
    --------
    >>> from springback.torch.algorithm import init
    >>> springs, state, rows = Springs(pull=3.0), init(Springs(), torch.eye(2), 1), torch.tensor([[0.0, 1.0]])
    >>> move(springs, torch.eye(2), None, state, SpringReading(rows, 0 * rows, None, None, None, rows))
    tensor([[0.5000, 0.5000]])
    >>> state.short_term
    tensor([[[0.0000, 1.5000],
             [0.0000, 1.5000]]])
    """
    with torch.no_grad(), without_autocast(reading.direction):
        posterior, strength = pulling(springs, weight, bias, state, reading)
        if springs.pull != 0:
            matrix, c, gain = state.short_term, springs.weight_dependence, 1.0 if springs.pull is None else springs.pull
            if c == 1:
                outer = strength.unsqueeze(-1), reading.direction.unsqueeze(1)
                matrix.baddbmm_(*outer, beta=springs.decay, alpha=gain)
            else:
                theta = (c + (1 - c) * weight.detach().to(strength.dtype)).clamp_min(0)
                product = strength.unsqueeze(-1) * reading.direction.unsqueeze(1)
                matrix.mul_(springs.decay).addcmul_(product, theta, value=gain)
            torch.hardshrink(matrix, FLUSH_BELOW, out=matrix)
        return posterior
