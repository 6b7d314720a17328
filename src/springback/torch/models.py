"""Whole models: make layers elastic."""

import dataclasses
from collections.abc import Iterable

from springback import check
from springback.heads.scale import Scale
from springback.heads.settings import Settings, require_settings
from springback.torch._model_output import watch_passes
from springback.torch.elastic_layer import Centre, ElasticLayer
from springback.torch.finding import elastic_kind, find_head, possible_layers
from springback.torch.plain import AnyModule, copied
from torch import Tensor, nn


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
    because they would silently stay at rest, and so does the first one if the head, found by its name, does not give
    the output. With `Springs(posterior_from="output")`, the last of the layers is pulled by the posterior of the whole
    model's output, and all others by their own.

    The model may return a tensor, or a tuple, a dict or an object that contains the answer of its head.

    Parameters
    ----------
    settings : Settings | None
        Such as `Observer` or `Springs`; None: the default `LearningObserver`, whose output is the
        logarithm of the posterior.
    centre : Centre | None
        Mean of the features that the layer receives, (n,); only for one layer, as is the scale.
    scale : Scale | None
        Units of an `Observer` and of `WindowSprings.tuning`; None: each stream measures its own.
    layers : str | Iterable[str] | None
        Name of the layer (`find_head` if None), or several names: linear layers, or convolutions with a kernel of one
        pixel, also with weight normalisation or a parametrization; hidden convolutions with larger kernels, see
        `ElasticFilters2d`.
    example : Tensor | None
        An input of the model, with which `find_head` makes sure that the layer gives the output.
    copy : bool
        False: change the model itself.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> from springback.torch import Springs
    >>> elasticize(model, Springs(pull=10.0, memory=2.0))[2]
    ElasticLinear(in_features=4, out_features=2, bias=True, pull=10.0, memory=2)
    """
    found = layers is None and example is None
    names = [find_head(model, example)] if layers is None else [layers] if isinstance(layers, str) else list(layers)
    check.require(len(names) > 0, "layers", "name at least one layer", names)
    alone = len(names) == 1 or (centre is None and scale is None)
    check.require(alone, "layers", "name one layer if centre or scale is given, because each has its own", names)
    known = possible_layers(model, hidden=True)
    for name in names:
        check.require(name in known, "layers", f"name layers of the model ({', '.join(known)})", name)
    if copy:
        model = copied(model)
    made = {name: _made_elastic(model, name, settings, centre, scale, last=name == names[-1]) for name in names}
    watch_passes(model, made, found=found)
    return model.eval()


def _made_elastic(
    model: nn.Module, name: str, settings: Settings | None, centre: Centre | None, scale: Scale | None, *, last: bool
) -> ElasticLayer:
    """The layer of that name, made elastic; only the last one can be pulled by the output of the model."""
    settings = require_settings(settings)
    if settings.posterior_from == "output" and not last:
        settings = dataclasses.replace(settings, posterior_from="layer")  # type: ignore[arg-type]
    layer = model.get_submodule(name)
    kind = elastic_kind(layer)
    assert kind is not None
    return kind.convert(layer, settings, centre=centre, scale=scale)
