"""Whether the forward pass of a model calls a layer; this is found by running it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

OnCall = Callable[[str, Tensor], None]


@contextmanager
def watch_calls(layers: Mapping[str, nn.Module], on_call: OnCall) -> Iterator[None]:
    """Inside, `on_call(name, input)` is called before the forward pass of each layer.

    This does not use hooks: with a hook, `nn.TransformerEncoderLayer` leaves its fast path and calls layers that it
    does not call otherwise.

    Examples
    --------
    >>> layer, seen = nn.Linear(2, 1), []
    >>> with watch_calls({"head": layer}, lambda name, x: seen.append((name, tuple(x.shape)))):
    ...     _ = layer(Tensor([[1.0, 2.0]]))
    >>> seen
    [('head', (1, 2))]
    """
    with ExitStack() as stack:
        for name, layer in layers.items():
            layer.__dict__["forward"] = _told(name, layer.forward, on_call)
            stack.callback(layer.__dict__.pop, "forward")
        yield


def _told(name: str, forward: Callable[..., Any], on_call: OnCall) -> Callable[..., Any]:
    def call(input: Tensor) -> Any:
        on_call(name, input)
        return forward(input)

    return call


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
        others = [name for name, module in model.named_modules() if isinstance(module, nn.Linear) and name not in names]
        candidates = f"; other linear layers are {', '.join(map(repr, others))}" if others else ""
        raise RuntimeError(
            f"the forward pass of {type(model).__name__} did not call its elastic layer "
            f"{' and '.join(map(repr, names))}, so nothing would adapt; name a layer that it calls with "
            f"elasticize(model, layers=...), or let find_head(model, example) find one{candidates}"
        )
