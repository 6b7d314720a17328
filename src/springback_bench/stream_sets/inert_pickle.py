"""Pickles that others wrote, read as data: nothing is imported, called or built but plain values and inert records.

Python's own reader of pickles runs whatever a pickle asks for. This one is a small stack machine for the instructions
that describe data. A name of a class or function is an inert `Global`, and only names that the caller expects are let
through. A call of one is an inert `Record` of its arguments, and a state is kept with the record that it belongs to.
`as_array` makes a NumPy array of the record of one.
"""

import math
import pickletools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError


@dataclass(frozen=True)
class Global:
    """The name of a class or function, "MODULE NAME"; it stands for itself and cannot be called."""

    name: str


@dataclass(eq=False)
class Record:
    """A call that was not made: the name of what should be called, its arguments, and the state to be given to it."""

    name: str
    arguments: tuple[Any, ...]
    state: Any = None


_ARRAY = "numpy.core.multiarray _reconstruct"
_BYTES = "_codecs encode"
ARRAYS = frozenset({_ARRAY, _BYTES, "numpy ndarray", "numpy dtype"})
"""The names that the pickle of an array needs."""

_DTYPES = frozenset({"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"})
_VALUES = frozenset({"BININT", "BININT1", "BININT2", "BINUNICODE", "INT", "NONE"})
_MARK = object()


def read_pickle(content: bytes, expected: Collection[str]) -> Any:
    r"""The content of a pickle of protocol 1: plain values, lists, dictionaries, and records of the rest.

    Parameters
    ----------
    expected : Collection[str]
        Names of classes and functions, "MODULE NAME", that may occur; any other is refused.

    Examples
    --------
    >>> read_pickle(b"}X\x01\x00\x00\x00aK\x01s.", expected=())
    {'a': 1}
    >>> read_pickle(b"cos\nsystem\n(X\x02\x00\x00\x00lstR.", expected=())
    Traceback (most recent call last):
    springback.check.DataError: a pickle must name nothing but data; this one names 'os system'
    """
    try:
        return _Machine(expected).run(content)
    except DataError:
        raise
    except Exception as error:  # whatever is wrong with it, it is not a pickle of data
        raise DataError(f"a pickle must be complete and valid: {check.shown(str(error))}") from error


class _Machine:
    """A stack, a memory of values that occur again, and the instructions that work on them."""

    def __init__(self, expected: Collection[str]) -> None:
        self.expected = expected
        self.stack: list[Any] = []
        self.memory: dict[int, Any] = {}
        self.do: dict[str, Callable[[Any], None]] = {
            "MARK": lambda _: self.stack.append(_MARK),
            "EMPTY_DICT": lambda _: self.stack.append({}),
            "EMPTY_LIST": lambda _: self.stack.append([]),
            "TUPLE": lambda _: self.stack.append(tuple(self._since_mark())),
            "APPEND": lambda _: self._extend(self._popped(1)),
            "APPENDS": lambda _: self._extend(self._since_mark()),
            "SETITEM": lambda _: self._set_items(self._popped(2)),
            "SETITEMS": lambda _: self._set_items(self._since_mark()),
            "GLOBAL": self._global,
            "REDUCE": self._reduce,
            "BUILD": self._build,
            **dict.fromkeys(_VALUES, self.stack.append),
            **dict.fromkeys(("BINPUT", "LONG_BINPUT"), self._put),
            **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda number: self.stack.append(self.memory[number])),
        }

    def run(self, content: bytes) -> Any:
        for instruction, argument, _ in pickletools.genops(content):
            if instruction.name == "STOP":
                (result,) = self.stack
                return result
            if instruction.name not in self.do:
                raise DataError(f"a pickle must describe plain data; this one has the instruction {instruction.name}")
            self.do[instruction.name](argument)
        raise DataError("a pickle must end with STOP")

    def _popped(self, count: int) -> list[Any]:
        if len(self.stack) < count:
            raise IndexError("the stack is empty")
        taken = self.stack[-count:]
        del self.stack[-count:]
        return taken

    def _since_mark(self) -> list[Any]:
        taken = []
        while (value := self.stack.pop()) is not _MARK:
            taken.append(value)
        return taken[::-1]

    def _put(self, number: int) -> None:
        self.memory[number] = self.stack[-1]

    def _extend(self, values: list[Any]) -> None:
        _of(self.stack[-1], list).extend(values)

    def _set_items(self, values: list[Any]) -> None:
        pairs = zip(values[::2], values[1::2], strict=True)
        _of(self.stack[-1], dict).update({_of(key, str, int): value for key, value in pairs})

    def _global(self, name: str) -> None:
        if name not in self.expected:
            raise DataError(f"a pickle must name nothing but data; this one names {check.shown(name)}")
        self.stack.append(Global(name))

    def _reduce(self, _: Any) -> None:
        called, arguments = self._popped(2)
        name = _of(called, Global).name
        record = Record(name, _of(arguments, tuple))
        self.stack.append(_bytes(record) if name == _BYTES else record)

    def _build(self, _: Any) -> None:
        (state,) = self._popped(1)
        _of(self.stack[-1], Record).state = state


def _of(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"{' or '.join(kind.__name__ for kind in kinds)} is wanted; got {type(value).__name__}")
    return value


def _bytes(record: Record) -> bytes:
    """Bytes, which protocols before 3 write as text of one character each."""
    text, encoding = record.arguments
    if encoding != "latin1":
        raise ValueError(f"bytes must be encoded as latin1; got {check.shown(encoding)}")
    return bytes(_of(text, str).encode("latin1"))


def as_array(record: Any) -> NDArray[Any]:
    """The array that a record describes: whole or real numbers, truth values or strings, and nothing else.

    Examples
    --------
    >>> as_array(Record("builtins eval", ("1 + 1",)))
    Traceback (most recent call last):
    springback.check.DataError: a pickled array must be a record of one; got Record
    """
    try:
        if not isinstance(record, Record) or record.name != _ARRAY:
            raise TypeError(f"a pickled array must be a record of one; got {type(record).__name__}")
        _, shape, kind, by_columns, content = _of(record.state, tuple)
        code, order = _of(kind, Record).arguments[0], kind.state[1]
        if code == "O8":
            content = np.array([_of(one, str) for one in _of(content, list)], str)
        elif code in _DTYPES and order in ("<", "|"):
            content = np.frombuffer(_of(content, bytes), np.dtype(f"<{code}"))
        else:
            raise ValueError(f"a pickled array must be of plain numbers; got {check.shown((order, code))}")
        sizes = [check.integer("a size", one, low=0) for one in _of(shape, tuple)]
        wanted = math.prod(sizes)
        check.require(content.size == wanted, "a pickled array", f"have {wanted} values", content.size)
        return content.reshape(sizes, order="F" if by_columns else "C")
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataError(str(error)) from error
