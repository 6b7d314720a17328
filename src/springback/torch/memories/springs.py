"""Springs in torch: F adds to the output, and the input pulls it (Algorithm 1)."""

import math
from typing import NamedTuple

import torch
from springback.heads.memory import Gate, WindowState
from springback.heads.scale import FRAMES_OF_SCALE, FRAMES_UNTIL_SURE, SMALLEST_DISTANCE, Scale
from springback.heads.springs import AnySprings, CentroidSprings, Springs, WindowSprings
from springback.torch.memories import gate as gates
from springback.torch.memories import short_term as forms
from springback.torch.memories.frame import Sensed, moderating, without_autocast
from springback.torch.memories.posterior import infer, linear_bias, prior_of
from springback.torch.memories.short_term import PulledState
from torch import Tensor


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


def read(
    springs: AnySprings,
    weight: Tensor,
    bias: Tensor | None,
    state: PulledState,
    sensed: Sensed,
    scale: Scale | None = None,
) -> SpringReading:
    """Read one frame from the relaxed state; nothing moves."""
    with torch.no_grad(), without_autocast(sensed.direction):
        if isinstance(springs, CentroidSprings):
            return _read_centroids(springs, weight, bias, state, sensed)
        measured = None
        if isinstance(springs, WindowSprings) and springs.tuning is not None and isinstance(state, WindowState):
            added, measured = _read_tuned(springs, springs.tuning, state, sensed, scale)
        else:
            added = forms.read(state, sensed.direction) * springs.decay
        prior = seen = novel = None
        if springs.beta is not None:
            at_rest = prior_of(weight, bias, added.dtype)
            prior, seen = expected(springs, at_rest, state), _is_seen(sensed)
            added = added + (prior / expected(springs, at_rest, None)).log()
        elif springs.posterior_rule != "softmax":
            prior = prior_of(weight, bias, added.dtype)
        if isinstance(springs, Springs) and springs.novelty_threshold is not None:
            novel = similarity(springs, weight, state, sensed).amax(dim=-1, keepdim=True) < springs.novelty_threshold
        gate = Gate(state.answered, state.shares, state.agreement)
        gate, trust = gates.judge(gate, sensed.rest, _is_seen(sensed), springs.continuity)
        activation = sensed.rest + added
    output = sensed.rest + trust * added
    return SpringReading(output.to(sensed.rest.dtype), activation, prior, seen, novel, sensed.direction, gate, measured)


def _read_tuned(
    springs: WindowSprings, tuning: float, state: WindowState, sensed: Sensed, scale: Scale | None
) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """What F adds if similarity is a tuning curve, (B, K), and `seen` and `direction` if they are measured."""
    m, measured = springs.constant, None
    if m == 1 or tuning == 0:
        return forms.read(state, sensed.direction, torch.ones_like) * springs.decay, None
    distance: Tensor | float
    if scale is None:
        finite = sensed.length.isfinite()
        unit = sensed.direction[:, : state.direction.shape[1]] / math.sqrt(1 - m)
        seen = state.seen + finite
        mean = state.direction + (unit - state.direction) / (seen + FRAMES_UNTIL_SURE).clamp_max(FRAMES_OF_SCALE)
        measured = seen, torch.where(finite, mean, state.direction)
        apart = 1 - measured[1].square().sum(dim=-1, keepdim=True)
        distance = apart.clamp_min(SMALLEST_DISTANCE).unsqueeze(-1)
    else:
        distance = scale.distance

    def tune(overlap: Tensor) -> Tensor:
        return (1 - m) * (tuning / distance * ((overlap - m) / (1 - m) - 1)).exp() + m

    return forms.read(state, sensed.direction, tune) * springs.decay, measured


def _read_centroids(
    springs: CentroidSprings, weight: Tensor, bias: Tensor | None, state: PulledState, sensed: Sensed
) -> SpringReading:
    u = similarity(springs, weight, state, sensed)
    prior = expected(springs, prior_of(weight, bias, u.dtype), state)
    if springs.likelihood == "exponential":
        activation = springs.kappa * u + prior.log()
    else:
        activation = (u + linear_bias(prior, springs.bias_rule, weight.shape[1])).clamp_min(0)
    novel = None if springs.novelty_threshold is None else u.amax(dim=-1, keepdim=True) < springs.novelty_threshold
    return SpringReading(activation.to(sensed.rest.dtype), activation, prior, _is_seen(sensed), novel, sensed.direction)


def _is_seen(sensed: Sensed) -> Tensor:
    return (sensed.length > 0) & sensed.length.isfinite()


def expected(springs: AnySprings, prior: Tensor, state: PulledState | None) -> Tensor:
    """What is expected of each unit before the next frame, Eq. S25: `(sum_i Q_i f + P beta) / (sum_i f + beta)`.

    Parameters
    ----------
    prior : Tensor
        P at rest, (K,); state None: without a past.

    Examples
    --------
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


def similarity(springs: AnySprings, weight: Tensor, state: PulledState, sensed: Sensed) -> Tensor:
    """The cosine between the input and every row of the relaxed G, (B, K); 0 where either is all zero.

    G = W + F for centroids. A layer whose F is read with unit inputs computes W x + F x / |x|, so its G is |x| W + F.
    """
    unit, length = sensed.direction, sensed.length
    resting = weight.detach().to(unit.dtype)
    if not springs.unit_inputs:
        unit = (unit / length).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
    elif springs.likelihood == "layer":
        resting = length.unsqueeze(-1) * resting
    efficacy = torch.add(resting, forms.as_matrix(state), alpha=springs.decay)
    dots = torch.bmm(unit.unsqueeze(1), efficacy.transpose(1, 2)).squeeze(1)
    by = moderating(efficacy)
    lengths: Tensor = torch.linalg.vector_norm(efficacy / by, dim=-1)
    return (dots / by.squeeze(-1) / lengths).nan_to_num(nan=0.0).clamp(-1, 1)


def pull(
    springs: AnySprings, weight: Tensor, bias: Tensor | None, state: PulledState, reading: SpringReading
) -> Tensor:
    """Relax by one frame and let the frame pull, in place; returns the posterior of its activation, which pulled."""
    with torch.no_grad(), without_autocast(reading.direction):
        posterior, answers = infer(springs, reading.activation, reading.prior, reading.seen)
        strength = posterior if answers is None else torch.where(answers, posterior, 0.0)
        if reading.novel is not None:
            strength = torch.where(reading.novel, 0.0, strength)
        gain = springs.pull
        if springs.beta is not None:
            state.responsibility.mul_(springs.decay).add_(strength)
            state.total.mul_(springs.decay).add_(strength.sum(dim=-1, keepdim=True))
            if gain is None:
                strength = strength / (springs.beta * prior_of(weight, bias, strength.dtype))
        if gain != 0:
            c, theta = 1.0 if isinstance(springs, WindowSprings) else springs.weight_dependence, None
            if c != 1:
                theta = (c + (1 - c) * weight.detach().to(strength.dtype)).clamp_min(0)
            forms.pull(state, springs.decay, strength, reading.direction, theta, 1.0 if gain is None else gain)
        if reading.gate is not None:
            gates.move(state, reading.gate)
        if reading.measured is not None and isinstance(state, WindowState):
            state.seen.copy_(reading.measured[0])
            state.direction.copy_(reading.measured[1])
        return posterior
