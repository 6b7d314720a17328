"""The gate in torch: how far each stream trusts its memory; see `springback.heads.continuity`."""

from typing import NamedTuple

import torch
from torch import Tensor

from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM


class Gate(NamedTuple):
    """What the gate remembers of the resting answers; B streams, K classes. All of it is 0 at rest.

    Parameters
    ----------
    answered : Tensor
        The last answer, counted from 1, (B, 1).
    shares : Tensor
        Running share of each class among the answers, (B, K).
    agreement : Tensor
        The number of frames and the sums S and V, all with forgetting, (B, 3).
    """

    answered: Tensor
    shares: Tensor
    agreement: Tensor


def at_rest(n_streams: int, weight: Tensor, dtype: torch.dtype) -> Gate:
    """A gate without a past, on the device of `weight` (K, n).

    Examples
    --------
    >>> at_rest(2, torch.eye(3), torch.float32).shares.shape
    torch.Size([2, 3])
    """
    answered = torch.zeros((n_streams, 1), dtype=torch.int64, device=weight.device)
    sums = (torch.zeros((n_streams, one), dtype=dtype, device=weight.device) for one in (len(weight), 3))
    return Gate(answered, *sums)


def judge(gate: Gate, logits: Tensor, seen: Tensor, continuity: float) -> tuple[Gate, Tensor | float]:
    """The gate after a frame with these resting logits (B, K), and how far memory counts, 0 ... 1, (B, 1).

    Where a frame was not `seen`, (B, 1), because it is all zero or not finite, only time passes.

    Examples
    --------
    >>> gate, trust = judge(at_rest(1, torch.eye(2), torch.float32), torch.eye(2)[:1], torch.tensor([[True]]), 2.0)
    >>> gate.answered, trust
    (tensor([[1]]), tensor([[1.]]))
    """
    if continuity == 0:
        return gate, 1.0
    answer = logits.argmax(dim=-1, keepdim=True)
    beyond = (gate.answered == answer + 1).to(gate.shares.dtype) - gate.shares.gather(1, answer)
    beyond = beyond * gate.agreement[:, :1].clamp_max(1)
    told = torch.cat([torch.ones_like(beyond), beyond, beyond.square()], dim=-1)
    agreement = torch.where(seen, told, 0.0).add(gate.agreement, alpha=FORGETTING)
    frames = agreement[:, :1]
    shares = (gate.shares - gate.shares / frames).scatter_add(1, answer, 1 / frames)
    answered, shares = torch.where(seen, answer + 1, gate.answered), torch.where(seen, shares, gate.shares)
    gate = Gate(answered, shares, agreement)
    errors = (gate.agreement[:, 1:2] + PRIOR_SUM) * (gate.agreement[:, 2:] + PRIOR_SQUARES).rsqrt()
    return gate, (errors / continuity - 1).clamp(0, 1)


def move(state: Gate, gate: Gate) -> None:
    """Write what the gate remembers after a frame into the state, in place.

    Examples
    --------
    >>> move(at_rest(1, torch.eye(2), torch.float32), at_rest(1, torch.eye(2), torch.float32))
    """
    for part, new in zip(state, gate, strict=True):
        part.copy_(new)
