"""Thousands of keyed streams on Apache Spark, with one model: streaming and static DataFrames (extra: spark).

Every key has its own short-term state, which Spark keeps and checkpoints. The frames of a key in a batch are followed
in one call of the model, and the answers are those of `track`, bit for bit, however the frames are split into batches.
"""

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError, FrameError
from springback.extras import require_extra
from springback.files.models import load_model
from springback.heads.onnx import OnnxStream
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

FORMAT = 1
"""Version of what is kept for each key; the bytes of the model in it have a version of their own."""

_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_KEY, _TIME, _FRAME, _EVENT = "key", "time", "frame", "event"
_ANSWERS = (_KEY, _TIME, "label", "probabilities", "novelty", "adapted")
_MICROSECONDS = 1_000_000


def follow(
    frames: "DataFrame",
    model: str | Path,
    *,
    key: str,
    time: str,
    features: str | Sequence[str] | None = None,
    step: float | None = None,
    forget_after: float | None = None,
    lateness: float | None = None,
    replace_model: bool = False,
) -> "DataFrame":
    """Answers to the frames of many streams: one row for every frame.

    The columns are `key` and `time` as they were given, `label`, `probabilities` of the classes, `novelty`, and
    `adapted`: whether the frame was followed. A frame is followed once, in the order of time. One that is not after the
    last frame of its key (late, or a duplicate), or that holds no finite numbers of the right count, moves nothing, and
    its answer is null.

    Parameters
    ----------
    frames : DataFrame
        Streaming or static.
    model : str | Path
        A saved model of any kind. Its file is read once, here, and sent to every executor once; all keys begin at rest.
    key : str
        The column that says to which stream a frame belongs.
    time : str
        The column with time stamps: numbers, or timestamps, which count in seconds.
    features : str | Sequence[str] | None
        Columns of numbers, or one column with whole frames: an array, a vector of Spark ML, or bytes of pixels. None:
        the columns that the model was fitted with.
    step : float | None
        How long one step of the model's memory is, in the unit of `time`; None: the frames of a key are one step apart.
        A model whose memory is in the unit of time stamps needs 1.
    forget_after : float | None
        A key starts at rest if nothing came for longer than this, in the unit of `time`; a streaming query then no
        longer keeps its state. None: keys are kept for ever.
    lateness : float | None
        With `forget_after`, how far a frame of a streaming query may be behind the latest one of all keys, in the unit
        of `time`; Spark drops those that are further behind when a batch begins. None: as `forget_after`.
    replace_model : bool
        Continue from a checkpoint with another model; every key then starts at rest. Without it, states of another
        model are refused.
    """
    require_extra("springback.spark", "pyspark")
    from pyspark.sql import functions as sql
    from pyspark.sql import types

    file = _shipped(frames.sparkSession.sparkContext, Path(model))
    loaded = _loaded(file)
    kind = frames.schema[time].dataType
    stamped, whole = isinstance(kind, types.TimestampType), isinstance(kind, types.TimestampType | types.IntegralType)
    check.require(
        stamped or isinstance(kind, types.NumericType), time, "hold numbers or timestamps", kind.simpleString()
    )
    rule = _Rule(
        file=file,
        step=None if step is None else check.real("step", step, above=0),
        forget_after=None if forget_after is None else check.real("forget_after", forget_after, above=0),
        replace_model=replace_model,
        per_unit=_MICROSECONDS if stamped else 1,
        origin=0 if stamped else 2**32,
        words=any(isinstance(one, str) for one in loaded.possible_labels_),
    )
    processor = _Processor(rule, "long" if whole else "double")

    number = sql.unix_micros(time) if stamped else sql.col(time).cast("long" if whole else "double")
    given = frames.select(
        sql.col(key).alias(_KEY), number.alias(_TIME), _whole_frame(frames, features, loaded).alias(_FRAME)
    )
    schema = types.StructType(
        [
            types.StructField(_KEY, frames.schema[key].dataType),
            types.StructField(_TIME, types.LongType() if whole else types.DoubleType()),
            types.StructField("label", types.StringType() if rule.words else types.LongType()),
            types.StructField("probabilities", types.ArrayType(types.DoubleType())),
            types.StructField("novelty", types.DoubleType()),
            types.StructField("adapted", types.BooleanType()),
        ]
    )
    if given.isStreaming:
        answers = _streaming(given, processor, schema, lateness)
    else:

        def follow_recorded(key: tuple[Any, ...], rows: "pd.DataFrame") -> "pd.DataFrame":
            return _Stream(_loaded(rule.file), rule).answers(key[0], [rows])

        answers = given.groupBy(_KEY).applyInPandas(follow_recorded, schema)
    back = sql.timestamp_micros(_TIME) if stamped else sql.col(_TIME)
    return answers.select(sql.col(_KEY).alias(key), back.cast(kind).alias(time), *map(sql.col, _ANSWERS[2:]))


def _streaming(
    given: "DataFrame", processor: "_Processor", schema: "StructType", lateness: float | None
) -> "DataFrame":
    from pyspark.sql import functions as sql

    if given.sparkSession.conf.get(_STATE_STORE) != _ROCKS_DB:
        raise ValueError(f"the state of keys is kept in RocksDB: call spark.conf.set({_STATE_STORE!r}, {_ROCKS_DB!r})")
    rule, mode = processor.rule, "none"
    if rule.forget_after is not None:
        mode = "eventTime"
        waits = rule.forget_after if lateness is None else check.real("lateness", lateness, low=0)
        since = (sql.col(_TIME) * (_MICROSECONDS // rule.per_unit)).cast("long") + rule.origin * _MICROSECONDS
        given = given.withColumn(_EVENT, sql.timestamp_micros(since))
        given = given.withWatermark(_EVENT, f"{round(waits * 1000)} milliseconds")
    return given.groupBy(_KEY).transformWithStateInPandas(processor, schema, outputMode="Append", timeMode=mode)


def _whole_frame(frames: "DataFrame", features: str | Sequence[str] | None, model: StreamModel) -> Any:
    """One column that holds whole frames."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import functions as sql
    from pyspark.sql.types import NumericType

    names = model.column_names_ if features is None else features
    if names is None:
        raise ValueError("features must name the columns, as the model was fitted without their names; got None")
    if isinstance(names, str) and not isinstance(kind := frames.schema[names].dataType, NumericType):
        return vector_to_array(sql.col(names)) if isinstance(kind, VectorUDT) else sql.col(names)
    names = [names] if isinstance(names, str) else names
    wanted = model.n_features_in_
    check.require(len(names) == wanted, "features", f"be {wanted} columns, as the model takes", len(names))
    return sql.array(*map(sql.col, names))


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """How streams are followed; `file` names the content of the model."""

    file: str
    step: float | None
    forget_after: float | None
    replace_model: bool
    per_unit: int
    """How many of Spark's numbers are one unit of time."""

    origin: int
    """Added to times for Spark, whose watermark begins at 0; frames may be at 0, or before it."""

    words: bool
    """Whether labels are text."""


def _shipped(context: Any, path: Path) -> str:
    """The name under which every executor finds a copy of a file, which it fetches once; it names the content."""
    from pyspark import SparkFiles

    content = path.read_bytes()
    name = f"springback-{hashlib.sha256(content).hexdigest()}{path.suffix}"
    if not Path(SparkFiles.get(name)).exists():
        served = Path(SparkFiles.getRootDirectory()) / "springback" / name
        served.parent.mkdir(exist_ok=True)
        served.write_bytes(content)
        context.addFile(str(served))
    return name


@lru_cache(maxsize=4)
def _loaded(file: str, step: float | None = None) -> StreamModel:
    """The model, once in every process; with a step, it counts time in steps."""
    from pyspark import SparkFiles

    path = SparkFiles.get(file)
    model: StreamModel = OnnxStream(path, threads=1) if path.endswith(".onnx") else load_model(path)
    if step is not None:
        model.memory_in_ = "time"
    return model


class _Kept(NamedTuple):
    """What is kept for a key: the time of its last frame, and the state of the model after it."""

    format: int
    model: str
    time: float
    state: bytes


class _Processor:
    """What Spark calls for every key of a batch, in the workers."""

    def __init__(self, rule: _Rule, time_type: str) -> None:
        self.rule, self._time_type = rule, time_type

    def init(self, handle: Any) -> None:
        """Get ready in a worker."""
        self._handle = handle
        self._kept = handle.getValueState("stream", f"format int, model string, time {self._time_type}, state binary")

    def handleInputRows(self, key: Any, rows: Iterator["pd.DataFrame"], timerValues: Any) -> Iterator["pd.DataFrame"]:  # noqa: ARG002, N802
        """Follow all frames of a key in a batch."""
        found = self._kept.get()
        stream = _Stream(_loaded(self.rule.file, self.rule.step), self.rule, None if found is None else _Kept(*found))
        answers = stream.answers(key[0], list(rows))
        if stream.moved:
            self._kept.update(tuple(stream.kept()))
            if found is None and self.rule.forget_after is not None:
                self._handle.registerTimer(self._forgotten_at(stream.time))
        yield answers

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,  # noqa: ARG002
        timerValues: Any,  # noqa: ARG002
        expiredTimerInfo: Any,
    ) -> Iterator["pd.DataFrame"]:
        """Forget a key, unless frames came since the timer was set; then it gets a new one."""
        at = self._forgotten_at(_Kept(*self._kept.get()).time)
        if at > expiredTimerInfo.getExpiryTimeInMs():
            self._handle.registerTimer(at)
        else:
            self._kept.clear()
        return iter(())

    def close(self) -> None:
        """Nothing is open."""

    def _forgotten_at(self, time: float) -> int:
        """In milliseconds, and later than any frame that still continues the stream."""
        rule = self.rule
        return int((time / rule.per_unit + rule.origin + float(rule.forget_after or 0)) * 1000) + 2


class _Stream:
    """The stream of one key, from what was kept of it; the model is that of all keys, and is moved."""

    def __init__(self, model: StreamModel, rule: _Rule, before: _Kept | None = None) -> None:
        self._model, self._rule, self.moved = model.reset(), rule, False
        self.time = -np.inf if before is None else before.time
        if before is None:
            return
        if before.format != FORMAT:
            raise DataError(
                f"the checkpoint keeps states in format {before.format}, which this version cannot read: start the "
                f"query with a new checkpoint, or with the version of springback that wrote it"
            )
        if before.model == rule.file:
            self._model.set_state(before.state)
        elif not rule.replace_model:
            raise DataError(
                "the checkpoint keeps states of another model: start the query with that model, with "
                "replace_model=True, or with a new checkpoint"
            )

    def kept(self) -> _Kept:
        """What is to be kept of the stream now."""
        return _Kept(FORMAT, self._rule.file, self.time, self._model.get_state())

    def answers(self, key: Any, pieces: list["pd.DataFrame"]) -> "pd.DataFrame":
        """The answers to all frames of a batch, in the order of time."""
        import pandas as pd

        table = pieces[0] if len(pieces) == 1 else pd.concat(pieces)
        times = table[_TIME].to_numpy()
        numbers, rows = _usable(times, table[_FRAME].to_list(), self._model.n_features_in_)
        order = _in_time(times[numbers], rows)
        numbers, rows = numbers[order], rows[order]
        is_new = times[numbers] > self.time
        is_new[1:] &= times[numbers[1:]] > times[numbers[:-1]]
        numbers, rows = numbers[is_new], rows[is_new]

        labels, probabilities = np.full(len(table), None), np.full(len(table), None)
        novelty, adapted = np.full(len(table), np.nan), np.zeros(len(table), bool)
        for part, followed in self._followed(times[numbers], rows.reshape(-1, *self._model.frame_shape_)):
            at = numbers[part]
            named = self._model.labels_of(followed).tolist()
            labels[at] = [str(one) for one in named] if self._rule.words else named
            probabilities[at] = list(followed.posterior)
            novelty[at], adapted[at] = followed.novelty, True
        columns = ([key] * len(table), times, labels, probabilities, novelty, adapted)
        return pd.DataFrame(dict(zip(_ANSWERS, columns, strict=True)))

    def _followed(self, times: NDArray[Any], rows: NDArray[Any]) -> Iterator[tuple[slice, Followed]]:
        """One call for all rows, or one for each stretch after which the stream was forgotten."""
        longest = self._rule.forget_after
        gaps = np.diff(times, prepend=self.time) / self._rule.per_unit
        ends = np.zeros(0, int) if longest is None else np.flatnonzero(gaps > longest)
        for start, stop in pairwise([0, *ends, len(rows)]):
            if start in ends:
                self._model.reset()
            yield from self._in_parts(times, rows, start, stop)

    def _in_parts(
        self, times: NDArray[Any], rows: NDArray[Any], start: int, stop: int
    ) -> Iterator[tuple[slice, Followed]]:
        """All rows at once; if the model refuses them, halve them until those it cannot compute with are found."""
        if start == stop:
            return
        part, step = slice(start, stop), self._rule.step
        steps = None if step is None else times[part] / self._rule.per_unit / step
        try:
            with warnings.catch_warnings():  # the columns are in the order of the names
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                found = self._model.track_response(rows[part], steps, in_place=True)
        except FrameError:
            middle = (start + stop) // 2
            if middle > start:
                yield from self._in_parts(times, rows, start, middle)
                yield from self._in_parts(times, rows, middle, stop)
            return
        self.time, self.moved = times[stop - 1].item(), True
        yield part, found


def _usable(times: NDArray[Any], frames: list[Any], width: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Which frames have a time and finite numbers of the right count, and these as rows."""
    arrays = [np.frombuffer(one, np.uint8) if isinstance(one, bytes | bytearray) else one for one in frames]
    fits = np.isfinite(times.astype(np.float64)) & [one is not None and len(one) == width for one in arrays]
    numbers = np.flatnonzero(fits)
    rows = np.stack([arrays[number] for number in numbers]) if len(numbers) else np.zeros((0, width))
    rows = rows.astype(np.float64) if rows.dtype.kind == "O" else rows
    finite = np.isfinite(rows).all(axis=1)
    return numbers[finite], rows[finite]


def _in_time(times: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """The order of time; frames of the same time in an order that does not depend on how Spark delivers them."""
    order = np.argsort(times, kind="stable")
    if (np.diff(times[order]) > 0).all():
        return order
    return np.array(sorted(range(len(times)), key=lambda at: (times[at], rows[at].tobytes())), np.int64)
