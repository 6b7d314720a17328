"""What a step costs, what the machine could do, and where the difference goes.

    python -m springback_bench.speed.roofline WORK.npz N lit|black     show N images, for the instruction counter

Times come from the compiled pieces themselves; instructions, and lines fetched into the first-level cache, from
valgrind's cachegrind on code compiled for AVX2, as the difference between two numbers of images. Black images have
neuron steps and no synaptic events, so they tell the two apart.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from springback.spiking._kernel import run_steps
from springback.spiking._membrane import advance_all
from springback.spiking._present import schedule_of
from springback.spiking._state import rest_state
from springback.spiking.constants import circuit_constants
from springback.spiking.encoding import SpikeTrain, draw_spikes
from springback.spiking.inference import respond
from springback.spiking.weights import Weights
from springback_bench.speed.work import ONCE, PRESET

AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+bmi,+bmi2,+sse4.2,+popcnt"}
CACHE = ("--D1=49152,12,64", "--LL=1310720,20,64")
N_TIMED, N_COUNTED = 100, 401
"""Images whose pieces are timed; images to count with: many, since starting Python alone varies by some 1e5 misses."""


@njit
def _triad(a, b, c, repeats):  # type: ignore[no-untyped-def]
    for _ in range(repeats):
        for k in range(a.shape[0]):
            a[k] = b[k] + np.float32(0.5) * c[k]


@njit
def _read(a, repeats):  # type: ignore[no-untyped-def]
    found = np.int32(0)
    for _ in range(repeats):
        for k in range(a.shape[0]):
            found |= a[k]
    return found


@njit(fastmath={"contract"})
def _multiply_add(a, repeats):  # type: ignore[no-untyped-def]
    x, y = np.float32(0.999), np.float32(1e-3)
    for _ in range(repeats):
        for k in range(a.shape[0]):
            z = a[k]
            z = ((z * x + y) * x + y) * x + y
            z = ((z * x + y) * x + y) * x + y
            z = ((z * x + y) * x + y) * x + y
            z = ((z * x + y) * x + y) * x + y
            a[k] = ((z * x + y) * x + y) * x + (((z * y + x) * y + x) * y + x)


@njit(error_model="numpy")
def _divide(a, repeats):  # type: ignore[no-untyped-def]
    for _ in range(repeats):
        for k in range(a.shape[0]):
            a[k] = np.float32(1.5) / a[k]


def measure_limits() -> dict[str, float]:
    """What one core can do, in 10^9 per second: bytes of caches and memory, multiply-adds, divisions (float32)."""
    small = [np.ones(2048, np.float32) for _ in range(3)]
    weights, large = np.ones(200_000, np.int32), np.ones(100_000_000, np.int32)
    return {
        "l1_triad_gb": 12 * 2048 * 20_000 / _best(lambda: _triad(*small, 20_000)) / 1e9,
        "l2_read_gb": 4 * 200_000 * 200 / _best(lambda: _read(weights, 200)) / 1e9,
        "memory_read_gb": 4 * len(large) / _best(lambda: _read(large, 1)) / 1e9,
        "multiply_adds_g": 18 * 2048 * 5000 / _best(lambda: _multiply_add(small[0], 5000)) / 1e9,
        "divisions_g": 2048 * 5000 / _best(lambda: _divide(small[1], 5000)) / 1e9,
    }


@njit
def _encode(images, schedule):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(images.shape[0]):
        key = np.uint64(i)
        total += draw_spikes(
            images[i], schedule.rates[0], schedule.n_show, key, schedule.aliases, schedule.which, schedule.first
        )
    return total


@njit(fastmath={"contract"})
def _arrive(repeats, ge, resting, which, first, n_show):  # type: ignore[no-untyped-def]
    """Nothing but the input spikes of an image: rows of weights in their real order, four in a pass over `ge`."""
    for _ in range(repeats):
        for t in range(n_show):
            start, stop = first[t], first[t + 1]
            while stop - start >= 4:
                row_0, row_1, row_2, row_3 = (
                    resting[which[start]],
                    resting[which[start + 1]],
                    resting[which[start + 2]],
                    resting[which[start + 3]],
                )
                for k in range(ge.shape[0]):
                    ge[k] += (row_0[k] + row_1[k]) + (row_2[k] + row_3[k])
                start += 4
            if stop - start >= 2:
                row_0, row_1 = resting[which[start]], resting[which[start + 1]]
                for k in range(ge.shape[0]):
                    ge[k] += row_0[k] + row_1[k]
                start += 2
            if start < stop:
                row_0 = resting[which[start]]
                for k in range(ge.shape[0]):
                    ge[k] += row_0[k]


@njit
def _advance(repeats, v, ge, theta, constants, resting, which, first, n_show):  # type: ignore[no-untyped-def]
    for _ in range(repeats):
        for t in range(n_show):
            advance_all(
                v, ge, theta, np.float32(0.01), np.float32(1.0), constants, resting, which, first[t], first[t + 1]
            )


@njit
def _steps(repeats, constants, resting, state, inputs, n_show, counts):  # type: ignore[no-untyped-def]
    for _ in range(repeats):
        run_steps(constants, resting, state, inputs, n_show, counts, 1.0, None, None, None, None)


def measure_pieces(weights: Weights, images: Any) -> dict[str, float]:
    """Microseconds per tested image that each piece takes, and how much work an image is.

    `rows_us` is not a piece but a limit: the input spikes alone, as fast as this core can add their rows of weights.
    """
    circuit, resting = PRESET.circuit, weights.resting.view()
    resting.flags.writeable = False
    schedule, constants = schedule_of(ONCE, circuit), circuit_constants(circuit, "float32")
    few, n_show = images[:N_TIMED], schedule.n_show
    silent = np.zeros(n_show + 1, np.int64)
    whole = _best(lambda: respond(weights, few, circuit=circuit, presentation=ONCE)) / len(few)
    encoding = _best(lambda: _encode(few, schedule)) / len(few)
    n_spikes = _encode(few, schedule) / len(few)
    arrivals = membranes = steps = rows = 0.0
    some = few[:10]
    for image in some:
        _encode(image[None], schedule)
        high, free = (rest_state(circuit, weights.theta + extra, "float32") for extra in (1000.0, 0.0))
        parts = (high.v, high.ge, high.theta, constants, resting, schedule.which)
        none = _best(partial(_advance, 20, *parts, silent, n_show)) / 20
        membranes += none / len(some)
        arrivals += max(_best(partial(_advance, 20, *parts, schedule.first, n_show)) / 20 - none, 0.0) / len(some)
        given = (np.zeros(circuit.n_neurons, np.float32), resting, schedule.which, schedule.first, n_show)
        rows += _best(partial(_arrive, 20, *given)) / 20 / len(some)
        train = (SpikeTrain(schedule.which, schedule.first), n_show, np.zeros(circuit.n_neurons, np.int32))
        steps += _best(partial(_steps, 20, constants, resting, free, *train)) / 20 / len(some)
    other = max(steps - membranes - arrivals, 0.0)
    pieces = {"membranes": membranes, "arrivals": arrivals, "encoding": encoding, "spikes_and_inhibition": other}
    pieces["rest_and_calls"] = max(whole - sum(pieces.values()), 0.0)
    return {
        "whole_us": 1e6 * whole,
        **{f"{name}_us": 1e6 * value for name, value in pieces.items()},
        "rows_us": 1e6 * rows,
        "neuron_steps": n_show * circuit.n_neurons,
        "input_spikes": n_spikes,
        "synaptic_events": n_spikes * circuit.n_neurons,
    }


def least_time(limits: dict[str, float], pieces: dict[str, float]) -> dict[str, float]:
    """Microseconds per image that the machine would need: a division per neuron step, a row of weights per input spike.

    The rows are measured as they come, 1.6 kB each in the order of the spikes, since no machine reads them as fast as
    one long array. The two use different parts of a core and can overlap, so the longer of them is the limit.
    """
    membranes = pieces["neuron_steps"] / limits["divisions_g"] / 1e3
    arrivals = pieces["rows_us"]
    return {"membranes_us": membranes, "arrivals_us": arrivals, "whole_us": max(membranes, arrivals)}


def count_instructions(work: Path, pieces: dict[str, float], say: Callable[[str], None]) -> dict[str, Any]:
    """Instructions and bytes fetched per neuron step and per synaptic event; or `{"absent": reason}`."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return {"absent": "valgrind is not installed"}
    counted = {}
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **AVX2, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        shown = [sys.executable, "-m", "springback_bench.speed.roofline", str(work)]
        place = Path(__file__).parents[2]
        subprocess.run([*shown, "1", "lit"], env=env, cwd=place, check=True, capture_output=True)
        for n, kind in ((1, "lit"), (N_COUNTED, "lit"), (1, "black"), (N_COUNTED, "black")):
            say(f"counting instructions: {n} images, {kind}")
            tool = [valgrind, "--tool=cachegrind", "--cache-sim=yes", *CACHE, f"--cachegrind-out-file={folder}/out"]
            done = subprocess.run(
                [*tool, *shown, str(n), kind], env=env, cwd=place, capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                return {"absent": "cachegrind could not run the compiled code"}
            counted[n, kind] = [_total(done.stderr, name) for name in ("I   refs", "D1  misses")]
    each = {
        kind: [(b - a) / (N_COUNTED - 1) for a, b in zip(counted[1, kind], counted[N_COUNTED, kind], strict=True)]
        for kind in ("lit", "black")
    }
    steps, events = pieces["neuron_steps"], pieces["synaptic_events"]
    return {
        "instructions_per_neuron_step": each["black"][0] / steps,
        "bytes_per_neuron_step": 64 * each["black"][1] / steps,
        "instructions_per_event": (each["lit"][0] - each["black"][0]) / events,
        "bytes_per_event": 64 * (each["lit"][1] - each["black"][1]) / events,
        "instructions_per_image": each["lit"][0],
    }


def measure_roofline(work: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Limits, pieces, and counts (these not in quick mode, which has no time for them)."""
    say("roofline: what the machine can do, and what the pieces take")
    weights, images = _load(work)
    limits, pieces = measure_limits(), measure_pieces(weights, images)
    counts = {"absent": "not counted in quick mode"} if quick else count_instructions(work, pieces, say)
    return {"limits": limits, "pieces": pieces, "least": least_time(limits, pieces), "counts": counts}


def _load(work: Path) -> tuple[Weights, Any]:
    with np.load(work, allow_pickle=False) as file:
        return Weights(file["resting"], file["theta"]), file["images"]


def _best(run: Callable[[], Any], repeats: int = 7) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def _total(text: str, name: str) -> int:
    found = re.search(re.escape(name) + r":\s+([\d,]+)", text)
    return int(found.group(1).replace(",", "")) if found else 0


if __name__ == "__main__":
    its_weights, its_images = _load(Path(sys.argv[1]))
    shown_images = np.resize(its_images[:N_TIMED], (int(sys.argv[2]), its_images.shape[1])) * (sys.argv[3] == "lit")
    respond(its_weights, shown_images.astype(np.uint8), circuit=PRESET.circuit, presentation=ONCE)
