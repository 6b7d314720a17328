"""Whole models: make layers elastic and plain again, follow a stream, and handle the short-term state of all layers."""

import copy as copying
import dataclasses
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from springback import check
from springback.layers.elastic_linear import ElasticLinear
from springback.layers.springs import Springs

HEAD_NAMES = ("fc", "classifier", "heads", "head")
"""What the classifier is called in the models people know (ResNet, VGG and MobileNet, ViT, Swin)."""

AnyModule = TypeVar("AnyModule", bound=nn.Module)


def find_head(model: nn.Module) -> str:
    """The name of the classifier: the last linear layer of a child with a usual name, or else of the whole model.

    >>> find_head(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)))
    '2'
    """
    linear: list[str] = [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    check.require(bool(linear), "the model", "have an nn.Linear layer to make elastic", type(model).__name__)
    usual = [name for name in linear if name.split(".")[0] in HEAD_NAMES]
    return (usual or linear)[-1]


class _PullFromOutput:
    """A hook of the whole model: its output, or the output's `logits`, decides which units are pulled."""

    def __init__(self, layer: ElasticLinear) -> None:
        self.layer = layer

    def __call__(self, _model: nn.Module, _inputs: Any, output: Any) -> None:
        self.layer.pull_towards(output if isinstance(output, Tensor) else output.logits)


def elasticize(
    model: AnyModule,
    springs: Springs | None = None,
    *,
    layers: str | Iterable[str] | None = None,
    copy: bool = True,
) -> AnyModule:
    """A copy of a trained model whose head adapts at inference; parameters and `state_dict` are as before.

    layers   name of the layer (`find_head` if None), or several names; each becomes an `ElasticLinear`
    copy     False: change the model itself

    The copy is returned in evaluation mode. With `posterior_from="output"` the last of the layers is pulled by the
    posterior of the whole model's output, all others by their own.

    >>> model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> elasticize(model, Springs(pull=10.0, memory=2.0))[2]
    ElasticLinear(in_features=4, out_features=2, bias=True, pull=10.0, memory=2)
    """
    springs = springs or Springs()
    names = [find_head(model)] if layers is None else [layers] if isinstance(layers, str) else list(layers)
    known = dict(model.named_modules())
    for name in names:
        check.require(name in known, "layers", "name modules of the model", name)
    check.require(len(names) > 0, "layers", "name at least one layer", names)
    if copy:
        model = copying.deepcopy(model)
    for name in names:
        last = name == names[-1]
        own = springs if last else dataclasses.replace(springs, posterior_from="layer")
        layer = ElasticLinear.convert(model.get_submodule(name), own)  # type: ignore[arg-type]
        if own.posterior_from == "output":
            model.register_forward_hook(_PullFromOutput(layer))
    return model.eval()


def deelasticize(model: AnyModule, *, copy: bool = True) -> AnyModule:
    """A copy of an elastic model with plain layers again, the same to the bit as before `elasticize`.

    copy   False: change the model itself

    >>> model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> deelasticize(elasticize(model))[2]
    Linear(in_features=4, out_features=2, bias=True)
    """
    if copy:
        model = copying.deepcopy(model)
    for key, hook in list(model._forward_hooks.items()):
        if isinstance(hook, _PullFromOutput):
            del model._forward_hooks[key]
    for layer in elastic_layers(model).values():
        layer.revert()
    return model


def elastic_layers(model: nn.Module) -> dict[str, ElasticLinear]:
    """The elastic layers of a model by name.

    >>> list(elastic_layers(elasticize(nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)))))
    ['1']
    """
    return {name: module for name, module in model.named_modules() if isinstance(module, ElasticLinear)}


def begin(model: AnyModule, n_streams: int) -> AnyModule:
    """Start `n_streams` streams at rest in every elastic layer.

    >>> begin(elasticize(nn.Linear(4, 2)), 3).n_streams
    3
    """
    for layer in elastic_layers(model).values():
        layer.begin(n_streams)
    return model


def relax(model: AnyModule, streams: Tensor | list[int] | int | None = None, elapsed: float | None = None) -> AnyModule:
    """Let every elastic layer spring back; see `ElasticLinear.relax`.

    >>> relax(begin(elasticize(nn.Linear(4, 2)), 3), streams=[1]).n_streams
    3
    """
    for layer in elastic_layers(model).values():
        layer.relax(streams, elapsed)
    return model


def get_state(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the short-term state of all layers as `layer.part`, ready for safetensors or `torch.save`.

    >>> sorted(get_state(begin(elasticize(nn.Sequential(nn.Linear(4, 2))), 3)))
    ['0.responsibility', '0.short_term', '0.total']
    """
    return {
        f"{name}.{part}": value
        for name, layer in elastic_layers(model).items()
        for part, value in layer.get_state().items()
    }


def set_state(model: AnyModule, state: Mapping[str, Tensor]) -> AnyModule:
    """Take over a copy of a state from `get_state`; layers that are not in it are at rest.

    >>> model = begin(elasticize(nn.Sequential(nn.Linear(4, 2))), 3)
    >>> state = get_state(model)
    >>> set_state(relax(model), state)[0].n_streams
    3
    """
    layers = elastic_layers(model)
    for name in state:
        check.require(name.rpartition(".")[0] in layers, "state", "belong to elastic layers of the model", name)
    for name, layer in layers.items():
        layer.set_state({key.rpartition(".")[2]: at for key, at in state.items() if key.rpartition(".")[0] == name})
    return model


@torch.no_grad()
def elastic_track(model: nn.Module, frames: Tensor, *, images_at_once: int = 1024) -> Tensor:
    """Outputs (T, B, K) of an elastic model for the frames (T, B, ...) of B streams; moves the short-term state.

    The network runs on up to `images_at_once` images together, and only the elastic layers go frame by frame: the same
    as calling the model once per frame, to rounding. (With `posterior_from="output"` it does call it once per frame.)

    >>> elastic_track(elasticize(nn.Linear(4, 2)), torch.ones(5, 3, 4)).shape
    torch.Size([5, 3, 2])
    """
    check.integer("images_at_once", images_at_once, low=1)
    check.require(not model.training, "the model", "be in evaluation mode (model.eval())", "training mode")
    check.require(
        frames.ndim >= 3 and len(frames) > 0, "frames", "have shape (time, streams, ...)", tuple(frames.shape)
    )
    layers = list(elastic_layers(model).values())
    steps = max(1, images_at_once // frames.shape[1])
    if any(layer.springs.posterior_from == "output" for layer in layers):
        return torch.stack([model(frame) for frame in frames])
    outputs = []
    for start in range(0, len(frames), steps):
        part = frames[start : start + steps]
        with ExitStack() as stack:
            for layer in layers:
                stack.enter_context(layer.time_major(len(part)))
            outputs.append(model(part.flatten(0, 1)).unflatten(0, part.shape[:2]))
    return torch.cat(outputs)
