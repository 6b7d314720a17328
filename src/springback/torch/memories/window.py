"""Springs with a window in torch: F is the last inputs and how strongly each pulled."""

import math

import torch
from springback.heads.memories.window import WindowSprings, WindowState
from springback.heads.scale import FRAMES_OF_SCALE, FRAMES_UNTIL_SURE, SMALLEST_DISTANCE, Scale
from springback.torch.memories.frame import Sensed, without_autocast
from springback.torch.memories.pull import SpringReading, pulling, read_added
from torch import Tensor


def read(
    springs: WindowSprings,
    weight: Tensor,
    bias: Tensor | None,
    state: WindowState,
    sensed: Sensed,
    scale: Scale | None,
) -> SpringReading:
    """Read one frame from the relaxed state; nothing moves."""
    with without_autocast(sensed.direction):
        with torch.no_grad():
            overlap = torch.bmm(sensed.direction.unsqueeze(1), state.keys.transpose(1, 2))
            alike, measured = _alike(springs, state, sensed, overlap, scale)
            added = torch.bmm(alike * state.odds.unsqueeze(1), state.strengths).squeeze(1)
        reading = read_added(springs, weight, bias, state, sensed, added * springs.decay)
        return reading._replace(measured=measured)


def _alike(
    springs: WindowSprings, state: WindowState, sensed: Sensed, overlap: Tensor, scale: Scale | None
) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """How much each remembered input resembles the frame, (B, 1, D); `seen` and `direction` if they are measured."""
    m, measured, tuning = springs.constant, None, springs.tuning
    if tuning is None:
        return overlap, None
    if m == 1 or tuning == 0:
        return torch.ones_like(overlap), None
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
    return (1 - m) * (tuning / distance * ((overlap - m) / (1 - m) - 1)).exp() + m, measured


def move(
    springs: WindowSprings, weight: Tensor, bias: Tensor | None, state: WindowState, reading: SpringReading
) -> Tensor:
    """Relax by one frame and remember how this one pulls, in place; returns its posterior."""
    with torch.no_grad(), without_autocast(reading.direction):
        posterior, strength = pulling(springs, weight, bias, state, reading)
        if springs.pull != 0:
            gain = 1.0 if springs.pull is None else springs.pull
            state.odds.mul_(springs.decay).scatter_(1, state.position, 1.0)
            for part, new in ((state.keys, reading.direction), (state.strengths, strength * gain)):
                here = state.position.unsqueeze(-1).expand(-1, 1, part.shape[-1])
                part.scatter_(1, here, new.unsqueeze(1))
            state.position.add_(1).remainder_(state.odds.shape[1])
        if reading.measured is not None:
            state.seen.copy_(reading.measured[0])
            state.direction.copy_(reading.measured[1])
        return posterior
