"""Many streams on Apache Spark: rows/s against `track`, bytes of state, time to recover; a million streams on paper.

    python -m springback_bench.speed.spark [--quick]        writes docs/data/spark.json and the tables of docs/follow.md
    python -m springback_bench.speed.spark --only 0 3       only these of CELLS, or recovery, or memory; the others stay
    python -m springback_bench.speed.spark --page           only writes the tables again, from the results as they are

It runs in the environment of `make test-spark`, for about 20 minutes. Every cell follows three batches; the last two
are measured, when workers have started and most code is compiled. Seconds of processor time are those of all processes
of Spark, so that other work on the machine counts as little as possible; rows/s on the clock are given, too. What Spark
needs for the same frames without a model is measured as well: it reads them, distributes them by key and hands them to
Python once.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import argparse
import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from springback import __version__
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback.heads import ElasticHead, LearningObserver, Observer, Springs
from springback.heads.settings import Settings
from springback.live.spark import follow
from springback_bench.machine import OtherWork, describe_machine, today
from springback_bench.markdown import number, table_row, table_rule, write_between
from springback_bench.place import ROOT
from springback_bench.rounding import rounded

RESULTS = "docs/data/spark.json"
PAGE = "docs/follow.md"
MARKS = ("<!-- spark: written by python -m springback_bench.speed.spark -->", "<!-- end of spark -->")
JOB = "examples/spark/follow_job.py"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CELLS = (  # memory, classes, features, keys, rows of a batch, executors; those of the targets first
    ("springs", 10, 1280, 1_000, 100_000, 1),
    ("observer", 400, 784, 1_000, 100_000, 1),
    ("springs", 10, 32, 1_000, 100_000, 1),
    ("springs", 10, 32, 100_000, 100_000, 1),
    ("springs", 10, 32, 10, 10_000, 1),
    ("springs", 10, 1280, 10, 10_000, 1),
    ("springs", 10, 1280, 1_000, 10_000, 1),
    ("observer", 400, 784, 10, 10_000, 1),
    ("observer", 400, 784, 1_000, 10_000, 1),
    ("springs", 10, 1280, 1_000, 100_000, 2),
    ("learning observer", 10, 1280, 1_000, 100_000, 1),
    ("learning observer", 400, 784, 10, 10_000, 1),
)
QUICK = (("springs", 10, 32, 10, 2_000, 1), ("springs", 10, 32, 200, 2_000, 1), ("springs", 10, 32, 10, 40_000, 1))
MEMORIES: dict[str, Settings] = {
    "springs": Springs(pull=20.0),
    "observer": Observer(),
    "learning observer": LearningObserver(),
}
INTERVAL_S = 60
FIRST, TURNS = 1, 2
BATCHES, SILENCE = 8, 2
STARTS = 10


def make_head(memory: str, classes: int, features: int) -> ElasticHead:
    """The same head every time."""
    rng = np.random.default_rng(0)
    return ElasticHead(rng.normal(size=(classes, features)), np.zeros(classes), MEMORIES[memory])


def make_rows(features: int) -> np.ndarray:
    """Rows such as a layer with rectified units gives."""
    return np.maximum(np.random.default_rng(1).normal(size=(1_000, features)), 0).astype(np.float32)


def write_frames(folder: Path, features: int, keys: int, rows: int, batch: int) -> None:
    """A file with the frames of a batch, which appears as a whole."""
    import pyarrow as pa
    from pyarrow import parquet

    values, at = [one.tobytes() for one in make_rows(features)], batch * rows + np.arange(rows)
    columns = {"key": at % keys, "time": at, "x": [values[one] for one in at % len(values)]}
    parquet.write_table(
        pa.table(columns), folder / f".{batch}", row_group_size=10_000, use_dictionary=False, compression="none"
    )
    (folder / f".{batch}").rename(folder / f"{batch}.parquet")


def own_seconds(head: ElasticHead, rows: np.ndarray, seconds: float = 1.0) -> float:
    """Seconds of processor time that `track` itself takes for a row."""
    begun, done = time.process_time(), 0
    while time.process_time() - begun < seconds:
        head.track(rows)
        done += len(rows)
    return (time.process_time() - begun) / done


def processor_seconds(process: int | None = None) -> float:
    """Of this process, or another one, and all that it has started, those that have ended included."""
    import psutil

    total, of = 0.0, psutil.Process(process)
    for one in [of, *of.children(recursive=True)]:
        try:
            total += sum(one.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


def session_of(executors: int) -> Any:
    """A session with one core on each executor."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": "local[1]" if executors == 1 else f"local-cluster[{executors},1,2048]",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(2 * executors),
        "spark.driver.memory": "2g",
        "spark.executor.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.shuffle.compress": "false",
        "spark.sql.streaming.stateStore.providerClass": ROCKS_DB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def only_counted(batches: Iterable[Any]) -> Iterator[Any]:
    """How many rows came; nothing is computed with them."""
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": pa.array([batch.num_rows], pa.int64())})


def spark_alone(session: Any, frames: Path, rows: int) -> float:
    """Seconds of processor time in which Spark reads a row, distributes it by key and hands it to Python."""
    found = 0.0
    for _ in range(2):
        before = processor_seconds()
        read = session.read.schema("key long, time long, x binary").parquet(str(frames)).repartition("key")
        counted = read.mapInArrow(only_counted, "rows long").agg({"rows": "sum"}).collect()[0][0]
        assert counted == rows
        found = (processor_seconds() - before) / rows
    return found


def measure_cell(session: Any, memory: str, classes: int, features: int, keys: int, rows: int) -> dict[str, Any]:
    """One query: batches to begin with, then `track` and a batch in turns."""
    head, values = make_head(memory, classes, features), make_rows(features)
    head.track(values)
    own: list[float] = []
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head.save(folder / "head.safetensors")
        (folder / "frames").mkdir()
        frames = session.readStream.schema("key long, time long, x binary").parquet(str(folder / "frames"))
        answers = follow(frames, folder / "head.safetensors", key="key", time="time", features="x")
        writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "job"))
        query = writer.option("path", str(folder / "answers")).start()
        for turn in range(FIRST + TURNS):
            print(time.strftime("%X"), memory, classes, features, keys, rows, turn, file=sys.stderr, flush=True)
            write_frames(folder / "frames", features, keys, rows, turn)
            before = processor_seconds()
            query.processAllAvailable()
            spent.append((processor_seconds() - before) / rows)
            own.append(own_seconds(head, values))
        batches = [one for one in query.recentProgress if one["numInputRows"]]
        query.stop()
        alone = spark_alone(session, folder / "frames" / "0.parquet", rows)
        written = sum(one.stat().st_size for one in (folder / "job" / "state").rglob("*") if one.is_file())
    head.track_response(values[:1], in_place=True)
    return {
        "memory": memory,
        "classes": classes,
        "features": features,
        "keys": keys,
        "rows": rows,
        "track_cpu_us": [1e6 * one for one in own[FIRST:]],
        "cpu_us": [1e6 * one for one in spent[FIRST:]],
        "spark_alone_cpu_us": 1e6 * alone,
        "rows_per_s": [1000 * rows / one["durationMs"]["triggerExecution"] for one in batches[FIRST:]],
        "state_bytes": len(head.get_state()),
        "checkpoint_bytes_per_key": written / min(keys, rows) / len(batches),
    }


def measure_cells(executors: int, cells: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """Some cells one after the other, in a process of its own, so that its processor time is that of Spark."""
    command = [sys.executable, "-W", "ignore", "-m", "springback_bench.speed.spark", "--cells", str(executors)]
    with subprocess.Popen([*command, json.dumps(cells)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield from (json.loads(line) for line in running.stdout if line.startswith("{"))
    if running.returncode:
        raise RuntimeError(f"the cells on {executors} executors ended with code {running.returncode}")


def measure_memory(session: Any, keys: int) -> dict[str, Any]:
    """Keys that pass by: each batch has other ones, and those of earlier batches are forgotten after a silence."""
    import psutil

    head, found = make_head("springs", 10, 32), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head.save(folder / "head.safetensors")
        (folder / "frames").mkdir()
        frames = session.readStream.schema("key long, time long, x binary").parquet(str(folder / "frames"))
        options: dict[str, Any] = {"key": "key", "time": "time", "features": "x", "groups": 2}
        answers = follow(frames, folder / "head.safetensors", forget_after=SILENCE * keys, **options)
        writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "job"))
        query = writer.option("path", str(folder / "answers")).start()
        for batch in range(BATCHES):
            write_frames(folder / "frames", 32, BATCHES * keys, keys, batch)
            query.processAllAvailable()
            workers = [one for one in psutil.Process().children(recursive=True) if "python" in one.name()]
            written = sorted((folder / "job" / "state").rglob("*.changelog"), key=lambda one: one.stat().st_mtime)
            found.append(
                {
                    "seen_keys": (batch + 1) * keys,
                    "checkpoint_bytes": sum(one.stat().st_size for one in written[-2:]),
                    "largest_worker_mb": max(one.memory_info().rss for one in workers) / 1e6,
                }
            )
        query.stop()
    return {"keys": keys, "live_batches": 2 * SILENCE, "batches": found}


def measure_recovery(keys: int) -> dict[str, float]:
    """Seconds until the next batch is committed, after an executor was killed, and after the job was.

    Spark gives up if a process of Python takes longer than ten seconds to begin, as on a busy machine. The job is then
    started again, and the time goes on.
    """
    import psutil

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_head("springs", 10, 32).save(folder / "head.safetensors")
        (folder / "frames").mkdir()
        command = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local-cluster[2,1,1024]"]
        command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
        command += [str(ROOT / JOB), str(folder / "head.safetensors"), str(folder / "frames"), "--key", "key"]
        command += ["--columns", "x", "--files-per-batch", "1", "--out", str(folder / "answers")]
        command += ["--checkpoint", str(folder / "job"), "--wait"]
        environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}

        def start() -> subprocess.Popen[bytes]:
            quiet = subprocess.DEVNULL
            return subprocess.Popen(
                command, start_new_session=True, env=environment, stdout=quiet, stderr=quiet, cwd=folder
            )

        def next_batch(job: subprocess.Popen[bytes], number: int) -> tuple[float, subprocess.Popen[bytes]]:
            """Seconds until a batch is committed, and the job that has done it."""
            begun, starts = time.monotonic(), 1
            while not (folder / "job" / "commits" / str(number)).exists():
                if job.poll() is not None:
                    if starts == STARTS:
                        raise RuntimeError(f"the job ended {STARTS} times before a batch was done")
                    job, starts = start(), starts + 1
                time.sleep(0.05)
            return time.monotonic() - begun, job

        write_frames(folder / "frames", 32, keys, 2 * keys, 0)
        job = start()
        try:
            first_s, job = next_batch(job, 0)
            write_frames(folder / "frames", 32, keys, 2 * keys, 1)
            batch_s, job = next_batch(job, 1)
            for one in psutil.Process(job.pid).children(recursive=True):
                if any("CoarseGrainedExecutorBackend" in word for word in one.cmdline()):
                    one.kill()
                    break
            write_frames(folder / "frames", 32, keys, 2 * keys, 2)
            executor_s, job = next_batch(job, 2)
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            write_frames(folder / "frames", 32, keys, 2 * keys, 3)
            job = start()
            driver_s, job = next_batch(job, 3)
            driver_cpu_s = processor_seconds(job.pid)
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
    waits = {"first_s": first_s, "batch_s": batch_s, "executor_s": executor_s, "driver_s": driver_s}
    return {"keys": keys, "driver_cpu_s": driver_cpu_s, **waits}


def measure(file: Path, *, quick: bool, only: Sequence[str]) -> None:
    """Everything, or only some parts; the file always holds what has been measured so far."""
    require_extra("springback_bench.speed.spark", "pyspark")
    others, chosen = OtherWork(), dict(enumerate(QUICK if quick else CELLS))
    found: dict[str, Any] = json.loads(file.read_text()) if only and file.exists() else {"cells": {}}
    found["made"] = {"date": today(), "quick": quick, "springback": __version__}
    found["machine"] = describe_machine()

    def save() -> None:
        found["machine"]["cores_busy_elsewhere"] = others.cores()
        with atomic_file(file) as whole:
            whole.write((json.dumps(rounded(found), indent=1) + "\n").encode())

    wanted = {name: cell for name, cell in chosen.items() if not only or str(name) in only}
    for executors in sorted({one[-1] for one in wanted.values()}):
        these = [name for name, cell in wanted.items() if cell[-1] == executors]
        for name, cell in zip(these, measure_cells(executors, [wanted[one][:-1] for one in these]), strict=True):
            found["cells"][str(name)] = cell | {"executors": executors}
            save()
    if not only or "recovery" in only:
        found["recovery"] = measure_recovery(100 if quick else 1_000)
        save()
    if not only or "memory" in only:
        found["memory"] = next(iter(measure_cells(1, [("memory", 1_000)])))
        save()


def cpu_seconds(cell: dict[str, Any], name: str = "cpu_us") -> float:
    """Of a row, as the mean of all turns."""
    return 1e-6 * float(np.mean(cell[name]))


def costs(cells: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Seconds of processor time for a row, for a key of a batch and for a batch, none of them negative.

    Fewer than three cells cannot tell them apart: all of it then counts as that of rows.
    """
    from scipy.optimize import nnls

    if len(cells) < 3:
        return cpu_seconds(max(cells, key=lambda one: one["rows"])), 0.0, 0.0
    parts = np.array([(one["rows"], min(one["keys"], one["rows"]), 1.0) for one in cells])
    spent = np.array([one["rows"] * cpu_seconds(one) for one in cells])
    by_row, by_key, by_batch = nnls(parts / spent[:, None], np.ones(len(cells)))[0]
    return float(by_row), float(by_key), float(by_batch)


def head_of(cell: dict[str, Any]) -> str:
    """What a table calls a head."""
    return f"{cell['classes']} x {cell['features']:,}, {cell['memory']}"


def page_of(found: dict[str, Any]) -> str:
    """The tables of the page."""
    made, busy = found["made"], found["machine"]["cores_busy_elsewhere"]
    cells = [found["cells"][name] for name in sorted(found["cells"], key=int)]
    columns = (
        "head",
        "keys",
        "rows of a batch",
        "executors",
        "rows/s",
        "CPU µs/row",
        "`track`",
        "times `track`",
        "Spark alone",
        "state",
    )
    lines = [
        f"Measured on {made['date']} with version {made['springback']} on {found['machine']['processor']} "
        f"({found['machine']['cores']} cores, of which other programs kept {busy:.1f} busy)"
        + (", as a quick run." if made["quick"] else "."),
        "",
        table_row(*columns),
        table_rule(len(columns)),
    ]
    for one in cells:
        ours, own = 1e6 * cpu_seconds(one), 1e6 * cpu_seconds(one, "track_cpu_us")
        spent = (ours, own, ours / own, one["spark_alone_cpu_us"])
        size = f"{one['state_bytes'] / 1000:,.0f} kB"
        where = (head_of(one), f"{one['keys']:,}", f"{one['rows']:,}", str(one["executors"]))
        lines.append(
            table_row(*where, number(float(np.mean(one["rows_per_s"]))), *(f"{cost:.1f}" for cost in spent), size)
        )
    if memory := found.get("memory"):
        first, last = memory["batches"][memory["live_batches"] + 1], memory["batches"][-1]
        lines += [
            "",
            f"Keys that pass by, {memory['keys']:,} new ones in every batch, of which those of the latest "
            f"{memory['live_batches']} to {memory['live_batches'] + 1} batches are live: after "
            f"{first['seen_keys']:,} keys a batch wrote {number(first['checkpoint_bytes'] / 1000)} kB of states, after "
            f"{last['seen_keys']:,} {number(last['checkpoint_bytes'] / 1000)} kB; the largest worker had "
            f"{first['largest_worker_mb']:.0f} and {last['largest_worker_mb']:.0f} MB.",
        ]
    if recovery := found.get("recovery"):
        lines += [
            "",
            f"A job of {recovery['keys']:,} keys on two executors committed its first batch "
            f"{recovery['first_s']:.0f} s after it was started. After one executor was killed with SIGKILL, the next "
            f"batch took {recovery['executor_s']:.0f} s instead of {recovery['batch_s']:.0f} s. After the driver and "
            f"all executors were killed, the job that was started again had committed its next batch "
            f"{recovery['driver_s']:.0f} s later, of which it had a processor for {recovery['driver_cpu_s']:.0f} s.",
        ]
    lines += [
        "",
        f"One million streams at 1 frame/s in batches of {INTERVAL_S} s, by these formulas and costs:",
        "",
        table_row("head", "`a`, µs", "`b`, µs", "`c`, s", "cores", "states, GB", "checkpoints, MB/s"),
        table_rule(7),
    ]
    alone = [one for one in cells if one["executors"] == 1]
    for head in dict.fromkeys(map(head_of, alone)):
        alike = [one for one in alone if head_of(one) == head]
        by_row, by_key, by_batch = costs(alike)
        cores = 1e6 * (by_row + by_key / INTERVAL_S) + by_batch / INTERVAL_S
        size, kept = alike[-1]["state_bytes"], alike[-1]["checkpoint_bytes_per_key"]
        costly = (f"{1e6 * by_row:.1f}", f"{1e6 * by_key:.0f}", f"{by_batch:.1f}")
        lines.append(table_row(head, *costly, f"{cores:,.0f}", f"{1e6 * size / 1e9:,.1f}", f"{kept / INTERVAL_S:,.0f}"))
    return "\n".join(lines)


def write_page(root: Path = ROOT) -> None:
    """The tables between the two marks of the page."""
    found = json.loads((root / RESULTS).read_text())
    write_between(root / PAGE, MARKS, page_of(found))


def main(arguments: list[str] | None = None) -> None:
    """Read the options, measure, write."""
    options = argparse.ArgumentParser(prog="python -m springback_bench.speed.spark")
    options.add_argument("--quick", action="store_true")
    options.add_argument("--only", nargs="+", default=())
    options.add_argument("--page", action="store_true")
    options.add_argument("--cells", nargs=2)
    options.add_argument("--out", type=Path, default=ROOT)
    chosen = options.parse_args(arguments)
    if chosen.cells:
        session = session_of(int(chosen.cells[0]))
        cells = json.loads(chosen.cells[1])
        for one in cells:
            of = measure_memory if one[0] == "memory" else measure_cell
            print(json.dumps(of(session, *one[one[0] == "memory" :])), flush=True)
        return
    if not chosen.page:
        measure(chosen.out / RESULTS, quick=chosen.quick, only=chosen.only)
    write_page(chosen.out)


if __name__ == "__main__":
    main()
