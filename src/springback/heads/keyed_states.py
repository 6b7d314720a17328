"""How the states of many streams are kept between their frames, and how one model continues several of them at once."""

import copy
import sys
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.models import pack_state, require_names, unpack_state
from springback.files.quantised import Codes, decode, encode
from springback.heads.elastic_head import ElasticHead
from springback.heads.onnx import OnnxStream
from springback.streaming.pace import AT_REST, MemoryIn, require_pace, require_times, stamps_in_frames
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel
from springback.streaming.time_stamps import UnitCheck, times_of_streams

_BYTES_AT_ONCE = 2**24
"""How much memory the states may take that one call moves."""

Kept = TypeVar("Kept")


class States(ABC, Generic[Kept]):
    """One model, and states of it that are kept outside of it. States are never written to, so they can be shared."""

    streams_at_once: int = 1
    """How many streams one call of `follow` may have."""

    memory_in_: MemoryIn = "frames"
    """The unit in which time is counted."""

    with_frozen: bool = True
    """Whether answers without memory are asked for, if they can be left out."""

    rows_in_frames: bool = False
    """Whether one frame may hold rows of several streams, for a model that finds them in it."""

    def frames(self, X: Any) -> Any:
        """Frames (T, ...), of a type that can be indexed by a list of numbers."""
        return np.asarray(X)

    @abstractmethod
    def rest(self) -> Kept:
        """The state before the first frame."""

    @abstractmethod
    def follow(self, kept: list[Kept], frames: Any, times: NDArray[np.float64] | None) -> tuple[Followed, list[Kept]]:
        """The answers to T frames of B streams, (T, B, ...), with times (T, B), and their states afterwards.

        The answers are in the order of the frames, (T * B, K).
        """

    @abstractmethod
    def pack(self, kept: Kept) -> bytes:
        """A state as bytes, for a store or another process."""

    @abstractmethod
    def unpack(self, content: bytes) -> Kept:
        """The state in bytes; bytes that were changed, or that are of another model, are refused in one sentence."""


class ModelStates(States[bytes]):
    """States of any `StreamModel`, as bytes: one stream after the other."""

    def __init__(self, model: StreamModel) -> None:
        self._model = copy.deepcopy(model)
        self._rest, self.memory_in_ = self._model.reset().get_state(), model.memory_in_

    def rest(self) -> bytes:
        """The state before the first frame."""
        return self._rest

    def follow(self, kept: list[bytes], frames: Any, times: NDArray[np.float64] | None) -> tuple[Followed, list[bytes]]:
        """All frames of the stream in one call."""
        self._model.memory_in_ = self.memory_in_
        self._model.set_state(kept[0])
        stamps = None if times is None else times[:, 0]
        followed = self._model.track_response(frames[:, 0], stamps, in_place=True)
        return followed, [self._model.get_state()]

    def pack(self, kept: bytes) -> bytes:
        """The bytes."""
        return kept

    def unpack(self, content: bytes) -> bytes:
        """The bytes, after the model has accepted them."""
        self._model.set_state(content)
        return bytes(content)

    def joined(self, kept: list[bytes]) -> dict[str, NDArray[Any]]:
        """All bytes, and where each state ends."""
        ends = np.cumsum([len(one) for one in kept], dtype=np.int64)
        return {"content": np.frombuffer(b"".join(kept), np.uint8), "ends": ends}

    def apart(self, arrays: dict[str, NDArray[Any]]) -> list[bytes]:
        """The bytes of each state, which the model checks when it continues from it."""
        return [one.tobytes() for one in np.split(arrays["content"], arrays["ends"])[:-1]]


class Parts(NamedTuple):
    """The state of one stream: the time of its last frame (NaN before the first), its pace, and arrays (1, ...)."""

    clock: float
    pace: NDArray[np.float64]
    parts: tuple[Any, ...]


class BatchedStates(States[Parts]):
    """States that consist of arrays, so that one call of the model moves many of them."""

    kind: str
    """What bytes of these states say they are of."""

    def __init__(
        self, rest: tuple[Any, ...], names: list[str], memory: float | None, memory_in: MemoryIn = "frames"
    ) -> None:
        self._rest, self._names = Parts(np.nan, AT_REST, rest), names
        self._memory, self.memory_in_, self._unit = memory, memory_in, UnitCheck()
        self.streams_at_once = max(1, _BYTES_AT_ONCE // max(1, sum(part.nbytes for part in rest)))

    @abstractmethod
    def _run(self, parts: list[Any], frames: Any, gaps: NDArray[np.float64]) -> tuple[Followed, list[Any]]:
        """The answers to frames (T, B, ...), with the time since the one before each, (T, B), and the new parts."""

    @abstractmethod
    def _require_possible(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Refuse a state that no stream can lead to."""

    def _together(self, parts: tuple[Any, ...]) -> Any:
        return np.concatenate(parts)

    def _alone(self, part: Any, stream: int) -> Any:
        return part[stream : stream + 1].copy()

    def _array(self, part: Any) -> NDArray[Any]:
        return np.asarray(part)

    def rest(self) -> Parts:
        """The state before the first frame; all streams share it."""
        return self._rest

    def follow(self, kept: list[Parts], frames: Any, times: NDArray[np.float64] | None) -> tuple[Followed, list[Parts]]:
        """All streams in one call."""
        clocks, paces = np.array([one.clock for one in kept]), [one.pace for one in kept]
        require_times(times, self.memory_in_)
        if times is not None and self.memory_in_ == "frames":
            times, after = stamps_in_frames(np.array(paces), clocks, times)
            paces = [pace.copy() for pace in after]
        stamps, gaps = times_of_streams(clocks, len(frames), times)
        if self.memory_in_ == "time" and self._memory is not None:
            self._unit.see(gaps[:, ~np.isnan(clocks)].ravel(), self._memory)
        joined = [self._together(parts) for parts in zip(*(one.parts for one in kept), strict=True)]
        followed, moved = self._run(joined, frames, gaps)
        if not len(frames):
            return followed, kept
        if len(kept) == 1:
            return followed, [Parts(float(stamps[-1, 0]), paces[0], tuple(moved))]
        return followed, [
            Parts(float(stamps[-1, stream]), paces[stream], tuple(self._alone(part, stream) for part in moved))
            for stream in range(len(kept))
        ]

    def joined(self, kept: list[Parts]) -> dict[str, NDArray[Any]]:
        """The arrays of all states, the first axis of each counting them."""
        parts = [self._array(self._together(some)) for some in zip(*(one.parts for one in kept), strict=True)]
        clocks, paces = np.array([one.clock for one in kept]), np.array([one.pace for one in kept])
        return {**dict(zip(self._names, parts, strict=True)), "clock": clocks, "pace": paces}

    def _named(self, kept: Parts) -> dict[str, NDArray[Any]]:
        return self.joined([kept]) | {"pace": kept.pace}

    def pack(self, kept: Parts) -> bytes:
        """All arrays, with a checksum."""
        return pack_state(self.kind, self._named(kept))

    def unpack(self, content: bytes) -> Parts:
        """The state in bytes, if a stream of this model can be in it."""
        found = unpack_state(self.kind, content, self._named(self._rest))
        clock = float(found["clock"][0])
        try:
            check.require(not np.isinf(clock), "clock", "be a time, or NaN before the first frame", clock)
            require_pace("pace", found["pace"])
            self._require_possible(found)
        except ValueError as error:
            raise DataError(f"state cannot be used: {error}") from error
        return Parts(clock, found["pace"], tuple(found[name] for name in self._names))


class HeadStates(BatchedStates):
    """States of an `ElasticHead`, exactly as it computes them."""

    kind = "ElasticHead"

    def __init__(self, head: ElasticHead) -> None:
        self._head = copy.copy(head).reset()
        rest: Any = self._head.state_.memory
        super().__init__(tuple(rest), list(rest._fields), head.memory_, head.memory_in_)

    def frames(self, X: Any) -> NDArray[Any]:
        """Rows of features."""
        return self._head.rows(X)

    def _run(self, parts: list[Any], frames: Any, gaps: NDArray[np.float64]) -> tuple[Followed, list[Any]]:
        rows = frames.reshape(-1, frames.shape[-1])
        return self._head.follow_streams(parts, rows, gaps, with_frozen=self.with_frozen), parts

    def _require_possible(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name, part in self._head.settings.parts(*self._head.weight.shape).items():
            check.array(name, arrays[name], shape=(None, *part.shape), dtype=np.dtype(part.dtype))
            part.require(name, arrays[name])

    def apart(self, arrays: dict[str, NDArray[Any]]) -> list[Parts]:
        """The states that were joined; those of a head with other sizes are refused."""
        require_names(arrays, *self._names, "clock", "pace")
        self._require_possible(arrays)
        each = zip(arrays["clock"].tolist(), arrays["pace"], *(arrays[name] for name in self._names), strict=True)
        return [Parts(clock, pace, tuple(part[None] for part in parts)) for clock, pace, *parts in each]


class CompactStates(HeadStates):
    """States of an `ElasticHead` that remembers inputs; each input is rounded to one byte per number when it is stored.

    Rounding happens once for each frame, so the answers do not depend on how a stream is split into calls, or on
    whether it was interrupted.
    """

    kind = "compact ElasticHead"

    def __init__(self, head: ElasticHead) -> None:
        super().__init__(head)
        self._keys, self._position = self._names.index("keys"), self._names.index("position")
        exact = list(self._rest.parts)
        codes = [f"keys.{name}" for name in Codes._fields]
        others = [name for name in self._names if name != "keys"]
        empty = encode(exact.pop(self._keys)[0])
        self._names, self._exact_names = codes + others, self._names
        self._rest = Parts(np.nan, AT_REST, (*(part[None] for part in empty), *exact))

    def _run(self, parts: list[Any], frames: Any, gaps: NDArray[np.float64]) -> tuple[Followed, list[Any]]:
        codes, state = parts[: len(Codes._fields)], parts[len(Codes._fields) :]
        keys = self._decoded(codes)
        state.insert(self._keys, keys)
        each, answers = np.arange(len(keys)), []
        for number in range(max(1, len(frames))):
            here = state[self._position][:, 0].copy()
            now = slice(number, number + 1)
            answers.append(super()._run(state, frames[now], gaps[now])[0])
            if len(frames):
                rounded = encode(keys[each, here])
                keys[each, here] = decode(rounded)
                for code, new in zip(codes, rounded, strict=True):
                    code[each, here] = new
        del state[self._keys]
        return Followed.joined(answers), [*codes, *state]

    def _decoded(self, codes: list[NDArray[Any]]) -> NDArray[np.float32]:
        """The remembered inputs of all streams, (B, D, n)."""
        shape = codes[0].shape
        return decode(Codes(*(code.reshape(-1, *code.shape[2:]) for code in codes))).reshape(shape)

    def _require_possible(self, arrays: dict[str, NDArray[Any]]) -> None:
        keys = self._decoded([arrays[name] for name in self._names[: len(Codes._fields)]])
        others = {"keys": keys, **arrays}
        super()._require_possible({name: others[name] for name in (*self._exact_names, "clock", "pace")})


class OnnxStates(BatchedStates):
    """States of a network in an ONNX file that takes any number of streams."""

    kind = "OnnxStream"

    def __init__(self, model: OnnxStream) -> None:
        self._model = model.another()
        *parts, _ = self._model._init()
        super().__init__(tuple(parts), [part.name for part in model.layout.state], model.memory_, model.memory_in_)

    def frames(self, X: Any) -> NDArray[Any]:
        """Frames as the network takes them."""
        return self._model.frames(X)

    def _run(self, parts: list[Any], frames: Any, gaps: NDArray[np.float64]) -> tuple[Followed, list[Any]]:
        if not len(frames):
            return self._model.track_response(frames.reshape(0, *self._model.frame_shape_)), parts
        answers = []
        for frame, gap in zip(frames, gaps, strict=True):
            followed, parts = self._model.follow_streams(parts, frame, gap)
            answers.append(followed)
        return Followed.joined(answers), parts

    def _require_possible(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._model.require_reachable({name: part for name, part in arrays.items() if name not in ("clock", "pace")})


def states_of(model: Any, *, compact: bool) -> States[Any]:
    """How the states of a model are kept: `compact` only matters to a head that remembers inputs of unit length.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> head = ElasticHead(np.eye(2), np.zeros(2), Springs(pull=1.0))
    >>> type(states_of(head, compact=True)).__name__
    'HeadStates'
    """
    if isinstance(model, ElasticHead):
        remembers = "keys" in model.state_.memory._fields and getattr(model.settings, "unit_inputs", True)
        return CompactStates(model) if compact and remembers else HeadStates(model)
    if isinstance(model, OnnxStream) and model.layout.n_streams is None:
        return OnnxStates(model)
    if isinstance(model, StreamModel):
        return ModelStates(model)
    if any(kind.__module__.partition(".")[0] == "torch" for kind in type(model).__mro__):
        found: States[Any] = import_module("springback.torch.keyed_states").ModuleStates(model)
        return found  # from a package that needs PyTorch, and is above this one
    raise TypeError(
        "model must be an ElasticHead or another StreamModel, or an elastic model of PyTorch; "
        f"got {type(model).__name__}: elasticize makes one of a trained classifier"
    )


def held_bytes(kept: Any) -> int:
    """Bytes that a state takes in memory: its numbers, and the objects of Python and NumPy around them.

    Examples
    --------
    >>> held_bytes(b"123") > 3
    True
    """
    inside = 0
    if kept is AT_REST:
        return 0  # all streams without time stamps share it
    if isinstance(kept, tuple):
        inside = sum(map(held_bytes, kept))
    elif not isinstance(kept, np.ndarray) or kept.base is not None:
        inside = getattr(kept, "nbytes", 0)
    return sys.getsizeof(kept) + inside
