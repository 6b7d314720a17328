"""A network without backpropagation: filters that learn by SoftHebb, and a readout by least squares.

Two layers of filters learn in one pass over still digits without labels. The readout is a ridge regression on the
labelled digits and noise, which is solved and not descended to. An elastic head with these weights follows the video.
The last training digits take no part in this: as stills they choose the ridge, and as a video the memory.
The same network with filters that never learned shows what the learning is good for.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_paper.tasks.hebbian", "torch") from None

from springback import check
from springback.data import make_omnist, noise_frames
from springback.heads.tuning import tune_head
from springback.streaming.metrics import accuracy
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback.streaming.stream_classifier import softmax
from springback.torch import SoftHebbConv2d
from springback_paper.baselines.torch_state import one_thread, seeded
from springback_paper.inputs.digits import both_splits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.elastic_head import PRACTICE_SEED
from springback_paper.tasks.entry import Added
from torch import nn

Floats = NDArray[np.float32]

_FRAMES_AT_ONCE = 500
_NOISE_SEED = 3_000_000


@dataclass(frozen=True, kw_only=True)
class Hebbian:
    """What to run. The sizes and the rules of learning were chosen on training digits.

    Parameters
    ----------
    filters : tuple[int, int]
        Of the two layers; the first sees 5 x 5 pixels, the second 3 x 3 places of the first.
    rate : float
        Of the filters; 0: they stay as they were drawn, and only the scale of their input is measured.
    batch : int
        Images of a lesson.
    noise_share : int
        One frame of noise for this many digits.
    practice_images : int
        The last training images, on which ridge and memory are chosen.
    ridges : tuple[float, ...]
        Strengths of the ridge to choose from, in units of the variance of a feature.
    sharpness : tuple[float, ...]
        What the answers of the regression may be multiplied by.
    trials : int
        Settings of the memory that are tried.
    """

    filters: tuple[int, int] = (32, 128)
    rate: float = 0.02
    batch: int = 10
    noise_share: int = 10
    practice_images: int = 1000
    ridges: tuple[float, ...] = (1e-3, 1e-2, 1e-1)
    sharpness: tuple[float, ...] = (4.0, 6.0, 8.0, 12.0, 16.0)
    trials: int = 40

    def __post_init__(self) -> None:
        check.sizes(self, batch=2, noise_share=1, practice_images=1, trials=1)


@one_thread()
def evaluate(params: Hebbian, train: Images, test: Images, *, seed: int) -> Scores:
    """Learn filters and readout, choose the memory on training digits, then follow the video of the test digits."""
    taught, practice = train[: -params.practice_images], train[-params.practice_images :]
    network = learned_filters(params, taught, seed)
    noise = noise_frames(-(-len(taught) // params.noise_share), seed=seed + _NOISE_SEED)
    shown = Images(
        np.concatenate([taught.pixels, noise]), np.concatenate([taught.labels, np.full(len(noise), NOISE_LABEL)])
    )
    weight, bias, mean = readout(params, network, shown, practice)
    video = make_omnist(practice, seed=seed + PRACTICE_SEED)
    seen = np.concatenate(list(features(network, video)))
    tuned = tune_head(weight, bias, [seen], [video.labels], centre=mean, variants=["springs"], n_trials=params.trials)
    head = tuned.head(weight, bias)
    kind = "hebbian" if params.rate > 0 else "random"
    video = make_omnist(test, seed=seed)
    followed = [head.track_response(part, in_place=True) for part in features(network, video)]
    answers = {"elastic": [one.posterior for one in followed], "static": [one.frozen for one in followed]}
    still = np.concatenate([(part @ weight.T + bias).argmax(axis=1) for part in features(network, test)])
    return Scores.of(
        {f"{kind}_{name}": np.concatenate(parts).argmax(axis=1) for name, parts in answers.items()},
        video,
        n_train=len(train),
        n_test=len(test),
        mnist_test={f"{kind}_{name}": accuracy(still, test.labels) for name in answers},
    )


def learned_filters(params: Hebbian, images: Images, seed: int) -> nn.Sequential:
    """Both layers after one pass over the images, which are seen in random order and without labels."""
    first, second = params.filters
    with seeded(seed):
        network = nn.Sequential(
            SoftHebbConv2d(1, first, 5, padding=2, rate=params.rate),
            nn.MaxPool2d(2),
            SoftHebbConv2d(first, second, 3, padding=1, temperature=1.0, rate=params.rate, length=5.0),
            nn.AvgPool2d(3, stride=3, padding=1, count_include_pad=False),
            nn.Flatten(),
        )
    order = np.random.default_rng(seed).permutation(len(images))
    with torch.no_grad():
        for start in range(0, len(order), params.batch):
            network(as_input(images.pixels[order[start : start + params.batch]]))
    return network.eval()


def as_input(pixels: NDArray[np.uint8]) -> torch.Tensor:
    """Brightness 0 ... 1, (n, 1, height, width)."""
    return torch.tensor(pixels).unsqueeze(1) / 255


@torch.no_grad()
def features(network: nn.Module, frames: Images | Video) -> Iterator[Floats]:
    """What the readout receives, a stretch of frames at a time."""
    for start in range(0, len(frames), _FRAMES_AT_ONCE):
        stop = min(start + _FRAMES_AT_ONCE, len(frames))
        pixels = frames.pixels[start:stop] if isinstance(frames, Images) else frames.source(start, stop)
        yield network(as_input(pixels)).numpy()


def readout(params: Hebbian, network: nn.Module, shown: Images, held_out: Images) -> tuple[Floats, Floats, Floats]:
    """Weights (11, n) and biases (11,) by ridge regression on the labels, and the mean of the features, (n,).

    One pass over the images adds up what the regression needs, so that no features have to be kept. A regression
    answers with shares: times a sharpness they are logits. Of the ridges and sharpnesses, those count whose soft-max
    has the smallest cross-entropy on the held-out digits.
    """
    targets = np.eye(NOISE_LABEL + 1, dtype=np.float32)[shown.labels]
    pivot = next(features(network, shown)).mean(axis=0)
    products = np.zeros((len(pivot), len(pivot) + targets.shape[1]))
    total = np.zeros(len(pivot))
    for start, part in zip(range(0, len(shown), _FRAMES_AT_ONCE), features(network, shown), strict=True):
        rows = part - pivot
        products += rows.T @ np.hstack([rows, targets[start : start + len(part)]])
        total += rows.sum(axis=0, dtype=np.float64)
    mean, share = total / len(shown), targets.mean(axis=0, dtype=np.float64)
    products = products / len(shown) - np.outer(mean, np.concatenate([mean, share]))
    covariance, along = products[:, : len(mean)], products[:, len(mean) :]
    variance = float(np.trace(covariance)) / len(mean)
    mean += pivot
    found = []
    for ridge in params.ridges:
        weight = np.linalg.solve(covariance + ridge * variance * np.eye(len(mean)), along).T
        bias = share - weight @ mean
        answers = np.concatenate([part @ weight.T + bias for part in features(network, held_out)])
        for sharpness in params.sharpness:
            right = softmax(answers, sharpness)[np.arange(len(answers)), held_out.labels]
            found.append((-float(np.log(right).mean()), sharpness * weight, sharpness * bias))
    _, weight, bias = min(found, key=lambda one: one[0])
    return weight.astype(np.float32), bias.astype(np.float32), mean.astype(np.float32)


def tasks(scope: Scope, seed: int) -> list[Added]:
    """With a full scope and the fewest seeds: with filters that learned, and with filters that did not."""
    if not scope.full or seed not in scope.fewest_seeds:
        return []
    quick = scope.limit is not None
    practice, trials = (max(2, (scope.limit or 0) // 10), 5) if quick else (1000, 40)
    found: list[Added] = []
    for kind, rate in (("hebbian", Hebbian.rate), ("random", 0.0)):
        params = Hebbian(rate=rate, practice_images=practice, trials=trials)
        task = Task(
            name=f"{kind}_filters-{seed}",
            run=evaluate,
            params={"params": params, **both_splits(scope.limit)},
            seed=seed,
            needs={},
            seconds=400 * scope.share,
        )
        found.append(((f"{kind}_elastic", f"{kind}_static"), task))
    return found
