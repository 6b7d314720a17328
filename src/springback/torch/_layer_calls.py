"""Whether the forward pass of a model calls a layer; this is found by running it."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from springback.check import FrameError
from torch import Tensor, nn

OnCall = Callable[[str, Tensor, Tensor], None]


class Use:
    """Whether a layer was called; an object of its own, since setting an attribute of a module takes microseconds.

    Parameters
    ----------
    passes : set[int]
        The threads that have called it since their last forward pass of the whole model ended; see `this_pass`.
    called : bool
        Since this was last set to False.
    """

    __slots__ = ("called", "passes")

    def __init__(self) -> None:
        self.passes: set[int] = set()
        self.called = False

    def note(self) -> None:
        """The layer is called."""
        self.passes.add(this_pass())
        self.called = True

    def end_pass(self) -> bool:
        """The pass of this thread has ended: whether it called the layer."""
        found = bool(self.passes & {this_pass(), COMPILED})
        self.passes.discard(this_pass())
        self.passes.discard(COMPILED)
        return found


COMPILED = 0
"""Stands for the thread of a compiled program, which does not ask for it."""


def this_pass() -> int:
    """What tells the forward pass of this thread from those of others.

    Examples
    --------
    >>> this_pass() == threading.get_ident()
    True
    """
    return COMPILED if torch.compiler.is_compiling() else threading.get_ident()


@contextmanager
def watch_calls(layers: Mapping[str, nn.Module], on_call: OnCall) -> Iterator[None]:
    """Inside, `on_call(name, input, output)` is called after the forward pass of each layer.

    This does not use hooks: with a hook, `nn.TransformerEncoderLayer` leaves its fast path and calls layers that it
    does not call otherwise.

    Examples
    --------
    >>> layer, seen = nn.Linear(2, 1), []
    >>> with watch_calls({"head": layer}, lambda name, x, y: seen.append((name, tuple(x.shape), tuple(y.shape)))):
    ...     _ = layer(Tensor([[1.0, 2.0]]))
    >>> seen
    [('head', (1, 2), (1, 1))]
    """
    with ExitStack() as stack:
        for name, layer in layers.items():
            layer.__dict__["forward"] = _told(name, layer.forward, on_call)
            stack.callback(layer.__dict__.pop, "forward")
        yield


def _told(name: str, forward: Callable[..., Any], on_call: OnCall) -> Callable[..., Any]:
    def call(input: Tensor) -> Any:
        output = forward(input)
        on_call(name, input, output)
        return output

    return call


def refuse_not_finite(name: str, frames: Tensor) -> None:
    """Refuse frames with NaN or infinity, and name the first of them.

    Examples
    --------
    >>> refuse_not_finite("x", torch.tensor([[1.0], [torch.nan]]))
    Traceback (most recent call last):
    springback.check.FrameError: x must be finite everywhere; got NaN or infinity in row 1
    """
    if frames.device.type == "meta" or not frames.is_floating_point() or bool(frames.sum().isfinite()):
        return
    bad = (~frames.isfinite()).nonzero()  # the sum of finite numbers may overflow
    if len(bad):
        where = ", stream ".join(map(str, bad[0, : 2 if name == "frames" else 1].tolist()))
        raise FrameError(f"{name} must be finite everywhere; got NaN or infinity in row {where}")


def refuse_unused(unused: Iterable[str], model: nn.Module) -> None:
    """Raise if a forward pass left out any of the elastic layers.

    Examples
    --------
    >>> refuse_unused(["aux"], nn.Linear(2, 1))
    Traceback (most recent call last):
    RuntimeError: the forward pass of Linear did not call its elastic layer 'aux', so nothing would adapt; ...
    """
    names = list(unused)
    if names:
        raise RuntimeError(
            f"the forward pass of {type(model).__name__} did not call its elastic layer "
            f"{' and '.join(map(repr, names))}, so nothing would adapt; {other_layers(names, model)}"
        )


def other_layers(names: Iterable[str], model: nn.Module) -> str:
    """What to do instead of making the named layers elastic: the end of an error message.

    Examples
    --------
    >>> other_layers(["fc"], nn.ModuleDict({"head": nn.Linear(2, 2), "fc": nn.Linear(2, 2)}))
    "name a layer with elasticize(model, layers=...), or pass example=...; other linear layers are 'head'"
    """
    kinds = nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d
    known = {name: module for name, module in model.named_modules() if isinstance(module, kinds)}
    linear = [one for one, layer in known.items() if isinstance(layer, nn.Linear) or set(layer.kernel_size) == {1}]
    others = ", ".join(repr(one) for one in linear if one not in set(names))
    return "name a layer with elasticize(model, layers=...), or pass example=..." + (
        f"; other linear layers are {others}" if others else ""
    )
