"""Streams that come and go, each with a key: tracks of a tracker, speakers, cameras, one memory for each of them."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

import numpy as np

import torch
from springback import check
from springback.heads.memory import State
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.time_stamps import as_elapsed
from springback.torch import algorithm
from springback.torch._clock import NO_FRAME, gap_of_frame
from springback.torch._watch import answer_of
from springback.torch.following import all_layers, refuse_training
from springback.torch.plain import elastic_layers
from torch import Tensor, nn

MEMORIES_KEPT = 100
"""After this many time constants without a frame, a stream is forgotten, unless `forget_after` is given."""

_ELAPSED = "elapsed"


class _Stream(NamedTuple):
    """What one stream remembers in each elastic layer, and when its last frame came."""

    states: tuple[State, ...]
    time: float


class KeyedStreams:
    """Many streams with one elastic model: the rows of a frame say by their keys which streams they belong to.

    A key that was not seen before begins a stream at rest. Streams that are not in a frame only let time pass. The rows
    are those that the elastic layers receive: one for each image of a batch, for each box of a detector, or for each
    token, (streams, positions), row by row. The model's own state is not used and does not change.

    Parameters
    ----------
    model : nn.Module
        An elastic model, in evaluation mode.
    forget_after : float | None
        Forget a stream that had no frame for so long, so that endless streams need no endless memory; None: 100 times
        the longest memory of the elastic layers. It starts again if its key comes back.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> streams = KeyedStreams(elasticize(nn.Linear(4, 2)))
    >>> streams.step(torch.ones(3, 4), keys=["cat", "dog", "bird"]).shape
    torch.Size([3, 2])
    >>> streams.step(torch.ones(1, 4), keys=["dog"]).shape, sorted(streams)
    (torch.Size([1, 2]), ['bird', 'cat', 'dog'])
    """

    def __init__(self, model: nn.Module, *, forget_after: float | None = None) -> None:
        self.model = model
        self._layers = elastic_layers(model)
        check.require(len(self._layers) > 0, "the model", "be elastic; call elasticize(model)", type(model).__name__)
        longest = max(layer.settings.memory for layer in self._layers.values())
        given = MEMORIES_KEPT * longest if forget_after is None else forget_after
        self.forget_after = check.real("forget_after", given, above=0)
        self._streams: dict[Hashable, _Stream] = {}
        self._clock = NO_FRAME

    def __len__(self) -> int:
        return len(self._streams)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._streams)

    def __contains__(self, key: object) -> bool:
        return key in self._streams

    @one_at_a_time
    @torch.no_grad()
    def step(self, x: Tensor, keys: Iterable[Hashable | None], time: Any = None) -> Tensor:
        """The model's answer to a frame x, whose rows continue the streams of the keys; then they are remembered.

        Parameters
        ----------
        keys : Iterable[Hashable | None]
            The key of each row that the head receives, each at most once. A row without a key (None) is answered
            without a past and not remembered.
        time : Any
            When the frame comes; one step after the last frame, of any key, if not given.
        """
        refuse_training(self.model)
        named = list(keys)
        given = [key for key in named if key is not None]
        check.require(len(set(given)) == len(given), "keys", "name each stream at most once", given)
        _, now = gap_of_frame(self._clock, time)
        assert isinstance(now, float)
        if not named:
            self._tick(now)
            return x.new_zeros((0, list(self._layers.values())[-1].weight.shape[0]))
        known = [None if key is None else self._streams.get(key) for key in named]
        gaps = np.array([1.0 if stream is None else now - stream.time for stream in known])
        states = [self._together(index, known) for index in range(len(self._layers))]
        with all_layers(self.model), ExitStack() as stack:
            for layer, state in zip(self._layers.values(), states, strict=True):
                stack.enter_context(layer.holding(state))
                stack.enter_context(layer.frames_after([gaps]))
            answer = answer_of(self.model, self.model(x))
        for row, key in enumerate(named):
            if key is not None:
                own = tuple(type(state)(*(part[row : row + 1].clone() for part in state)) for state in states)
                self._streams[key] = _Stream(own, now)
        self._tick(now)
        return answer

    def _together(self, index: int, known: list[_Stream | None]) -> State:
        """The states of some streams in one layer as one state; at rest where there is none yet."""
        layer = list(self._layers.values())[index]
        rest = algorithm.init(layer.settings, layer.matrix, 1)
        each = [rest if stream is None else stream.states[index] for stream in known]
        return type(rest)(*(torch.cat(parts) for parts in zip(*each, strict=True)))

    def _tick(self, now: float) -> None:
        """Set the clock, and forget the streams that had no frame for too long."""
        self._clock = now
        old = [key for key, stream in self._streams.items() if now - stream.time > self.forget_after]
        for key in old:
            del self._streams[key]

    @one_at_a_time
    def remove(self, *keys: Hashable) -> Self:
        """Forget streams that have ended."""
        for key in keys:
            check.require(key in self._streams, "keys", "name streams that exist", key)
        for key in keys:
            del self._streams[key]
        return self

    @one_at_a_time
    def reset(self) -> Self:
        """Forget all streams."""
        self._streams, self._clock = {}, NO_FRAME
        return self

    @one_at_a_time
    def relax(self, elapsed: Any) -> Self:
        """Let `elapsed` steps pass without a frame (a timedelta: in seconds), for all streams."""
        self._tick(self._clock + as_elapsed("elapsed", elapsed))
        return self

    @one_at_a_time
    def get_state(self) -> dict[Hashable, dict[str, Tensor]]:
        """A copy of what each stream remembers: `layer.part` by name, and `elapsed` since its last frame.

        Examples
        --------
        >>> from springback.torch import Springs, elasticize
        >>> streams = KeyedStreams(elasticize(nn.Sequential(nn.Linear(4, 2)), Springs(pull=5.0)))
        >>> answer = streams.step(torch.ones(1, 4), keys=[7])
        >>> KeyedStreams(streams.model).set_state(streams.get_state()).get_state().keys()
        dict_keys([7])
        """
        return {
            key: {_ELAPSED: torch.tensor(self._clock - stream.time, dtype=torch.float64)}
            | {
                f"{name}.{part}": value.clone()
                for name, state in zip(self._layers, stream.states, strict=True)
                for part, value in state._asdict().items()
            }
            for key, stream in self._streams.items()
        }

    @one_at_a_time
    def set_state(self, state: Mapping[Hashable, Mapping[str, Tensor]]) -> Self:
        """Continue the streams of a state from `get_state`, in this process or another; others are forgotten."""
        found: dict[Hashable, _Stream] = {}
        for key, parts in state.items():
            must = "be a number >= 0: the time since the last frame"
            elapsed = float(parts.get(_ELAPSED, torch.tensor(-1.0)))
            check.require(math.isfinite(elapsed) and elapsed >= 0, f"elapsed of {key!r}", must, elapsed)
            names = {_ELAPSED, *(name for name in parts if name.rpartition(".")[0] in self._layers)}
            check.require(set(parts) == names, f"state of {key!r}", "hold parts of the elastic layers", sorted(parts))
            found[key] = _Stream(tuple(self._one_stream(name, key, parts) for name in self._layers), -elapsed)
        self._streams, self._clock = found, 0.0 if found else NO_FRAME
        return self

    def _one_stream(self, name: str, key: Hashable, parts: Mapping[str, Tensor]) -> State:
        own = {part.rpartition(".")[2]: value for part, value in parts.items() if part.rpartition(".")[0] == name}
        own.pop(_ELAPSED, None)
        state = self._layers[name].check_state(own)
        if state is None or state[0].shape[0] != 1:
            raise ValueError(f"state of {key!r} must hold one stream of every elastic layer; got {sorted(parts)}")
        return state
