"""The spiking engine alone: speed, memory, accuracy (growth and peers: `springback bench`).

python -m springback_bench.speed.spiking            images/s and frames/s on one core, and the cost of short-term STDP
python -m springback_bench.speed.spiking memory     a million frames: does the memory stay flat?
python -m springback_bench.speed.spiking accuracy [neurons] [seeds ...]    full training and the full test video
python -m springback_bench.speed.spiking tune [TRIALS] [SEED]   the search behind the preset's training
"""

import os

from springback.extras import missing_extra
from springback.heads.search import Tried

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from springback.data import load_mnist, make_omnist
from springback.spiking._state import RunState
from springback.spiking.evaluation import follow_video, recognise_images
from springback.spiking.fitting import train_model
from springback.spiking.inference import init, track
from springback.spiking.presets import Preset, moraitis_2020, springback_2026
from springback.spiking.training import init_training, learned, train
from springback.spiking.weights import Weights
from springback.streaming.wording import percent
from springback_paper.results.results_json import statistic
from springback_paper.wording import spread

try:
    import psutil
except ImportError:
    raise missing_extra("springback_bench.speed.spiking", "psutil") from None


def rates(works: Sequence[Callable[[], object]], n: int, repeats: int = 5) -> list[float]:
    """The best of a few runs of each, in items per second of processor time: the machine has other things to do.

    They take turns, because the machine is faster at some times than at others.
    """
    best = [math.inf for _ in works]
    for number in range(repeats + 1):
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            if number > 0:
                best[i] = min(best[i], time.process_time() - start)
    return [n / seconds for seconds in best]


def trained(preset: Preset, n_images: int, seed: int = 0) -> tuple[RunState, Weights]:
    """The state after training on the first images, and the weights that were learned."""
    digits = load_mnist("train")
    state = init_training(preset.circuit, preset.long_term, seed=seed)
    state, _ = train(
        state,
        digits.pixels[:n_images],
        circuit=preset.circuit,
        stdp=preset.long_term,
        presentation=preset.training,
        seed=seed,
    )
    return state, learned(state, preset.long_term, preset.circuit)


class Speeds(NamedTuple):
    """One core: training in images/s, and following OMNIST without and with short-term STDP, in frames/s."""

    preset: str
    training: float
    static: float
    short_term: float


def measure_presets(*, repeats: int = 5, n_before: int = 20_000) -> Iterator[Speeds]:
    """The speed of the paper's parameters and of ours, each as it is meant to be used (repeated images and all)."""
    digits = load_mnist("train")
    frames = make_omnist(digits[50_000:50_120], seed=0).frames[:2000]
    for name, preset in (("moraitis-2020", moraitis_2020()), ("springback-2026", springback_2026())):
        state, weights = trained(preset, n_before)
        show: dict[str, Any] = {"circuit": preset.circuit, "stdp": preset.long_term, "presentation": preset.training}
        (images,) = rates([partial(train, state, digits.pixels[20_000:21_000], **show)], 1000, repeats)
        works = []
        for short_term in (None, preset.short_term):
            begin = init(weights, preset.circuit, short_term)
            show = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": short_term}
            works.append(partial(track, weights, begin, frames, **show))
        yield Speeds(name, images, *rates(works, len(frames), 3 * repeats))


def speed() -> None:
    """Print the speed of both presets."""
    for row in measure_presets():
        print(f"{row.preset}: training, 784-400, dt 0.5 ms, one core: {row.training:,.0f} images/s")
        print(f"{row.preset}: OMNIST, static: {row.static:,.0f} frames/s; short-term STDP: {row.short_term:,.0f}")
        print(f"{row.preset}: short-term STDP costs {row.static / row.short_term:.2f} times the static run", flush=True)


def memory() -> None:
    """Print the memory of a process that follows very many frames."""
    preset = springback_2026()
    _, weights = trained(preset, 5000)
    frames = make_omnist(load_mnist("train")[50_000:50_620], seed=0).frames[:10_000]
    state = init(weights, preset.circuit, preset.short_term)
    me = psutil.Process()
    for number in range(101):
        state, _ = track(
            weights,
            state,
            frames,
            circuit=preset.circuit,
            presentation=preset.streaming,
            short_term=preset.short_term,
        )
        if number % 20 == 0:
            print(f"{state.n_seen:9,d} frames: {me.memory_info().rss / 2**20:.1f} MiB", flush=True)


def accuracy(neurons: str = "400", *seeds: str) -> None:
    """Print the accuracy on MNIST and OMNIST, for some seeds."""
    digits, tests = load_mnist("train"), load_mnist("test")
    preset = springback_2026(n_neurons=int(neurons))
    found: dict[str, list[float]] = {"MNIST test": [], "OMNIST test, static": [], "OMNIST test, short-term STDP": []}
    for seed in map(int, seeds or ("0", "1", "2")):
        start = time.perf_counter()
        model = train_model(digits, preset, seed=seed, data="mnist train", workers=2)
        print(f"seed {seed}: trained and labelled in {time.perf_counter() - start:.0f} s", flush=True)
        video = make_omnist(tests, seed=seed)
        found["MNIST test"].append(recognise_images(model, tests, seed=seed, workers=2).accuracy)
        for name, adapts in (("static", False), ("short-term STDP", True)):
            start = time.perf_counter()
            score = follow_video(model, video, adapts=adapts, seed=seed)
            found[f"OMNIST test, {name}"].append(score.accuracy)
            rows = {rows: round(100 * right, 1) for rows, right in score.by_rows_hidden.items()}
            print(
                f"seed {seed}, {name}: {percent(score.accuracy)} % in {time.perf_counter() - start:.0f} s; {rows}",
                flush=True,
            )
    for name, values in found.items():
        single = [round(100 * value, 2) for value in values]
        print(f"{name}: {spread(statistic(values))} % over {len(values)} seeds ({single})")


def tune(n_trials: str = "60", seed: str = "0") -> None:
    """Search the parameters of training, and print every point that is tried."""
    from springback_paper.tuning.training import tune_training

    def show(trial: Tried) -> None:
        print(f"{percent(trial.score)} { ({k: float(f'{v:.3g}') for k, v in trial.settings.items()}) }", flush=True)

    tune_training(load_mnist("train"), seed=int(seed), n_trials=int(n_trials), on_trial=show)


if __name__ == "__main__":
    tasks = {task.__name__: task for task in (speed, memory, accuracy, tune)}
    tasks[sys.argv[1] if len(sys.argv) > 1 else "speed"](*sys.argv[2:])
