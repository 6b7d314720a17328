"""The elastic layer as pure functions of many streams at once: `init`, `step`, `track`, `relax`, `reset`.

    state = init(settings, weight, n_streams)
    state, response = step(settings, weight, bias, state, x)            # x (streams, n)
    state, response = track(settings, weight, bias, state, frames)      # frames (time, streams, n)

For each frame, in this order (Algorithm 1): the memory fades, the output and the posterior are computed, and the frame
enters the memory. The response to a frame is therefore the one *before* that frame is remembered.

* With `Springs`, F relaxes, the output is that of `G = W + F`, and the input pulls, `F += pull * Q x`.
* With an `Observer`, the output is the logarithm of the posterior given the frame and those remembered.

Either counts as far as the stream is continuous; in a stream in random order, the output is that of the plain layer.

A frame with NaN or infinity only lets time pass: its output is what the layer makes of it, and other streams are not
affected. An all-zero frame does not pull springs either; an observer remembers it like any other. Under
`torch.autocast`, the resting output is computed as in a plain layer, and everything about the memory stays in the
precision of the state.

Autograd sees the resting layer and treats what is remembered as a constant.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from springback import check
from springback.heads.memories.memory import State
from springback.heads.scale import Scale
from springback.heads.settings import MEMORIES, Settings
from springback.torch.memories.frame import Sensed, sense, state_dtype
from torch import Tensor

Reading = Any
"""One frame as the current state reads it, before it is remembered; its `output` is what the layer answers."""

_FORMS = {kind: kind(memory=1.0).form("springback.torch.memories") for kind in MEMORIES}
"""The arithmetic of each memory in torch: `read` and `move`."""

Streams = Tensor | list[int] | int
"""Some of the streams: an index, a list or tensor of indices, or a mask (B,)."""


_LARGEST_LOG = 69.0
"""A frame that comes early undoes part of the relaxation by one frame, but never overflows."""


class LayerResponse(NamedTuple):
    """Output and posterior Q of frames, (..., streams, K), before the same frame is remembered."""

    output: Tensor
    posterior: Tensor


def init(settings: Settings, weight: Tensor, n_streams: int) -> State:
    """A state at rest for `n_streams` independent streams of a layer with weights (K, n).

    Examples
    --------
    >>> from springback.heads import Springs
    >>> init(Springs(), torch.eye(3), 2).short_term.shape
    torch.Size([2, 3, 3])
    """
    check.integer("n_streams", n_streams, low=1)
    kinds = {"int64": torch.int64}
    parts = {
        name: ((n_streams, *part.shape), kinds.get(part.dtype, state_dtype(weight.dtype)))
        for name, part in settings.parts(*weight.shape).items()
    }
    with torch.inference_mode(False), torch.no_grad():
        return settings.State(
            **{name: torch.zeros(shape, dtype=dtype, device=weight.device) for name, (shape, dtype) in parts.items()}
        )


def copy(state: State) -> State:
    """A copy of a state.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> copy(init(Springs(), torch.eye(3), 2)).total.shape
    torch.Size([2, 1])
    """
    return type(state)(*(part.detach().clone() for part in state))


def read(
    settings: Settings,
    weight: Tensor,
    bias: Tensor | None,
    state: State,
    sensed: Sensed,
    scale: Scale | None = None,
) -> Reading:
    """Read one frame from the faded state; nothing moves."""
    _require_own(settings, state)
    return _FORMS[type(settings)].read(settings, weight, bias, state, sensed, scale)


def move(settings: Settings, weight: Tensor, bias: Tensor | None, state: State, reading: Reading) -> Tensor:
    """Fade by one frame and let the frame that was read pull or be remembered, in place; returns its posterior."""
    _require_own(settings, state)
    posterior: Tensor = _FORMS[type(settings)].move(settings, weight, bias, state, reading)
    return posterior


def _require_own(settings: Settings, state: State) -> None:
    if type(state) is not settings.State:
        raise TypeError(f"state must come from init with {type(settings).__name__}; got {type(state).__name__}")


def wait(settings: Settings, state: State, gap: float | Tensor) -> None:
    """Prepare for a frame that comes `gap` after the last, in place; reading it fades by one `settings.unit`.

    Parameters
    ----------
    gap : float | Tensor
        The same for all streams, or one for each of them, (B,).

    Examples
    --------
    >>> from springback.heads import Springs
    >>> springs = Springs(memory=1.0)
    >>> state, _ = step(springs, torch.eye(2), None, init(springs, torch.eye(2), 1), torch.ones(1, 2))
    >>> before = short_term(state)
    >>> wait(springs, state, 2.0)
    >>> (short_term(state) / before).round(decimals=4)[0, 0]
    tensor([0.3679, 0.3679])
    """
    if isinstance(gap, Tensor):
        _fade(settings, state, ((settings.unit - gap) / settings.memory).clamp_max(_LARGEST_LOG).exp())
        for name, kept in settings.lasting.items():
            _multiply(getattr(state, name), kept ** (gap / settings.unit - 1))
        for name, kept in settings.counting.items():
            _multiply(getattr(state, name), kept ** (settings.frames_of(gap) - 1))
    elif gap != settings.unit:
        left = math.exp(min((settings.unit - gap) / settings.memory, _LARGEST_LOG))
        _fade(settings, state, torch.full((len(state[0]),), left, dtype=state[0].dtype, device=state[0].device))
        for name, kept in settings.lasting.items():
            getattr(state, name).mul_(kept ** (gap / settings.unit - 1))
        for name, kept in settings.counting.items():
            getattr(state, name).mul_(kept ** (settings.frames_of(gap) - 1))


def _fade(settings: Settings, state: State, factor: Tensor) -> None:
    """Multiply the memory of every stream by its own factor (B,), in place."""
    for name in settings.fading:
        _multiply(getattr(state, name), factor)


def _multiply(part: Tensor, factor: Tensor) -> None:
    part.mul_(factor.to(part.dtype).reshape(-1, *[1] * (part.ndim - 1)))


def track(
    settings: Settings,
    weight: Tensor,
    bias: Tensor | None,
    state: State,
    frames: Tensor,
    gaps: Sequence[float | Tensor] | None = None,
    *,
    centre: Tensor | None = None,
    scale: Scale | None = None,
    in_place: bool = False,
) -> tuple[State, LayerResponse]:
    """Follow frames (T, B, n) of B streams: the new state and the response; the given state does not change.

    weight (K, n) and bias (K,) or None are those of the resting layer.

    Parameters
    ----------
    gaps : Sequence[float | Tensor] | None
        How many frames after the one before it each frame comes, (T,), of all streams or of each of them, (B,); 1
        everywhere if not given.
    centre : Tensor | None
        Subtracted from the inputs before they are remembered or compared, (n,).
    scale : Scale | None
        Units of an `Observer` and of `WindowSprings.tuning`; None: each stream measures its own.
    in_place : bool
        Move the given state itself instead of a copy, and return it: faster, for callers that own the state.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> weight, springs = 5 * torch.eye(2), Springs(pull=3.0, memory=2.0)
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]).unsqueeze(1)
    >>> _, response = track(springs, weight, None, init(springs, weight, 1), turning)
    >>> response.output.argmax(-1).flatten(), (turning @ weight).argmax(-1).flatten()
    (tensor([0, 0, 0, 0]), tensor([0, 0, 0, 1]))
    """
    state = state if in_place else copy(state)
    sensed = sense(settings, weight, bias, frames, state[0].dtype, centre)
    outputs, posteriors = [], []
    for gap, rest, direction, length in zip(gaps or [1.0] * len(frames), *sensed, strict=True):
        wait(settings, state, gap)
        reading = read(settings, weight, bias, state, Sensed(rest, direction, length), scale)
        posteriors.append(move(settings, weight, bias, state, reading))
        outputs.append(reading.output)
    if not outputs:
        return state, LayerResponse(sensed.rest, sensed.rest.detach())
    return state, LayerResponse(torch.stack(outputs), torch.stack(posteriors))


def step(
    settings: Settings,
    weight: Tensor,
    bias: Tensor | None,
    state: State,
    x: Tensor,
    *,
    centre: Tensor | None = None,
    scale: Scale | None = None,
) -> tuple[State, LayerResponse]:
    """One frame (B, n) of `track`.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> state = init(Springs(), torch.eye(2), 1)
    >>> state, response = step(Springs(), torch.eye(2), None, state, torch.ones(1, 2))
    >>> response.posterior
    tensor([[0.5000, 0.5000]])
    """
    state, response = track(settings, weight, bias, state, x.unsqueeze(0), centre=centre, scale=scale)
    return state, LayerResponse(response.output[0], response.posterior[0])


def relax(settings: Settings, state: State, elapsed: float, streams: Streams | None = None) -> State:
    """The state after `elapsed` frames of silence, of all streams or only of those given.

    Parameters
    ----------
    streams : Streams | None
        An index, a list or tensor of indices, or a mask (B,).

    Examples
    --------
    >>> from springback.heads import Springs
    >>> state, _ = step(Springs(), torch.eye(2), None, init(Springs(), torch.eye(2), 2), torch.ones(2, 2))
    >>> short_term(relax(Springs(memory=1.0), state, elapsed=2.0, streams=0)).sum(dim=(1, 2))
    tensor([ 3.8279, 28.2843])
    """
    left = math.exp(-check.real("elapsed", elapsed, low=0) / settings.memory)
    which, new = chosen(len(state[0]), streams, state[0].device), copy(state)
    kept = torch.ones_like(which, dtype=new[0].dtype)
    _fade(settings, new, torch.where(which, left, kept))
    for name, left in settings.left_after_silence(elapsed).items():
        _multiply(getattr(new, name), torch.where(which, left, kept))
    return new


def reset(state: State, streams: Streams | None = None) -> State:
    """The state with all streams, or only those given, back at rest.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> state, _ = step(Springs(), torch.eye(2), None, init(Springs(), torch.eye(2), 2), torch.ones(2, 2))
    >>> short_term(reset(state, streams=[0])).sum(dim=(1, 2))
    tensor([ 0.0000, 28.2843])
    """
    kept, new = ~chosen(len(state[0]), streams, state[0].device), copy(state)
    for part in new:
        _multiply(part, kept)
    return new


def join(settings: Settings, weight: Tensor, state: State, n_streams: int) -> State:
    """The state with `n_streams` more streams, at rest, after those that it has.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> join(Springs(), torch.eye(2), init(Springs(), torch.eye(2), 2), 3).total.shape
    torch.Size([5, 1])
    """
    new = init(settings, weight, n_streams)
    return type(state)(*(torch.cat([part.detach(), other]) for part, other in zip(state, new, strict=True)))


def leave(state: State, streams: Streams) -> State | None:
    """The state without the given streams; None if none is left.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> leave(init(Springs(), torch.eye(2), 3), [0, 2]).total.shape
    torch.Size([1, 1])
    """
    kept = ~chosen(len(state[0]), streams, state[0].device)
    return type(state)(*(part.detach()[kept] for part in state)) if bool(kept.any()) else None


def chosen(n_streams: int, streams: Streams | None, device: torch.device | None = None) -> Tensor:
    """Which of `n_streams` streams are meant, (B,).

    Examples
    --------
    >>> from springback.heads import Springs
    >>> chosen(3, [0, 2])
    tensor([ True, False,  True])
    """
    found = torch.zeros(n_streams, dtype=torch.bool, device=device)
    try:
        found[slice(None) if streams is None else streams] = True
    except IndexError:
        raise ValueError(f"streams must be indices or a mask of {n_streams} streams; got {streams!r}") from None
    return found


def short_term(state: State) -> Tensor:
    """F of every stream, (B, K, n); with a constant component in what pulls, (B, K, n + 1).

    Examples
    --------
    >>> from springback.heads import Springs
    >>> float(short_term(init(Springs(), torch.eye(2), 1)).sum())
    0.0
    """
    if "short_term" in state._fields:
        matrix: Tensor = state.short_term.clone()
        return matrix
    must = "be that of springs, which have an F"
    check.require("strengths" in state._fields, "state", must, type(state).__name__)
    return torch.einsum("bd,bdk,bdn->bkn", state.odds, state.strengths, state.keys)
