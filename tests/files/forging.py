"""Files whose content was changed by someone who knows the format, and sealed again."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from springback.files.container import _CODES
from springback.files.records import ARRAY
from tests.fuzz.mutations import resealed


def forge(
    path: Path,
    *,
    arrays: Mapping[str, Any] | None = None,
    record: Callable[[dict[str, Any]], Any] | None = None,
    about: Mapping[str, str] | None = None,
) -> None:
    """Change arrays (None removes one), the values of the record, or the notes about it; the file stays consistent.

    An array can be given as a function of the old one; `record` changes the values in place or returns others.
    """
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    metadata, tensors = header["__metadata__"], load_file(path)
    tensors = {name: tensors[name] for name in header if name != "__metadata__"}
    plain = json.loads(metadata["record"])
    for name, new in (arrays or {}).items():
        value = new(tensors.get(name)) if callable(new) else new
        if value is None:
            del tensors[name]
        else:
            tensors[name] = np.asarray(value)
            field, _, key = name.partition(".")
            if key and "$type" not in plain[field]:  # a dict of arrays
                plain[field][key] = {ARRAY: ""}
    _mark(plain, tensors)
    if record is not None:
        changed = record(plain)
        plain = plain if changed is None else changed
    metadata |= {"record": plain if isinstance(plain, str) else json.dumps(plain), **(about or {})}
    path.write_bytes(made(metadata, tensors))


def made(metadata: Mapping[str, Any], tensors: Mapping[str, Any]) -> bytes:
    """A container of any content, with the right digest."""
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64, **metadata}}
    offset = 0
    for name, array in tensors.items():
        end = offset + array.nbytes
        header[name] = {"dtype": _CODES[array.dtype.name], "shape": array.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in tensors.values())
    return resealed(len(text).to_bytes(8, "little") + text + body)


def _mark(plain: Any, tensors: Mapping[str, Any], path: tuple[str, ...] = ()) -> None:
    """Let the record say of each array what it is now."""
    inside = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, one in list(inside):
        name = ".".join((*path, str(key)))
        if isinstance(one, dict) and ARRAY in one:
            if name in tensors:
                one[ARRAY] = tensors[name].dtype.name
            else:
                del plain[key]
        else:
            _mark(one, tensors, (*path, str(key)))
