"""The elastic layer as pure functions of many streams at once: `init`, `step`, `track`, `relax`, `reset`.

    state = init(springs, weight, n_streams)
    state, response = step(springs, weight, bias, state, x)            # x (streams, n)
    state, response = track(springs, weight, bias, state, frames)      # frames (time, streams, n)

For each frame, in this order (Algorithm 1): F relaxes, the output and the posterior are computed from `G = W + F`, and
the input pulls, `F += pull * Q x`. The response to a frame is therefore the one *before* that frame has pulled. An
all-zero frame only lets time pass. So does a frame with NaN or infinity: its output is what the layer makes of it, and
other streams are not affected. Under `torch.autocast`, the resting output is computed as in a plain layer, and
everything about F stays in the precision of the state.

Autograd sees the resting layer and treats what F adds as a constant.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear

from springback import check
from springback.heads.springs import Springs
from springback.layers import _short_term as forms
from springback.layers._posterior import infer, linear_bias, prior_of
from springback.layers._short_term import MatrixState, State, WindowState

Streams = Tensor | list[int] | int
"""Some of the streams: an index, a list or tensor of indices, or a mask (B,)."""


_LARGEST_FACTOR = 1e30
"""A frame that comes early undoes part of the relaxation by one frame, but never overflows."""


class Response(NamedTuple):
    """Output and posterior Q of frames, (..., streams, K), before the pull of the same frame."""

    output: Tensor
    posterior: Tensor


class Sensed(NamedTuple):
    """The part that does not depend on the past: resting output (..., K), input that pulls (..., n), |x| (..., 1)."""

    rest: Tensor
    direction: Tensor
    length: Tensor


class Reading(NamedTuple):
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
        What pulls, (B, n).
    """

    output: Tensor
    activation: Tensor
    prior: Tensor | None
    seen: Tensor | None
    novel: Tensor | None
    direction: Tensor


def state_dtype(dtype: torch.dtype) -> torch.dtype:
    """float64 for float64, float32 for everything else: half precision is too coarse for short-term sums."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """Inside, `torch.autocast` is off on the device of `x`; nothing happens if it is off already.

    Examples
    --------
    >>> with torch.autocast("cpu"), without_autocast(torch.ones(1)):
    ...     (torch.eye(2) @ torch.eye(2)).dtype
    torch.float32
    """
    device = x.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def init(springs: Springs, weight: Tensor, n_streams: int) -> State:
    """A state at rest for `n_streams` independent streams of a layer with weights (K, n).

    Examples
    --------
    >>> init(Springs(), torch.eye(3), 2).short_term.shape
    torch.Size([2, 3, 3])
    """
    check.integer("n_streams", n_streams, low=1)
    with torch.inference_mode(False), torch.no_grad():
        return forms.at_rest(n_streams, weight, springs.window, state_dtype(weight.dtype))


def copy(state: State) -> State:
    """A copy of a state.

    Examples
    --------
    >>> copy(init(Springs(), torch.eye(3), 2)).total.shape
    torch.Size([2, 1])
    """
    parts = [part.detach().clone() for part in state]
    return MatrixState(*parts) if isinstance(state, MatrixState) else WindowState(*parts)


def sense(springs: Springs, weight: Tensor, bias: Tensor | None, x: Tensor, dtype: torch.dtype) -> Sensed:
    """The part of a frame's arithmetic that needs no state, for any number of frames (..., n) at once."""
    rest = linear(x, weight, bias if springs.likelihood == "layer" else None)
    with torch.no_grad(), without_autocast(x):
        wide = x.to(dtype)
        length = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)
        if not springs.unit_inputs:
            return Sensed(rest, torch.where(length.isfinite(), wide, 0.0), length)
        return Sensed(rest, (wide / length).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0), length)


def read(springs: Springs, weight: Tensor, bias: Tensor | None, state: State, sensed: Sensed) -> Reading:
    """Read one frame from the relaxed state; nothing moves."""
    with torch.no_grad(), without_autocast(sensed.direction):
        if springs.likelihood != "layer":
            return _read_centroids(springs, weight, bias, state, sensed)
        added = forms.read(state, sensed.direction) * springs.decay
        prior = seen = novel = None
        if springs.beta is not None:
            at_rest = prior_of(weight, bias, added.dtype)
            prior, seen = expected(springs, at_rest, state), _is_seen(sensed)
            added = added + (prior / expected(springs, at_rest, None)).log()
        elif springs.posterior_rule != "softmax":
            prior = prior_of(weight, bias, added.dtype)
        if springs.novelty is not None:
            novel = similarity(springs, weight, state, sensed).amax(dim=-1, keepdim=True) < springs.novelty
    activation = sensed.rest + added
    return Reading(activation.to(sensed.rest.dtype), activation.detach(), prior, seen, novel, sensed.direction)


def _read_centroids(springs: Springs, weight: Tensor, bias: Tensor | None, state: State, sensed: Sensed) -> Reading:
    u = similarity(springs, weight, state, sensed)
    prior = expected(springs, prior_of(weight, bias, u.dtype), state)
    if springs.likelihood == "exponential":
        activation = springs.kappa * u + prior.log()
    else:
        activation = (u + linear_bias(prior, springs.bias_rule, weight.shape[1])).clamp_min(0)
    novel = None if springs.novelty is None else u.amax(dim=-1, keepdim=True) < springs.novelty
    return Reading(activation.to(sensed.rest.dtype), activation, prior, _is_seen(sensed), novel, sensed.direction)


def _is_seen(sensed: Sensed) -> Tensor:
    return (sensed.length > 0) & sensed.length.isfinite()


def expected(springs: Springs, prior: Tensor, state: State | None) -> Tensor:
    """What is expected of each unit before the next frame, Eq. S25: `(sum_i Q_i f + P beta) / (sum_i f + beta)`.

    Parameters
    ----------
    prior : Tensor
        P at rest, (K,); state None: without a past.

    Examples
    --------
    >>> expected(Springs(beta=1.0), torch.tensor([0.5, 0.5]), init(Springs(), torch.eye(2), 1))
    tensor([[0.5000, 0.5000]])
    """
    if springs.beta is None:
        return prior
    if state is None:
        return prior * springs.beta / springs.beta
    seen = state.responsibility * springs.decay + prior * springs.beta
    return seen / (state.total * springs.decay + springs.beta)


def similarity(springs: Springs, weight: Tensor, state: State, sensed: Sensed) -> Tensor:
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
    lengths: Tensor = torch.linalg.vector_norm(efficacy, dim=-1)
    return (dots / lengths).nan_to_num(nan=0.0).clamp(-1, 1)


def pull(
    springs: Springs, weight: Tensor, bias: Tensor | None, state: State, reading: Reading, activation: Tensor
) -> Tensor:
    """Relax by one frame and let the frame pull, in place; returns the posterior of `activation`, which pulled."""
    with torch.no_grad(), without_autocast(reading.direction):
        posterior, answers = infer(springs, activation, reading.prior, reading.seen)
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
            c, theta = springs.weight_dependence, None
            if c != 1:
                theta = (c + (1 - c) * weight.detach().to(strength.dtype)).clamp_min(0)
            forms.pull(state, springs.decay, strength, reading.direction, theta, 1.0 if gain is None else gain)
        return posterior


def wait(springs: Springs, state: State, gap: float) -> None:
    """Prepare for a frame that comes `gap` frames after the last, in place; reading it relaxes by one of them.

    Examples
    --------
    >>> springs = Springs(memory=1.0)
    >>> state, _ = step(springs, torch.eye(2), None, init(springs, torch.eye(2), 1), torch.ones(1, 2))
    >>> before = short_term(state)
    >>> wait(springs, state, 2.0)
    >>> (short_term(state) / before).round(decimals=4)[0, 0]
    tensor([0.3679, 0.3679])
    """
    if gap != 1:
        forms.scale(state, torch.full_like(state.total[:, 0], min(springs.decay ** (gap - 1), _LARGEST_FACTOR)))


def track(
    springs: Springs,
    weight: Tensor,
    bias: Tensor | None,
    state: State,
    frames: Tensor,
    gaps: Sequence[float] | None = None,
    *,
    in_place: bool = False,
) -> tuple[State, Response]:
    """Follow frames (T, B, n) of B streams: the new state and the response; the given state does not change.

    weight (K, n) and bias (K,) or None are those of the resting layer.

    Parameters
    ----------
    gaps : Sequence[float] | None
        How many frames after the one before it each frame comes, (T,); 1 everywhere if not given.
    in_place : bool
        Move the given state itself instead of a copy, and return it: faster, for callers that own the state.

    Examples
    --------
    >>> weight, springs = 5 * torch.eye(2), Springs(pull=3.0, memory=2.0)
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]).unsqueeze(1)
    >>> _, response = track(springs, weight, None, init(springs, weight, 1), turning)
    >>> response.output.argmax(-1).flatten(), (turning @ weight).argmax(-1).flatten()
    (tensor([0, 0, 0, 0]), tensor([0, 0, 0, 1]))
    """
    state = state if in_place else copy(state)
    sensed = sense(springs, weight, bias, frames, state.total.dtype)
    outputs, posteriors = [], []
    for gap, rest, direction, length in zip(gaps or [1.0] * len(frames), *sensed, strict=True):
        wait(springs, state, gap)
        reading = read(springs, weight, bias, state, Sensed(rest, direction, length))
        posteriors.append(pull(springs, weight, bias, state, reading, reading.activation))
        outputs.append(reading.output)
    if not outputs:
        return state, Response(sensed.rest, sensed.rest.detach())
    return state, Response(torch.stack(outputs), torch.stack(posteriors))


def step(springs: Springs, weight: Tensor, bias: Tensor | None, state: State, x: Tensor) -> tuple[State, Response]:
    """One frame (B, n) of `track`.

    Examples
    --------
    >>> state = init(Springs(), torch.eye(2), 1)
    >>> state, response = step(Springs(), torch.eye(2), None, state, torch.ones(1, 2))
    >>> response.posterior
    tensor([[0.5000, 0.5000]])
    """
    state, response = track(springs, weight, bias, state, x.unsqueeze(0))
    return state, Response(response.output[0], response.posterior[0])


def relax(springs: Springs, state: State, elapsed: float, streams: Streams | None = None) -> State:
    """The state after `elapsed` frames of silence, of all streams or only of those given.

    Parameters
    ----------
    streams : Streams | None
        An index, a list or tensor of indices, or a mask (B,).

    Examples
    --------
    >>> state, _ = step(Springs(), torch.eye(2), None, init(Springs(), torch.eye(2), 2), torch.ones(2, 2))
    >>> short_term(relax(Springs(memory=1.0), state, elapsed=2.0, streams=0)).sum(dim=(1, 2))
    tensor([ 3.8279, 28.2843])
    """
    return _scaled(state, springs.decay ** check.real("elapsed", elapsed, low=0), streams)


def reset(state: State, streams: Streams | None = None) -> State:
    """The state with all streams, or only those given, back at rest.

    Examples
    --------
    >>> state, _ = step(Springs(), torch.eye(2), None, init(Springs(), torch.eye(2), 2), torch.ones(2, 2))
    >>> short_term(reset(state, streams=[0])).sum(dim=(1, 2))
    tensor([ 0.0000, 28.2843])
    """
    return _scaled(state, 0.0, streams)


def _scaled(state: State, left: float, streams: Streams | None) -> State:
    """A copy of the state in which F of the given streams is multiplied by `left`."""
    state = copy(state)
    n_streams = len(state.total)
    factor = torch.ones(n_streams, dtype=state.total.dtype, device=state.total.device)
    try:
        factor[slice(None) if streams is None else streams] = left
    except IndexError:
        raise ValueError(f"streams must be indices or a mask of {n_streams} streams; got {streams!r}") from None
    forms.scale(state, factor)
    return state


def short_term(state: State) -> Tensor:
    """F of every stream, (B, K, n).

    Examples
    --------
    >>> float(short_term(init(Springs(), torch.eye(2), 1)).sum())
    0.0
    """
    return forms.as_matrix(state).clone()
