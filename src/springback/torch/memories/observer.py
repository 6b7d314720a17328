"""The exact observer in torch (Theorem S2.1): each stream remembers its last frames and what it thought of them."""

import math
from typing import Any, NamedTuple

import torch
from springback.heads.memories.memory import Gate
from springback.heads.memories.observer import Observer, ObserverState
from springback.heads.scale import (
    FRAMES_OF_SCALE,
    FRAMES_UNTIL_SURE,
    LARGEST_FALL,
    LARGEST_SPREAD,
    LARGEST_STEP,
    SMALLEST_DISTANCE,
    SMALLEST_SPREAD,
    Scale,
)
from springback.torch.memories import gate as gates
from springback.torch.memories.frame import Sensed, without_autocast
from torch import Tensor

_FLUSH_BELOW = 1e-30
_LARGEST_LOG = 80.0
"""Exponents are cut here, where single precision would overflow."""
_LARGEST_LOGIT = 1e30
"""Logits this far below the largest have the probability 0 in any precision."""


class ObserverReading(NamedTuple):
    """One frame as the current state reads it, before it is remembered.

    Parameters
    ----------
    output : Tensor
        The logarithm of the answer, at the temperature of the network, in the dtype of the input, (B, K).
    posterior : Tensor
        The posterior that is remembered, in the dtype of the state, without gradients, (B, K).
    key : Tensor
        What the head now believes the object looks like, (B, n).
    finite : Tensor
        In which streams the frame has only finite numbers, (B, 1); others remember nothing of it.
    seen, spread, direction : Tensor
        Those of the state after this frame.
    gate : Gate
        What the gate remembers after this frame.
    novelty : Tensor
        The probability that the frame shows something new, without gradients, (B,).
    """

    output: Tensor
    posterior: Tensor
    key: Tensor
    finite: Tensor
    seen: Tensor
    spread: Tensor
    direction: Tensor
    gate: Gate
    novelty: Tensor


def read(
    observer: Observer,
    weight: Tensor,  # noqa: ARG001 - the output at rest is enough
    bias: Tensor | None,  # noqa: ARG001
    state: ObserverState,
    sensed: Sensed,
    scale: Scale | None,
) -> ObserverReading:
    """Read one frame from the faded state; nothing moves. Autograd takes what is remembered for constant.

    Examples
    --------
    >>> sensed = Sensed(torch.tensor([[3.0, 3.0]]), torch.tensor([[1.0, 0.0]]), torch.ones(1, 1))
    >>> from springback.torch.algorithm import init
    >>> read(Observer(), torch.eye(2), None, init(Observer(), torch.eye(2), 1), sensed, None).output.exp()
    tensor([[0.5000, 0.5000]])
    """
    return observe(observer, state, sensed, scale, None)[0]


def observe(
    observer: Observer, state: Any, sensed: Sensed, scale: Scale | None, slow: Any
) -> tuple[ObserverReading, Tensor]:
    """The reading, and how much the frame is to teach, (B, 1), if `slow` has means of the classes."""
    unit = sensed.direction
    with without_autocast(unit):
        logits = sensed.rest.to(unit.dtype)
        with torch.no_grad():
            finite = sensed.length.isfinite() & logits.isfinite().all(dim=-1, keepdim=True)
            visible = finite & (sensed.length > 0)
            seen, spread, direction = state.seen, state.spread, state.direction
            reach: Tensor | float
            apart: Tensor | float
            if scale is None:
                seen, spread, direction = _measured(state, logits, unit, finite)
                reach = torch.where(spread > SMALLEST_SPREAD, spread, torch.inf)
                apart = (1 - direction.square().sum(dim=-1, keepdim=True)).clamp_min(SMALLEST_DISTANCE)
            else:
                reach, apart = scale.spread, scale.distance
            near = state.odds * observer.decay
            if observer.kappa > 0:
                alike = torch.bmm(state.keys, unit.unsqueeze(-1)).squeeze(-1)
                near = near * (observer.kappa / apart * (alike - 1)).exp()
            near = torch.hardshrink(near, _FLUSH_BELOW)
            log_same = torch.bmm(near.unsqueeze(1), state.posteriors).squeeze(1).log()
        below = logits - logits.detach().amax(dim=-1, keepdim=True)
        scaled = (below * (observer.sharpness / reach)).clamp_min(-_LARGEST_LOGIT)
        log_frozen = torch.log_softmax(scaled, dim=-1)
        if slow is not None:
            with torch.no_grad():
                at_rest, added = log_frozen.exp(), slow.read(logits, unit, visible, reach, apart)
            log_frozen = torch.log_softmax(scaled + observer.sharpness * added, dim=-1)
        log_evidence = observer.evidence * (math.log(logits.shape[-1]) + log_frozen)
        joint = torch.logaddexp(math.log(observer.novelty_odds) + log_frozen, log_same + log_evidence)
        answer = torch.log_softmax(joint, dim=-1)
        posterior = answer.detach().exp()
        with torch.no_grad():
            gate = Gate(state.answered, state.shares, state.agreement)
            gate, trust = gates.judge(gate, logits, visible, observer.continuity)
            lesson = torch.zeros_like(sensed.length)
            if slow is not None:
                trust = trust * slow.trust
                slow.note(logits, posterior, log_frozen.exp(), visible, gate.agreement[:, :1])
                both = (at_rest * (trust * posterior + (1 - trust) * log_frozen.exp())).sum(dim=-1, keepdim=True)
                lesson = torch.where(visible, both.sqrt(), 0.0)
            total = joint.logsumexp(dim=-1, keepdim=True)
            key = _believed(observer, state, unit, near, log_evidence - total)
            novelty = (math.log(observer.novelty_odds) - total).exp().squeeze(-1)
        if isinstance(trust, Tensor):
            answer = torch.logaddexp(trust.log() + answer, (1 - trust).log() + log_frozen)
        output = torch.log_softmax(answer * _calming(observer, reach), dim=-1)
        if slow is not None:
            output = slow.calmed(output, logits, visible, gate.agreement[:, :1])
    looks = key, finite, seen, spread, direction, gate, novelty
    return ObserverReading(output.to(sensed.rest.dtype), posterior, *looks), lesson


def _calming(observer: Observer, reach: Tensor | float) -> Tensor | float:
    """What takes logarithms of posteriors to the temperature of the network, at which they are the answer."""
    if isinstance(reach, Tensor):
        return torch.where(reach.isfinite(), reach / observer.sharpness, 1.0)
    return reach / observer.sharpness


def _measured(state: ObserverState, logits: Tensor, unit: Tensor, finite: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Frames seen, spread of the logits and mean direction after this frame, in streams where it is finite."""
    seen = state.seen + finite
    reach = logits.amax(dim=-1, keepdim=True) - logits.amin(dim=-1, keepdim=True)
    reach = reach.clamp_max(LARGEST_SPREAD)
    began = torch.minimum(state.spread, LARGEST_FALL * reach).maximum(state.spread / LARGEST_FALL)
    spread = torch.where((seen <= FRAMES_UNTIL_SURE) & (reach > 0), began, state.spread)
    reach = torch.where(spread > 0, torch.minimum(reach, LARGEST_STEP * spread), reach)
    spread = spread + (reach - spread) / seen.clamp(1, FRAMES_OF_SCALE)
    direction = state.direction + (unit - state.direction) / (seen + FRAMES_UNTIL_SURE).clamp_max(FRAMES_OF_SCALE)
    return seen, torch.where(finite, spread, state.spread), torch.where(finite, direction, state.direction)


def _believed(observer: Observer, state: ObserverState, unit: Tensor, near: Tensor, log_share: Tensor) -> Tensor:
    """What the object looks like, (B, n): the frame, mixed with what was remembered of the same object.

    `log_share` is the logarithm of the evidence divided by the sum over all hypotheses, (B, K).
    """
    if observer.gain == 1:
        return unit
    share = log_share.clamp_max(_LARGEST_LOG).exp().unsqueeze(-1)
    same = near * torch.bmm(state.posteriors, share).squeeze(-1)
    expected = (1 - same.sum(dim=-1, keepdim=True)) * unit + torch.bmm(same.unsqueeze(1), state.keys).squeeze(1)
    key = (1 - observer.gain) * expected + observer.gain * unit
    length: Tensor = torch.linalg.vector_norm(key, dim=-1, keepdim=True)
    return key / torch.where(length > 0, length, 1.0)


def move(
    observer: Observer,
    weight: Tensor,  # noqa: ARG001
    bias: Tensor | None,  # noqa: ARG001
    state: Any,
    reading: ObserverReading,
) -> Tensor:
    """Fade by one frame and remember this one, in place; returns its posterior.

    Examples
    --------
    >>> sensed = Sensed(torch.tensor([[3.0, 3.0]]), torch.tensor([[1.0, 0.0]]), torch.ones(1, 1))
    >>> from springback.torch.algorithm import init
    >>> state = init(Observer(depth=3), torch.eye(2), 1)
    >>> move(Observer(), torch.eye(2), None, state, read(Observer(), torch.eye(2), None, state, sensed, None))
    tensor([[0.5000, 0.5000]])
    >>> state.odds
    tensor([[1., 0., 0.]])
    """
    with torch.no_grad():
        torch.hardshrink(state.odds.mul_(observer.decay), _FLUSH_BELOW, out=state.odds)
        for part, new in ((state.keys, reading.key), (state.posteriors, reading.posterior)):
            here = state.position.unsqueeze(-1).expand(-1, 1, part.shape[-1])
            old = part.gather(1, here)
            part.scatter_(1, here, torch.where(reading.finite.unsqueeze(-1), new.unsqueeze(1), old))
        old_odds = state.odds.gather(1, state.position)
        state.odds.scatter_(1, state.position, torch.where(reading.finite, 1.0, old_odds))
        state.position.add_(reading.finite).remainder_(state.odds.shape[1])
        state.seen.copy_(reading.seen)
        state.spread.copy_(reading.spread)
        state.direction.copy_(reading.direction)
        gates.move(state, reading.gate)
        return reading.posterior
