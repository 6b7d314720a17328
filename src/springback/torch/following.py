"""Following streams with an elastic model, and the short-term state of all its layers."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.check import FrameError
from springback.streaming.one_at_a_time import turn_of
from springback.streaming.pace import AT_REST, MemoryIn
from springback.torch._clock import NO_FRAME, Clock, Gap, gap_of_frame, gaps_of_frames
from springback.torch._layer_calls import refuse_not_finite, refuse_unused
from springback.torch._model_output import answer_of
from springback.torch.algorithm import Streams
from springback.torch.elastic_layer import ElasticLayer
from springback.torch.plain import AnyModule, elastic_layers
from torch import Tensor, nn


@contextmanager
def all_layers(model: nn.Module) -> Iterator[dict[str, ElasticLayer]]:
    """Inside, no other thread moves the elastic layers of a model, which are given by name.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> with all_layers(elasticize(nn.Sequential(nn.Linear(4, 2)))) as layers:
    ...     list(layers)
    ['0']
    """
    layers = elastic_layers(model)
    with ExitStack() as stack:
        for layer in layers.values():
            stack.enter_context(turn_of(layer))
        yield layers


def _each_layer(model: AnyModule, change: Callable[[ElasticLayer], object]) -> AnyModule:
    with all_layers(model) as layers:
        for layer in layers.values():
            change(layer)
    return model


def reset(model: AnyModule, n_streams: int | None = None, streams: Streams | None = None) -> AnyModule:
    """Return every elastic layer to rest; see `ElasticLinear.reset`.

    Parameters
    ----------
    n_streams : int | None
        Start this many streams, at rest.
    streams : Streams | None
        Only these streams return to rest: an index, a list or tensor of indices, or a mask. With neither, the model
        forgets how many streams there were, so the next batch may have any size.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> reset(elasticize(nn.Linear(4, 2)), 3).n_streams
    3
    """
    return _each_layer(model, lambda layer: layer.reset(n_streams, streams))


def relax(model: AnyModule, elapsed: float, streams: Streams | None = None) -> AnyModule:
    """Let `elapsed` frames of silence pass in every elastic layer, for all streams or only for those given.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> relax(reset(elasticize(nn.Linear(4, 2)), 3), elapsed=1.0, streams=[1]).n_streams
    3
    """
    return _each_layer(model, lambda layer: layer.relax(elapsed, streams))


def add_streams(model: AnyModule, n_streams: int = 1) -> AnyModule:
    """Let `n_streams` more streams join every elastic layer, at rest; they come after those that the model has.

    The next input has to have that many more rows. Compiled and exported programs have to be made again.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> add_streams(reset(elasticize(nn.Linear(4, 2)), 3), 2).n_streams
    5
    """
    return _each_layer(model, lambda layer: layer.add_streams(n_streams))


def remove_streams(model: AnyModule, streams: Streams) -> AnyModule:
    """Let streams leave every elastic layer; the streams after them move up. The others keep what they remember.

    Parameters
    ----------
    streams : Streams
        An index, a list or tensor of indices, or a mask.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> remove_streams(reset(elasticize(nn.Linear(4, 2)), 3), [0, 2]).n_streams
    1
    """
    return _each_layer(model, lambda layer: layer.remove_streams(streams))


def get_state(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the short-term state of all layers as `layer.part`, ready for safetensors or `torch.save`.

    Examples
    --------
    >>> from springback.torch import Springs, elasticize
    >>> sorted(get_state(reset(elasticize(nn.Sequential(nn.Linear(4, 2)), Springs()), 3)))
    ['0.agreement', '0.answered', '0.responsibility', '0.shares', '0.short_term', '0.total']
    """
    with all_layers(model) as layers:
        return {f"{name}.{part}": value for name, layer in layers.items() for part, value in layer.get_state().items()}


def set_state(model: AnyModule, state: Mapping[str, Tensor]) -> AnyModule:
    """Replace the state by a copy of one from `get_state`; layers that are not in it are at rest.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> model = reset(elasticize(nn.Sequential(nn.Linear(4, 2))), 3)
    >>> state = get_state(model)
    >>> set_state(reset(model), state)[0].n_streams
    3
    """
    layers = elastic_layers(model)
    by_layer: dict[str, dict[str, Tensor]] = {name: {} for name in layers}
    for key, part in state.items():
        name, _, field = key.rpartition(".")
        must = f"hold parts of the elastic layers of the model ({', '.join(layers)})"
        check.require(name in layers, "state", must, key)
        by_layer[name][field] = part
    for name, layer in layers.items():
        layer.check_state(by_layer[name])
    with all_layers(model):
        for name, layer in layers.items():
            layer.set_state(by_layer[name])
    return model


def check_frames(frames: Tensor) -> None:
    """Refuse frames that are empty or do not have the shape (time, streams, ...).

    Examples
    --------
    >>> check_frames(torch.ones(7, 4))
    Traceback (most recent call last):
    ValueError: frames must have shape (time, streams, ...) and hold at least one frame of one stream; got (7, 4)
    """
    fits = frames.ndim >= 3 and len(frames) > 0 and frames.shape[1] > 0
    must = "have shape (time, streams, ...) and hold at least one frame of one stream"
    check.require(fits, "frames", must, tuple(frames.shape))


def refuse_training(model: nn.Module) -> None:
    """Refuse a model in training mode, which would not move.

    Examples
    --------
    >>> refuse_training(nn.Linear(2, 1).eval())
    """
    if model.training:
        raise ValueError("the model must be in evaluation mode; it is in training mode, call model.eval() first")


@torch.no_grad()
def step(model: nn.Module, x: Tensor, time: Any = None) -> Tensor:
    """Output (B, K) of an elastic model for the next frame x (B, ...) of B streams, before its own pull; then it pulls.

    This is `model(x)` without gradients, in evaluation mode only; the short-term state moves.

    Parameters
    ----------
    time : Any
        When the frame comes, in any unit: the same for all streams, or one time for each of them, (B,); one usual step
        after the last frame if not given. Dates and durations become seconds. Time stamps need all frames to go through
        `step` and `track`: the time of a frame that the model was called with directly is not known.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> step(elasticize(nn.Linear(4, 2)), torch.ones(3, 4)).shape
    torch.Size([3, 2])
    """
    refuse_training(model)
    refuse_not_finite("x", x)
    with all_layers(model) as named:
        layers = list(named.values())
        before = _clock(layers)
        gap, clock, pace = gap_of_frame(before, _pace(layers), time, memory_in(layers))
        _see_unit(layers, gap, before, time)
        with _unmoved_if_refused(layers):
            output = _show(model, layers, x, gap)
        _set_clock(layers, clock, pace)
    return output


@torch.no_grad()
def track(
    model: nn.Module, frames: Tensor, times: Any = None, *, images_at_once: int = 1024, in_place: bool = False
) -> Tensor:
    """Outputs (T, B, K) of an elastic model for the frames (T, B, ...) of B streams, on a copy of its state.

    The network runs on up to `images_at_once` images together, and only the elastic layers go frame by frame: up to
    rounding, this is the same as calling the model once per frame. (With `posterior_from="output"`, the model is called
    once per frame.) If the head answers at several positions, these follow the streams as in the model's own output.

    Parameters
    ----------
    times : Any
        When the frames come, (T,) or (T, B), as `time` of `step`; one step apart if not given.
    in_place : bool
        Move the state of the model itself instead of a copy, so that the next call continues the streams.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> track(elasticize(nn.Linear(4, 2)), torch.ones(5, 3, 4)).shape
    torch.Size([5, 3, 2])
    """
    check.integer("images_at_once", images_at_once, low=1)
    refuse_training(model)
    check_frames(frames)
    refuse_not_finite("frames", frames)
    with all_layers(model) as layers, ExitStack() as stack:
        own = list(layers.values())
        before = _clock(own)
        gaps, clock, pace = gaps_of_frames(before, _pace(own), len(frames), times, memory_in(own))
        _see_unit(own, gaps, before, times)
        for layer in own:
            layer.use.called = False
            if not in_place:
                stack.enter_context(layer.on_a_copy())
        stack.enter_context(_unmoved_if_refused(own))
        outputs = _follow(model, own, frames, gaps, images_at_once)
        _set_clock(own, clock, pace)
        refuse_unused([name for name, layer in layers.items() if not layer.use.called], model)
    return outputs


@contextmanager
def _unmoved_if_refused(layers: list[ElasticLayer]) -> Iterator[None]:
    """If a layer refuses a frame inside, all layers are afterwards as they were before the first frame."""
    before = [layer.kept() for layer in layers] if any(layer.may_overflow for layer in layers) else []
    try:
        yield
    except FrameError:
        for layer, kept in zip(layers, before, strict=False):
            layer.give_back(kept)
        raise


def _clock(layers: list[ElasticLayer]) -> Clock:
    return layers[0].clock if layers else NO_FRAME


def _pace(layers: list[ElasticLayer]) -> NDArray[np.float64]:
    return layers[0].pace if layers else AT_REST


def memory_in(layers: list[ElasticLayer]) -> MemoryIn:
    """The unit of the memories of a model."""
    units = {layer.settings.memory_in for layer in layers}
    check.require(len(units) < 2, "memory_in", "be the same in all elastic layers of a model", sorted(units))
    return units.pop() if units else "frames"


def _see_unit(layers: list[ElasticLayer], gaps: list[Gap], clock: Clock, times: Any) -> None:
    """Warn if the memory of a layer is far from the usual step; the gap before a first frame does not count."""
    if times is None or memory_in(layers) == "frames":
        return
    steps = np.array(gaps, np.float64)
    steps[0] = np.where(np.isnan(clock), 0.0, steps[0])
    for layer in layers:
        layer.unit.see(steps.ravel(), layer.settings.memory)


def _set_clock(layers: list[ElasticLayer], clock: Clock, pace: NDArray[np.float64]) -> None:
    for layer in layers:
        layer.clock, layer.pace = clock, pace


def _follow(
    model: nn.Module, layers: list[ElasticLayer], frames: Tensor, gaps: list[Gap], images_at_once: int
) -> Tensor:
    steps = max(1, images_at_once // frames.shape[1])
    if any(layer.pulled_by_output for layer in layers):
        steps = 1
    outputs = []
    for start in range(0, len(frames), steps):
        part = frames[start : start + steps]
        try:
            output = _show(model, layers, part.flatten(0, 1), gaps[start : start + steps], start)
        except RuntimeError as error:
            if start or not re.search("shape|size|dimension|Expected", str(error)):
                raise
            must = f"have shape (time, streams, ...); the model cannot take {tuple(frames.shape[2:])} for one image"
            raise ValueError(
                f"frames must {must}: is the axis of the streams missing? add it with unsqueeze(1)"
            ) from error
        must = f"have one row for each of {part.shape[0] * part.shape[1]} images; use step if it has others"
        fits = output.shape[0] == part.shape[0] * part.shape[1]
        check.require(fits, "the output of the model", must, tuple(output.shape))
        outputs.append(output.reshape(*part.shape[:2], *output.shape[1:]))
    return torch.cat(outputs)


def _show(
    model: nn.Module, layers: list[ElasticLayer], frames: Tensor, gaps: list[Gap], first: int | None = None
) -> Tensor:
    """Outputs of the model for frames (len(gaps) * streams, ...), one after the other; see `frames_after`."""
    with ExitStack() as stack:
        for layer in layers:
            stack.enter_context(layer.frames_after(gaps, first))
        return answer_of(model, model(frames))
