"""The short-term state of an elastic layer: how streams begin, relax, join, leave and end."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.heads.memories.memory import State
from springback.heads.settings import Settings
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import AT_REST, usual_step
from springback.streaming.time_stamps import UnitCheck
from springback.torch import algorithm
from springback.torch._clock import NO_FRAME, Clock, each, each_pace
from springback.torch._kernel_state import KernelState
from springback.torch.algorithm import Streams
from springback.torch.memories.frame import state_dtype
from springback.torch.memories.pull import SpringReading
from torch import Tensor, nn


class LayerState(nn.Module):
    """What a layer with weights (K, n), in any form, remembers of its streams; the state is held in buffers.

    A state has one row for each stream or, if a stream has several positions (tokens, boxes, pixels), for each of them.
    """

    weight: Tensor
    bias: Any
    settings: Settings
    centre: Tensor | None
    clock: Clock
    pace: NDArray[np.float64]
    """Of all streams, (SIZE,), or of each of them, (B, SIZE); see `springback.streaming.pace`."""
    unit: UnitCheck
    positions: tuple[int, ...]
    """Where a stream has rows: the axes of the last input between streams and features; () if it has one row."""
    _pending: dict[int, SpringReading]
    """What the output of the model has yet to pull, in the pass of each thread."""
    _at_rest: bool
    _carried: bool
    _kernel_state: KernelState | None
    """What follows frames without torch, since the first of them."""

    def _begin(self, settings: Settings, centre: Tensor | None) -> None:
        self.settings = settings
        self.register_buffer("centre", centre, persistent=False)
        self.clock = NO_FRAME
        self.pace, self.unit = AT_REST, UnitCheck()
        self.positions = ()
        self._pending = {}
        self._at_rest = True
        self._carried = False
        self._kernel_state = None
        for name in settings.State._fields:
            self.register_buffer(f"state_{name}", None, persistent=False)

    def _end(self) -> None:
        for name in self.settings.State._fields:
            delattr(self, f"state_{name}")
        del self.settings, self.centre, self.clock, self.pace, self.unit, self.positions
        del self._pending, self._at_rest, self._carried, self._kernel_state

    @property
    def matrix(self) -> Tensor:
        """The weights as a matrix, (K, n)."""
        weight = self.weight
        return weight if weight.ndim == 2 else weight.flatten(1)

    @property
    def _state(self) -> State | None:
        kind, held = self.settings.State, self._buffers
        parts = [part for name in kind._fields if (part := held[f"state_{name}"]) is not None]
        return kind(*parts) if parts else None

    @property
    def rows_per_stream(self) -> int:
        """How many rows of the state belong to one stream."""
        return math.prod(self.positions)

    @property
    def n_streams(self) -> int | None:
        """How many streams the state follows; None before the first input and after `reset()`."""
        state = self._state
        return None if state is None else state[0].shape[0] // self.rows_per_stream

    @one_at_a_time
    def reset(self, n_streams: int | None = None, streams: Streams | None = None) -> Self:
        """Return to rest: `n_streams` new streams, or only the given `streams`.

        With neither, the layer also forgets how many streams there were, so the next input may have any number.
        """
        if n_streams is not None:
            check.require(streams is None, "streams", "be None if n_streams is given", streams)
            self._start(check.integer("n_streams", n_streams, low=1))
        elif streams is None:
            self._hold(None)
            self.clock, self.pace, self._at_rest = NO_FRAME, AT_REST, True
        elif (state := self._state) is not None:
            chosen = self._chosen(streams)
            self._write(state, algorithm.reset(state, self._rows_of(chosen)))
            self._set_clocks(chosen, np.full(len(chosen), NO_FRAME))
            self.pace = np.where(chosen.cpu().numpy()[:, None], AT_REST, each_pace(self.pace, len(chosen)))
        return self

    def _start(self, n_streams: int) -> None:
        self._hold(algorithm.init(self.settings, self.matrix, n_streams * self.rows_per_stream))
        self.clock, self.pace, self._at_rest = NO_FRAME, AT_REST, True

    @one_at_a_time
    def relax(self, elapsed: float, streams: Streams | None = None) -> Self:
        """Let time pass, for all streams or only for those given: in the unit of the time stamps, if there were any.

        Without time stamps, it is in frames.
        """
        check.real("elapsed", elapsed, low=0)
        state, n_streams = self._state, self.n_streams
        if streams is None and (state is None or self.pace.ndim == 1):
            passed = self._in_unit(elapsed, self.pace[None])[0]
            if state is not None:
                self._write(state, self._relaxed(state, float(passed), None))
            self.clock = self.clock + passed
        elif state is not None and n_streams is not None:
            chosen = self._chosen(list(range(n_streams)) if streams is None else streams)
            each_passed = self._in_unit(elapsed, each_pace(self.pace, n_streams))
            for passed in np.unique(each_passed[chosen.cpu().numpy()]):
                here = chosen & torch.from_numpy(each_passed == passed).to(chosen.device)
                self._write(state, self._relaxed(state, float(passed), self._rows_of(here)))
            self._set_clocks(chosen, each(self.clock, n_streams) + each_passed)
        return self

    def _relaxed(self, state: State, elapsed: float, rows: Tensor | None) -> State:
        """The state after a silence in the unit of the memory, of all rows or of some."""
        return algorithm.relax(self.settings, state, elapsed, rows)

    def _wait(self, state: State, gap: Tensor) -> None:
        """Prepare for a frame that comes `gap` after the last, as if it came one frame after it, in place."""
        algorithm.wait(self.settings, state, gap)

    def _in_unit(self, elapsed: float, pace: NDArray[np.float64]) -> NDArray[np.float64]:
        """A silence in the unit of the memory, for each pace."""
        return elapsed / (usual_step(pace) if self.settings.memory_in == "frames" else np.ones(len(pace)))

    @one_at_a_time
    def add_streams(self, n_streams: int = 1) -> Self:
        """Let `n_streams` more streams join, at rest; they come after those that the layer has."""
        check.integer("n_streams", n_streams, low=1)
        state, before = self._state, self.n_streams
        if state is None or before is None:
            return self.reset(n_streams)
        clock = np.concatenate([each(self.clock, before), np.full(n_streams, NO_FRAME)])
        pace = np.concatenate([each_pace(self.pace, before), each_pace(AT_REST, n_streams)])
        self._hold(algorithm.join(self.settings, self.matrix, state, n_streams * self.rows_per_stream))
        self.clock, self.pace = clock, pace
        return self

    @one_at_a_time
    def remove_streams(self, streams: Streams) -> Self:
        """Let streams leave; those after them move up. Without any stream left, this has the effect of `reset()`."""
        state, before = self._state, self.n_streams
        if state is None or before is None:
            raise ValueError("streams must exist before they can leave; show the model a frame or call reset first")
        chosen = self._chosen(streams)
        left = algorithm.leave(state, self._rows_of(chosen))
        if left is None:
            return self.reset()
        stays = ~chosen.cpu().numpy()
        clock, pace = each(self.clock, before)[stays], each_pace(self.pace, before)[stays]
        self._hold(left)
        self.clock, self.pace = clock, pace
        return self

    def _chosen(self, streams: Streams) -> Tensor:
        """Which streams are meant, (B,)."""
        return algorithm.chosen(self.n_streams or 0, streams, self.weight.device)

    def _rows_of(self, chosen: Tensor) -> Tensor:
        return chosen.repeat_interleave(self.rows_per_stream)

    def _set_clocks(self, chosen: Tensor, values: NDArray[np.float64]) -> None:
        clock = np.where(chosen.cpu().numpy(), values, each(self.clock, len(chosen)))
        alike = bool((clock == clock[0]).all()) or bool(np.isnan(clock).all())
        self.clock = float(clock[0]) if alike else clock

    @staticmethod
    def _write(state: State, new: State) -> None:
        # In place: compiled and exported programs hold these tensors.
        for own, part in zip(state, new, strict=True):
            own.copy_(part)

    @contextmanager
    def on_a_copy(self) -> Iterator[Self]:
        """Inside, the layer moves a copy of its state; afterwards its own state is restored."""
        state = self._state
        with self.holding(None if state is None else algorithm.copy(state), carried=self._carried):
            yield self

    @contextmanager
    def holding(self, state: State | None, *, carried: bool = True) -> Iterator[Self]:
        """Inside, the layer moves the given state instead of its own.

        Parameters
        ----------
        carried : bool
            Whether the caller carries the state from call to call, so that recording the model does not lose it.
        """
        own = self._state, (self.clock, self.pace), self._at_rest, self._carried, self.positions
        self._hold(state)
        self._carried = carried
        try:
            yield self
        finally:
            self._hold(own[0])
            _, (self.clock, self.pace), self._at_rest, self._carried, positions = own
            self.positions = positions if own[0] is not None else self.positions

    def kept(self) -> tuple[Any, ...]:
        """A copy of all that a frame changes; see `give_back`."""
        state = self._state
        return None if state is None else algorithm.copy(state), self.clock, self.pace, self._at_rest, self.positions

    def give_back(self, kept: tuple[Any, ...]) -> None:
        """Be as when `kept` was called."""
        state, self.clock, self.pace, self._at_rest, self.positions = kept
        self._hold(state)

    @one_at_a_time
    def get_state(self) -> dict[str, Tensor]:
        """A copy of the short-term state by name; empty before the first input."""
        state = self._state
        return {} if state is None else algorithm.copy(state)._asdict()

    @one_at_a_time
    def set_state(self, state: Mapping[str, Tensor]) -> Self:
        """Replace the state by a copy of one from `get_state`; an empty one has the effect of `reset()`."""
        checked = self.check_state(state)
        self._hold(checked)
        if checked is None or checked[0].shape[0] % self.rows_per_stream:
            self.positions = ()
        self.clock, self.pace, self._at_rest = NO_FRAME, AT_REST, checked is None
        return self

    def check_state(self, state: Mapping[str, Tensor]) -> State | None:
        """A copy of a state from `get_state` as this layer would hold it; refused if it does not fit."""
        if not state:
            return None
        fields = self.settings.State._fields
        check.require(set(state) == set(fields), "state", f"hold exactly {', '.join(fields)}", sorted(state))
        for name, part in state.items():
            if not isinstance(part, Tensor):
                raise TypeError(f"state {name} must be a tensor, as get_state gives it; got {type(part).__name__}")
        first = tuple(state[fields[0]].shape)
        check.require(len(first) > 0 and first[0] > 0, f"state {fields[0]}", "have a row for each stream", first)
        own, parts = algorithm.init(self.settings, self.matrix, first[0]), self.settings.parts(*self.matrix.shape)
        for name, wanted in own._asdict().items():
            got = tuple(state[name].shape)
            check.require(got == tuple(wanted.shape), f"state {name}", f"have shape {tuple(wanted.shape)}", got)
            if state[name].device.type != "meta":
                parts[name].require(f"state.{name}", state[name].detach().cpu().numpy())
            wanted.copy_(state[name])
        return own

    def _hold(self, state: State | None) -> None:
        self._pending, self._kernel_state = {}, None
        for name in self.settings.State._fields:
            setattr(self, f"state_{name}", None if state is None else getattr(state, name))

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        centre = self.centre
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        wanted = state_dtype(self.weight.dtype)
        if centre is not None:
            self.centre = centre.to(self.weight.device, wanted)
        state = self._state
        if state is not None:
            parts = [part.to(wanted) if part.is_floating_point() else part for part in state]
            self._hold(self.settings.State(*parts))
        return self
