"""Where the answer of an elastic head is in what its model returns; a hook learns it from the first forward pass."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from springback.streaming.one_at_a_time import turn_of
from springback.torch._layer_calls import other_layers, refuse_not_finite, refuse_unused, this_pass
from springback.torch.elastic_layer import ElasticLayer, Pass
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


class OutputWatch:
    """What is known of the forward passes of a model.

    Parameters
    ----------
    layers : Mapping[str, ElasticLayer]
        The elastic layers by name; the last one is the head.
    found : bool
        Whether the head was found by its name alone, so that the first pass has to show that it gives the output.
    """

    def __init__(self, layers: Mapping[str, ElasticLayer], *, found: bool) -> None:
        self.layers = dict(layers)
        self.found = found
        self.head = list(self.layers)[-1]
        self.path: Path | None = None
        self.known = False
        """Whether a pass has shown where the head's answer is in the output; the path is None if it is nowhere."""
        self.returned: dict[int, Tensor] = {}
        """What the head returned, in the pass of each thread, until one has shown it."""

    def before(self, model: nn.Module, inputs: Iterable[Any], named: Mapping[str, Any]) -> None:
        """Refuse frames with NaN or infinity, unless `step` or `track` has looked at them."""
        free = not (model.training or torch.compiler.is_compiling() or torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]
        frames = next((one for one in (*inputs, *named.values()) if isinstance(one, Tensor)), None)
        if free and frames is not None and not self.layers[self.head].is_followed:
            refuse_not_finite("the input", frames)

    def note(self, passed: Pass) -> None:
        """Keep what the head returned."""
        self.returned[this_pass()] = passed.returned

    def after(self, model: nn.Module, _inputs: Any, output: Any) -> None:
        """Refuse a pass in evaluation mode that left out an elastic layer; let the output pull, if it is to."""
        unused = [name for name, layer in self.layers.items() if not layer.use.end_pass()]
        if model.training:
            return
        refuse_unused(unused, model)
        head = self.layers[self.head]
        if not self.known and not torch.compiler.is_compiling():
            with turn_of(head):
                self._learn(model, output, head)
        if head.pulled_by_output:
            head.pull_towards(self.answer_in(output))

    def answer_in(self, output: Any) -> Tensor:
        """The answer of the head in what the model returned."""
        return tensor_at(output, usual_path(output) if self.path is None else self.path)

    def _learn(self, model: nn.Module, output: Any, head: ElasticLayer) -> None:
        """Find out where in the output the answer of the head is."""
        returned = self.returned.pop(this_pass(), None)
        if self.known or returned is None:
            return
        path = path_of_answer(output, returned, class_axis(head))
        if path is None and self.found and not head.pulled_by_output:
            raise RuntimeError(
                f"the output of {type(model).__name__} is not what its elastic layer {self.head!r} gives, directly or "
                f"after a soft-max; {other_layers([self.head], model)}"
            )
        self.path, self.known = path, True
        head.reports.remove(self.note)
        self.returned.clear()


def watch_passes(model: nn.Module, layers: Mapping[str, ElasticLayer], *, found: bool) -> None:
    """Watch all forward passes of a model from now on."""
    watch = OutputWatch(layers, found=found)
    if not layers[watch.head].never_moves:
        layers[watch.head].reports.append(watch.note)
    model.register_forward_pre_hook(watch.before, with_kwargs=True)
    model.register_forward_hook(watch.after)


def end_watch(model: nn.Module) -> None:
    """Watch no longer."""
    hooks: Any
    for hooks in (model._forward_hooks, model._forward_pre_hooks):
        for key, hook in list(hooks.items()):
            if _watch_of(hook) is not None:
                del hooks[key]
                model._forward_pre_hooks_with_kwargs.pop(key, None)


def answer_of(model: nn.Module, output: Any) -> Tensor:
    """The answer of the head of an elastic model in what the model returned.

    Examples
    --------
    >>> answer_of(nn.Linear(2, 1), {"logits": torch.ones(1)})
    tensor([1.])
    """
    watch = next(filter(None, map(_watch_of, model._forward_hooks.values())), None)
    return tensor_at(output, usual_path(output)) if watch is None else watch.answer_in(output)


def _watch_of(hook: Any) -> OutputWatch | None:
    watch = getattr(hook, "__self__", None)
    return watch if isinstance(watch, OutputWatch) else None
