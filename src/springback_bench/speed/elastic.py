"""Elastic clustering beside its peers on the same frames, in one run, on one core.

    python -m springback_bench.speed.elastic            frames/s of each, and how many times faster or slower we are
    python -m springback_bench.speed.elastic memory     ten million frames: does the memory stay flat?
    python -m springback_bench.speed.elastic streams    1,000 streams at once: memory and frames/s
    python -m springback_bench.speed.elastic omnist     accuracy on videos of test images, three seeds (25 minutes)
    python -m springback_bench.speed.elastic worlds     the table of random worlds (about 8 minutes)

Work: the occluded video of the first 400 MNIST training digits, float32, 400 centroids x 784 features, in time order.
Speeds are per second of processor time of one core, so that other work on the machine counts as little as possible.
"""

import os

from springback.extras import missing_extra

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from springback.data import load_fashion_mnist, load_mnist, make_omnist
from springback.elastic import (
    ElasticClassifier,
    ElasticClustering,
    Elasticity,
    Exponential,
    Model,
    Windowed,
    frames_needed,
    init,
    init_streams,
    prepare,
    spherical_k_means,
    step_streams,
    track,
)
from springback_bench.speed import random_worlds
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.results.results_json import statistic
from springback_paper.tasks import elastic as elastic_omnist
from springback_paper.wording import spread

try:
    import psutil
except ImportError:
    raise missing_extra("springback_bench.speed.elastic", "psutil") from None

N_CLUSTERS = 400
SOURCES = {
    "mnist": (load_mnist, ElasticOmnist()),
    # Found on videos of the Fashion-MNIST training images 50,000 ... 51,499 only.
    "fashion-mnist": (
        load_fashion_mnist,
        ElasticOmnist(kappa=55.0, pull=60.0, memory=1.0, beta=0.1),
    ),
}
PARAMS = Elasticity(kappa=40.0, pull=30.0, kernel=Exponential(memory=1.1))


def the_work() -> tuple[np.ndarray, np.ndarray]:
    """Frames (T, 784) and resting centroids (400, 784), always the same."""
    digits = load_mnist("train")
    frames = brightness(make_omnist(digits[:400], seed=0).frames, 0.5)
    still = brightness(digits[:10_000].pixels, 0.5)
    return frames, spherical_k_means(still, N_CLUSTERS, seed=0, iterations=5).centroids


def model_of(resting: np.ndarray, **changes: Any) -> Model:
    """The model with some parameters changed."""
    return prepare(dataclasses.replace(PARAMS, **changes), resting)


def follow(model: Model) -> Callable[[np.ndarray], object]:
    """Follow frames with the kernel."""
    return lambda frames: track(model, init(model), frames, in_place=True)


def estimator(resting: np.ndarray) -> ElasticClustering:
    """The same model as an estimator of scikit-learn."""
    return ElasticClustering(N_CLUSTERS, resting=resting, kappa=40.0, pull=30.0, memory=1.1).fit(resting)


def live(model: ElasticClustering | ElasticClassifier) -> Callable[[np.ndarray], object]:
    """Follow frames one by one."""

    def run(frames: np.ndarray) -> None:
        for frame in frames:
            model.step(frame)

    return run


def row_by_row(resting: np.ndarray) -> Callable[[np.ndarray], object]:
    """Follow frames one by one with `partial_fit`."""
    model = estimator(resting)

    def run(frames: np.ndarray) -> None:
        for frame in frames:
            model.partial_fit(frame[None])

    return run


def numpy_loop(resting: np.ndarray) -> Callable[[np.ndarray], object]:
    """The update as a plain loop."""

    def run(frames: np.ndarray) -> None:
        short, decay = np.zeros_like(resting), np.float32(np.exp(-1 / 1.1))
        for x in frames:
            short *= decay
            efficacy = resting + short
            length = np.linalg.norm(x)
            u = efficacy @ x / (np.linalg.norm(efficacy, axis=1) * max(length, 1e-9))
            q = np.exp(40.0 * (u - u.max()))
            q /= q.sum()
            short += np.float32(30.0) * np.outer(q, x / max(length, 1e-9))

    return run


def mini_batch_k_means(resting: np.ndarray) -> Callable[[np.ndarray], object]:
    """MiniBatchKMeans of scikit-learn, one row a call."""
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(N_CLUSTERS, init=resting, n_init=1).partial_fit(resting)

    def run(frames: np.ndarray) -> None:
        for frame in frames:
            model.predict(frame[None])
            model.partial_fit(frame[None])

    return run


def river(name: str) -> Callable[[np.ndarray], object]:
    """A clustering of river, one row a call."""
    from river import cluster as river_cluster

    cluster: Any = river_cluster
    made: dict[str, Callable[[], Any]] = {
        "KMeans": lambda: cluster.KMeans(n_clusters=N_CLUSTERS, halflife=0.5, seed=0),
        "STREAMKMeans": lambda: cluster.STREAMKMeans(chunk_size=N_CLUSTERS, n_clusters=N_CLUSTERS, seed=0),
    }
    model = made[name]()

    def run(frames: np.ndarray) -> None:
        for frame in frames:
            x = dict(enumerate(frame.tolist()))
            model.learn_one(x)
            model.predict_one(x)

    return run


def frames_per_second(run: Callable[[np.ndarray], object], frames: np.ndarray, repeats: int = 3) -> float:
    """The median speed of some runs, after a short one that compiles."""
    run(frames[:2])
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run(frames)
        times.append(time.process_time() - start)
    return len(frames) / float(np.median(times))


class SpeedRow(NamedTuple):
    """A contender and its speed, and how many times faster the exact elastic model is."""

    name: str
    frames_per_s: float
    ours_over_it: float


def measure_elastic(*, repeats: int = 3) -> Iterator[SpeedRow]:
    """The elastic model and its variants, then its peers, on the same frames."""
    frames, resting = the_work()
    window = Windowed(function=Exponential(memory=1.1), frames=frames_needed(model_of(resting), 1e-3))
    classifier = ElasticClassifier(estimator(resting)).fit(resting, np.arange(N_CLUSTERS) % 10)
    contenders = {
        "elastic, exact": (follow(model_of(resting)), len(frames), repeats),
        "elastic, exact, elastic biases": (follow(model_of(resting, beta=1.5)), len(frames), repeats),
        "elastic, pulls below 1e-4 left out": (follow(model_of(resting, pull_threshold=1e-4)), len(frames), repeats),
        "elastic, kappa 1 (every centroid pulled)": (follow(model_of(resting, kappa=1.0)), len(frames), repeats),
        "elastic, float64": (follow(model_of(resting.astype(np.float64))), len(frames), repeats),
        f"elastic, pairs of the last {window.frames} frames": (follow(model_of(resting, kernel=window)), 3000, repeats),
        "centroids at rest (pull 0)": (follow(model_of(resting, pull=0.0)), len(frames), repeats),
        "step of ElasticClustering, one row a call": (live(estimator(resting)), 1000, repeats),
        "step of ElasticClassifier, one row a call": (live(classifier), 1000, repeats),
        "partial_fit, one row a call": (row_by_row(resting), 1000, repeats),
        "plain NumPy loop": (numpy_loop(resting), 500, repeats),
        "scikit-learn MiniBatchKMeans, one row a call": (mini_batch_k_means(resting), 300, repeats),
        "river KMeans": (river("KMeans"), 3, 1),
        "river STREAMKMeans, before its first chunk is full": (river("STREAMKMeans"), 30, 1),
    }
    ours = 0.0
    for name, (run, count, times) in contenders.items():
        rate = frames_per_second(run, frames[:count], times)
        ours = ours or rate
        yield SpeedRow(name, rate, ours / rate)


def speed() -> None:
    """Print the speed of the elastic model and of its peers."""
    print(f"{'400 centroids x 784 features, one core':52s} {'frames/s':>10s} {'ours / it':>10s}")
    for row in measure_elastic():
        print(f"{row.name:52s} {row.frames_per_s:10,.0f} {row.ours_over_it:10.2f}", flush=True)


def memory(total: int = 10_000_000) -> None:
    """Print the memory of a process that follows very many frames."""
    frames, resting = the_work()
    model = model_of(resting)
    state = init(model)
    me = psutil.Process()
    done, start, sizes = 0, time.process_time(), []
    track(model, state, frames[:4096], in_place=True)
    while done < total:
        done += len(track(model, state, frames[:4096], in_place=True)[1].similarity)
        sizes.append(me.memory_info().rss / 2**20)
    rate = done / (time.process_time() - start)
    print(f"{done:,} frames at {rate:,.0f}/s: {sizes[0]:.1f} MiB after the first chunk, {max(sizes):.1f} MiB at most,")
    print(f"{sizes[-1]:.1f} MiB after the last; state of {sum(part.nbytes for part in state) / 2**20:.2f} MiB")


def streams(n_streams: int = 1000, steps: int = 20) -> None:
    """Print memory and speed of many streams at once."""
    frames, resting = the_work()
    model = model_of(resting)
    me = psutil.Process()
    before = me.memory_info().rss
    many = init_streams(model, n_streams, frames=40)
    pick = np.random.default_rng(0).integers(len(frames) - steps - 45, size=n_streams)
    for t in range(45):
        step_streams(model, many, frames[pick + t])
    start = time.process_time()
    for t in range(steps):
        step_streams(model, many, frames[pick + 45 + t])
    rate = n_streams * steps / (time.process_time() - start)
    used, dense = (me.memory_info().rss - before) / 2**30, n_streams * resting.nbytes / 2**30
    print(f"{n_streams:,} streams, 40 frames each: {used:.2f} GiB (as matrices {dense:.2f} GiB), {rate:,.0f} frames/s")


def omnist() -> None:
    """Print the accuracy on OMNIST videos of digits and of clothing, for some numbers of centroids."""
    print("| images | centroids | still images | video, at rest | video, elastic | on noise | most hidden rows |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for images, (load, base) in SOURCES.items():
        train, test = load("train"), load("test")
        for n_clusters in (100, 400, 1600):
            params = dataclasses.replace(base, n_clusters=n_clusters)
            results = [elastic_omnist.evaluate(params, train, test, seed) for seed in (0, 1, 2)]
            columns = [
                [r.still_accuracy for r in results],
                [r.static.accuracy for r in results],
                [r.elastic.accuracy for r in results],
                [r.elastic.by_rows_hidden["noise"] for r in results],
                [r.elastic.by_rows_hidden["19"] for r in results],
            ]
            cells = [spread(statistic(c)) for c in columns]
            print(f"| {images} | {n_clusters} | {' | '.join(cells)} |", flush=True)


def worlds() -> None:
    """Print what the models gain on random worlds."""
    rows = random_worlds.run(random_worlds.RandomWorlds(), seed=1)
    models = list(dict.fromkeys(row.model for row in rows))
    names = list(dict.fromkeys(row.world for row in rows))
    table = {(row.world, row.model): row for row in rows}
    print(f"| gain over the static mixture | {' | '.join(models)} |\n| --- |{' --- |' * len(models)}")
    for world in names:
        static = table[world, "static mixture"]
        cells = [f"{static.log_likelihood:.2f} ± {static.spread:.2f}"]
        mine = [table.get((world, model)) for model in models[1:]]
        cells += [f"{row.gain:+.2f} ± {row.gain_error:.2f}" if row else "-" for row in mine]
        print(f"| {world} | {' | '.join(cells)} |")
    others = [model for model in models if model not in ("elastic clustering", "exact")]
    print(f"\n| lead of elastic clustering over | {' | '.join(others)} |\n| --- |{' --- |' * len(others)}")
    for world in names:
        cells = [f"{table[world, m].lead:+.3f} ± {table[world, m].lead_error:.3f}" for m in others]
        print(f"| {world} | {' | '.join(cells)} |")
    for row in rows:
        print(f"{row.world}: {row.model} {row.settings}")


if __name__ == "__main__":
    tasks = {"speed": speed, "memory": memory, "streams": streams, "omnist": omnist, "worlds": worlds}
    tasks[sys.argv[1] if len(sys.argv) > 1 else "speed"]()
