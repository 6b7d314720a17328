"""Many streams on Apache Spark: rows/s against `track`, bytes of state, time to recover; a million streams on paper.

    python -m springback_bench.speed.spark [--quick]        writes docs/data/spark.json and the tables of docs/follow.md
    python -m springback_bench.speed.spark --page           only writes the tables again, from the results as they are

It runs in the environment of `make test-spark`. Every cell follows two batches; the second is measured, when workers
have started and code is compiled. Seconds of processor time are those of all processes of Spark, so that other work on
the machine counts as little as possible; rows/s on the clock are given, too.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from springback import __version__
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback.heads import ElasticHead, Springs
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
CELLS = (  # classes, features, keys, rows of a batch, executors
    (10, 32, 10, 10_000, 1),
    (10, 32, 1_000, 100_000, 1),
    (10, 32, 100_000, 100_000, 1),
    (10, 1280, 10, 10_000, 1),
    (10, 1280, 1_000, 10_000, 1),
    (10, 1280, 1_000, 100_000, 1),
    (10, 1280, 1_000, 100_000, 2),
    (400, 784, 1_000, 10_000, 1),
)
QUICK = ((10, 32, 10, 2_000, 1), (10, 32, 200, 2_000, 1), (10, 32, 10, 40_000, 1))
INTERVAL_S = 60
TURNS = 2
STARTS = 10


def make_head(classes: int, features: int) -> ElasticHead:
    """The same head every time."""
    rng = np.random.default_rng(0)
    return ElasticHead(rng.normal(size=(classes, features)), np.zeros(classes), Springs(pull=20.0))


def make_rows(features: int) -> np.ndarray:
    """Rows such as a layer with rectified units gives."""
    return np.maximum(np.random.default_rng(1).normal(size=(1_000, features)), 0).astype(np.float32)


def write_frames(folder: Path, features: int, keys: int, rows: int, batch: int) -> None:
    """A file with the frames of a batch, which appears as a whole."""
    import pyarrow as pa
    from pyarrow import parquet

    values, at = make_rows(features), batch * rows + np.arange(rows)
    flat = pa.array(values[at % len(values)].reshape(-1))
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * features)
    columns = {"key": at % keys, "time": at, "x": pa.ListArray.from_arrays(offsets, flat)}
    parquet.write_table(pa.table(columns), folder / f".{batch}", row_group_size=2_000)
    (folder / f".{batch}").rename(folder / f"{batch}.parquet")


def own_seconds(head: ElasticHead, rows: np.ndarray, seconds: float = 1.0) -> float:
    """Seconds of processor time that `track` itself takes for a row."""
    begun, done = time.process_time(), 0
    while time.process_time() - begun < seconds:
        head.track(rows)
        done += len(rows)
    return (time.process_time() - begun) / done


def processor_seconds() -> float:
    """Of this process and all that it has started, those that have ended included."""
    import psutil

    total = 0.0
    for one in [psutil.Process(), *psutil.Process().children(recursive=True)]:
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
        "spark.sql.streaming.stateStore.providerClass": ROCKS_DB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def measure_cell(session: Any, classes: int, features: int, keys: int, rows: int) -> dict[str, Any]:
    """One query: a batch to begin with, then `track` and a batch in turns."""
    head, values = make_head(classes, features), make_rows(features)
    head.track(values)
    own: list[float] = []
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head.save(folder / "head.safetensors")
        (folder / "frames").mkdir()
        frames = session.readStream.schema("key long, time long, x array<float>").parquet(str(folder / "frames"))
        answers = follow(frames, folder / "head.safetensors", key="key", time="time", features="x")
        writer = answers.writeStream.format("parquet").option("checkpointLocation", str(folder / "job"))
        query = writer.option("path", str(folder / "answers")).start()
        for turn in range(1 + TURNS):
            write_frames(folder / "frames", features, keys, rows, turn)
            before = processor_seconds()
            query.processAllAvailable()
            spent.append((processor_seconds() - before) / rows)
            own.append(own_seconds(head, values))
        batches = [one for one in query.recentProgress if one["numInputRows"]]
        query.stop()
        written = sum(one.stat().st_size for one in (folder / "job" / "state").rglob("*") if one.is_file())
    head.track_response(values[:1], in_place=True)
    return {
        "classes": classes,
        "features": features,
        "keys": keys,
        "rows": rows,
        "track_cpu_us": [1e6 * one for one in own[1:]],
        "cpu_us": [1e6 * one for one in spent[1:]],
        "rows_per_s": [1000 * rows / one["durationMs"]["triggerExecution"] for one in batches[1:]],
        "state_bytes": len(head.get_state()),
        "checkpoint_bytes_per_key": written / min(keys, rows) / len(batches),
    }


def measure_cells(executors: int, cells: Sequence[tuple[int, ...]]) -> list[dict[str, Any]]:
    """Some cells one after the other, in a process of its own, so that its processor time is that of Spark."""
    command = [sys.executable, "-W", "ignore", "-m", "springback_bench.speed.spark", "--cells", str(executors)]
    done = subprocess.run([*command, json.dumps(cells)], stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_recovery(keys: int) -> dict[str, float]:
    """Seconds from the start of a job, the driver of which was killed, until its next batch is committed.

    Spark gives up if a process of Python takes longer than ten seconds to begin, as on a busy machine. The job is then
    started again, and the time goes on.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_head(10, 32).save(folder / "head.safetensors")
        (folder / "frames").mkdir()
        for batch in range(6):
            write_frames(folder / "frames", 32, keys, 2 * keys, batch)

        def until(batches: int, least: int = 0) -> tuple[float, float, int]:
            """Kill the job when `batches` are done: seconds, and those of a processor, to its first one; how many."""
            command = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[1]"]
            command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
            command += [str(ROOT / JOB), str(folder / "head.safetensors"), str(folder / "frames"), "--key", "key"]
            command += ["--columns", "x", "--files-per-batch", "1", "--out", str(folder / "answers")]
            command += ["--checkpoint", str(folder / "job")]
            environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
            quiet, begun, before, first, spent = subprocess.DEVNULL, time.monotonic(), processor_seconds(), 0.0, 0.0
            done = least
            for _ in range(STARTS):
                job = subprocess.Popen(command, start_new_session=True, env=environment, stdout=quiet, stderr=quiet)
                while done < batches and job.poll() is None:
                    done = len(list((folder / "job" / "commits").glob("[0-9]*")))
                    if done > least and not first:
                        first, spent = time.monotonic() - begun, processor_seconds() - before
                    time.sleep(0.05)
                if job.poll() is None:
                    os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                if done >= batches:
                    return first, spent, done
            raise RuntimeError(f"the job ended {STARTS} times before its batches were done")

        new, new_spent, done = until(2)
        again, spent, _ = until(done + 1, done)
    return {"keys": keys, "first_s": new, "first_cpu_s": new_spent, "recovery_s": again, "recovery_cpu_s": spent}


def measure(*, quick: bool) -> dict[str, Any]:
    """Everything, in one run on this machine."""
    require_extra("springback_bench.speed.spark", "pyspark")
    others = OtherWork()
    chosen = QUICK if quick else CELLS
    found: dict[str, Any] = {
        "made": {"date": today(), "quick": quick, "springback": __version__},
        "machine": describe_machine(),
        "cells": [
            cell | {"executors": executors}
            for executors in sorted({one[-1] for one in chosen})
            for cell in measure_cells(executors, [one[:-1] for one in chosen if one[-1] == executors])
        ],
        "recovery": measure_recovery(100 if quick else 1_000),
    }
    found["machine"]["cores_busy_elsewhere"] = others.cores()
    return found


def cpu_seconds(cell: dict[str, Any], name: str = "cpu_us") -> float:
    """Of a row, as the mean of all turns."""
    return 1e-6 * float(np.mean(cell[name]))


def costs(cells: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Seconds of processor time for a row, for a key of a batch and for a batch, with the narrowest head."""
    width = min(one["features"] for one in cells)
    alike = [one for one in cells if one["features"] == width and one["executors"] == 1]
    parts = np.array([(one["rows"], min(one["keys"], one["rows"]), 1.0) for one in alike])
    by_row, by_key, by_batch = np.linalg.lstsq(parts, [one["rows"] * cpu_seconds(one) for one in alike])[0]
    return float(by_row), float(by_key), float(by_batch)


def page_of(found: dict[str, Any]) -> str:
    """The tables of the page."""
    made, busy, cells = found["made"], found["machine"]["cores_busy_elsewhere"], found["cells"]
    lines = [
        f"Measured on {made['date']} with version {made['springback']} on {found['machine']['processor']} "
        f"({found['machine']['cores']} cores, of which other programs kept {busy:.1f} busy)"
        + (", as a quick run." if made["quick"] else "."),
        "",
        table_row(
            "head", "keys", "rows of a batch", "executors", "rows/s on the clock", "per CPU second", "of `track`"
        ),
        table_rule(7),
    ]
    for one in cells:
        share = cpu_seconds(one, "track_cpu_us") / cpu_seconds(one)
        head = f"{one['classes']} x {one['features']:,}"
        speeds = (number(float(np.mean(one["rows_per_s"]))), number(1 / cpu_seconds(one)), f"{100 * share:.0f} %")
        lines.append(table_row(head, f"{one['keys']:,}", f"{one['rows']:,}", str(one["executors"]), *speeds))
    recovery, largest = found["recovery"], max(cells, key=lambda one: (one["features"], one["rows"], -one["executors"]))
    by_row, by_key, by_batch = costs(cells)
    by_row_here = cpu_seconds(largest) - (by_key * largest["keys"] + by_batch) / largest["rows"]
    cores = 1e6 * (by_row_here + by_key / INTERVAL_S)
    size, kept = largest["state_bytes"], largest["checkpoint_bytes_per_key"]
    lines += [
        "",
        f"A job of {recovery['keys']:,} keys whose driver was killed with SIGKILL had committed its next batch "
        f"{recovery['recovery_s']:.0f} s after it was started again, for which it needed "
        f"{recovery['recovery_cpu_s']:.0f} s of processor time; a new job, {recovery['first_s']:.0f} s and "
        f"{recovery['first_cpu_s']:.0f} s.",
        "",
        f"With the smallest head, a batch costs {by_batch:.1f} s of processor time, each row {1e6 * by_row:.0f} µs, "
        f"and each key that has frames in it {1e3 * by_key:.1f} ms. With a head of {largest['classes']} x "
        f"{largest['features']:,}, a row costs {1e6 * by_row_here:.0f} µs and a state has {number(size)} bytes, of "
        f"which {number(kept)} were written to the checkpoint for a key and batch. One million streams at 1 frame/s "
        f"in batches of {INTERVAL_S} s then need {cores:,.0f} cores, {1e6 * size / 1e9:,.1f} GB of local disk for "
        f"the states, and {kept / INTERVAL_S:.0f} MB/s of checkpoints.",
    ]
    return "\n".join(lines)


def write_page(root: Path = ROOT) -> None:
    """The tables between the two marks of the page."""
    found = json.loads((root / RESULTS).read_text())
    write_between(root / PAGE, MARKS, page_of(found))


def main(arguments: list[str] | None = None) -> None:
    """Read the options, measure, write."""
    options = argparse.ArgumentParser(prog="python -m springback_bench.speed.spark")
    options.add_argument("--quick", action="store_true")
    options.add_argument("--page", action="store_true")
    options.add_argument("--cells", nargs=2)
    options.add_argument("--out", type=Path, default=ROOT)
    chosen = options.parse_args(arguments)
    if chosen.cells:
        session = session_of(int(chosen.cells[0]))
        print(json.dumps([measure_cell(session, *cell) for cell in json.loads(chosen.cells[1])]))
        return
    if not chosen.page:
        found = measure(quick=chosen.quick)
        with atomic_file(chosen.out / RESULTS) as file:
            file.write((json.dumps(rounded(found), indent=1) + "\n").encode())
    write_page(chosen.out)


if __name__ == "__main__":
    main()
