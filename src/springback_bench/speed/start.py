"""How long a user waits: from starting the program to a small circuit, the first `fit`, `step` and frame.

    python -m springback_bench.speed.start

Each is measured in a new process, first with no compiled code on disk, and then with it. Times are wall-clock, since
that is what a user waits for; the processor time beside them tells how busy the machine was.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


class Start(NamedTuple):
    """What is started, and the seconds until its first result: with nothing compiled yet, and the next time."""

    name: str
    first_s: float
    first_processor_s: float
    next_s: float
    next_processor_s: float


def _train() -> None:
    from springback.cli import main

    with tempfile.TemporaryDirectory() as folder:
        try:
            main(["train", "--neurons", "100", "--limit", "500", "--out", f"{folder}/model.safetensors"])
        except SystemExit as end:
            if end.code:
                raise


def _fit() -> None:
    import numpy as np

    from springback.elastic import ElasticClustering

    ElasticClustering(8, random_state=0).fit(np.random.default_rng(0).random((200, 20)))


def _step() -> None:
    import numpy as np

    from springback.elastic import ElasticClustering

    rows = np.random.default_rng(0).random((200, 20))
    ElasticClustering(8, random_state=0).fit(rows).step(rows[0])


def _layer() -> None:
    import torch
    from springback.torch import elasticize, step

    step(elasticize(torch.nn.Linear(20, 5)), torch.ones(1, 20))


def _studio() -> None:
    from springback_studio.session import Session
    from springback_studio.view import View

    Session(View()).advance()


WORK: dict[str, Callable[[], None]] = {
    "springback train, 100 neurons, 500 images": _train,
    "ElasticClustering, first fit": _fit,
    "ElasticClustering, first fit and step": _step,
    "elastic layer, first frame": _layer,
    "studio, first frame": _studio,
}


def measure_start() -> Iterator[Start]:
    """Each piece of work with an empty cache, and once more."""
    for name in WORK:
        with tempfile.TemporaryDirectory() as cache:
            first, again = (_in_a_new_process(name, cache) for _ in range(2))
        yield Start(name, *first, *again)


def _in_a_new_process(name: str, cache: str) -> tuple[float, float]:
    """Seconds on the clock, and of the processor, from before the process begins to its first result."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "springback_bench.speed.start", name],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - begun, json.loads(done.stdout.strip().splitlines()[-1])


def show() -> None:
    """Print the table."""
    print(f"{'seconds (of the processor)':40} {'first time':>18} {'next time':>18}")
    for one in measure_start():
        first, again = (
            f"{wall:.1f} ({busy:.1f})"
            for wall, busy in ((one.first_s, one.first_processor_s), (one.next_s, one.next_processor_s))
        )
        print(f"{one.name:40} {first:>18} {again:>18}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        WORK[sys.argv[1]]()
        print(json.dumps(time.process_time()))
    else:
        show()
