"""Recorded frames in NPY and safetensors files; nothing in them is unpickled, and only a part is in memory."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.files.regular import open_regular
from springback.live.frames import Bad, Frames, Kind, Signal
from springback.live.sources.layout import TIME
from springback.live.sources.occluded import open_video_file
from springback.live.sources.source import Source, SourceKind, SourceOptions

FEATURES = "features"
"""The array that is read from a file with several, unless the user names another."""

_LARGEST = 2**46
_BYTES_AT_ONCE = 2**22

Slice = Callable[[int, int], NDArray[Any]]


class ArraySource(Source):
    """Rows (T, n), pictures uint8 (T, height, width, 3) or any other frames (T, ...) of an array.

    Parameters
    ----------
    rows : Slice
        Reads frames `start ... stop - 1`.
    shape : tuple[int, ...]
        Of the whole array.
    times, labels : NDArray[Any] | None
        One for each frame.
    close : Callable[[], None]
        Called at the end.
    """

    def __init__(
        self,
        rows: Slice,
        shape: tuple[int, ...],
        times: NDArray[Any] | None,
        labels: NDArray[Any] | None,
        close: Callable[[], None],
    ) -> None:
        self.recorded = True
        self._rows, self._times, self._labels, self._close = rows, times, labels, close
        self._at, self._total = 0, shape[0]
        sample = rows(0, 1)
        kind: Kind = "pictures" if len(shape) == 4 and shape[3] == 3 and sample.dtype == np.uint8 else "rows"
        self.signal = Signal(kind=kind, shape=shape[1:])
        self._count = max(1, _BYTES_AT_ONCE // max(1, sample.nbytes))

    def read(self) -> Frames | None:
        """The next frames; frames with NaN or infinity are left out."""
        if self._at >= self._total:
            return None
        start, stop = self._at, min(self._at + self._count, self._total)
        self._at = stop
        values = np.asarray(self._rows(start, stop))
        stamps = None if self._times is None else self._times[start:stop]
        found = Frames(
            values=values,
            stamps=None if stamps is None else stamps.tolist(),
            seconds=None if stamps is None else stamps.astype(np.float64),
            labels=None if self._labels is None else self._labels[start:stop].tolist(),
        )
        good = np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        if good.all():
            return found
        before = np.cumsum(good).tolist()
        bad = tuple(
            Bad(before[one], f"frame {start + one}: it must be finite; got NaN or infinity")
            for one in np.flatnonzero(~good).tolist()
        )
        return found.select(good, bad)

    def skip(self, count: int) -> int:
        """Pass over frames without reading them."""
        passed = max(0, min(count, self._total - self._at))
        self._at += passed
        return passed

    def close(self) -> None:
        """Close the file."""
        self._close()


def open_npy(path: Path, options: SourceOptions) -> ArraySource:
    """A file of `numpy.save`; it is mapped, not read as a whole."""
    open_regular(path, largest=_LARGEST).close()
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path} is not an NPY file of numbers: {error}") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{path} must hold one array; save it with numpy.save")
    _refuse_unless_frames(str(path), array.dtype, array.shape)
    layout = options.layout
    if layout.time or layout.label:
        raise DataError("an NPY file has no columns for times and labels; use a table or a safetensors file")
    return ArraySource(lambda start, stop: np.array(array[start:stop]), array.shape, None, None, lambda: None)


def open_safetensors(path: Path, options: SourceOptions) -> Source:
    """One array of a safetensors file, with the arrays "time" (or as named) and the label, if there are any."""
    from safetensors import SafetensorError, safe_open

    open_regular(path, largest=_LARGEST).close()
    with ExitStack() as stack:
        try:
            file = stack.enter_context(safe_open(path, framework="numpy"))
            if (file.metadata() or {}).get("springback") == "video":
                return open_video_file(path)
            names = list(file.keys())
            name = _chosen(path, names, options.tensor)
            part = file.get_slice(name)
            shape = tuple(part.get_shape())
            sample = part[0:1] if shape and shape[0] else np.empty(0)
            _refuse_unless_frames(f"{name} in {path}", np.asarray(sample).dtype, shape)
            layout, before = options.layout, name.rpartition(".")[0]
            times = _column(file, names, _beside(names, before, layout.time, (TIME, "times")), shape[0], "time")
            labels = _column(file, names, _beside(names, before, layout.label, ()), shape[0], "label")
        except (SafetensorError, OSError, TypeError, KeyError) as error:
            raise DataError(f"{path} is not a safetensors file of numbers: {error}") from error
        close = stack.pop_all().close
    return ArraySource(lambda start, stop: np.asarray(part[start:stop]), shape, times, labels, close)


def _chosen(path: Path, names: list[str], wanted: str | None) -> str:
    if wanted is not None and wanted not in names:
        raise DataError(f"the array must be one of {', '.join(sorted(names))} in {path}; got {wanted!r}")
    if wanted is not None:
        return wanted
    if FEATURES in names or len(names) == 1:
        return FEATURES if FEATURES in names else names[0]
    raise DataError(f"{path} has several arrays: choose one of {', '.join(sorted(names))}")


def _beside(names: list[str], before: str, wanted: str | None, usual: tuple[str, ...]) -> str | None:
    """The array with times or labels: as named, or of a usual name beside the frames."""
    if wanted is None:
        near = [f"{before}.{one}" if before else one for one in usual]
        return next((one for one in near if one in names), None)
    return next((one for one in (wanted, f"{before}.{wanted}") if one in names), wanted) if wanted else None


def _column(file: Any, names: list[str], name: str | None, count: int, what: str) -> NDArray[Any] | None:
    if name is None:
        return None
    if name not in names:
        raise DataError(f"the {what} must be one of the arrays {', '.join(sorted(names))}; got {name!r}")
    found = np.asarray(file.get_tensor(name))
    if found.shape != (count,):
        raise DataError(f"the array {name!r} must have shape ({count},), one for each frame; got {found.shape}")
    if what == "time" and not (found.dtype.kind in "iuf" and np.isfinite(found).all()):
        raise DataError(f"the array {name!r} must hold finite numbers, the time stamps; got {found.dtype}")
    return found


def _refuse_unless_frames(what: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if len(shape) < 2 or 0 in shape or dtype.kind not in "fiub":
        raise DataError(f"{what} must hold frames of numbers, (time, ...); got shape {shape} and dtype {dtype}")


def open_array(address: str, options: SourceOptions) -> Source:
    """A file of either kind, or a video in a safetensors file."""
    path = Path(address)
    return (open_npy if path.suffix.lower() == ".npy" else open_safetensors)(path, options)


SOURCE = SourceKind(
    name="array file",
    addresses="frames.npy, frames.safetensors",
    suffixes=(".npy", ".safetensors"),
    open=open_array,
)
