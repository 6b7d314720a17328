"""Where the answer of a layer is in what a model returns: a tensor, or inside a tuple, a dict or an object."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

Path = tuple[str | int, ...]
"""How to get from what a model returns to a tensor in it: names and indices; () is the whole of it."""

_DEEPEST = 3
_LOGITS = "logits"


def tensors_in(output: Any, path: Path = ()) -> dict[Path, Tensor]:
    """Every tensor in what a model returned.

    Examples
    --------
    >>> list(tensors_in((torch.ones(1), {"logits": torch.ones(1)})))
    [(0,), (1, 'logits')]
    """
    if isinstance(output, Tensor):
        return {path: output}
    if len(path) == _DEEPEST or output is None or isinstance(output, str | bytes | int | float):
        return {}
    inside: Mapping[Any, Any] | Any
    if isinstance(output, Mapping):
        inside = {name: one for name, one in output.items() if isinstance(name, str | int)}
    elif isinstance(output, tuple | list):
        inside = dict(enumerate(output))
    else:
        inside = getattr(output, "__dict__", {})
        if not inside and isinstance(getattr(output, _LOGITS, None), Tensor):
            inside = {_LOGITS: getattr(output, _LOGITS)}
    found: dict[Path, Tensor] = {}
    for name, one in inside.items():
        found |= tensors_in(one, (*path, name))
    return found


def tensor_at(output: Any, path: Path) -> Tensor:
    """The tensor at a path in what a model returned.

    Examples
    --------
    >>> tensor_at({"logits": torch.ones(2)}, ("logits",))
    tensor([1., 1.])
    """
    found: Any = output
    for name in path:
        indexed = isinstance(found, Mapping | tuple | list)
        found = found[name] if indexed else getattr(found, str(name))
    if not isinstance(found, Tensor):
        raise TypeError(f"the model must return a tensor at {spelled(path)}, as before; got {type(output).__name__}")
    return found


def spelled(path: Path) -> str:
    """A path as it is written after the output.

    Examples
    --------
    >>> spelled((0, "logits"))
    "[0]['logits']"
    """
    return "".join(f"[{name!r}]" for name in path)


def path_of_answer(output: Any, returned: Tensor | None, class_dim: int = -1) -> Path | None:
    """Where in the output the layer's answer is, directly or after a soft-max or a factor; None if it is nowhere."""
    if returned is None:
        return None
    found = [path for path, one in tensors_in(output).items() if gives(returned, one, class_dim)]
    named = [path for path in found if path and path[-1] == _LOGITS]
    return next(iter(named or found), None)


def usual_path(output: Any) -> Path:
    """Where the answer is if it cannot be told from the layer: the only tensor, or the one that is called `logits`.

    Examples
    --------
    >>> usual_path(torch.ones(1)), usual_path({"logits": torch.ones(1), "loss": torch.ones(1)})
    ((), ('logits',))
    >>> usual_path((torch.ones(1), torch.ones(1)))
    Traceback (most recent call last):
    TypeError: the model must return a tensor, a tensor called `logits`, or what its elastic layer returns; got tuple...
    """
    found = tensors_in(output)
    named = [path for path in found if path and path[-1] == _LOGITS]
    if len(named) == 1 or len(found) == 1:
        return (named or list(found))[0]
    inside = f" with tensors at {', '.join(map(spelled, found))}" if found else ""
    raise TypeError(
        "the model must return a tensor, a tensor called `logits`, or what its elastic layer returns; "
        f"got {type(output).__name__}{inside}"
    )


def gives(returned: Tensor, answer: Tensor, class_dim: int = -1) -> bool:
    """Whether an answer is what a layer returned, directly or after a soft-max, a log-soft-max or a positive factor.

    Examples
    --------
    >>> x = torch.tensor([[1.0, -2.0, 3.0]])
    >>> gives(x, 0.5 * x), gives(x, x.softmax(-1)), gives(x, x.relu())
    (True, True, False)
    """
    if not (returned.is_floating_point() and answer.is_floating_point()):
        return False
    fits = returned.ndim > 1 and answer.ndim > 1 and returned.shape[0] == answer.shape[0]
    if not fits or returned.numel() != answer.numel():
        return False
    coarse = any(one.dtype in (torch.float16, torch.bfloat16) for one in (returned, answer))
    tolerance = 2e-2 if coarse else 1e-4
    plain, given = returned.detach().double(), answer.detach().double().flatten(1)
    ways = (plain, plain.log_softmax(class_dim), plain.softmax(class_dim))
    if any(_close(way.flatten(1), given, tolerance) for way in ways):
        return True
    flat = plain.flatten(1)
    used = flat.isfinite() & given.isfinite()
    length = flat[used].square().sum()
    factor = (flat[used] * given[used]).sum() / length if length > 0 else flat.new_zeros(())
    return bool(factor > 0) and _close(flat * factor, given, tolerance)


def class_axis(layer: nn.Module) -> int:
    """The axis of a layer's output that counts the classes.

    Examples
    --------
    >>> class_axis(nn.Linear(3, 2)), class_axis(nn.Conv2d(3, 2, 1))
    (-1, 1)
    """
    return 1 if isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Conv3d) else -1


def _close(one: Tensor, other: Tensor, tolerance: float) -> bool:
    finite = other[other.isfinite()]
    size = float(finite.abs().max()) if len(finite) else 0.0
    return torch.allclose(one, other, rtol=tolerance, atol=tolerance * size, equal_nan=True)
