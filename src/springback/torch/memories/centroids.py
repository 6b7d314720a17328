"""Centroids in torch (Sections S3 and S4): the output is that of W + F, which inputs pull as they pull springs."""

import torch
from springback.heads.memories.centroids import CentroidSprings
from springback.heads.memories.springs import SpringState
from springback.heads.scale import Scale
from springback.torch.memories.frame import Sensed, without_autocast
from springback.torch.memories.posterior import linear_bias, prior_of
from springback.torch.memories.pull import SpringReading, expected, is_seen, similarity
from springback.torch.memories.springs import move
from torch import Tensor

__all__ = ["move", "read"]


def read(
    springs: CentroidSprings,
    weight: Tensor,
    bias: Tensor | None,
    state: SpringState,
    sensed: Sensed,
    scale: Scale | None,  # noqa: ARG001 - centroids have no units
) -> SpringReading:
    """Read one frame from the relaxed state; nothing moves."""
    with torch.no_grad(), without_autocast(sensed.direction):
        u = similarity(springs, weight, state.short_term, sensed)
        prior = expected(springs, prior_of(weight, bias, u.dtype), state)
        if springs.likelihood == "exponential":
            activation = springs.kappa * u + prior.log()
        else:
            activation = (u + linear_bias(prior, springs.bias_rule, weight.shape[1])).clamp_min(0)
        novel = None if springs.novelty_threshold is None else u.amax(dim=-1, keepdim=True) < springs.novelty_threshold
        output = activation.to(sensed.rest.dtype)
        return SpringReading(output, activation, prior, is_seen(sensed), novel, sensed.direction)
