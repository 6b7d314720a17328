"""Your own images, frames and spikes, from an .npz file of NumPy."""

import lzma
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.regular import open_regular
from springback.streaming.records import Images

LARGEST_FILE = 2**33
"""Bytes, packed or unpacked; a larger file is refused without reading it."""

_MOST_ARRAYS = 100
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    SyntaxError,
    RuntimeError,
    MemoryError,
    OverflowError,
)
"""What a damaged archive or array makes the libraries raise."""


def read_npz(path: str | Path, *, needs: tuple[str, ...], may: tuple[str, ...] = ()) -> dict[str, NDArray[Any]]:
    """The named arrays of an .npz file; refused if one is missing, if it is too large, or if it holds Python objects.

    Parameters
    ----------
    needs, may : tuple[str, ...]
        Arrays that it must have, and further ones that it may have; others are ignored.
    """
    path = Path(path)
    try:
        with open_regular(path, largest=LARGEST_FILE) as file:
            with zipfile.ZipFile(file) as packed:
                inside = packed.infolist()
                size = sum(one.file_size for one in inside)
                if len(inside) > _MOST_ARRAYS or size > LARGEST_FILE:
                    raise DataError(f"{path} must unpack to at most {LARGEST_FILE:,} bytes; it has {size:,}")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                missing = [name for name in needs if name not in arrays]
                if missing:
                    has = ", ".join(arrays) or "nothing"
                    raise DataError(f"{path} must hold an array {missing[0]!r}; it holds {has}")
                return {name: arrays[name] for name in (*needs, *may) if name in arrays}
    except DataError:
        raise
    except _DAMAGES as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{path} is not an .npz file of plain arrays ({reason}): write it with np.savez(path, {needs[0]}=...)"
        ) from error


def load_images_file(path: str | Path) -> Images:
    """Images with labels from an .npz file: `images` uint8 (n, ...), `labels` whole numbers or strings (n,).

    Images of another shape than (n, height, width) become rows of pixels.
    """
    arrays = read_npz(path, needs=("images", "labels"))
    try:
        return Images(pixels_of("images", arrays["images"]), arrays["labels"])
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error


def load_frames_file(path: str | Path) -> tuple[NDArray[np.uint8], NDArray[Any] | None]:
    """`frames` (n, ...) of a stream from an .npz file, in the order of time, and their `labels` or None."""
    arrays = read_npz(path, needs=("frames",), may=("labels",))
    try:
        frames = pixels_of("frames", arrays["frames"])
        if "labels" not in arrays:
            return frames, None
        return frames, Images(frames, arrays["labels"]).labels
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error


def pixels_of(name: str, given: NDArray[Any]) -> NDArray[np.uint8]:
    """Images (n, ...) of uint8 as (n, height, width); other dtypes are refused with what to do."""
    if given.dtype != np.uint8:
        remedy = (
            "multiply by 255 and convert: (255 * x).astype(np.uint8)" if given.dtype.kind == "f" else "convert them"
        )
        raise ValueError(f"{name} must be uint8, brightness 0 ... 255; got {given.dtype}: {remedy}")
    check.require(given.ndim >= 2 and given.size > 0, name, "be (n, ...), with at least one image", given.shape)
    return given if given.ndim == 3 else given.reshape(len(given), 1, -1)
