"""All rows of a group of keys as one value, so that Spark handles a few large values instead of many small ones."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

KEY, TIME, FRAME, GROUP, PACKED = "key", "time", "frame", "group", "packed"
ANSWERS = ("label", "probabilities", "novelty", "adapted")


def pack(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """One row for each group of keys in a batch, and always one for the first."""
    import pyarrow as pa

    for batch in batches:
        groups = batch.column(GROUP).to_numpy()
        order = np.argsort(groups, kind="stable")
        frames, groups = batch.drop_columns([GROUP]).take(pa.array(order)), groups[order]
        numbers, starts = np.unique(groups, return_index=True)
        pieces = [frames.slice(start, stop - start) for start, stop in pairwise([*starts.tolist(), len(groups)])]
        if not len(numbers) or numbers[0] != 0:
            numbers, pieces = np.append(0, numbers), [None, *pieces]
        size = pa.MockOutputStream()
        _write(pieces, size)
        content = pa.allocate_buffer(size.size(), resizable=False)
        ends = np.array([0, *_write(pieces, pa.FixedSizeBufferWriter(content))], np.int32)
        values = pa.BinaryArray.from_buffers(pa.binary(), len(numbers), [None, pa.py_buffer(ends), content])
        yield pa.RecordBatch.from_arrays([pa.array(numbers, pa.int32()), values], [GROUP, PACKED])


def _write(pieces: "list[pa.RecordBatch | None]", file: Any) -> list[int]:
    """Write rows one piece after the other, each as `bytes_of` does; where each ends."""
    import pyarrow as pa

    ends = []
    for one in pieces:
        if one is not None:
            with pa.ipc.new_stream(file, one.schema) as writer:
                writer.write(one)
        ends.append(file.tell())
    return ends


def unpack(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """The rows that were packed."""
    for batch in batches:
        for content in batch.column(0):
            yield from table_of(content.as_buffer()).to_batches()


def bytes_of(rows: "pa.RecordBatch | pa.Table") -> bytes:
    """Rows as one value."""
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    _write([rows], stream)
    found: bytes = stream.getvalue().to_pybytes()
    return found


def table_of(content: Any) -> "pa.Table":
    """The rows of `bytes_of`."""
    import pyarrow as pa

    return pa.ipc.open_stream(content).read_all()
