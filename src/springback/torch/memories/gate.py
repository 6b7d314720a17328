"""The gate in torch: how far each stream trusts its memory; see `springback.heads.continuity`."""

from typing import Any

import torch
from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM
from springback.heads.memories.memory import Gate
from torch import Tensor


def judge(gate: Gate, logits: Tensor, seen: Tensor, continuity: float) -> tuple[Gate, Tensor | float]:
    """The gate after a frame with these resting logits (B, K), and how far memory counts, 0 ... 1, (B, 1).

    Where a frame was not `seen`, (B, 1), because it is all zero or not finite, only time passes.

    Examples
    --------
    >>> rest = Gate(torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 2), torch.zeros(1, 3))
    >>> gate, trust = judge(rest, torch.eye(2)[:1], torch.tensor([[True]]), 2.0)
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


def move(state: Any, gate: Gate) -> None:
    """Write what the gate remembers after a frame into a state that has its parts, in place."""
    for name, new in gate._asdict().items():
        getattr(state, name).copy_(new)
