"""What elasticity costs: the forward pass of the paper's convolutional network, plain and with an elastic head.

    python -m springback_bench.speed.layers            the paper's convolutional network
    python -m springback_bench.speed.layers lstm       a layer of 90 units beside `nn.LSTMCell`

Times are medians over many repeats, plain and elastic taking turns, in processor time of one core. The network:
28 x 28 -> convolution 5 x 5, 8 features -> pooling -> the same again -> 400 rectified units -> 11 classes, with random
weights. Every repeat is the next frame of a stream of random images.
"""

import os

from springback.extras import missing_extra

os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import sys
import time
from collections.abc import Callable, Sequence

from springback.heads import Settings
from springback.torch import ElasticLinear, Observer, Springs, WindowSprings, elasticize, track
from springback.torch.learned_springs import Learned
from torch import Tensor, nn

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.speed.layers", "torch") from None

REPEATS = 300


def the_network(classes: int = 11, seed: int = 0) -> nn.Module:
    """The paper's convolutional network, untrained."""
    torch.manual_seed(seed)
    pooled = [nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 5, padding=2), nn.ReLU()]
    dense = [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(392, 400), nn.ReLU(), nn.Linear(400, classes)]
    return nn.Sequential(*pooled, *dense).eval()


def side_by_side(runs: Sequence[Callable[[Tensor], object]], frames: Sequence[Tensor], repeats: int) -> list[float]:
    """Median seconds of each run; in every repeat they take turns on the same frame."""
    times: list[list[float]] = [[] for _ in runs]
    for number in range(repeats + repeats // 10):
        for run, taken in zip(runs, times, strict=True):
            start = time.thread_time()
            run(frames[number % len(frames)])
            taken.append(time.thread_time() - start)
    return [statistics.median(taken[repeats // 10 :]) for taken in times]


@torch.inference_mode()
def overhead(n_streams: int, settings: Settings, repeats: int = REPEATS) -> tuple[float, float]:
    """Seconds per frame of `n_streams` streams, plain and elastic."""
    model = the_network()
    frames = torch.rand(16, n_streams, 1, 28, 28, generator=torch.Generator().manual_seed(1))
    plain, elastic = side_by_side([model, elasticize(model, settings)], list(frames), repeats)
    return plain, elastic


@torch.inference_mode()
def whole_streams(n_streams: int, settings: Settings, steps: int = 64, repeats: int = 10) -> tuple[float, float]:
    """Seconds per frame of `n_streams` streams if frames come in stretches: plain, and `track`."""
    model = the_network()
    elastic = elasticize(model, settings)
    frames = torch.rand(steps, n_streams, 1, 28, 28, generator=torch.Generator().manual_seed(1))
    runs = [lambda some: track(model, some), lambda some: track(elastic, some)]
    plain, tracked = side_by_side(runs, [frames], repeats)
    return plain / steps, tracked / steps


def speed() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(f"{'':48} {'plain, us':>10} {'elastic, us':>12} {'more':>8}")
    kinds: dict[str, Settings]
    for n_streams in (1, 32):
        kinds = {
            "observer": Observer(),
            "springs": Springs(),
            "moving biases": Springs(beta=1.0),
            "novelty": Springs(novelty_threshold=0.3),
            "moving biases and novelty": Springs(beta=1.0, novelty_threshold=0.3),
            "window of 20 frames": WindowSprings(window=20),
        }
        for name, settings in kinds.items():
            show(f"streams {n_streams}, {name}", *overhead(n_streams, settings))
    for n_streams in (1, 32):
        kinds = {"observer": Observer(), "springs": Springs()}
        for name, settings in kinds.items():
            show(f"streams {n_streams}, {name}, 64 frames at once", *whole_streams(n_streams, settings))


@torch.inference_mode()
def beside_lstm(n_inputs: int = 784, n_units: int = 90, repeats: int = 2000) -> dict[str, float]:
    """Seconds for one frame of one stream: `nn.LSTMCell`, and elastic layers with as many units."""
    torch.manual_seed(0)
    cell, state = nn.LSTMCell(n_inputs, n_units).eval(), [(torch.zeros(1, n_units), torch.zeros(1, n_units))]

    def next_state(frame: Tensor) -> None:
        state[0] = cell(frame, state[0])

    springs = Springs(pull=0.5, memory=5.0, continuity=0.0)
    kinds: tuple[Learned | None, ...] = (None, "unit", "synapse")
    layers = {
        f"elastic, {f'learned per {kind}' if kind else 'fixed'}": ElasticLinear(
            n_inputs, n_units, settings=springs, learned=kind
        ).eval()
        for kind in kinds
    }
    frames = torch.rand(16, 1, n_inputs, generator=torch.Generator().manual_seed(1))
    taken = side_by_side([next_state, *layers.values()], list(frames), repeats)
    return dict(zip(("nn.LSTMCell", *layers), taken, strict=True))


def speed_beside_lstm() -> None:
    """Print one row for each layer."""
    torch.set_num_threads(1)
    found = beside_lstm()
    for name, seconds in found.items():
        print(f"{name:28} {seconds * 1e6:8.1f} us {seconds / found['nn.LSTMCell']:6.2f}")


def show(name: str, plain: float, elastic: float) -> None:
    """Print one row."""
    print(f"{name:48} {plain * 1e6:10.1f} {elastic * 1e6:12.1f} {100 * (elastic / plain - 1):7.1f} %")


if __name__ == "__main__":
    speed_beside_lstm() if sys.argv[1:] == ["lstm"] else speed()
