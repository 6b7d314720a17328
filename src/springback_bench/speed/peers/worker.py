"""What every peer's script shares: the work, the numbers of the model, and the one line of JSON that it prints.

A script is run by an interpreter that has the peer: `python run_brian2.py WORK.npz '{"mode": "test", ...}'`. It answers
with one line on standard output; whatever else the peer prints goes to standard error.
"""

# ruff: noqa: E402
import json
import os
import sys
import time
from typing import NamedTuple

STARTED = time.perf_counter()
ANSWER = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

# Table 1 of the paper, and what it does not give from Diehl & Cook (2015); milliseconds and millivolts.
SHOW, REST = 350.0, 150.0
HZ_PER_LEVEL = 0.25
TAU_GE, TAU_GI = 1.0, 2.0
EXC = {"tau": 100.0, "rest": -65.0, "reset": -65.0, "offset": -72.0, "refractory": 5.0, "rev_e": 0.0, "rev_i": -100.0}
INH = {"tau": 10.0, "rest": -60.0, "reset": -45.0, "threshold": -40.0, "refractory": 2.0, "rev_e": 0.0}
TO_INH, FROM_INH = 10.4, 17.0
RATE_PRE, RATE_POST = 1e-4, 1e-2
TAU_PRE, TAU_POST_1, TAU_POST_2 = 20.0, 20.0, 40.0
WEIGHT_MAX, WEIGHT_SUM = 1.0, 78.0
THETA_STEP, TAU_THETA = 0.05, 1e7


class Task(NamedTuple):
    """What to run.

    learn             train, or test with frozen weights and thresholds
    dt                time step, ms
    batch             images at a time, where a peer can
    repeats           how often the run is measured; the fastest counts
    option            a peer's own variant
    images            uint8 (n, 784), each shown once for 350 ms, with 150 ms of rest
    spike_input, spike_step   their input spikes at dt 0.5 ms, drawn beforehand; steps count from the first image
    resting, theta    trained weights (784, k) and thresholds (k,) in mV to start from
    """

    learn: bool
    dt: float
    batch: int
    repeats: int
    option: str
    images: np.ndarray
    spike_input: np.ndarray
    spike_step: np.ndarray
    resting: np.ndarray
    theta: np.ndarray


def read_task() -> Task:
    """The task named on the command line."""
    wanted = json.loads(sys.argv[2])
    with np.load(sys.argv[1], allow_pickle=False) as file:
        arrays = dict(file)
    n, dt = wanted["n_images"], wanted.get("dt", 0.5)
    shown = arrays["spike_step"] < n * round((SHOW + REST) / 0.5)
    return Task(
        learn=wanted["mode"] == "train",
        dt=dt,
        batch=wanted.get("batch", 1),
        repeats=wanted.get("repeats", 2),
        option=wanted.get("option", ""),
        images=arrays["images"][:n],
        spike_input=arrays["spike_input"][shown],
        spike_step=arrays["spike_step"][shown],
        resting=arrays["resting"],
        theta=arrays["theta"],
    )


def peak_mib() -> float:
    """The most memory this program has held. (What `getrusage` tells also counts the process it was started from.)"""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def answer(
    seconds: float, n_images: int, n_spikes: float, start_seconds: float, memory_mib: float, version: str
) -> None:
    """Print the result: simulation time, start-up and compile time, output spikes, peak memory."""
    result = {
        "images_per_s": n_images / seconds,
        "spikes_per_image": n_spikes / n_images,
        "start_s": start_seconds,
        "peak_mib": memory_mib,
        "n_images": n_images,
        "version": version,
    }
    print(json.dumps(result), file=ANSWER, flush=True)


def since_start() -> float:
    """Seconds since this script began."""
    return time.perf_counter() - STARTED
