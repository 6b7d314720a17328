"""How the state of one stream is kept between its frames, and how a model that many streams share continues from it."""

import copy
import sys
from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback.files.models import pack_state, unpack_state
from springback.files.quantised import Codes, decode, encode
from springback.heads.elastic_head import ElasticHead, HeadState
from springback.streaming.records import Followed

Kept = TypeVar("Kept")


class States(ABC, Generic[Kept]):
    """One model, and states of it that are kept outside of it. States are never written to, so they can be shared."""

    @abstractmethod
    def rest(self) -> Kept:
        """The state before the first frame."""

    @abstractmethod
    def follow(self, kept: Kept, rows: Any, times: Any) -> tuple[Followed, Kept]:
        """The answers to the next rows (T, n) of a stream, and its state afterwards."""

    @abstractmethod
    def pack(self, kept: Kept) -> bytes:
        """A state as bytes, for a store or another process."""

    @abstractmethod
    def unpack(self, content: bytes) -> Kept:
        """The state in bytes; bytes that were changed, or that are of another model, are refused in one sentence."""


class HeadStates(States[HeadState]):
    """States of an `ElasticHead`, exactly as it computes them."""

    def __init__(self, head: ElasticHead) -> None:
        self._head = copy.copy(head).reset()
        self._rest = self._head.state_

    def rest(self) -> HeadState:
        """The state before the first frame; all streams share it."""
        return self._rest

    def follow(self, kept: HeadState, rows: Any, times: Any) -> tuple[Followed, HeadState]:
        """All rows in one compiled call."""
        self._head.state_ = kept
        followed = self._head.track_response(rows, times, in_place=True)
        return followed, self._head.state_

    def pack(self, kept: HeadState) -> bytes:
        """As `ElasticHead.get_state`."""
        self._head.state_ = kept
        return self._head.get_state()

    def unpack(self, content: bytes) -> HeadState:
        """As `ElasticHead.set_state`."""
        return self._head.set_state(content).state_


def _arrays(state: HeadState) -> tuple[NDArray[Any], ...]:
    return tuple(state.memory)


class CompactState(NamedTuple):
    """A `HeadState` whose remembered inputs have one byte per number.

    Parameters
    ----------
    clock : float
        Time of the last frame; NaN before the first.
    keys : Codes
        The remembered inputs.
    others : tuple[NDArray[Any], ...]
        The other arrays of the state, in their order.
    """

    clock: float
    keys: Codes
    others: tuple[NDArray[Any], ...]


class CompactStates(States[CompactState]):
    """States of an `ElasticHead` that remembers inputs; each input is rounded to one byte per number when it is stored.

    Rounding happens once for each frame, so the answers do not depend on how a stream is split into calls, or on
    whether it was interrupted.
    """

    _KIND = "compact ElasticHead"

    def __init__(self, head: ElasticHead) -> None:
        self._exact = HeadStates(head)
        self._memory: Any = type(self._exact.rest().memory)
        names = self._memory._fields
        self._at, self._position = names.index("keys"), names.index("position")
        self._rest = self._packed(self._exact.rest())

    def rest(self) -> CompactState:
        """The state before the first frame; all streams share it."""
        return self._rest

    def follow(self, kept: CompactState, rows: Any, times: Any) -> tuple[Followed, CompactState]:
        """Row after row; each is rounded when it is remembered."""
        table = np.asarray(rows)
        stamps = None if times is None else np.asarray(times)
        state, codes = self._expanded(kept), Codes(kept.keys.code.copy(), kept.keys.low.copy(), kept.keys.step.copy())
        answers = []
        for number in range(len(table)):
            here = int(_arrays(state)[self._position][0, 0])
            time = None if stamps is None else stamps[number : number + 1]
            followed, state = self._exact.follow(state, table[number : number + 1], time)
            keys = self._keys(state)
            rounded = encode(keys[here : here + 1])
            codes.code[here], codes.low[here], codes.step[here] = rounded.code[0], rounded.low[0], rounded.step[0]
            keys[here] = decode(rounded)[0]
            answers.append(followed)
        if not answers:
            followed, _ = self._exact.follow(state, table, stamps)
            return followed, kept
        return Followed.joined(answers), CompactState(state.clock, codes, self._others(state))

    def pack(self, kept: CompactState) -> bytes:
        """All arrays, with a checksum."""
        return pack_state(self._KIND, self._named(kept))

    def unpack(self, content: bytes) -> CompactState:
        """The state in bytes, with the checks of an exact one."""
        found = unpack_state(self._KIND, content, self._named(self._rest))
        codes = Codes(*(found[f"keys.{name}"] for name in Codes._fields))
        others = tuple(found[name] for name in self._names_of_others())
        kept = CompactState(float(found["clock"][0]), codes, others)
        self._exact.unpack(self._exact.pack(self._expanded(kept)))
        return kept

    def _names_of_others(self) -> list[str]:
        return [name for number, name in enumerate(self._memory._fields) if number != self._at]

    def _keys(self, state: HeadState) -> NDArray[np.float32]:
        return np.asarray(_arrays(state)[self._at][0])

    def _others(self, state: HeadState) -> tuple[NDArray[Any], ...]:
        return tuple(part for number, part in enumerate(_arrays(state)) if number != self._at)

    def _packed(self, state: HeadState) -> CompactState:
        return CompactState(state.clock, encode(self._keys(state)), self._others(state))

    def _expanded(self, kept: CompactState) -> HeadState:
        parts = list(kept.others)
        parts.insert(self._at, decode(kept.keys)[None])
        return HeadState(kept.clock, self._memory(*parts))

    def _named(self, kept: CompactState) -> dict[str, NDArray[Any]]:
        keys = {f"keys.{name}": part for name, part in kept.keys._asdict().items()}
        others = dict(zip(self._names_of_others(), kept.others, strict=True))
        return {**keys, **others, "clock": np.array([kept.clock])}


class ModelStates(States[bytes]):
    """States of any model that has `track_response`, `get_state` and `set_state`, as bytes."""

    def __init__(self, model: Any) -> None:
        self._model = copy.deepcopy(model)
        self._model.reset()
        self._rest: bytes = self._model.get_state()

    def rest(self) -> bytes:
        """The state before the first frame."""
        return self._rest

    def follow(self, kept: bytes, rows: Any, times: Any) -> tuple[Followed, bytes]:
        """All rows in one call."""
        self._model.set_state(kept)
        followed: Followed = self._model.track_response(rows, times, in_place=True)
        return followed, self._model.get_state()

    def pack(self, kept: bytes) -> bytes:
        """The bytes."""
        return kept

    def unpack(self, content: bytes) -> bytes:
        """The bytes, after the model has accepted them."""
        self._model.set_state(content)
        return bytes(content)


def states_of(model: Any, *, compact: bool) -> States[Any]:
    """How the states of a model are kept: `compact` only matters to a head that remembers its inputs.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> head = ElasticHead(np.eye(2), np.zeros(2), Springs(pull=1.0))
    >>> type(states_of(head, compact=True)).__name__
    'HeadStates'
    """
    if isinstance(model, ElasticHead):
        remembers_inputs = "keys" in getattr(model.state_.memory, "_fields", ())
        return CompactStates(model) if compact and remembers_inputs else HeadStates(model)
    for name in ("track_response", "get_state", "set_state", "reset"):
        if not hasattr(model, name):
            raise TypeError(
                f"model must be an ElasticHead or another model whose state can be kept; got {type(model).__name__}"
            )
    return ModelStates(model)


def held_bytes(kept: Any) -> int:
    """Bytes that a state takes in memory: its numbers, and the objects of Python and NumPy around them.

    Examples
    --------
    >>> held_bytes(b"123") > 3
    True
    """
    inside = 0
    if isinstance(kept, tuple):
        inside = sum(map(held_bytes, kept))
    elif isinstance(kept, np.ndarray) and kept.base is not None:
        inside = kept.nbytes
    return sys.getsizeof(kept) + inside
