"""The state of a stream as bytes, for a store or another process; nothing in them is ever executed.

The bytes name the kind of model and the dtype and shape of every array, and carry a checksum. A state of another kind
or size, or one that has changed, is refused.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import check

FORMAT = 1
"""Version of the layout."""

Arrays = Mapping[str, NDArray[Any]]


class _Packed(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    kind: str
    format: int
    layout: list[tuple[str, str, tuple[int, ...]]]
    checksum: int
    contents: list[memoryview]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Packed)


def pack_state(kind: str, arrays: Arrays) -> bytes:
    """Named arrays of numbers as bytes.

    Examples
    --------
    >>> type(pack_state("example", {"clock": np.zeros(1)}))
    <class 'bytes'>
    """
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    contents = [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in whole.values()]
    views = [one.reshape(-1).view(np.uint8).data for one in contents]
    return _ENCODER.encode(_Packed(kind, FORMAT, _layout(whole), _checksum(views), views))


def unpack_state(kind: str, content: bytes, like: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays in bytes from `pack_state`; they must have the names, dtypes and shapes of `like`.

    Examples
    --------
    >>> rest = {"clock": np.zeros(1)}
    >>> unpack_state("example", pack_state("example", {"clock": np.ones(1)}), rest)
    {'clock': array([1.])}
    """
    if not isinstance(content, bytes | bytearray | memoryview):
        raise TypeError(f"state must be bytes from get_state; got {type(content).__name__}")
    try:
        packed = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise ValueError("state must be bytes from get_state; got other or incomplete bytes") from None
    check.require(packed.kind == kind, "state", f"be of an {kind}", packed.kind)
    check.require(packed.format == FORMAT, "state", f"have format {FORMAT}", packed.format)
    wanted = _layout(like)
    for found, must in zip(packed.layout, wanted, strict=False):
        check.require(found == must, "state", f"fit this model, with {_shown(must)}", _shown(found))
    check.require(len(packed.layout) == len(wanted), "state", f"hold {len(wanted)} arrays", len(packed.layout))
    sizes = [array.nbytes for array in like.values()]
    whole = [one.nbytes for one in packed.contents] == sizes and packed.checksum == _checksum(packed.contents)
    check.require(whole, "state", "be as get_state returned it", "bytes that were changed since")
    return {
        name: np.frombuffer(one, array.dtype.newbyteorder("<")).reshape(array.shape).astype(array.dtype)
        for (name, array), one in zip(like.items(), packed.contents, strict=True)
    }


def _layout(arrays: Arrays) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(name, array.dtype.name, array.shape) for name, array in arrays.items()]


def _shown(part: tuple[str, str, tuple[int, ...]]) -> str:
    return f"{part[0]} of {part[1]} {part[2]}"


def _checksum(views: list[memoryview]) -> int:
    value = 0
    for view in views:
        value = zlib.crc32(view, value)
    return value
