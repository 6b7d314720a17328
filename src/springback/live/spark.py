"""Thousands of keyed streams on Apache Spark, with one model: streaming and static DataFrames (extra: spark).

Every key has its own short-term state, and its answers are those of `track`, bit for bit, however its frames are split
into batches. Spark itself handles only groups of keys: the frames of a group travel as one value, Spark keeps and
checkpoints the states of a group as one, and one call of the model follows many keys.
"""

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError, FrameError
from springback.extras import require_extra
from springback.files.container import from_bytes, to_bytes
from springback.files.models import load_model
from springback.heads.elastic_head import ElasticHead
from springback.heads.keyed_states import HeadStates, ModelStates, States
from springback.heads.onnx import OnnxStream
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

FORMAT = 2
"""Version of what is kept for a group of keys."""

GROUPS = 16
"""Of keys, unless the caller says otherwise."""

_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_KEY, _TIME, _FRAME, _GROUP, _PACKED = "key", "time", "frame", "group", "packed"
_ANSWERS = ("label", "probabilities", "novelty", "adapted")
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
    groups: int = GROUPS,
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
        Columns of numbers, or one column with whole frames: an array, a vector of Spark ML, or bytes, which are those
        of single-precision numbers (little-endian, which is fastest) or of pixels. None: the columns that the model
        was fitted with.
    step : float | None
        How long one step of the model's memory is, in the unit of `time`; None: the frames of a key are one step apart.
        A model whose memory is in the unit of time stamps needs 1.
    forget_after : float | None
        A key starts at rest if nothing came for longer than this, in the unit of `time`; a streaming query then no
        longer keeps its state. None: keys are kept for ever.
    lateness : float | None
        With `forget_after`, how far a frame of a streaming query may be behind the latest one of its group of keys in
        earlier batches, in the unit of `time`; one that is further behind is late. None: as `forget_after`.
    replace_model : bool
        Continue from a checkpoint with another model; every key then starts at rest. Without it, states of another
        model are refused.
    groups : int
        How many groups the keys of a streaming query are shared out to. The states of a group are read and written
        together, and must fit into the memory of a worker, so take more of them for more than some 10,000 keys. A
        checkpoint can only be continued with the number that it began with.
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
    named = frames.schema[key].dataType
    check.require(isinstance(named, types.AtomicType), key, "hold single values", named.simpleString())
    silence = None if forget_after is None else check.real("forget_after", forget_after, above=0)
    rule = _Rule(
        file=file,
        groups=check.integer("groups", groups, low=1),
        step=None if step is None else check.real("step", step, above=0),
        forget_after=silence,
        lateness=silence if lateness is None else check.real("lateness", lateness, low=0),
        replace_model=replace_model,
        per_unit=_MICROSECONDS if stamped else 1,
        words=any(isinstance(one, str) for one in loaded.possible_labels_),
    )
    number = sql.unix_micros(time) if stamped else sql.col(time).cast("long" if whole else "double")
    given = frames.select(
        sql.col(key).alias(_KEY), number.alias(_TIME), _whole_frame(frames, features, loaded).alias(_FRAME)
    )
    schema = types.StructType(
        [
            types.StructField(_KEY, named),
            types.StructField(_TIME, types.LongType() if whole else types.DoubleType()),
            types.StructField("label", types.StringType() if rule.words else types.LongType()),
            types.StructField("probabilities", types.ArrayType(types.DoubleType())),
            types.StructField("novelty", types.DoubleType()),
            types.StructField("adapted", types.BooleanType()),
        ]
    )
    if given.isStreaming:
        answers = _streaming(given, rule, schema)
    else:

        def follow_recorded(table: "pa.Table") -> "pa.Table":
            return _Group(rule).answers(table)

        answers = given.groupBy(_KEY).applyInArrow(follow_recorded, schema)
    back = sql.timestamp_micros(_TIME) if stamped else sql.col(_TIME)
    return answers.select(sql.col(_KEY).alias(key), back.cast(kind).alias(time), *map(sql.col, _ANSWERS))


def _streaming(given: "DataFrame", rule: "_Rule", schema: "StructType") -> "DataFrame":
    """Frames are packed before Spark distributes them by group, and answers unpacked afterwards.

    Spark hands rows to a stateful function of Python one at a time, and makes a table of each group; both cost far
    more than following them.
    """
    from pyspark.sql import functions as sql

    if given.sparkSession.conf.get(_STATE_STORE) != _ROCKS_DB:
        raise ValueError(f"the state of keys is kept in RocksDB: call spark.conf.set({_STATE_STORE!r}, {_ROCKS_DB!r})")
    grouped = given.withColumn(_GROUP, sql.pmod(sql.xxhash64(_KEY), sql.lit(rule.groups)).cast("int"))
    packed = grouped.mapInArrow(_packed, f"{_GROUP} int, {_PACKED} binary")
    followed = packed.groupBy(_GROUP).transformWithStateInPandas(
        _Processor(rule), f"{_PACKED} binary", outputMode="Append", timeMode="none"
    )
    return followed.mapInArrow(_unpacked, schema)


def _packed(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """One row for each group of keys in a batch, and always one for the first."""
    import pyarrow as pa

    for batch in batches:
        groups = batch.column(_GROUP).to_numpy()
        order = np.argsort(groups, kind="stable")
        frames, groups = batch.drop_columns([_GROUP]).take(pa.array(order)), groups[order]
        numbers, starts = np.unique(groups, return_index=True)
        stops = np.append(starts[1:], len(groups))
        contents = [_bytes_of(frames.slice(start, stop - start)) for start, stop in zip(starts, stops, strict=True)]
        if not len(numbers) or numbers[0] != 0:
            numbers, contents = np.append(0, numbers), [b"", *contents]
        columns = [pa.array(numbers, pa.int32()), pa.array(contents, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, [_GROUP, _PACKED])


def _unpacked(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """The rows that were packed."""
    for batch in batches:
        for content in batch.column(0):
            yield from _table_of(content.as_buffer()).to_batches()


def _bytes_of(rows: "pa.RecordBatch | pa.Table") -> bytes:
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, rows.schema) as writer:
        writer.write(rows)
    found: bytes = stream.getvalue().to_pybytes()
    return found


def _table_of(content: Any) -> "pa.Table":
    import pyarrow as pa

    return pa.ipc.open_stream(content).read_all()


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
    groups: int
    step: float | None
    forget_after: float | None
    lateness: float | None
    replace_model: bool
    per_unit: int
    """How many of Spark's numbers are one unit of time."""

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
def _loaded(file: str) -> StreamModel:
    """The model, once in every process."""
    from pyspark import SparkFiles

    path = SparkFiles.get(file)
    model: StreamModel = OnnxStream(path, threads=1) if path.endswith(".onnx") else load_model(path)
    return model


@lru_cache(maxsize=4)
def _states_of(model: StreamModel, *, timed: bool) -> HeadStates | ModelStates:
    """How the states of a model are kept; `timed`: it counts time in the unit that it is given, not in frames."""
    states = HeadStates(model) if isinstance(model, ElasticHead) else ModelStates(model)
    states.memory_in_ = "time" if timed else model.memory_in_
    return states


class _Processor:
    """What Spark calls for the frames of a group of keys in a batch, in the order of batches; a `StatefulProcessor`.

    It has the methods of that class of pyspark without being one, because the library does not import pyspark.
    """

    def __init__(self, rule: _Rule) -> None:
        self._rule = rule

    def init(self, handle: Any) -> None:
        """Called once in every task of a batch."""
        self._kept = handle.getValueState("streams", "content binary")

    def handleInputRows(self, key: Any, rows: Iterator["pd.DataFrame"], timerValues: Any) -> Iterator["pd.DataFrame"]:  # noqa: ARG002, N802
        """Follow all frames of a group in a batch."""
        import pandas as pd
        import pyarrow as pa

        found = self._kept.get()
        group = _Group(self._rule, None if found is None else found[0])
        pieces = [_table_of(one) for piece in rows for one in piece[_PACKED] if one]
        if pieces:
            yield pd.DataFrame({_PACKED: [_bytes_of(group.answers(pa.concat_tables(pieces)))]})
        self._kept.update((group.content(),))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator["pd.DataFrame"]:  # noqa: ARG002, N802
        """There are no timers: time is that of the streams."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, eq=False)
class KeptGroup:
    """What Spark keeps of a group of keys: their names, the times of their last frames, and their states."""

    format: int
    model: str
    groups: int
    keys: NDArray[np.uint8]
    times: NDArray[Any]
    states: dict[str, NDArray[Any]]


class _Stretch(NamedTuple):
    """Frames of a key, from one place to another, before which its state was this."""

    start: int
    stop: int
    state: Any


class _Group:
    """The streams of a group of keys, from what was kept of them."""

    def __init__(self, rule: _Rule, content: bytes | None = None, model: StreamModel | None = None) -> None:
        self._rule, self._model = rule, _loaded(rule.file) if model is None else model
        self._states = _states_of(self._model, timed=rule.step is not None)
        self._keys: pa.Array | None = None
        self._times: NDArray[Any] = np.zeros(0)
        self._streams: list[Any] = []
        if content is None:
            return
        kept = from_bytes("the state of a group of keys", content, "state", KeptGroup)
        must = "start the query with a new checkpoint, or with"
        if kept.format != FORMAT:
            raise DataError(
                f"the checkpoint keeps states in format {kept.format}, which this version cannot read: {must} "
                f"the version of springback that wrote it"
            )
        if kept.groups != rule.groups:
            raise DataError(f"the checkpoint keeps keys in {kept.groups} groups: {must} groups={kept.groups}")
        if kept.model != rule.file and not rule.replace_model:
            raise DataError(f"the checkpoint keeps states of another model: {must} that model, or replace_model=True")
        if len(kept.times):
            self._keys, self._times = _table_of(kept.keys).column(0).combine_chunks(), kept.times
            same = kept.model == rule.file
            self._streams = self._states.apart(kept.states) if same else [self._states.rest()] * len(kept.times)

    def __len__(self) -> int:
        return len(self._streams)

    def content(self) -> bytes:
        """What is to be kept of the streams now."""
        import pyarrow as pa

        keys, states = b"", {}
        if self._streams:
            keys, states = _bytes_of(pa.table({_KEY: self._keys})), self._states.joined(self._streams)
        numbers = np.frombuffer(keys, np.uint8)
        return to_bytes("state", KeptGroup(FORMAT, self._rule.file, self._rule.groups, numbers, self._times, states))

    def answers(self, table: "pa.Table") -> "pa.Table":
        """The answers to all frames of a batch, in the order in which they were given."""
        import pyarrow as pa

        keys, stamps = table.column(_KEY).combine_chunks(), table.column(_TIME)
        times = stamps.fill_null(0).to_numpy()
        known = 0 if self._keys is None else len(self._keys)
        every = (keys if self._keys is None else pa.concat_arrays([self._keys, keys])).dictionary_encode("encode")
        codes, n_keys = every.indices.to_numpy()[known:].astype(np.int64), len(every.dictionary)
        last = np.zeros(n_keys, times.dtype)
        last[:known] = self._times

        numbers, rows = _usable(table.column(_FRAME).combine_chunks(), self._model)
        good = np.isfinite(times[numbers]) & stamps.is_valid().to_numpy()[numbers]
        numbers, rows = (numbers, rows) if good.all() else (numbers[good], rows[good])
        while True:
            order = self._in_time(codes[numbers], times[numbers], rows, last, known)
            chosen = numbers[order]
            followed, after, refused = self._followed(codes[chosen], times[chosen], rows, order, last, known)
            if not refused:
                numbers = chosen
                break
            numbers, rows = np.delete(numbers, order[refused]), np.delete(rows, order[refused], axis=0)

        last[codes[numbers]] = times[numbers]  # in the order of time, so the last one stays
        kept = np.array([code for code in range(n_keys) if code in after or code < known], np.int64)
        if self._rule.forget_after is not None and len(kept):
            silence = self._since(last[kept].max(), last[kept])
            kept = kept[silence <= self._rule.forget_after + (self._rule.lateness or 0.0)]
        self._streams = [after[code] if code in after else self._streams[code] for code in kept.tolist()]
        self._keys, self._times = every.dictionary.take(pa.array(kept)), last[kept]

        place, adapted = np.zeros(len(times), np.int64), np.zeros(len(times), bool)
        place[numbers], adapted[numbers] = np.arange(len(numbers)), True
        labels, at = self._model.labels_of(followed), pa.array(place, mask=~adapted)
        ends = np.arange(len(numbers) + 1, dtype=np.int32) * followed.posterior.shape[1]
        words = self._rule.words
        found = {
            "label": pa.array([str(one) for one in labels] if words else labels, pa.string() if words else pa.int64()),
            "probabilities": pa.ListArray.from_arrays(pa.array(ends), pa.array(followed.posterior.ravel())),
            "novelty": pa.array(followed.novelty, from_pandas=True),
        }
        answered = {name: column.take(at) for name, column in found.items()}
        return pa.table({_KEY: keys, _TIME: stamps, **answered, "adapted": pa.array(adapted)})

    def _since(self, latest: Any, times: NDArray[Any]) -> NDArray[np.float64]:
        """How long before another time these are, in the unit of time."""
        return np.asarray(np.subtract(latest, times).astype(np.float64) / self._rule.per_unit)

    def _in_time(
        self, codes: NDArray[np.int64], times: NDArray[Any], rows: NDArray[Any], last: NDArray[Any], known: int
    ) -> NDArray[np.int64]:
        """Frames that can be followed: key by key, each after the one before it.

        Of frames of the same time, one is taken that does not depend on how Spark delivers them.
        """
        order = np.lexsort((times, codes))
        tied = (np.diff(codes[order]) == 0) & (np.diff(times[order]) == 0)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], tied, [False]]).astype(np.int8)))
        for start, stop in edges.reshape(-1, 2):
            order[start : stop + 1] = sorted(order[start : stop + 1], key=lambda at: rows[at].tobytes())
        is_first = np.ones(len(order), bool)
        is_first[1:] = ~tied
        here = order[is_first]
        good = (codes[here] >= known) | (times[here] > last[codes[here]])
        if self._rule.lateness is not None and known:
            good &= self._since(last[:known].max(), times[here]) <= self._rule.lateness
        return np.asarray(here[good])

    def _followed(
        self,
        codes: NDArray[np.int64],
        times: NDArray[Any],
        rows: NDArray[Any],
        order: NDArray[np.int64],
        last: NDArray[Any],
        known: int,
    ) -> tuple[Followed, dict[int, Any], list[int]]:
        """The answers to frames in the order of `_in_time`, the states of keys after them, and what was refused."""
        starts_key = np.diff(codes, prepend=-1) != 0
        before, at_rest = np.where(starts_key, last[codes], np.roll(times, 1)), starts_key & (codes >= known)
        if self._rule.forget_after is not None:
            at_rest |= self._since(times, before) > self._rule.forget_after
        starts = np.flatnonzero(starts_key | at_rest).tolist()
        stretches: dict[int, list[_Stretch]] = {}
        for start, stop in zip(starts, [*starts[1:], len(codes)], strict=False):
            state = self._states.rest() if at_rest[start] else self._streams[codes[start]]
            stretches.setdefault(stop - start, []).append(_Stretch(start, stop, state))
        steps = None if self._rule.step is None else times / self._rule.per_unit / self._rule.step
        run = _Run(self._states, self._model.frame_shape_, rows, order, steps)
        ends: dict[int, Any] = {}
        for some in stretches.values():
            for begin in range(0, len(some), self._states.streams_at_once):
                together = some[begin : begin + self._states.streams_at_once]
                ends |= zip((one.stop for one in together), run.follow(together), strict=True)
        after = {int(codes[stop - 1]): ends[stop] for stop in sorted(ends)}
        return run.followed(), after, run.refused


class _Run:
    """Follows stretches of frames, and finds the frames with which the model cannot compute."""

    def __init__(
        self,
        states: States[Any],
        shape: tuple[int, ...],
        rows: NDArray[Any],
        order: NDArray[np.int64],
        steps: NDArray[np.float64] | None,
    ) -> None:
        self._states, self._shape, self._rows, self._order, self._steps = states, shape, rows, order, steps
        self._answers: list[tuple[NDArray[np.int64], Followed]] = []
        self.refused: list[int] = []

    def follow(self, stretches: list[_Stretch]) -> list[Any]:
        """The states after stretches of the same length; if the model refuses them, halves are tried."""
        at = np.array([range(start, stop) for start, stop, _ in stretches]).T
        try:
            frames = self._states.frames(self._rows[self._order[at.ravel()]].reshape(-1, *self._shape))
            steps = None if self._steps is None else self._steps[at]
            with warnings.catch_warnings():  # the columns are in the order of the names
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                followed, after = self._states.follow(
                    [one.state for one in stretches], frames.reshape(*at.shape, *frames.shape[1:]), steps
                )
        except FrameError:
            if len(stretches) > 1:
                return [self.follow([one])[0] for one in stretches]
            start, stop, state = stretches[0]
            middle = (start + stop) // 2
            if middle == start:
                self.refused.append(start)
                return [state]
            (state,) = self.follow([_Stretch(start, middle, state)])
            return self.follow([_Stretch(middle, stop, state)])
        self._answers.append((at.ravel(), followed))
        return after

    def followed(self) -> Followed:
        """The answers in the order of the frames."""
        if not self._answers:
            frames = self._states.frames(self._rows[:0].reshape(0, *self._shape))
            return self._states.follow([self._states.rest()], frames[:, None], None)[0]
        order = np.argsort(np.concatenate([one for one, _ in self._answers]))
        return Followed.joined([one for _, one in self._answers]).at(order)


def _usable(column: "pa.Array", model: StreamModel) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Which frames have finite numbers of the right count, and these as rows."""
    import pyarrow as pa
    from pyarrow import compute

    width = model.n_features_in_
    if not pa.types.is_binary(column.type) and not pa.types.is_large_binary(column.type):
        numbers = np.flatnonzero(compute.list_value_length(column).fill_null(-1).to_numpy() == width)
        rows = column.take(pa.array(numbers)).flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
        rows = rows.astype(np.float64) if rows.dtype.kind == "O" else rows
        finite = np.isfinite(rows).all(axis=1)
        return (numbers, rows) if finite.all() else (numbers[finite], rows[finite])
    lengths = compute.binary_length(column).fill_null(-1).to_numpy()
    sizes = {width: np.dtype(np.uint8)} | ({} if model.frame_dtype_ == np.uint8 else {4 * width: np.dtype("<f4")})
    found = []
    for size, dtype in sizes.items():
        numbers = np.flatnonzero(lengths == size)
        flat = (column if len(numbers) == len(column) else column.take(pa.array(numbers))).cast(pa.binary(size))
        rows = np.frombuffer(flat.buffers()[1] or b"", dtype, width * len(flat), flat.offset * size)
        rows = rows.reshape(-1, width)
        finite = np.isfinite(rows).all(axis=1)
        found.append((numbers, rows) if finite.all() else (numbers[finite], rows[finite]))
    found = [one for one in found if len(one[0])] or found[:1]
    return (
        found[0] if len(found) == 1 else (np.concatenate([a for a, _ in found]), np.concatenate([b for _, b in found]))
    )
