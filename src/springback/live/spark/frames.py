"""Frames as Spark delivers them, as rows of numbers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from springback.streaming.stream_model import StreamModel

if TYPE_CHECKING:
    import pyarrow as pa


class UsableRows:
    """The frames that can be used, which stay where Spark has put them until some of them are asked for.

    Parameters
    ----------
    blocks : list[NDArray[Any]]
        Rows of numbers, (n, width) each.
    block, row : NDArray[np.int64]
        Where each frame is.
    numbers : NDArray[np.int64]
        Which of all frames it is, those that cannot be used included.
    """

    def __init__(
        self,
        blocks: list[NDArray[Any]],
        block: NDArray[np.int64],
        row: NDArray[np.int64],
        numbers: NDArray[np.int64],
    ) -> None:
        self._blocks, self._block, self._row, self.numbers = blocks, block, row, numbers
        self._dtype = np.result_type(*{one.dtype for one in blocks})

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def row_bytes(self) -> int:
        """Of one frame."""
        return int(self._blocks[0].shape[1] * self._dtype.itemsize)

    def __getitem__(self, which: Any) -> NDArray[Any]:
        """A copy of some frames, by number or mask."""
        block, row = self._block[which], self._row[which]
        held = np.unique(block).tolist()
        if len(held) == 1:
            return np.asarray(self._blocks[held[0]][row].astype(self._dtype, copy=False))
        found = np.empty((len(row), self._blocks[0].shape[1]), self._dtype)
        for number in held:
            here = block == number
            found[here] = self._blocks[number][row[here]]
        return found

    def only(self, which: Any) -> Self:
        """Some of the frames, by number or mask."""
        return type(self)(self._blocks, self._block[which], self._row[which], self.numbers[which])


def usable_frames(column: "pa.ChunkedArray", model: StreamModel) -> UsableRows:
    """The frames that have finite numbers of the right count."""
    blocks: list[NDArray[Any]] = []
    block, row, numbers, begun = [], [], [], 0
    for chunk in column.chunks:
        for found, rows in _of_right_count(chunk, model):
            finite = np.arange(len(rows)) if rows.dtype == np.uint8 else np.flatnonzero(np.isfinite(rows).all(axis=1))
            if len(finite):
                block.append(np.full(len(finite), len(blocks)))
                row.append(finite)
                numbers.append(begun + found[finite])
                blocks.append(rows)
        begun += len(chunk)
    if not blocks:
        nothing = np.zeros(0, np.int64)
        return UsableRows([np.zeros((0, model.n_features_in_), model.frame_dtype_)], nothing, nothing, nothing)
    return UsableRows(blocks, np.concatenate(block), np.concatenate(row), np.concatenate(numbers))


def _of_right_count(column: "pa.Array", model: StreamModel) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Which frames have as many numbers as the model takes, and these as rows; bytes are of two kinds."""
    import pyarrow as pa
    from pyarrow import compute

    width = model.n_features_in_
    if not pa.types.is_binary(column.type) and not pa.types.is_large_binary(column.type):
        numbers = np.flatnonzero(compute.list_value_length(column).fill_null(-1).to_numpy() == width)
        rows = column.take(pa.array(numbers)).flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
        yield numbers, rows.astype(np.float64) if rows.dtype.kind == "O" else rows
        return
    lengths = compute.binary_length(column).fill_null(-1).to_numpy()
    sizes = {width: np.dtype(np.uint8)} | ({} if model.frame_dtype_ == np.uint8 else {4 * width: np.dtype("<f4")})
    for size, dtype in sizes.items():
        numbers = np.flatnonzero(lengths == size)
        if len(numbers):
            right = column if len(numbers) == len(column) else column.take(pa.array(numbers))
            _, ends, content = right.buffers()
            step = np.int32 if pa.types.is_binary(right.type) else np.int64
            start = int(np.frombuffer(ends, step, 1, right.offset * np.dtype(step).itemsize)[0])
            yield numbers, np.frombuffer(content, dtype, width * len(right), start).reshape(-1, width)
