"""Whole models: make layers elastic and plain again, follow a stream, and manage the short-term state of all layers."""

import copy as copying
import dataclasses
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from springback import check
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.springs import Springs
from springback.layers._clock import NO_FRAME, gap_of_frame, gaps_of_frames
from springback.layers._use import refuse_unused, watch_calls
from springback.layers.algorithm import Streams
from springback.layers.elastic_linear import Centre, ElasticLinear

HEAD_NAMES = ("fc", "classifier", "heads", "head")
"""The name of the classifier in well-known models (ResNet, VGG and MobileNet, ViT, Swin)."""

AnyModule = TypeVar("AnyModule", bound=nn.Module)


def find_head(model: nn.Module, example: Tensor | None = None) -> str:
    """The name of the classifier: the last linear layer of a child with a usual name, or else of the whole model.

    Parameters
    ----------
    example : Tensor | None
        An input of the model: only layers that its forward pass calls with one row per stream are considered, in
        the order of the calls. Without an example, a layer that is never called may be found.

    Examples
    --------
    >>> find_head(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)))
    '2'
    >>> find_head(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)), torch.ones(1, 8))
    '2'
    """
    linear: list[str] = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    if not linear:
        raise ValueError(f"the model must have an nn.Linear layer to make elastic; got {type(model).__name__} without")
    if example is not None:
        linear = _called_with_rows(model, example)
        if not linear:
            raise ValueError(
                "the model must call an nn.Linear layer with one row per stream; "
                f"got {type(model).__name__}, whose forward pass calls none on an input {tuple(example.shape)}"
            )
    usual = [name for name in linear if name.split(".")[0] in HEAD_NAMES]
    return (usual or linear)[-1]


@torch.no_grad()
def _called_with_rows(model: nn.Module, example: Tensor) -> list[str]:
    """The linear layers that a forward pass in evaluation mode calls with (rows of the example, n), in this order."""
    plain = deelasticize(model).eval()
    called: dict[str, bool] = {}

    def note(name: str, input: Tensor) -> None:
        called.pop(name, None)
        if input.ndim == 2 and len(input) == len(example):
            called[name] = True

    layers = {name: module for name, module in plain.named_modules() if isinstance(module, nn.Linear)}
    with watch_calls(layers, note):
        plain(example)
    return list(called)


class _BeforePass:
    """A hook of the whole model: forget which of its elastic layers were used."""

    def __init__(self, layers: Mapping[str, ElasticLinear]) -> None:
        self.layers = dict(layers)

    def __call__(self, _model: nn.Module, _inputs: Any) -> None:
        for layer in self.layers.values():
            layer.used = False


class _AfterPass:
    """A hook of the whole model: a forward pass in evaluation mode that left out an elastic layer is refused."""

    def __init__(self, layers: Mapping[str, ElasticLinear]) -> None:
        self.layers = dict(layers)

    def __call__(self, model: nn.Module, _inputs: Any, _output: Any) -> None:
        if not model.training:
            refuse_unused([name for name, layer in self.layers.items() if not layer.used], model)


class _PullFromOutput:
    """A hook of the whole model: its output, or the output's `logits`, decides which units are pulled."""

    def __init__(self, layer: ElasticLinear) -> None:
        self.layer = layer

    def __call__(self, _model: nn.Module, _inputs: Any, output: Any) -> None:
        self.layer.pull_towards(logits_of(output))


def logits_of(output: Any) -> Tensor:
    """What a model returned, or its `logits` if it returned an object that has them.

    Examples
    --------
    >>> logits_of(torch.ones(1)), logits_of((1, 2))
    Traceback (most recent call last):
    TypeError: the output of the model must be a tensor, or an object with a tensor `logits`; got tuple
    """
    logits = output if isinstance(output, Tensor) else getattr(output, "logits", None)
    if not isinstance(logits, Tensor):
        got = type(output).__name__
        raise TypeError(f"the output of the model must be a tensor, or an object with a tensor `logits`; got {got}")
    return logits


def elasticize(
    model: AnyModule,
    settings: Settings | None = None,
    *,
    centre: Centre | None = None,
    scale: Scale | None = None,
    layers: str | Iterable[str] | None = None,
    example: Tensor | None = None,
    copy: bool = True,
) -> AnyModule:
    """A copy of a trained model whose head adapts at inference; parameters and `state_dict` do not change.

    The copy is returned in evaluation mode. A forward pass that does not call each of these layers raises an error,
    because they would silently stay at rest. With `Springs(posterior_from="output")`, the last of the layers is pulled
    by the posterior of the whole model's output, and all others by their own.

    Parameters
    ----------
    settings : Settings | None
        `Observer` or `Springs`; None: the default `Observer`, whose output is the logarithm of the posterior.
    centre : Centre | None
        Mean of the features that the layer receives, (n,); only for one layer, as is the scale.
    scale : Scale | None
        Units of an `Observer`; None: each stream measures its own.
    layers : str | Iterable[str] | None
        Name of the layer (`find_head` if None), or several names; each becomes an `ElasticLinear`.
    example : Tensor | None
        An input of the model, with which `find_head` makes sure that the layer is used.
    copy : bool
        False: change the model itself.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> elasticize(model, Springs(pull=10.0, memory=2.0))[2]
    ElasticLinear(in_features=4, out_features=2, bias=True, pull=10.0, memory=2)
    """
    names = [find_head(model, example)] if layers is None else [layers] if isinstance(layers, str) else list(layers)
    check.require(len(names) > 0, "layers", "name at least one layer", names)
    alone = len(names) == 1 or (centre is None and scale is None)
    check.require(alone, "layers", "name one layer if centre or scale is given, because each has its own", names)
    known = {name: module for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    for name in names:
        check.require(name in known, "layers", f"name linear layers of the model ({', '.join(known)})", name)
    if copy:
        model = copying.deepcopy(model)
    made: dict[str, ElasticLinear] = {}
    for name in names:
        own = settings
        if isinstance(settings, Springs) and name != names[-1]:
            own = dataclasses.replace(settings, posterior_from="layer")
        linear: nn.Linear = model.get_submodule(name)  # type: ignore[assignment]
        made[name] = ElasticLinear.convert(linear, own, centre=centre, scale=scale)
    model.register_forward_pre_hook(_BeforePass(made))
    model.register_forward_hook(_AfterPass(made))
    if made[names[-1]].pulled_by_output:
        model.register_forward_hook(_PullFromOutput(made[names[-1]]))
    return model.eval()


def deelasticize(model: AnyModule, *, copy: bool = True) -> AnyModule:
    """A copy of an elastic model with plain layers again, bit-identical to the model before `elasticize`.

    Parameters
    ----------
    copy : bool
        False: change the model itself.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> deelasticize(elasticize(model))[2]
    Linear(in_features=4, out_features=2, bias=True)
    """
    if copy:
        model = copying.deepcopy(model)
    for hooks in (model._forward_pre_hooks, model._forward_hooks):
        for key, hook in list(hooks.items()):
            if isinstance(hook, _BeforePass | _AfterPass | _PullFromOutput):
                del hooks[key]
    for layer in elastic_layers(model).values():
        layer.revert()
    return model


def elastic_layers(model: nn.Module) -> dict[str, ElasticLinear]:
    """The elastic layers of a model by name.

    Examples
    --------
    >>> list(elastic_layers(elasticize(nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)))))
    ['1']
    """
    return {name: module for name, module in model.named_modules() if isinstance(module, ElasticLinear)}


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
    >>> reset(elasticize(nn.Linear(4, 2)), 3).n_streams
    3
    """
    for layer in elastic_layers(model).values():
        layer.reset(n_streams, streams)
    return model


def relax(model: AnyModule, elapsed: float, streams: Streams | None = None) -> AnyModule:
    """Let `elapsed` frames of silence pass in every elastic layer, for all streams or only for those given.

    Examples
    --------
    >>> relax(reset(elasticize(nn.Linear(4, 2)), 3), elapsed=1.0, streams=[1]).n_streams
    3
    """
    for layer in elastic_layers(model).values():
        layer.relax(elapsed, streams)
    return model


def get_state(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the short-term state of all layers as `layer.part`, ready for safetensors or `torch.save`.

    Examples
    --------
    >>> sorted(get_state(reset(elasticize(nn.Sequential(nn.Linear(4, 2)), Springs()), 3)))
    ['0.agreement', '0.answered', '0.responsibility', '0.shares', '0.short_term', '0.total']
    """
    return {
        f"{name}.{part}": value
        for name, layer in elastic_layers(model).items()
        for part, value in layer.get_state().items()
    }


def set_state(model: AnyModule, state: Mapping[str, Tensor]) -> AnyModule:
    """Replace the state by a copy of one from `get_state`; layers that are not in it are at rest.

    Examples
    --------
    >>> model = reset(elasticize(nn.Sequential(nn.Linear(4, 2))), 3)
    >>> state = get_state(model)
    >>> set_state(reset(model), state)[0].n_streams
    3
    """
    layers = elastic_layers(model)
    for name in state:
        must = f"hold parts of the elastic layers of the model ({', '.join(layers)})"
        check.require(name.rpartition(".")[0] in layers, "state", must, name)
    by_layer: dict[str, dict[str, Tensor]] = {name: {} for name in layers}
    for key, part in state.items():
        name, _, field = key.rpartition(".")
        by_layer[name][field] = part
    for name, layer in layers.items():
        layer.check_state(by_layer[name])
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


def _refuse_training(model: nn.Module) -> None:
    if model.training:
        raise ValueError("the model must be in evaluation mode; it is in training mode, call model.eval() first")


@torch.no_grad()
def step(model: nn.Module, x: Tensor, time: Any = None) -> Tensor:
    """Output (B, K) of an elastic model for the next frame x (B, ...) of B streams, before its own pull; then it pulls.

    This is `model(x)` without gradients, in evaluation mode only; the short-term state moves.

    Parameters
    ----------
    time : Any
        When the frame comes, in frames, the same for all streams; one after the last frame if not given. Dates and
        durations become seconds, so that the memory is then in seconds. Time stamps need all frames to go through
        `step` and `track`: the time of a frame that the model was called with directly is not known.

    Examples
    --------
    >>> step(elasticize(nn.Linear(4, 2)), torch.ones(3, 4)).shape
    torch.Size([3, 2])
    """
    _refuse_training(model)
    layers = list(elastic_layers(model).values())
    gap, clock = gap_of_frame(_clock(layers), time)
    output = _show(model, layers, x, gap)
    _set_clock(layers, clock)
    return output


@torch.no_grad()
def track(
    model: nn.Module, frames: Tensor, times: Any = None, *, images_at_once: int = 1024, in_place: bool = False
) -> Tensor:
    """Outputs (T, B, K) of an elastic model for the frames (T, B, ...) of B streams, on a copy of its state.

    The network runs on up to `images_at_once` images together, and only the elastic layers go frame by frame: up to
    rounding, this is the same as calling the model once per frame. (With `posterior_from="output"`, the model is called
    once per frame.)

    Parameters
    ----------
    times : Any
        When the frames come, (T,), as `time` of `step`; one frame apart if not given.
    in_place : bool
        Move the state of the model itself instead of a copy, so that the next call continues the streams.

    Examples
    --------
    >>> track(elasticize(nn.Linear(4, 2)), torch.ones(5, 3, 4)).shape
    torch.Size([5, 3, 2])
    """
    check.integer("images_at_once", images_at_once, low=1)
    _refuse_training(model)
    check_frames(frames)
    layers = elastic_layers(model)
    own = list(layers.values())
    gaps, clock = gaps_of_frames(_clock(own), len(frames), times)
    with ExitStack() as stack:
        for layer in own:
            layer.used = False
            if not in_place:
                stack.enter_context(layer.on_a_copy())
        outputs = _follow(model, own, frames, gaps, images_at_once)
        _set_clock(own, clock)
    refuse_unused([name for name, layer in layers.items() if not layer.used], model)
    return outputs


def _clock(layers: list[ElasticLinear]) -> float:
    return layers[0].clock if layers else NO_FRAME


def _set_clock(layers: list[ElasticLinear], clock: float) -> None:
    for layer in layers:
        layer.clock = clock


def _follow(
    model: nn.Module, layers: list[ElasticLinear], frames: Tensor, gaps: list[float], images_at_once: int
) -> Tensor:
    steps = max(1, images_at_once // frames.shape[1])
    if any(layer.pulled_by_output for layer in layers):
        steps = 1
    outputs = []
    for start in range(0, len(frames), steps):
        part = frames[start : start + steps]
        output = _show(model, layers, part.flatten(0, 1), gaps[start : start + steps])
        outputs.append(output.reshape(*part.shape[:2], -1))
    return torch.cat(outputs)


def _show(model: nn.Module, layers: list[ElasticLinear], frames: Tensor, gaps: list[float]) -> Tensor:
    """Outputs of the model for frames (len(gaps) * streams, ...), one after the other."""
    with ExitStack() as stack:
        for layer in layers:
            stack.enter_context(layer.frames_after(gaps))
        return logits_of(model(frames))
