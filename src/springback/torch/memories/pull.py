"""What all springs share in torch: F adds to the output, and the input pulls it (Algorithm 1)."""

from typing import NamedTuple

import torch
from springback.heads.memories.centroids import CentroidSprings
from springback.heads.memories.memory import Gate, State
from springback.heads.memories.springs import LayerSprings
from springback.torch.memories import gate as gates
from springback.torch.memories.frame import Sensed, moderating
from springback.torch.memories.posterior import infer, prior_of
from torch import Tensor

AnySprings = LayerSprings | CentroidSprings

FLUSH_BELOW = 1e-30
"""Values that decay for a long time become denormal numbers, which make reading many times slower."""


class SpringReading(NamedTuple):
    """One frame as the current state reads it, before it pulls.

    Parameters
    ----------
    output : Tensor
        In the dtype of the input, (B, K).
    activation : Tensor
        The same in the dtype of the state, without gradients.
    prior : Tensor | None
        What was expected before this frame, (K,) or (B, K); None if nothing needs it.
    seen : Tensor | None
        Which streams show something finite, (B, 1); None: not needed.
    novel : Tensor | None
        Which streams show none of the classes, (B, 1); None: novelty is not used.
    direction : Tensor
        What pulls, (B, n), or (B, n + 1) with a constant component.
    gate : Gate | None
        What the gate remembers after this frame; None: it does not move.
    measured : tuple[Tensor, Tensor] | None
        `seen` and `direction` of the state after this frame; None: nothing is measured.
    """

    output: Tensor
    activation: Tensor
    prior: Tensor | None
    seen: Tensor | None
    novel: Tensor | None
    direction: Tensor
    gate: Gate | None = None
    measured: tuple[Tensor, Tensor] | None = None


def read_added(
    springs: LayerSprings, weight: Tensor, bias: Tensor | None, state: State, sensed: Sensed, added: Tensor
) -> SpringReading:
    """The reading of a frame to whose logits the relaxed F adds this, (B, K); without novelty."""
    with torch.no_grad():
        prior = seen = None
        if springs.beta is not None:
            at_rest = prior_of(weight, bias, added.dtype)
            prior, seen = expected(springs, at_rest, state), is_seen(sensed)
            added = added + (prior / expected(springs, at_rest, None)).log()
        elif springs.posterior_rule != "softmax":
            prior = prior_of(weight, bias, added.dtype)
        gate = Gate(state.answered, state.shares, state.agreement)
        gate, trust = gates.judge(gate, sensed.rest, is_seen(sensed), springs.continuity)
        activation = sensed.rest + added
    output = sensed.rest + trust * added
    return SpringReading(output.to(sensed.rest.dtype), activation, prior, seen, None, sensed.direction, gate)


def is_seen(sensed: Sensed) -> Tensor:
    """Which streams show something finite, (B, 1)."""
    return (sensed.length > 0) & sensed.length.isfinite()


def expected(springs: AnySprings, prior: Tensor, state: State | None) -> Tensor:
    """What is expected of each unit before the next frame, Eq. S25: `(sum_i Q_i f + P beta) / (sum_i f + beta)`.

    Parameters
    ----------
    prior : Tensor
        P at rest, (K,); state None: without a past.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> from springback.torch.algorithm import init
    >>> expected(Springs(beta=1.0), torch.tensor([0.5, 0.5]), init(Springs(), torch.eye(2), 1))
    tensor([[0.5000, 0.5000]])
    """
    if springs.beta is None:
        return prior
    if state is None:
        return prior * springs.beta / springs.beta
    seen = state.responsibility * springs.decay + prior * springs.beta
    found: Tensor = seen / (state.total * springs.decay + springs.beta)
    return found


def similarity(springs: AnySprings, weight: Tensor, matrix: Tensor, sensed: Sensed) -> Tensor:
    """The cosine between the input and every row of G after F, (B, K, n), relaxes, (B, K); 0 where either is all zero.

    G = W + F for centroids. A layer whose F is read with unit inputs computes W x + F x / |x|, so its G is |x| W + F.
    """
    unit, length = sensed.direction, sensed.length
    resting = weight.detach().to(unit.dtype)
    if not springs.unit_inputs:
        unit = (unit / length).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    elif springs.likelihood == "layer":
        resting = length.unsqueeze(-1) * resting
    efficacy = torch.add(resting, matrix, alpha=springs.decay)
    dots = torch.bmm(unit.unsqueeze(1), efficacy.transpose(1, 2)).squeeze(1)
    by = moderating(efficacy)
    lengths: Tensor = torch.linalg.vector_norm(efficacy / by, dim=-1)
    return (dots / by.squeeze(-1) / lengths).nan_to_num(nan=0.0).clamp(-1, 1)


def pulling(
    springs: AnySprings, weight: Tensor, bias: Tensor | None, state: State, reading: SpringReading
) -> tuple[Tensor, Tensor]:
    """The posterior of a frame, and how strongly it pulls each class; moves the sums and the gate of the state."""
    posterior, answers = infer(springs, reading.activation, reading.prior, reading.seen)
    strength = posterior if answers is None else torch.where(answers, posterior, 0.0)
    if reading.novel is not None:
        strength = torch.where(reading.novel, 0.0, strength)
    if springs.beta is not None:
        state.responsibility.mul_(springs.decay).add_(strength)
        state.total.mul_(springs.decay).add_(strength.sum(dim=-1, keepdim=True))
        if springs.pull is None:
            strength = strength / (springs.beta * prior_of(weight, bias, strength.dtype))
    if reading.gate is not None:
        gates.move(state, reading.gate)
    return posterior, strength
