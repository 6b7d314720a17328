"""Elastic clustering on OMNIST: centroids from still images, one pass over the video of the test images.

Nothing is learned from videos of test images and nothing is tuned on them: centroids come from the still training
images without labels, their names from the training labels, and the threshold for "none of them" from a video of
training images.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.datasets import load_fashion_mnist, load_mnist, make_omnist
from springback.elastic import (
    Elasticity,
    Model,
    best_threshold,
    init,
    prepare,
    spherical_k_means,
    track,
)
from springback.paper.digits import digits
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.tasks.entry import Added
from springback.records import NOISE_LABEL, Images, Video

if TYPE_CHECKING:
    from springback.elastic import ElasticClassifier

_SOURCES = {"mnist": load_mnist, "fashion_mnist": load_fashion_mnist}


@dataclass(frozen=True, kw_only=True)
class ElasticOmnist:
    """What to run. The defaults were found on videos of training digits only (50,000 ... 54,499, fitted on the others).

    Parameters
    ----------
    images : str
        "mnist" or "fashion_mnist".
    n_clusters : int
        How many centroids.
    power : float
        Brightness is raised to this before anything else; 0.5 evens out stroke and edge.
    kappa, pull, memory, beta
        As in `ElasticClustering`; memory in frames.
    iterations : int
        Of spherical k-means.
    threshold_images : int
        How many of the last training images make the video that sets the noise threshold.
    test_images : int | None
        How many test images are shown; None: all 10,000.
    """

    images: str = "mnist"
    n_clusters: int = 400
    power: float = 0.5
    kappa: float = 40.0
    pull: float = 30.0
    memory: float = 1.1
    beta: float | None = 1.5
    iterations: int = 20
    threshold_images: int = 3000
    test_images: int | None = None

    def __post_init__(self) -> None:
        check.one_of("ElasticOmnist.images", self.images, tuple(_SOURCES))
        check.integer("ElasticOmnist.n_clusters", self.n_clusters, low=1)
        check.real("ElasticOmnist.power", self.power, above=0)
        check.integer("ElasticOmnist.threshold_images", self.threshold_images, low=1)


def fashion() -> ElasticOmnist:
    """The same for Fashion-MNIST, found on videos of its training images 50,000 ... 51,499 only.

    Examples
    --------
    >>> fashion().images
    'fashion_mnist'
    """
    return ElasticOmnist(images="fashion_mnist", kappa=55.0, pull=60.0, memory=1.0, beta=0.1)


@dataclass(frozen=True, kw_only=True)
class Score:
    """How often the label of a frame was right: over all frames, by rows hidden, and on noise frames."""

    accuracy: float
    by_rows_hidden: dict[int, float]
    noise: float
    threshold: float


@dataclass(frozen=True, kw_only=True)
class ElasticOmnistResult:
    """One run: the still test images, and the video with centroids held at rest and with elastic ones."""

    params: ElasticOmnist
    seed: int
    video: str
    n_frames: int
    still_accuracy: float
    static: Score
    elastic: Score


def run(params: ElasticOmnist, seed: int) -> ElasticOmnistResult:
    """Fit on all training images, then follow the video of the test images; `seed` drives k-means and both videos.

    Examples
    --------
    >>> ElasticOmnist(images="cifar")
    Traceback (most recent call last):
    ValueError: ElasticOmnist.images must be one of 'mnist', 'fashion_mnist'; got 'cifar'
    """
    load = _SOURCES[params.images]
    test = load("test")
    return evaluate(params, load("train"), test if params.test_images is None else test[: params.test_images], seed)


def evaluate(params: ElasticOmnist, train: Images, test: Images, seed: int) -> ElasticOmnistResult:
    """`run` on given images: how tuning does it, with some of the training images in the place of the test images.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> two = Images(np.repeat(rng.integers(0, 255, (2, 28, 28), np.uint8), 30, axis=0), np.repeat([0, 1], 30))
    >>> evaluate(ElasticOmnist(n_clusters=2, threshold_images=10), two, two[::10], seed=0).still_accuracy
    1.0
    """
    pixels = brightness(train.pixels, params.power)
    resting = spherical_k_means(pixels, params.n_clusters, seed=seed, iterations=params.iterations).centroids
    elastic = _classifier(params, resting).fit(pixels, train.labels)
    at_rest = prepare(Elasticity(kappa=params.kappa, pull=0.0), resting)
    still = np.asarray(elastic.predict(brightness(test.pixels, params.power)))
    practice = make_omnist(train[len(train) - min(params.threshold_images, len(train)) :], seed=seed + 1_000_000)
    video = make_omnist(test, seed=seed)
    named = elastic.label_shares_
    return ElasticOmnistResult(
        params=params,
        seed=seed,
        video=video.name,
        n_frames=len(video),
        still_accuracy=float((still == test.labels).mean()),
        static=_score(at_rest, named, elastic.classes_, practice, video, params.power),
        elastic=_score(elastic.clustering_.model_, named, elastic.classes_, practice, video, params.power),
    )


def brightness(pixels: NDArray[np.uint8], power: float) -> NDArray[np.float32]:
    """Images (n, height, width) as rows of `(pixel / 255) ** power`.

    Examples
    --------
    >>> brightness(np.array([[[0, 255]]], np.uint8), 0.5)
    array([[0., 1.]], dtype=float32)
    """
    levels = ((np.arange(256) / 255) ** power).astype(np.float32)
    return np.asarray(levels[pixels.reshape(len(pixels), -1)])


def _classifier(params: ElasticOmnist, resting: NDArray[np.float32]) -> "ElasticClassifier":
    from springback.elastic import ElasticClassifier, ElasticClustering

    clustering = ElasticClustering(
        params.n_clusters,
        resting=resting,
        kappa=params.kappa,
        pull=params.pull,
        memory=params.memory,
        beta=params.beta,
    )
    return ElasticClassifier(clustering)


def _follow(
    model: Model, named: NDArray[Any], video: Video, power: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Best label (column) and largest similarity of every frame, in one pass in little memory."""
    state = init(model)
    column, similarity = np.empty(len(video), np.int64), np.empty(len(video))
    done = 0
    for part in video.chunks():
        _, response = track(model, state, brightness(part.frames, power), in_place=True)
        rows = slice(done, done + len(part))
        column[rows] = (response.posterior @ named).argmax(axis=1)
        similarity[rows] = response.similarity
        done += len(part)
    return column, similarity


def _score(
    model: Model, named: NDArray[Any], classes: NDArray[Any], practice: Video, video: Video, power: float
) -> Score:
    threshold = best_threshold(_follow(model, named, practice, power)[1], practice.labels == NOISE_LABEL)
    column, similarity = _follow(model, named, video, power)
    right = np.where(similarity < threshold, NOISE_LABEL, classes[column]) == video.labels
    noise = video.labels == NOISE_LABEL
    hidden = {
        int(rows): float(right[video.rows_hidden == rows].mean()) for rows in np.unique(video.rows_hidden[~noise])
    }
    return Score(
        accuracy=float(right.mean()), by_rows_hidden=hidden, noise=float(right[noise].mean()), threshold=threshold
    )


@dataclass(frozen=True, kw_only=True)
class ElasticParams:
    """Elastic clustering: its parameters, and how many images of each split (None: all)."""

    elastic: ElasticOmnist
    limit: int | None = None


def score_elastic(params: ElasticParams, seed: int, inputs: Mapping[str, Any]) -> Scores:  # noqa: ARG001
    """Elastic clustering on still digits and on the video, with centroids at rest and elastic."""
    train, tests = digits("train", params.limit), digits("test", params.limit)
    found = evaluate(params.elastic, train, tests, seed)
    both = {"elastic_static": found.static, "elastic": found.elastic}
    return Scores(
        n_train=len(train),
        n_test=len(tests),
        n_frames=found.n_frames,
        mnist_test=dict.fromkeys(both, 100 * found.still_accuracy),
        omnist_test={model: 100 * score.accuracy for model, score in both.items()},
        by_rows_hidden={
            model: {str(rows): 100 * right for rows, right in score.by_rows_hidden.items()}
            | {"noise": 100 * score.noise}
            for model, score in both.items()
        },
    )


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Elastic clustering, at rest and elastic, in one task."""
    task = Task(
        name=f"elastic-{seed}",
        run=score_elastic,
        params=ElasticParams(elastic=ElasticOmnist(n_clusters=scope.neurons), limit=scope.limit),
        seed=seed,
        needs={},
        seconds=25 * scope.share,
    )
    return [(("elastic_static", "elastic"), task)]
