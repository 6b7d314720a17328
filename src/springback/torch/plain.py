"""The elastic layers of a model, and the plain model again."""

import copy as copying
from typing import TypeVar

from torch.nn.utils.weight_norm import WeightNorm

import torch
from springback.torch._model_output import end_watch
from springback.torch.elastic_layer import ElasticLayer
from torch import nn

AnyModule = TypeVar("AnyModule", bound=nn.Module)


def elastic_layers(model: nn.Module) -> dict[str, ElasticLayer]:
    """The elastic layers of a model by name.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> list(elastic_layers(elasticize(nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)))))
    ['1']
    """
    return {name: module for name, module in model.named_modules() if isinstance(module, ElasticLayer)}


def deelasticize(model: AnyModule, *, copy: bool = True) -> AnyModule:
    """A copy of an elastic model with plain layers again, bit-identical to the model before `elasticize`.

    Parameters
    ----------
    copy : bool
        False: change the model itself.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> deelasticize(elasticize(model))[2]
    Linear(in_features=4, out_features=2, bias=True)
    """
    if copy:
        model = copied(model)
    end_watch(model)
    for layer in elastic_layers(model).values():
        layer.revert()
    return model


def copied(model: AnyModule) -> AnyModule:
    """A deep copy of a model, also if layers have `torch.nn.utils.weight_norm`.

    Such a layer keeps the weight of its last forward pass, which torch refuses to copy if it has a gradient.

    Examples
    --------
    >>> copied(nn.Linear(2, 1))
    Linear(in_features=2, out_features=1, bias=True)
    """
    for module in model.modules():
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm):
                with torch.no_grad():
                    setattr(module, hook.name, hook.compute_weight(module))
    return copying.deepcopy(model)
