"""Finding the head of a model: by its name, and by running the model."""

from typing import NamedTuple

import torch
from springback.torch._layer_calls import watch_calls
from springback.torch._model_output import class_axis, path_of_answer
from springback.torch.elastic_conv import KINDS
from springback.torch.elastic_filters import ElasticFilters2d
from springback.torch.elastic_layer import ElasticLayer
from springback.torch.elastic_linear import ElasticLinear
from springback.torch.plain import deelasticize
from torch import Tensor, nn

HEAD_NAMES = ("fc", "classifier", "heads", "head")
"""The name of the classifier in well-known models (ResNet, VGG and MobileNet, ViT, Swin)."""


def elastic_kind(layer: nn.Module) -> type[ElasticLayer] | None:
    """The class that a layer has when it is elastic; None if it cannot be.

    Examples
    --------
    >>> [elastic_kind(layer).__name__ for layer in (nn.Conv2d(3, 2, 1), nn.Conv2d(3, 2, 3))]
    ['ElasticConv2d', 'ElasticFilters2d']
    >>> elastic_kind(nn.Conv1d(3, 2, 3))
    """
    if isinstance(layer, ElasticLayer):
        return type(layer)
    return next((kind for kind in (ElasticLinear, *KINDS, ElasticFilters2d) if kind.takes(layer)), None)


def possible_layers(model: nn.Module, *, hidden: bool = False) -> dict[str, nn.Module]:
    """The layers that can be a head by name: linear layers, and convolutions with a kernel of one pixel.

    Parameters
    ----------
    hidden : bool
        All that can be elastic, so also convolutions with larger kernels.

    Examples
    --------
    >>> model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 2, 1))
    >>> list(possible_layers(model)), list(possible_layers(model, hidden=True))
    (['2'], ['0', '2'])
    """
    kinds = {name: (layer, elastic_kind(layer)) for name, layer in model.named_modules()}
    return {name: layer for name, (layer, kind) in kinds.items() if kind and (hidden or kind is not ElasticFilters2d)}


def find_head(model: nn.Module, example: Tensor | None = None) -> str:
    """The name of the classifier: the layer that gives the output of the model.

    Parameters
    ----------
    example : Tensor | None
        An input of the model, which is run once: the head is the last layer that it calls once and whose output it
        returns, directly, after a soft-max or times a factor; anywhere in a tuple, a dict or an object. If there is
        none, the error lists the layers that were called. Without an example, the head is found by its name: the last
        linear layer of a child with a usual name, or else of the whole model.

    Examples
    --------
    >>> find_head(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)))
    '2'
    >>> find_head(nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2), nn.Softmax(-1)), torch.ones(1, 8))
    '1'
    """
    layers = possible_layers(model)
    if not layers:
        raise ValueError(
            "the model must have an nn.Linear layer, or a convolution with a kernel of one pixel, to make elastic; "
            f"got {type(model).__name__} without"
        )
    if example is not None:
        return _head_by_use(model, example)
    usual = [name for name in layers if name.split(".")[0] in HEAD_NAMES]
    return (usual or list(layers))[-1]


class _Called(NamedTuple):
    output: Tensor
    times: int


@torch.no_grad()
def _head_by_use(model: nn.Module, example: Tensor) -> str:
    plain = deelasticize(model).eval()
    layers = possible_layers(plain)
    called: dict[str, _Called] = {}

    def note(name: str, _input: Tensor, output: Tensor) -> None:
        before = called.pop(name, None)
        called[name] = _Called(output, 1 if before is None else before.times + 1)

    with watch_calls(layers, note):
        output = plain(example)
    for name, call in reversed(called.items()):
        if call.times == 1 and path_of_answer(output, call.output, class_axis(layers[name])) is not None:
            return name
    seen = [f"{name!r} {tuple(call.output.shape)}{_times(call.times)}" for name, call in called.items()]
    raise ValueError(
        f"the model must return what one of its layers gives, directly or after a soft-max; "
        f"got {type(model).__name__}, whose forward pass on an input {tuple(example.shape)} "
        f"calls {', '.join(seen) or 'no linear layer'}; name the layer that is to be elastic with layers=..."
    )


def _times(times: int) -> str:
    return f" ({times} times)" if times > 1 else ""
