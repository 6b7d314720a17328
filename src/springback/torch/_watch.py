"""Watching the forward passes of an elastic model: its layers are used, and where their answer is in its output."""

from collections.abc import Mapping
from typing import Any

import torch
from springback.streaming.one_at_a_time import turn_of
from springback.torch._answers import Path, class_axis, path_of_answer, tensor_at, usual_path
from springback.torch._use import other_layers, refuse_unused, this_pass
from springback.torch.elastic_layer import ElasticLayer, Pass
from torch import Tensor, nn


class Watch:
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

    def note(self, passed: Pass) -> None:
        """Keep what the head returned."""
        self.returned[this_pass()] = passed.returned

    def after(self, model: nn.Module, output: Any) -> None:
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


class AfterPass:
    """A hook of the whole model that runs after its forward pass."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, model: nn.Module, _inputs: Any, output: Any) -> None:
        self.watch.after(model, output)


def watch_passes(model: nn.Module, layers: Mapping[str, ElasticLayer], *, found: bool) -> None:
    """Watch all forward passes of a model from now on."""
    watch = Watch(layers, found=found)
    if not layers[watch.head].never_moves:
        layers[watch.head].reports.append(watch.note)
    model.register_forward_hook(AfterPass(watch))


def end_watch(model: nn.Module) -> None:
    """Watch no longer."""
    hooks = model._forward_hooks
    for key, hook in list(hooks.items()):
        if isinstance(hook, AfterPass):
            del hooks[key]


def answer_of(model: nn.Module, output: Any) -> Tensor:
    """The answer of the head of an elastic model in what the model returned.

    Examples
    --------
    >>> answer_of(nn.Linear(2, 1), {"logits": torch.ones(1)})
    tensor([1.])
    """
    for hook in model._forward_hooks.values():
        if isinstance(hook, AfterPass):
            return hook.watch.answer_in(output)
    return tensor_at(output, usual_path(output))
