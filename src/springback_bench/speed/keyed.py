"""Many keyed streams with one head: memory of 10,000 of them, frames/s by keys, and compact states.

    python -m springback_bench.speed.keyed [--quick]        writes docs/data/keyed.json and the tables of docs/heads.md
    python -m springback_bench.speed.keyed --page           only writes the tables again, from the results as they are

A head has 10 classes and 1,280 features, as the last layer of a network for images has. Memory is that of the process,
measured in a process of its own. Speeds are per second of processor time, so that other work on the machine counts as
little as possible.
"""

import os

from springback.extras import missing_extra

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from springback import __version__
from springback.files.atomic import atomic_file
from springback.heads import ElasticHead, KeyedStreams, Observer, Springs
from springback.heads.settings import Settings
from springback_bench.machine import OtherWork, describe_machine, today
from springback_bench.markdown import number, table_row, table_rule, write_between
from springback_bench.place import ROOT
from springback_bench.rounding import rounded
from springback_bench.stream_sets import load_stream

try:
    import psutil
except ImportError:
    raise missing_extra("springback_bench.speed.keyed", "psutil") from None

RESULTS = "docs/data/keyed.json"
PAGE = "docs/heads.md"
MARKS = ("<!-- keyed: written by python -m springback_bench.speed.keyed -->", "<!-- end of keyed -->")
N_CLASSES, N_FEATURES = 10, 1280
KINDS: dict[str, tuple[Settings, bool]] = {
    "observer, compact": (Observer(), True),
    "observer, exact": (Observer(), False),
    "springs": (Springs(pull=20.0), True),
}
STREAMS = ("coil-known", "hapt-turning", "topic-sentences")
KEYS = (10, 100, 1_000, 10_000)


def make_head(settings: Settings) -> ElasticHead:
    """The same head every time."""
    rng = np.random.default_rng(0)
    return ElasticHead(rng.normal(size=(N_CLASSES, N_FEATURES)), np.zeros(N_CLASSES), settings)


def make_rows(n: int) -> np.ndarray:
    """Rows such as a layer with rectified units gives."""
    return np.maximum(np.random.default_rng(1).normal(size=(n, N_FEATURES)), 0).astype(np.float32)


def memory_of(kind: str, n_keys: int) -> dict[str, float]:
    """Memory of `n_keys` streams in this process, beyond what it had with one stream."""
    settings, compact = KINDS[kind]
    streams: KeyedStreams[int] = KeyedStreams(make_head(settings), compact=compact)
    rows = make_rows(100)
    streams.step(-1, rows[0])
    before = psutil.Process().memory_info().rss
    for key in range(n_keys):
        streams.step(key, rows[key % len(rows)])
    grown = psutil.Process().memory_info().rss - before
    return {"rss_bytes": float(grown), "state_bytes": float(streams.nbytes), "keys": float(len(streams))}


def in_own_process(kind: str, n_keys: int) -> dict[str, float]:
    """`memory_of` in a process that has done nothing else."""
    call = f"memory_of({kind!r}, {n_keys})"
    code = f"import json; from springback_bench.speed.keyed import memory_of; print(json.dumps({call}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def speeds(kind: str, n_frames: int) -> Iterator[dict[str, Any]]:
    """Frames per second of processor time, one frame of one key at a time, in turn."""
    settings, compact = KINDS[kind]
    rows = make_rows(200)
    for n_keys in KEYS:
        if kind == "observer, exact" and n_keys > 1_000:
            continue  # 2.6 GB
        streams: KeyedStreams[int] = KeyedStreams(make_head(settings), compact=compact)
        for key in range(n_keys):
            streams.step(key, rows[key % len(rows)])
        begun = time.process_time()
        for frame in range(n_frames):
            streams.step(frame % n_keys, rows[frame % len(rows)])
        yield {"kind": kind, "keys": n_keys, "frames_per_s": n_frames / (time.process_time() - begun)}


def agreement(name: str) -> dict[str, Any]:
    """What compact states change on a real stream."""
    split = load_stream(name)
    exact: KeyedStreams[Any] = KeyedStreams(ElasticHead(split.head.weight, split.head.bias))
    compact: KeyedStreams[Any] = KeyedStreams(ElasticHead(split.head.weight, split.head.bias), compact=True)
    stream = split.validation[0]
    features, labels = stream.features, stream.labels
    answers = [one.follow("stream", features).posterior for one in (exact, compact)]
    named = [one.argmax(axis=1) for one in answers]
    return {
        "stream": name,
        "frames": len(features),
        "classes": answers[0].shape[1],
        "largest_difference": float(np.abs(answers[0] - answers[1]).max()),
        "same_answer": float((named[0] == named[1]).mean()),
        "accuracy": [float((one == labels)[labels >= 0].mean()) for one in named],
    }


def measure(*, quick: bool) -> dict[str, Any]:
    """Everything, in one run on this machine."""
    others = OtherWork()
    n_keys, n_frames = (1_000, 400) if quick else (10_000, 4_000)
    found: dict[str, Any] = {
        "made": {"date": today(), "quick": quick, "springback": __version__},
        "machine": describe_machine(),
        "head": {"classes": N_CLASSES, "features": N_FEATURES},
        "memory": [{"kind": kind, **in_own_process(kind, n_keys)} for kind in ("observer, compact", "springs")],
        "speed": [row for kind in KINDS for row in speeds(kind, n_frames)],
        "agreement": [agreement(name) for name in STREAMS],
    }
    found["machine"]["cores_busy_elsewhere"] = others.cores()
    return found


def page_of(found: dict[str, Any]) -> str:
    """The tables of the page."""
    made, busy = found["made"], found["machine"]["cores_busy_elsewhere"]
    lines = [
        f"Measured on {made['date']} with version {made['springback']} on {found['machine']['processor']} "
        f"({found['machine']['cores']} cores, of which other programs kept {busy:.1f} busy)"
        + (", as a quick run." if made["quick"] else "."),
        "",
        table_row("streams", "state of one", "memory of all"),
        table_rule(3),
    ]
    for row in found["memory"]:
        each = f"{row['state_bytes'] / row['keys'] / 1e3:.1f} kB"
        lines.append(
            table_row(f"{row['keys']:,.0f}, {row['kind']}", each, f"{row['rss_bytes'] / 1e9:.2f} GB of the process")
        )
    keys = sorted({row["keys"] for row in found["speed"]})
    lines += ["", table_row("frames/s of one core", *(f"{n:,} keys" for n in keys)), table_rule(1 + len(keys))]
    for kind in KINDS:
        by_keys = {row["keys"]: row["frames_per_s"] for row in found["speed"] if row["kind"] == kind}
        lines.append(table_row(kind, *(number(by_keys[n]) if n in by_keys else "not run: 2.6 GB" for n in keys)))
    lines += [
        "",
        table_row("compact states on real streams", "frames", "same answer", "accuracy, exact and compact"),
        table_rule(4),
    ]
    for row in found["agreement"]:
        both = " and ".join(f"{100 * one:.2f} %" for one in row["accuracy"])
        lines.append(
            table_row(
                f"`{row['stream']}`, {row['classes']} classes",
                f"{row['frames']:,}",
                f"{100 * row['same_answer']:.2f} %",
                both,
            )
        )
    return "\n".join(lines)


def write(found: dict[str, Any], root: Path = ROOT) -> None:
    """The results as JSON, then the tables from the JSON alone."""
    with atomic_file(root / RESULTS) as file:
        file.write((json.dumps(rounded(found), indent=1) + "\n").encode())
    write_page(root)


def write_page(root: Path = ROOT) -> None:
    """The tables between the two marks of the page."""
    found = json.loads((root / RESULTS).read_text())
    write_between(root / PAGE, MARKS, page_of(found))


def main(arguments: list[str] | None = None) -> None:
    """Read the options, measure, write."""
    options = argparse.ArgumentParser(prog="python -m springback_bench.speed.keyed")
    options.add_argument("--quick", action="store_true")
    options.add_argument("--page", action="store_true")
    options.add_argument("--out", type=Path, default=ROOT)
    chosen = options.parse_args(arguments)
    if chosen.page:
        write_page(chosen.out)
    else:
        write(measure(quick=chosen.quick), chosen.out)


if __name__ == "__main__":
    main()
