"""Streaming and static DataFrames of frames, and the DataFrames of their answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from springback import check
from springback.extras import require_extra
from springback.live.spark.group import KeyGroup
from springback.live.spark.packing import ANSWERS, FRAME, GROUP, KEY, PACKED, TIME, pack, unpack
from springback.live.spark.processor import Processor
from springback.live.spark.rule import Rule, loaded_model, shipped
from springback.streaming.stream_model import StreamModel

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

GROUPS = 16
"""Of keys, unless the caller says otherwise."""

_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
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
        The column with time stamps: numbers, or timestamps with or without a time zone, which count in seconds.
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

    file = shipped(frames.sparkSession.sparkContext, Path(model))
    loaded = loaded_model(file)
    kind = frames.schema[time].dataType
    stamped = isinstance(kind, types.TimestampType | types.TimestampNTZType)
    whole = stamped or isinstance(kind, types.IntegralType)
    check.require(
        stamped or isinstance(kind, types.NumericType), time, "hold numbers or timestamps", kind.simpleString()
    )
    named = frames.schema[key].dataType
    check.require(isinstance(named, types.AtomicType), key, "hold single values", named.simpleString())
    silence = None if forget_after is None else check.real("forget_after", forget_after, above=0)
    rule = Rule(
        file=file,
        groups=check.integer("groups", groups, low=1),
        step=None if step is None else check.real("step", step, above=0),
        forget_after=silence,
        lateness=silence if lateness is None else check.real("lateness", lateness, low=0),
        replace_model=replace_model,
        per_unit=_MICROSECONDS if stamped else 1,
        words=any(isinstance(one, str) for one in loaded.possible_labels_),
    )
    count, back = _times(kind, "long" if whole else "double")
    given = frames.select(
        sql.col(key).alias(KEY), count(sql.col(time)).alias(TIME), _whole_frame(frames, features, loaded).alias(FRAME)
    )
    schema = types.StructType(
        [
            types.StructField(KEY, named),
            types.StructField(TIME, types.LongType() if whole else types.DoubleType()),
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
            return KeyGroup(rule).answers(table)

        answers = given.groupBy(KEY).applyInArrow(follow_recorded, schema)
    return answers.select(sql.col(KEY).alias(key), back(sql.col(TIME)).cast(kind).alias(time), *map(sql.col, ANSWERS))


def _times(kind: "DataType", number: str) -> tuple[Any, Any]:
    """Functions of a column: from times to numbers, and back. Timestamps without a time zone count as those of UTC."""
    from pyspark.sql import functions as sql
    from pyspark.sql import types

    if isinstance(kind, types.TimestampType):
        return sql.unix_micros, sql.timestamp_micros
    if isinstance(kind, types.TimestampNTZType):
        zero, none = sql.expr("timestamp_ntz'1970-01-01'"), sql.lit(0)
        return (
            lambda times: ((times - zero).cast("decimal(20,6)") * _MICROSECONDS).cast("long"),
            lambda micros: zero + sql.make_dt_interval(none, none, none, micros.cast("decimal(20,0)") / _MICROSECONDS),
        )
    return lambda times: times.cast(number), lambda numbers: numbers


def _streaming(given: "DataFrame", rule: "Rule", schema: "StructType") -> "DataFrame":
    """Frames are packed before Spark distributes them by group, and answers unpacked afterwards.

    Spark hands rows to a stateful function of Python one at a time, and makes a table of each group; both cost far
    more than following them.
    """
    from pyspark.sql import functions as sql

    if given.sparkSession.conf.get(_STATE_STORE) != _ROCKS_DB:
        raise ValueError(f"the state of keys is kept in RocksDB: call spark.conf.set({_STATE_STORE!r}, {_ROCKS_DB!r})")
    grouped = given.withColumn(GROUP, sql.pmod(sql.xxhash64(KEY), sql.lit(rule.groups)).cast("int"))
    packed = grouped.mapInArrow(pack, f"{GROUP} int, {PACKED} binary")
    followed = packed.groupBy(GROUP).transformWithStateInPandas(
        Processor(rule), f"{PACKED} binary", outputMode="Append", timeMode="none"
    )
    return followed.mapInArrow(unpack, schema)


def _whole_frame(frames: "DataFrame", features: str | Sequence[str] | None, model: StreamModel) -> Any:
    """One column that holds whole frames."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import functions as sql
    from pyspark.sql import types

    names = model.column_names_ if features is None else features
    if names is None:
        raise ValueError("features must name the columns, as the model was fitted without their names; got None")
    if isinstance(names, str) and not isinstance(kind := frames.schema[names].dataType, types.NumericType):
        if isinstance(kind, VectorUDT):
            return vector_to_array(sql.col(names))
        whole = isinstance(kind, types.BinaryType)
        whole |= isinstance(kind, types.ArrayType) and isinstance(kind.elementType, types.NumericType)
        check.require(whole, names, "hold numbers, arrays of them, vectors or bytes", kind.simpleString())
        return sql.col(names)
    names = [names] if isinstance(names, str) else names
    wanted = model.n_features_in_
    check.require(len(names) == wanted, "features", f"be {wanted} columns, as the model takes", len(names))
    for name in names:
        kind = frames.schema[name].dataType
        check.require(isinstance(kind, types.NumericType), name, "hold numbers", kind.simpleString())
    return sql.array(*map(sql.col, names))
