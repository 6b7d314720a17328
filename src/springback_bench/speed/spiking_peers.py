"""The spiking network beside other simulators: who takes part, and how each is run, in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from springback_bench.place import BENCH_PYTHON
from springback_bench.speed.kept import Once, always

HERE = Path(__file__).parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
US = "springback"

Say = Callable[[str], None]


class Peer(NamedTuple):
    """One way of doing the work.

    name          as in the table
    peer          as in `--peers`
    option, dt, batch   what its script is told
    n_images      (training, testing): enough to measure, few enough to wait for
    quick         whether it also runs in quick mode
    differs       what is not the same as with the others
    """

    name: str
    peer: str
    option: str = ""
    dt: float = 0.5
    batch: int = 1
    n_images: tuple[int, int] = (20, 40)
    quick: bool = True
    differs: str = ""


CURRENTS = "current synapses, pair STDP, the state is reset instead of 150 ms of rest"
NORMALISED = "weights are normalised outside the measured time; one run"
SUBTRACTED = (
    "current synapses, no refractory times, a spike takes the threshold from the potential; the state is reset "
    "instead of 150 ms of rest"
)
CONTENDERS = (
    Peer(
        US,
        US,
        n_images=(1000, 1000),
        differs="draws its input spikes within the measured time; its peak memory includes the compiler",
    ),
    Peer(
        "Brian2, C++ standalone",
        "brian2",
        option="standalone",
        n_images=(100, 100),
        quick=False,
        differs="its own integrator (exponential Euler)",
    ),
    Peer(
        "Brian2, C++ standalone, step written by hand",
        "brian2",
        option="standalone implicit",
        n_images=(200, 200),
        differs="springback's linearly implicit step in place of its integrator",
    ),
    Peer("Brian2, Cython", "brian2", option="cython", quick=False, differs="its own integrator"),
    Peer("ANNarchy", "annarchy", n_images=(50, 100), quick=False, differs=f"exponential integrator; {NORMALISED}"),
    Peer(
        "ANNarchy, step written by hand",
        "annarchy",
        option="implicit",
        n_images=(50, 100),
        quick=False,
        differs=f"springback's linearly implicit step; {NORMALISED}",
    ),
    Peer("BindsNET", "bindsnet", n_images=(4, 8), differs=CURRENTS),
    Peer("BindsNET, dt 1 ms", "bindsnet", dt=1.0, n_images=(8, 16), quick=False, differs=f"{CURRENTS}; half the steps"),
    Peer(
        "BindsNET, dt 1 ms, batch 32",
        "bindsnet",
        dt=1.0,
        batch=32,
        n_images=(64, 64),
        quick=False,
        differs=f"{CURRENTS}; half the steps; 32 images share one weight update per step, which learns something else",
    ),
    Peer("neuroSush", "neurosush", n_images=(4, 8), differs="the state is reset instead of 150 ms of rest"),
    Peer(
        "NEST",
        "nest",
        quick=False,
        differs="its own solver in double precision; every synapse has a delay of one step; thresholds do not move; "
        f"{NORMALISED}",
    ),
    Peer(
        "PymoNNtorch",
        "pymonntorch",
        n_images=(10, 20),
        quick=False,
        differs="equations and springback's linearly implicit step written by hand, since it brings none; weights are "
        "normalised outside the measured time",
    ),
    Peer(
        "SuperNeuroMAT",
        "superneuromat",
        n_images=(4, 8),
        quick=False,
        differs="current synapses, a leak of a fixed amount in each step",
    ),
    Peer("spyx", "spyx", n_images=(4, 100), quick=False, differs=SUBTRACTED),
    Peer("spyx, batch 32", "spyx", batch=32, n_images=(4, 192), quick=False, differs=SUBTRACTED),
)
ABSENT = {
    "GeNN": "PyGeNN cannot be installed from the package index, so it has no script here",
    "SNNAX": "its version on the package index (0.0.1) does not name the libraries that it needs",
}
"""Simulators that should take part and cannot, and why."""
PEERS = tuple(dict.fromkeys(contender.peer for contender in CONTENDERS if contender.peer != US))


def measure_spiking(
    work: Path, *, peers: tuple[str, ...] = PEERS, quick: bool = False, say: Say = print, once: Once = always
) -> list[dict[str, Any]]:
    """A row for each contender and mode, the best of the same number of repeats.

    springback runs before and after its peers, and the mean of the two counts, so that a machine that becomes busier or
    quieter on the way favours nobody.

    Compiled code is kept only from the first of these runs to the second, so the first starts as on a new machine.
    """
    with tempfile.TemporaryDirectory() as cache:

        def measured(contender: Peer, when: str = "") -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = once(
                f"{contender.name}{when}", lambda: _both_modes(contender, work, Path(cache), quick, say)
            )
            return rows

        rows = [row for contender in _taking_part(peers, quick) for row in measured(contender)]
        second = measured(CONTENDERS[0], ", again")
    for again in second:
        first = next(row for row in rows if row["name"] == US and row["mode"] == again["mode"])
        first["images_per_s"] = (first["images_per_s"] + again["images_per_s"]) / 2
    ours = {row["mode"]: row["images_per_s"] for row in rows if row["name"] == US}
    for row in rows:
        if "images_per_s" in row:
            row["ours_over_it"] = ours[row["mode"]] / row["images_per_s"]
    return rows + absent_rows()


def absent_rows() -> list[dict[str, Any]]:
    """A row for each simulator that cannot take part, with the reason.

    >>> absent_rows()[0]["name"]
    'GeNN'
    """
    about = {"peer": "", "dt_ms": 0.5, "batch": 1, "repeats": 0, "differs": ""}
    return [
        {"name": name, "mode": mode, **about, "absent": reason}
        for mode in ("train", "test")
        for name, reason in ABSENT.items()
    ]


def _taking_part(peers: tuple[str, ...], quick: bool) -> Iterator[Peer]:
    for contender in CONTENDERS:
        if contender.peer == US or (contender.peer in peers and (contender.quick or not quick)):
            yield contender


def _both_modes(contender: Peer, work: Path, cache: Path, quick: bool, say: Say) -> list[dict[str, Any]]:
    rows = []
    for mode, n_images in zip(("train", "test"), contender.n_images, strict=True):
        say(f"{contender.name}: {mode}")
        ask = {
            "mode": mode,
            "n_images": n_images,
            "dt": contender.dt,
            "batch": contender.batch,
            "option": contender.option,
            "repeats": 2 if quick else 3,
        }
        row = {
            "name": contender.name,
            "peer": contender.peer,
            "mode": mode,
            "dt_ms": contender.dt,
            "batch": contender.batch,
            "repeats": ask["repeats"],
        }
        rows.append({**row, "differs": contender.differs, **run_script(contender.peer, work, ask, cache)})
    return rows


def run_script(
    peer: str, work: Path, ask: dict[str, Any], cache: Path | None = None, *, limit_s: float = 1800.0
) -> dict[str, Any]:
    """What the peer's script answers; or `{"absent": reason}`, if it is not there or does not finish.

    `cache` is where springback keeps its compiled code; None: where it always does.
    """
    python = Path(sys.executable) if peer == US else BENCH_PYTHON
    if not python.exists():
        return {"absent": "the environment .venv-bench is not there; `make bench` makes it"}
    command = [str(python), str(HERE / "peers" / f"run_{peer}.py"), str(work), json.dumps(ask)]
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    kept = {"NUMBA_CACHE_DIR": str(cache)} if cache is not None else {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=limit_s,
                env={**os.environ, **ONE_THREAD, **kept, "PATH": path},
                cwd=folder,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"absent": f"did not finish within {limit_s:.0f} s"}
    if done.returncode != 0:
        said = [line for line in done.stderr.strip().splitlines() if line.strip()]
        return {"absent": said[-1].strip() if said else f"exit code {done.returncode}"}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer
