"""Ways to spoil a file: by bits, by bytes, and by someone who knows the format and seals it again."""

import hashlib
import json
from collections.abc import Callable
from random import Random
from typing import Any

BEGINNING = b'{"__metadata__":{"sha256":"'
ZEROS = b"0" * 64

ODD_INTEGERS = (-(2**63), -1, 0, 1, 2, 255, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**64, 10**30, 10**400)
ODD_NUMBERS = (0.0, -0.0, -1.0, 1e-300, 5e-324, 1e-7, 1e9, 3e38, 1e300, 0.1)
ODD_VALUES: tuple[Any, ...] = (None, True, False, "", "nan", "\u0000", "1e9", [], {}, [[]], {"a": 1}, [1, 2], "é" * 40)
ODD_TEXTS = ("NaN", "Infinity", "-Infinity", "1e999", "[" * 5000, '{"a":' * 5000, '"\\ud800"', "1" * 5000, "01", "")
DTYPES = ("U8", "I8", "I16", "I32", "I64", "U64", "F16", "BF16", "F32", "F64", "BOOL", "F8_E4M3", "F4", "C64", "X")
ODD_BYTES = (b"\x00", b"\xff", b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", b"\xff\xff\x7f\x7f", b"\xff" * 8)


def flipped(content: bytes, bit: int) -> bytes:
    """One bit changed."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def resealed(content: bytes) -> bytes:
    """A safetensors file of springback with the digest that belongs to its content, as an attacker would make it."""
    if content[8 : 8 + len(BEGINNING)] != BEGINNING:
        return content
    at = 8 + len(BEGINNING)
    digest = hashlib.sha256(content[:at] + ZEROS + content[at + 64 :]).hexdigest().encode()
    return content[:at] + digest + content[at + 64 :]


def resealed_json(content: bytes) -> bytes:
    """The same for a JSON file."""
    beginning = b'{\n "sha256": "'
    if not content.startswith(beginning):
        return content
    at = len(beginning)
    digest = hashlib.sha256(content[:at] + ZEROS + content[at + 64 :]).hexdigest().encode()
    return content[:at] + digest + content[at + 64 :]


def spoil_bytes(content: bytes, rng: Random) -> bytes:
    """Bytes changed, inserted, removed, repeated or cut off, anywhere."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(max(len(changed), 1))
        how = rng.randrange(6)
        if how == 0 and changed:
            changed[at] = rng.randrange(256)
        elif how == 1:
            changed[at:at] = rng.choice(ODD_BYTES)
        elif how == 2:
            del changed[at : at + rng.choice((1, 2, 8, 64))]
        elif how == 3:
            del changed[at:]
        elif how == 4:
            changed[at:at] = changed[at : at + rng.choice((1, 8, 64))]
        else:
            changed[at : at + 8] = rng.choice(ODD_INTEGERS[:11]).to_bytes(17, "little", signed=True)[:8]
    return bytes(changed)


def spoil_tensors(content: bytes, rng: Random) -> bytes:
    """The numbers of a safetensors file changed, its header kept, its seal renewed."""
    start = 8 + int.from_bytes(content[:8], "little")
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if start < len(changed):
            at = rng.randrange(start, len(changed))
            odd = rng.choice((*ODD_BYTES, bytes([rng.randrange(256)])))
            changed[at : at + len(odd)] = odd[: len(changed) - at]
    return resealed(bytes(changed))


def spoil_header(content: bytes, rng: Random) -> bytes:
    """Names, dtypes, shapes, offsets or metadata of a safetensors file changed, its seal renewed."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    names = [name for name in header if name != "__metadata__"]
    how = rng.randrange(6)
    if how <= 1 or not names:
        _spoil_metadata(header["__metadata__"], rng)
    else:
        name = rng.choice(names)
        if how == 2:
            header[name]["dtype"] = rng.choice(DTYPES)
        elif how == 3:
            header[name]["shape"] = _other_shape(header[name]["shape"], rng)
        elif how == 4:
            header[name]["data_offsets"] = [rng.choice(ODD_INTEGERS[:11]), rng.choice(ODD_INTEGERS[:11])]
        else:
            header[rng.choice((*names, "more"))] = header.pop(name)
    return with_header(content, header)


def with_header(content: bytes, header: dict[str, Any]) -> bytes:
    """The same numbers under another header, sealed."""
    size = int.from_bytes(content[:8], "little")
    text = json.dumps(header, separators=(",", ":")).encode()
    return resealed(len(text).to_bytes(8, "little") + text + content[8 + size :])


def spoil_json(text: str, rng: Random) -> str:
    """A value somewhere in JSON replaced, removed or added, or the text itself broken."""
    if rng.random() < 0.2:
        odd = rng.choice(ODD_TEXTS)
        at = rng.randrange(len(text) + 1)
        return odd if rng.random() < 0.3 else text[:at] + odd + text[at:]
    try:
        whole = json.loads(text)
    except ValueError:
        return rng.choice(ODD_TEXTS)
    places: list[tuple[Any, Any]] = []
    _collect(whole, places)
    if not places:
        return rng.choice(ODD_TEXTS)
    holder, key = rng.choice(places)
    how = rng.randrange(8)
    if how == 0 and isinstance(holder, dict):
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder["more"] = holder[key]
    else:
        holder[key] = rng.choice((*ODD_INTEGERS, *ODD_NUMBERS, *ODD_VALUES))
    return json.dumps(whole)


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        places.append((value, key))
        _collect(one, places)


def _spoil_metadata(metadata: dict[str, Any], rng: Random) -> None:
    keys = [key for key in metadata if key != "sha256"]
    key = rng.choice(keys)
    how = rng.randrange(10)
    if how == 0:
        del metadata[key]
    elif how == 1:
        metadata[key] = rng.choice(("", "0", "-1", "1" * 400, "nan", "{}", "[]", "\u0000", *ODD_TEXTS))
    elif how == 2:
        metadata[key] = rng.choice(ODD_VALUES)
    else:
        texts = [one for one in keys if metadata[one][:1] in "{["] or [key]
        chosen = rng.choice(texts)
        metadata[chosen] = spoil_json(metadata[chosen], rng)


def _other_shape(shape: list[int], rng: Random) -> list[int]:
    how = rng.randrange(6)
    if how == 0:
        return []
    if how == 1:
        return list(reversed(shape))
    if how == 2:
        return [1, *shape]
    if how == 3:
        return [*shape, rng.choice(ODD_INTEGERS[:11])]
    if how == 4 and shape:
        return [*shape[:-1], shape[-1] + 1]
    return [rng.choice(ODD_INTEGERS[:11]) for _ in shape]


Mutation = Callable[[bytes, Random], bytes]
