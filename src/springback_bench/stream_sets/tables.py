"""A split as files that `springback follow` reads: every stream as a table, and the frozen head as an elastic model."""

import io
from pathlib import Path

import numpy as np

from springback.files.atomic import atomic_file
from springback.heads import ElasticHead
from springback_bench.stream_sets.record import NOT_SCORED, Stream, StreamSplit

MODEL = "head.safetensors"


def write_tables(split: StreamSplit, folder: Path) -> list[Path]:
    """Write the head and every stream; returns the files, the head first.

    Streams are `practice-0.csv`, ... (on which to choose settings) and `test-0.csv`, ... Their columns are `time`, the
    features `f0`, `f1`, ..., and `label`, which is empty where a frame has no correct answer. The head is an
    `ElasticHead` with the default settings.

    Examples
    --------
    >>> import tempfile
    >>> from springback_bench.stream_sets import Head
    >>> eye = np.eye(2, dtype=np.float32)
    >>> seen = np.arange(2)
    >>> stream = Stream(features=eye, labels=seen, times=np.arange(2.0), objects=seen)
    >>> head = Head(weight=eye, bias=np.zeros(2, np.float32), centre=np.zeros(2, np.float32))
    >>> split = StreamSplit(name="small", split=0, head=head, validation=(stream,), test=(stream,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_tables(split, Path(folder))
    ...     paths[-1].read_text().splitlines()
    ['time,f0,f1,label', '0.0,1.0,0.0,0', '1.0,0.0,1.0,1']
    """
    head = folder / MODEL
    folder.mkdir(parents=True, exist_ok=True)
    ElasticHead(split.head.weight, split.head.bias, centre=split.head.centre).save(head)
    written = [head]
    for name, streams in (("practice", split.validation), ("test", split.test)):
        for number, stream in enumerate(streams):
            written.append(folder / f"{name}-{number}.csv")
            with atomic_file(written[-1]) as file:
                file.write(_table(stream).encode())
    return written


def _table(stream: Stream) -> str:
    """A line for each frame; numbers as short as they can be without loss."""
    text = io.StringIO()
    names = [f"f{number}" for number in range(stream.features.shape[1])]
    text.write(",".join(["time", *names, "label"]) + "\n")
    for time, row, label in zip(stream.times.tolist(), stream.features.astype(str), stream.labels, strict=True):
        shown = "" if label == NOT_SCORED else str(label)
        text.write(f"{np.round(time, 6)},{','.join(row)},{shown}\n")
    return text.getvalue()
