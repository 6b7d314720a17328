"""Elastic clustering on OMNIST: centroids from still images, one pass over the video of the test images.

Nothing is learned from videos of test images and nothing is tuned on them: centroids come from the still training
images without labels, their names from the training labels, and the threshold for "none of them" from a video of
training images.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.datasets import make_omnist
from springback.elastic import Elasticity, Model, best_threshold, init, prepare, spherical_k_means, track
from springback.metrics import accuracy, accuracy_by_rows
from springback.paper.digits import both_splits
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.tasks.entry import Added
from springback.records import NOISE_LABEL, Images, Video

if TYPE_CHECKING:
    from springback.elastic import ElasticClassifier


@dataclass(frozen=True, kw_only=True)
class ElasticOmnist:
    """What to run. The defaults were found on videos of training digits only (50,000 ... 54,499, fitted on the others).

    Parameters
    ----------
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
    """

    n_clusters: int = 400
    power: float = 0.5
    kappa: float = 40.0
    pull: float = 30.0
    memory: float = 1.1
    beta: float | None = 1.5
    iterations: int = 20
    threshold_images: int = 3000

    def __post_init__(self) -> None:
        check.sizes(self, n_clusters=1, threshold_images=1)
        check.real("ElasticOmnist.power", self.power, above=0)


@dataclass(frozen=True, kw_only=True)
class Score:
    """Accuracy on a video, over all frames, and by rows hidden and on noise; and the noise threshold."""

    accuracy: float
    by_rows_hidden: dict[str, float]
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


def evaluate(params: ElasticOmnist, train: Images, test: Images, seed: int) -> ElasticOmnistResult:
    """Fit on the training images, then follow the video of the others; `seed` drives k-means and both videos.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> two = Images(np.repeat(rng.integers(0, 255, (2, 28, 28), np.uint8), 30, axis=0), np.repeat([0, 1], 30))
    >>> evaluate(ElasticOmnist(n_clusters=2, threshold_images=10), two, two[::10], seed=0).still_accuracy
    1.0
    """
    elastic, resting = fit(params, train, seed)
    at_rest = prepare(Elasticity(kappa=params.kappa, pull=0.0), resting)
    still = np.asarray(elastic.predict(brightness(test.pixels, params.power)))
    practice = make_omnist(train[len(train) - min(params.threshold_images, len(train)) :], seed=seed + 1_000_000)
    video = make_omnist(test, seed=seed)

    def score(model: Model) -> Score:
        threshold = noise_threshold(model, elastic.label_shares_, practice, params.power)
        column, similarity = follow(model, elastic.label_shares_, video, params.power)
        answers = np.where(similarity < threshold, NOISE_LABEL, elastic.classes_[column])
        return Score(
            accuracy=accuracy(answers, video.labels),
            by_rows_hidden=accuracy_by_rows(answers, video),
            threshold=threshold,
        )

    return ElasticOmnistResult(
        params=params,
        seed=seed,
        video=video.name,
        n_frames=len(video),
        still_accuracy=accuracy(still, test.labels),
        static=score(at_rest),
        elastic=score(elastic.clustering_.model_),
    )


def fit(params: ElasticOmnist, train: Images, seed: int) -> tuple["ElasticClassifier", NDArray[np.float32]]:
    """The classifier, with the share of each label in each centroid, and these centroids, found without labels."""
    from springback.elastic import ElasticClassifier, ElasticClustering

    pixels = brightness(train.pixels, params.power)
    resting = spherical_k_means(pixels, params.n_clusters, seed=seed, iterations=params.iterations).centroids
    named = {name: getattr(params, name) for name in ("kappa", "pull", "memory", "beta")}
    clustering = ElasticClustering(params.n_clusters, resting=resting, **named)
    return ElasticClassifier(clustering).fit(pixels, train.labels), resting


def brightness(pixels: NDArray[np.uint8], power: float) -> NDArray[np.float32]:
    """Images (n, height, width) as rows of `(pixel / 255) ** power`.

    Examples
    --------
    >>> brightness(np.array([[[0, 255]]], np.uint8), 0.5)
    array([[0., 1.]], dtype=float32)
    """
    levels = ((np.arange(256) / 255) ** power).astype(np.float32)
    return np.asarray(levels[pixels.reshape(len(pixels), -1)])


def follow(
    model: Model, label_shares: NDArray[Any], video: Video, power: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Best label (column) and largest similarity of every frame, in one pass in little memory."""
    state = init(model)
    column, similarity = [], []
    for part in video.chunks():
        _, response = track(model, state, brightness(part.frames, power), in_place=True)
        column.append((response.posterior @ label_shares).argmax(axis=1))
        similarity.append(np.asarray(response.similarity, np.float64))
    return np.concatenate(column), np.concatenate(similarity)


def noise_threshold(model: Model, label_shares: NDArray[Any], practice: Video, power: float) -> float:
    """The similarity below which a frame is best taken for noise, on a practice video."""
    return best_threshold(follow(model, label_shares, practice, power)[1], practice.labels == NOISE_LABEL)


def score_elastic(params: ElasticOmnist, train: Images, test: Images, seed: int) -> Scores:
    """Elastic clustering on still digits and on the video, with centroids at rest and elastic."""
    found = evaluate(params, train, test, seed)
    both = {"elastic_static": found.static, "elastic": found.elastic}
    return Scores(
        n_train=len(train),
        n_test=len(test),
        n_frames=found.n_frames,
        mnist_test=dict.fromkeys(both, found.still_accuracy),
        omnist_test={model: score.accuracy for model, score in both.items()},
        by_rows_hidden={model: score.by_rows_hidden for model, score in both.items()},
    )


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Elastic clustering, at rest and elastic, in one task."""
    params = {"params": ElasticOmnist(n_clusters=scope.neurons), **both_splits(scope.limit)}
    task = Task(name=f"elastic-{seed}", run=score_elastic, params=params, seed=seed, needs={}, seconds=25 * scope.share)
    return [(("elastic_static", "elastic"), task)]
