"""How time and memory grow: with neurons, inputs, streams, cores, frames, classes and features.

Every point is a process of its own.

    python -m springback_bench.speed.growth AXIS VALUE      one point, as JSON

Time is wall-clock for cores and processor time for the rest; memory is what the process came to hold beyond what it
held with everything imported and compiled.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from springback_bench.speed.kept import Once, always


class Axis(NamedTuple):
    """What grows: the values, those of quick mode, and what one unit of time is spent on."""

    values: tuple[int, ...]
    quick: tuple[int, ...]
    per: str


def _cores() -> tuple[int, ...]:
    return tuple(sorted({1, *(2**k for k in range(1, 8) if 2**k <= (os.cpu_count() or 1)), os.cpu_count() or 1}))


AXES = {
    "neurons": Axis((100, 400, 1600, 6400, 25_600, 100_000), (100, 400, 1600), "training image, 784 inputs"),
    "inputs": Axis((784, 1568, 3136), (784, 3136), "training image, 400 neurons"),
    "streams": Axis((1, 4, 16, 64, 256, 1024), (1, 8), "200 frames of every stream, short-term STDP, one core"),
    "cores": Axis(_cores(), _cores(), "1,600 frames in 8 streams, short-term STDP"),
    "cores, still images": Axis(_cores(), _cores(), "4,000 test images, `workers` of a frozen network"),
    "cores, a sweep": Axis(_cores(), _cores(), "8 circuits, each trained and labelled with 200 images"),
    "frames": Axis((1000, 10_000, 100_000, 1_000_000), (1000, 10_000), "the whole stream, short-term STDP"),
    "elastic streams": Axis((1, 4, 16, 64, 256, 1024), (1, 16), "200 frames of every stream, 400 centroids, one core"),
    "elastic frames": Axis((1000, 10_000, 100_000, 1_000_000), (1000, 100_000), "the whole stream, 400 centroids"),
    "classes of a head": Axis((10, 100, 1000, 10_000), (10, 1000), "frame, window of 20 frames, 512 features"),
    "features of a head": Axis((64, 256, 1024, 4096), (64, 1024), "frame, window of 20 frames, 100 classes"),
    "frames of a head": Axis((1000, 10_000, 100_000), (1000, 10_000), "the whole stream, 100 classes, 512 features"),
}


def measure_growth(
    *, quick: bool = False, say: Callable[[str], None] = print, once: Once = always
) -> list[dict[str, Any]]:
    """For each axis its points and the exponents fitted to them: cost ~ value^exponent."""

    def measured(name: str, value: int) -> dict[str, float]:
        say(f"growth: {name} {value:,}")
        done = subprocess.run(
            [sys.executable, "-m", "springback_bench.speed.growth", name, str(value)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        )
        found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
        return found

    grown = []
    for name, axis in AXES.items():
        points = [
            once(f"{name} {value}", partial(measured, name, value)) for value in (axis.quick if quick else axis.values)
        ]
        values = [point["value"] for point in points]
        grown.append(
            {
                "axis": name,
                "per": axis.per,
                "value": values,
                "seconds": [point["seconds"] for point in points],
                "mib": [point["mib"] for point in points],
                "time_exponent": exponent(values, [point["seconds"] for point in points]),
                "memory_exponent": exponent(values, [point["mib"] for point in points]),
            }
        )
    return grown


def exponent(values: list[float], costs: list[float]) -> float | None:
    """The slope of a straight line through log cost against log value; None if there is no line to draw.

    >>> round(exponent([1, 10, 100], [2, 20, 200]), 3)
    1.0
    """
    if len(values) < 2 or min(costs) <= 0:
        return None
    return float(np.polyfit(np.log(values), np.log(costs), 1)[0])


class Job(NamedTuple):
    """A point: `warm` compiles, `setup` makes the state, `run(state)` is measured and does `units` of work."""

    warm: Callable[[], Any]
    setup: Callable[[], Any]
    run: Callable[[Any], Any]
    units: int = 1


def point(name: str, value: int) -> dict[str, float]:
    """Measure one point here and now."""
    prepare, clock = _WORK[name]
    job = prepare(value)
    job.warm()
    held = _held_mib("VmRSS", forget_peak=True)
    state = job.setup()
    seconds: list[float] = []
    begun = time.perf_counter()
    while not seconds or (len(seconds) < 5 and time.perf_counter() - begun < 3):
        start = clock()
        job.run(state)
        seconds.append((clock() - start) / job.units)
    return {"value": value, "seconds": min(seconds), "mib": max(_held_mib("VmHWM") - held, 0.0)}


def _held_mib(field: str, *, forget_peak: bool = False) -> float:
    """Memory held now (VmRSS) or at most (VmHWM, since the peak was last forgotten)."""
    gc.collect()
    if forget_peak:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def _training(n_neurons: int, widen: int = 1) -> Job:
    from springback.data import load_mnist
    from springback.spiking.presets import springback_2026
    from springback.spiking.training import init_training, train
    from springback_bench.speed.work import ONCE

    few = 40 if n_neurons * widen > 1600 else 200
    images = np.repeat(load_mnist("train").pixels[:1000].reshape(1000, -1), widen, axis=1)

    def learn(n: int, state: Any, pixels: Any) -> Any:
        preset = springback_2026(n_inputs=784 * widen, n_neurons=n)
        state = state or init_training(preset.circuit, preset.long_term, seed=0)
        return train(state, pixels, circuit=preset.circuit, stdp=preset.long_term, presentation=ONCE)[0]

    return Job(
        warm=lambda: learn(10, None, images[:1]),
        setup=lambda: learn(n_neurons, None, images[: 1000 - few]),
        run=lambda state: learn(n_neurons, state, images[-few:]),
        units=few,
    )


def _spiking_streams(n_streams: int, n_frames: int, workers: int) -> Job:
    from springback.data import load_mnist, make_omnist
    from springback.spiking.inference import each, init, track
    from springback_bench.speed.work import PRESET, the_work

    weights = the_work(n_before=2000).weights
    frames = make_omnist(load_mnist("train")[50_000:50_120], seed=0).frames[: min(n_frames, 1000)]
    show: Any = {"circuit": PRESET.circuit, "presentation": PRESET.streaming, "short_term": PRESET.short_term}

    def states_at_rest(n: int) -> Any:
        return [init(weights, PRESET.circuit, PRESET.short_term) for _ in range(n)]

    def run(states: Any, total: int) -> None:
        def follow(number: int) -> None:
            for _ in range(max(total // len(frames), 1)):
                states[number] = track(weights, states[number], frames[:total], seed=number, **show)[0]

        each(follow, range(len(states)), workers)

    return Job(
        warm=lambda: run(states_at_rest(1), 5),
        setup=lambda: states_at_rest(n_streams),
        run=lambda states: run(states, n_frames),
    )


def _still_images(workers: int) -> Job:
    from springback.spiking.inference import respond
    from springback_bench.speed.work import ONCE, PRESET, the_work

    work = the_work(n_before=2000)

    def run(images: Any) -> None:
        respond(work.weights, images, circuit=PRESET.circuit, presentation=ONCE, workers=workers)

    return Job(warm=lambda: run(work.images[:1]), setup=lambda: np.resize(work.images, (4000, 784)), run=run)


def _sweep(workers: int) -> Job:
    from springback.data import load_mnist
    from springback.spiking import springback_2026, train_models

    presets, digits = [springback_2026()] * 8, load_mnist("train")

    def run(n_images: int) -> None:
        list(train_models(digits[:n_images], presets, workers=workers))

    return Job(warm=lambda: run(20), setup=lambda: 200, run=run)


def _elastic_frames(n_frames: int) -> Job:
    from springback.elastic import init, track
    from springback_bench.speed.elastic import model_of, the_work

    frames, resting = the_work()
    model = model_of(resting)

    def run(state: Any, total: int) -> None:
        for first in range(0, total, 1000):
            track(model, state, frames[: min(1000, total - first)], in_place=True)

    return Job(warm=lambda: run(init(model), 5), setup=lambda: init(model), run=lambda state: run(state, n_frames))


def _elastic_streams(n_streams: int) -> Job:
    from springback.elastic import init_streams, step_streams
    from springback_bench.speed.elastic import model_of, the_work

    frames, resting = the_work()
    model = model_of(resting)

    def run(states: Any, n: int, total: int) -> None:
        for t in range(total):
            step_streams(model, states, frames[t : t + n])

    def states_at_rest(n: int) -> Any:
        return init_streams(model, n, frames=40)

    return Job(
        warm=lambda: run(states_at_rest(1), 1, 45),
        setup=lambda: states_at_rest(n_streams),
        run=lambda states: run(states, n_streams, 200),
    )


def _head(n_classes: int, n_features: int, n_frames: int = 100, *, whole: bool = False) -> Job:
    from springback.heads import ElasticHead, WindowSprings

    rng = np.random.default_rng(0)

    def head_of(classes: int, features: int) -> Any:
        weight = rng.normal(0, 1 / np.sqrt(features), (classes, features)).astype(np.float32)
        return ElasticHead(weight, np.zeros(classes, np.float32), WindowSprings(window=20))

    def run(head: Any, total: int) -> None:
        rows = np.random.default_rng(1).normal(size=(100, head.n_inputs)).astype(np.float32)
        for number in range(total):
            head.step(rows[number % len(rows)])

    def moving() -> Any:
        head = head_of(n_classes, n_features)
        run(head, 25)
        return head

    return Job(
        warm=lambda: run(head_of(3, 4), 2),
        setup=moving,
        run=lambda head: run(head, n_frames),
        units=1 if whole else n_frames,
    )


_WORK: dict[str, tuple[Callable[[int], Job], Callable[[], float]]] = {
    "neurons": (_training, time.process_time),
    "inputs": (lambda value: _training(400, value // 784), time.process_time),
    "streams": (lambda value: _spiking_streams(value, 200, 1), time.process_time),
    "cores": (lambda value: _spiking_streams(8, 200, value), time.perf_counter),
    "cores, still images": (_still_images, time.perf_counter),
    "cores, a sweep": (_sweep, time.perf_counter),
    "frames": (lambda value: _spiking_streams(1, value, 1), time.process_time),
    "elastic streams": (_elastic_streams, time.process_time),
    "elastic frames": (_elastic_frames, time.process_time),
    "classes of a head": (lambda value: _head(value, 512), time.process_time),
    "features of a head": (lambda value: _head(100, value), time.process_time),
    "frames of a head": (lambda value: _head(100, 512, value, whole=True), time.process_time),
}


if __name__ == "__main__":
    print(json.dumps(point(sys.argv[1], int(sys.argv[2]))))
