"""Streams on Apache Spark itself: the bits of `track`, each frame once, whatever is killed meanwhile."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer import Typer
from typer.testing import CliRunner

from springback.extras import is_installed
from springback.heads import ElasticHead
from springback.heads.onnx import OnnxStream
from springback.live import spark
from tests.commands import springback
from tests.live.spark.onnx_file import write_network
from tests.streaming_models import Subject, subjects

pytestmark = [
    pytest.mark.skipif(not is_installed("pyspark"), reason="pyspark is not installed: make test-spark"),
    pytest.mark.waits,
]
ROOT = Path(__file__).parents[3]
JOB = ROOT / "examples" / "spark" / "follow_job.py"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SMALL = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "America/New_York",  # an hour of a day in autumn occurs twice there
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    PROVIDER: ROCKS_DB,
    # What Spark waits for, which takes long on a busy machine.
    "spark.network.timeout": "600s",
    "spark.executor.heartbeatInterval": "60s",
    "spark.python.authenticate.socketTimeout": "120s",
}
TOO_BUSY = "failed to connect back"
"""Said by Spark if a process of Python takes longer than ten seconds to begin; there is no setting for it."""

WIDTH, SCHEMA = 5, "camera string, time double, x array<float>"


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]")
    for name, value in SMALL.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    yield found
    found.stop()


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "head.safetensors"
    head(0).save(path)
    return path


def head(seed):
    return ElasticHead(np.random.default_rng(seed).normal(size=(3, WIDTH)), np.zeros(3))


def some_frames(n, keys, seed=1):
    """Frames of several streams, mixed, each stream in the order of time."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, WIDTH)).astype(np.float32)
    cameras = [f"camera {one}" for one in rng.integers(0, keys, n)]
    return pd.DataFrame({"camera": cameras, "time": np.arange(n) / 4, "x": list(rows)})


def write(frames, folder, name):
    """A Parquet file that appears in a folder as a whole."""
    folder.mkdir(exist_ok=True)
    frames.to_parquet(folder / f".{name}")
    (folder / f".{name}").rename(folder / f"{name}.parquet")


def stream(session, folder):
    return session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run(answers, folder):
    """Follow all files that are there, then end; the query, and all answers so far."""
    from pyspark.errors import StreamingQueryException

    writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "job"))
    for attempt in range(5):
        query = writer.option("path", str(folder / "answers")).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
            break
        except StreamingQueryException as error:
            if TOO_BUSY not in str(error) or attempt == 4:
                raise
    return query, answers.sparkSession.read.parquet(str(folder / "answers")).toPandas()


def assert_as_track(answers, frames, step=None):
    """One row for every frame, and the bits of `track` of each key by itself."""
    assert len(answers) == len(frames)
    assert answers.adapted.all()
    for camera, own in frames.groupby("camera"):
        alone = head(0)
        alone.memory_in_ = "frames" if step is None else "time"
        wanted = alone.track(np.stack(own.x.to_list()), None if step is None else own.time.to_numpy() / step)
        found = answers[answers.camera == camera].sort_values("time")
        assert found.time.tolist() == own.time.tolist()
        assert np.array_equal(np.stack(found.probabilities.to_list()), wanted)
        assert found.label.tolist() == wanted.argmax(axis=1).tolist()


def test_recorded_streams_with_columns_or_vectors_and_dates(session, model, tmp_path):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as sql

    frames = some_frames(60, 4)
    recorded = session.createDataFrame(frames.assign(x=[one.tolist() for one in frames.x]), SCHEMA)
    names = [f"x{number}" for number in range(WIDTH)]
    apart = recorded.select("camera", "time", *(sql.col("x")[at].alias(name) for at, name in enumerate(names)))
    answers = spark.follow(apart, model, key="camera", time="time", features=names, step=0.25)
    assert_as_track(answers.toPandas(), frames, step=0.25)

    autumn = sql.timestamp_micros((sql.lit(1_762_060_000_000_000) + sql.col("time") * 400_000_000).cast("long"))
    dated = recorded.select("camera", autumn.alias("at"), array_to_vector(recorded.x).alias("x"), "time")
    found = spark.follow(dated, model, key="camera", time="at", features="x", step=100.0)
    same = dated.join(found, ["camera", "at"]).drop("x", "at").toPandas()
    assert_as_track(same, frames, step=0.25)

    night = pd.Timestamp("2025-11-02 00:30")  # without a time zone, as pandas writes it
    dates = night + pd.to_timedelta(400 * frames.time, unit="s")
    frames.assign(at=dates).to_parquet(tmp_path / "it.parquet", coerce_timestamps="us")
    unzoned = session.read.parquet(str(tmp_path / "it.parquet"))
    assert unzoned.schema["at"].dataType.simpleString() == "timestamp_ntz"
    found = spark.follow(unzoned, model, key="camera", time="at", features="x", step=100.0)
    same = unzoned.join(found, ["camera", "at"]).drop("x", "at").toPandas()
    assert_as_track(same, frames, step=0.25)


def saved_kinds(folder):
    """The file of a model of each kind, and rows for it."""
    network = folder / "OnnxStream.onnx"
    write_network(network)
    rows = np.random.default_rng(3).normal(size=(30, 7)).astype(np.float32)
    found = {network: Subject("OnnxStream", lambda: OnnxStream(network, threads=1), rows)}
    for kind in (
        "ElasticHead",
        "ElasticLinearClassifier",
        "ElasticClassifier",
        "ElasticClustering",
        "SpikingClassifier",
    ):
        one = next(one.values[0] for one in subjects() if one.values[0].name.startswith(kind))
        one.make().save(folder / f"{kind}.safetensors")
        found[folder / f"{kind}.safetensors"] = one
    return found


ARRIVING = ("OnnxStream", "SpikingClassifier")
"""Kinds whose states are kept one by one; all other tests let frames of a head arrive."""


def test_every_kind_of_saved_model_answers_recorded_and_arriving_streams_as_track_does(session, tmp_path):
    for path, subject in saved_kinds(tmp_path).items():
        rows = subject.rows[:8].reshape(8, -1)
        pixels = rows.dtype == np.uint8
        shown = [row.tobytes() if pixels else row.tolist() for row in rows]
        table, schema = pd.DataFrame({"key": list("abababab"), "time": range(8), "x": shown}), "key string, time long"
        schema += ", x binary" if pixels else ", x array<double>"
        folder, options = tmp_path / path.stem, {"key": "key", "time": "time", "features": "x"}
        folder.mkdir()
        for part in (0, 1):
            write(table.iloc[4 * part : 4 * part + 4], folder / "frames", part)
        recorded = session.read.schema(schema).parquet(str(folder / "frames"))
        found = [spark.follow(recorded, path, **options).toPandas()]
        if path.stem in ARRIVING:
            arriving = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "frames"))
            found.append(run(spark.follow(arriving, path, **options), folder)[1])
        for answers in found:
            for first, key in enumerate("ab"):
                own = answers[answers.key == key].sort_values("time")
                assert own.time.tolist() == list(range(first, 8, 2)), path
                wanted = subject.make().track(subject.rows[first:8:2])
                assert np.array_equal(np.stack(own.probabilities.to_list()), wanted), path


def test_arriving_frames_in_any_batches_with_late_and_double_ones_among_them(session, model, tmp_path):
    frames = some_frames(80, 3)
    cuts = np.sort(np.random.default_rng(5).integers(1, 80, 2))
    parts = [frames.iloc[part] for part in np.split(np.arange(80), cuts) if len(part)]
    parts[-1] = pd.concat([parts[-1], parts[0].iloc[:3], parts[-1].iloc[:1]]).sample(frac=1, random_state=6)
    for number, part in enumerate(parts):
        write(part, tmp_path / "frames", number)
    arriving = stream(session, tmp_path / "frames")
    _, answers = run(spark.follow(arriving, model, key="camera", time="time", features="x", step=0.25), tmp_path)
    assert len(answers) == 84
    assert (~answers.adapted).sum() == 4
    assert_as_track(answers[answers.adapted], frames, step=0.25)


def test_a_silent_key_is_forgotten_and_a_model_is_replaced(session, model, tmp_path):
    rows = some_frames(6, 1).x.to_list()
    for number, (cameras, times) in enumerate(([["a", "b"], [0.0, 0.0]], [["a", "a"], [8.0, 30.0]], [["a"], [31.0]])):
        write(pd.DataFrame({"camera": cameras, "time": times, "x": rows[: len(times)]}), tmp_path / "frames", number)
    arriving = stream(session, tmp_path / "frames")
    options = {"key": "camera", "time": "time", "features": "x", "forget_after": 10.0, "groups": 1}
    _, answers = run(spark.follow(arriving, model, **options), tmp_path)
    assert answers.adapted.all()
    found = np.stack(answers[answers.camera == "a"].sort_values("time").probabilities.to_list())
    apart = [head(0).track(rows[:1] * 2), head(0).track([rows[1], rows[0]])]
    assert np.array_equal(found, np.concatenate([[apart[0][0], apart[0][1]], apart[1]]))

    before = model.read_bytes()
    head(1).save(model)
    write(pd.DataFrame({"camera": ["a", "b"], "time": [32.0, 1.0], "x": rows[:2]}), tmp_path / "frames", 3)
    with pytest.raises(Exception, match="the checkpoint keeps states of another model"):
        run(spark.follow(arriving, model, **options), tmp_path)
    with pytest.raises(Exception, match="the checkpoint keeps keys in 1 groups"):
        run(spark.follow(arriving, model, **options | {"groups": 5}), tmp_path)
    _, answers = run(spark.follow(arriving, model, **options, replace_model=True), tmp_path)
    assert len(answers) == 7
    last = answers[answers.time == 32.0]
    assert np.array_equal(last.probabilities.iloc[0], head(1).track(rows[:1])[0])
    late = answers[answers.time == 1.0]  # far behind the other key of its group, and so late
    assert not late.adapted.any()
    assert late.label.isna().all()
    assert model.read_bytes() != before


def test_what_cannot_be_followed_is_refused_before_anything_runs(session, model, tmp_path):
    write(some_frames(1, 1), tmp_path / "frames", 0)
    arriving = stream(session, tmp_path / "frames")
    with pytest.raises(ValueError, match="camera must hold numbers or timestamps; got 'string'"):
        spark.follow(arriving, model, key="camera", time="camera", features="x")
    with pytest.raises(ValueError, match="features must be 5 columns, as the model takes; got 1"):
        spark.follow(arriving, model, key="camera", time="time", features=["time"])
    with pytest.raises(ValueError, match="camera must hold numbers, arrays of them, vectors or bytes; got 'string'"):
        spark.follow(arriving, model, key="camera", time="time", features="camera")
    with pytest.raises(ValueError, match="camera must hold numbers; got 'string'"):
        spark.follow(arriving, model, key="camera", time="time", features=["time"] * 4 + ["camera"])
    with pytest.raises(ValueError, match="features must name the columns, as the model was fitted without their names"):
        spark.follow(arriving, model, key="camera", time="time")
    session.conf.unset(PROVIDER)
    try:
        with pytest.raises(ValueError, match=r"the state of keys is kept in RocksDB: call spark\.conf\.set"):
            spark.follow(arriving, model, key="camera", time="time", features="x")
    finally:
        session.conf.set(PROVIDER, ROCKS_DB)


def test_the_job_and_the_command_give_the_same_answers_for_the_same_options(session, model, tmp_path):
    frames, names = some_frames(60, 4), [f"x{number}" for number in range(WIDTH)]
    apart = pd.DataFrame(np.stack(frames.x.to_list()), columns=names).assign(camera=frames.camera, time=frames.time)
    write(apart, tmp_path / "frames", 0)
    apart.to_csv(tmp_path / "frames.csv", index=False)
    shared = ["--key", "camera", "--columns", ",".join(names), "--step", "0.25", "--forget-after", "1000"]
    job = Typer()
    job.command()(loaded(JOB).main)
    own = ["--out", str(tmp_path / "answers"), "--checkpoint", str(tmp_path / "job")]
    done = CliRunner().invoke(job, [str(model), str(tmp_path / "frames"), *own, *shared])
    assert done.exit_code == 0, done.exception
    answers = session.read.parquet(str(tmp_path / "answers")).toPandas().sort_values("time")
    assert_as_track(answers, frames, step=0.25)
    said = springback("follow", model, tmp_path / "frames.csv", *shared, "--probabilities").stdout.splitlines()
    for (_, found), wanted in zip(answers.iterrows(), map(json.loads, said), strict=True):
        assert (found.camera, found.label) == (wanted["key"], wanted["class"])
        assert found.probabilities.tolist() == pytest.approx([*wanted["probabilities"].values()], abs=1e-6)
    wrong = CliRunner().invoke(job, [str(model), "frames", *own, *shared[:4], "--forget-after", "9"])
    assert wrong.exit_code == 2
    assert "--step" in wrong.output


def loaded(script):
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def submitted(tmp_path, model, *more):
    """The example job on two executors, in a process group of its own."""
    submit = str(Path(sys.executable).parent / "spark-submit")
    settings = [part for name, value in SMALL.items() for part in ("--conf", f"{name}={value}")]
    command = [submit, "--master", "local-cluster[2,1,1024]", *settings, str(JOB), str(model), str(tmp_path / "frames")]
    command += ["--key", "camera", "--columns", "x", "--step", "0.25", "--files-per-batch", "1", *more]
    command += ["--out", str(tmp_path / "answers"), "--checkpoint", str(tmp_path / "job")]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    with (tmp_path / "log").open("ab") as log:
        return subprocess.Popen(command, start_new_session=True, stdout=log, stderr=log, env=environment, cwd=tmp_path)


class Job:
    """The example job, which waits for more frames, and is begun again if Spark found the machine too busy."""

    def __init__(self, tmp_path, model):
        self._begin = lambda: submitted(tmp_path, model, "--wait")
        self._log, self._job = tmp_path / "log", self._begin()

    def wait(self, until):
        while not (found := until()):
            if self._job.poll() is not None:
                assert TOO_BUSY in self._log.read_text(), self._log.read_text()[-3000:]
                self._log.unlink()
                self._job = self._begin()
            time.sleep(0.05)
        return found

    def executors(self):
        """Processes of the executors among those of its process group."""
        found = []
        for one in Path("/proc").glob("[0-9]*"):
            try:
                words = (one / "cmdline").read_bytes()
                if os.getpgid(int(one.name)) == self._job.pid and b"CoarseGrainedExecutorBackend" in words:
                    found.append(int(one.name))
            except (OSError, ValueError):
                continue
        return found

    def kill(self):
        if self._job.poll() is None:
            os.killpg(self._job.pid, signal.SIGKILL)
            self._job.wait()


def batches(tmp_path, log):
    """How many batches the checkpoint says were begun (`offsets`) or done (`commits`)."""
    return len(list((tmp_path / "job" / log).glob("[0-9]*")))


@pytest.mark.timeout(3600)  # a minute of processor time, of which a busy machine gives little
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the executors in /proc")
def test_two_executors_of_which_one_is_killed_and_then_the_driver_answer_every_frame_once(model, tmp_path):
    frames = some_frames(120, 7)

    def arrive(number):
        write(frames.iloc[20 * number : 20 * number + 20], tmp_path / "frames", number)

    arrive(0)
    job = Job(tmp_path, model)
    try:
        job.wait(lambda: batches(tmp_path, "commits") >= 1)
        arrive(1)
        job.wait(lambda: batches(tmp_path, "offsets") >= 2)
        os.kill(job.wait(job.executors)[0], signal.SIGKILL)
        arrive(2)
        job.wait(lambda: batches(tmp_path, "commits") >= 3)
        arrive(3)
        arrive(4)
        job.wait(lambda: batches(tmp_path, "offsets") >= 4)
        job.kill()
        arrive(5)
        job = Job(tmp_path, model)
        job.wait(lambda: batches(tmp_path, "commits") >= 6)
    finally:
        job.kill()
    kept = pd.concat(map(pd.read_parquet, committed(tmp_path / "answers")), ignore_index=True)
    assert_as_track(kept, frames, step=0.25)


def committed(folder):
    """The files that the sink has committed; others, of a batch that was interrupted, do not count."""
    lines = [line for log in (folder / "_spark_metadata").glob("[0-9]*") for line in log.read_text().splitlines()[1:]]
    return sorted({json.loads(line)["path"].removeprefix("file://") for line in lines})
