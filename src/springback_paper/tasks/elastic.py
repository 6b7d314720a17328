"""Elastic clustering on OMNIST: centroids from still images, one pass over the video of the test images.

Nothing is learned from videos of test images and nothing is tuned on them: centroids come from the still training
images without labels, their names from the training labels, and the threshold for "none of them" from a video of
training images.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from springback.data import make_omnist
from springback.elastic import Elasticity, Model, best_threshold, init, prepare, spherical_k_means, track
from springback.streaming.metrics import accuracy, accuracy_by_ink, accuracy_by_rows
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_paper.inputs.digits import Digits, both_splits
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.entry import Added

if TYPE_CHECKING:
    from springback.elastic import ElasticClassifier


@dataclass(frozen=True, kw_only=True)
class VideoScore:
    """Accuracy on a video, over all frames, and by what is hidden and on noise; and the noise threshold."""

    accuracy: float
    by_rows_hidden: dict[str, float]
    by_ink_hidden: dict[str, float]
    threshold: float


@dataclass(frozen=True, kw_only=True)
class ElasticOmnistResult:
    """One run: the still test images, and the video with centroids held at rest and with elastic ones."""

    params: ElasticOmnist
    seed: int
    video: str
    n_frames: int
    still_accuracy: float
    static: VideoScore
    elastic: VideoScore


@dataclass(frozen=True, kw_only=True, eq=False)
class Centroids:
    """Resting centroids (K, n), found without labels; the task that finds them is shared by those that need them."""

    resting: NDArray[np.float32]


def evaluate(
    params: ElasticOmnist, train: Images, test: Images, seed: int, centroids: Centroids | None = None
) -> ElasticOmnistResult:
    """Fit on the training images, then follow the video of the others; `seed` drives k-means and both videos.

    Centroids that are given are not searched again.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> two = Images(np.repeat(rng.integers(0, 255, (2, 28, 28), np.uint8), 30, axis=0), np.repeat([0, 1], 30))
    >>> evaluate(ElasticOmnist(n_clusters=2, threshold_images=10), two, two[::10], seed=0).still_accuracy
    1.0
    """
    resting = (find_centroids(params, train, seed) if centroids is None else centroids).resting
    elastic = name_centroids(params, resting, train)
    at_rest = prepare(Elasticity(kappa=params.kappa, pull=0.0), resting)
    still = np.asarray(elastic.predict(brightness(test.pixels, params.power)))
    practice = practice_video(train, params.threshold_images, seed)
    video = make_omnist(test, seed=seed)

    return ElasticOmnistResult(
        params=params,
        seed=seed,
        video=video.name,
        n_frames=len(video),
        still_accuracy=accuracy(still, test.labels),
        static=score_model(at_rest, elastic, practice, video, params.power),
        elastic=score_model(elastic.clustering_.model_, elastic, practice, video, params.power),
    )


def score_model(
    model: Model, named: "ElasticClassifier", practice: Video, video: Video, power: float, *, winner: bool = False
) -> VideoScore:
    """How a model does on the video, its centroids named as in `named`, with the best threshold on the practice video.

    The answer is the likeliest label; with `winner`, that of the likeliest centroid alone.
    """
    threshold = noise_threshold(model, named.label_shares_, practice, power)
    column, similarity = follow(model, named.label_shares_, video, power, winner=winner)
    answers = np.where(similarity < threshold, NOISE_LABEL, named.classes_[column])
    return VideoScore(
        accuracy=accuracy(answers, video.labels),
        by_rows_hidden=accuracy_by_rows(answers, video),
        by_ink_hidden=accuracy_by_ink(answers, video),
        threshold=threshold,
    )


def practice_video(train: Images, n_images: int, seed: int) -> Video:
    """The video of the last training images, on which thresholds and settings are chosen.

    Examples
    --------
    >>> one = Images(np.zeros((1, 28, 28), np.uint8), np.array([4]))
    >>> practice_video(one, 3000, seed=0).labels[0]
    np.int64(4)
    """
    return make_omnist(train[len(train) - min(n_images, len(train)) :], seed=seed + 1_000_000)


def find_centroids(params: ElasticOmnist, train: Images, seed: int) -> Centroids:
    """Spherical k-means of the still training images, without labels."""
    pixels = brightness(train.pixels, params.power)
    found = spherical_k_means(pixels, params.n_clusters, seed=seed, iterations=params.iterations)
    return Centroids(resting=found.centroids)


def name_centroids(params: ElasticOmnist, resting: NDArray[np.float32], train: Images) -> "ElasticClassifier":
    """The classifier with these centroids, and with the share of each label in each of them."""
    from springback.elastic import ElasticClassifier, ElasticClustering

    own = {name: getattr(params, name) for name in ("kappa", "pull", "memory", "beta")}
    clustering = ElasticClustering(params.n_clusters, resting=resting, **own)
    return ElasticClassifier(clustering).fit(brightness(train.pixels, params.power), train.labels)


def fit(params: ElasticOmnist, train: Images, seed: int) -> tuple["ElasticClassifier", NDArray[np.float32]]:
    """The classifier, with the share of each label in each centroid, and these centroids, found without labels."""
    resting = find_centroids(params, train, seed).resting
    return name_centroids(params, resting, train), resting


def follow(
    model: Model, label_shares: NDArray[Any], video: Video, power: float, *, winner: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Best label (column) and largest similarity of every frame, in one pass in little memory.

    With `winner`, the label is that of the likeliest centroid alone.
    """
    state, names = init(model), label_shares.argmax(axis=1)
    column, similarity = [], []
    for part in video.chunks():
        _, response = track(model, state, brightness(part.frames, power), in_place=True)
        likeliest = response.posterior.argmax(axis=1)
        column.append(names[likeliest] if winner else (response.posterior @ label_shares).argmax(axis=1))
        similarity.append(np.asarray(response.similarity, np.float64))
    return np.concatenate(column), np.concatenate(similarity)


def noise_threshold(model: Model, label_shares: NDArray[Any], practice: Video, power: float) -> float:
    """The similarity below which a frame is best taken for noise, on a practice video."""
    return best_threshold(follow(model, label_shares, practice, power)[1], practice.labels == NOISE_LABEL)


def score_elastic(params: ElasticOmnist, train: Images, test: Images, centroids: Centroids, seed: int) -> Scores:
    """Elastic clustering on still digits and on the video, with centroids at rest and elastic."""
    found = evaluate(params, train, test, seed, centroids)
    both = {"elastic_static": found.static, "elastic": found.elastic}
    return Scores(
        n_train=len(train),
        n_test=len(test),
        n_frames=found.n_frames,
        mnist_test=dict.fromkeys(both, found.still_accuracy),
        omnist_test={model: score.accuracy for model, score in both.items()},
        by_rows_hidden={model: score.by_rows_hidden for model, score in both.items()},
        by_ink_hidden={model: score.by_ink_hidden for model, score in both.items()},
    )


def centroids_task(params: ElasticOmnist, scope: Scope, seed: int) -> Task:
    """The search for resting centroids, which other tasks need by its name."""
    given = {"params": params, "train": Digits("train", scope.limit)}
    name = f"centroids_{params.power:g}-{seed}"
    return Task(name=name, run=find_centroids, params=given, seed=seed, needs={}, seconds=20 * scope.share)


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Elastic clustering, at rest and elastic, in one task."""
    params = ElasticOmnist(n_clusters=scope.neurons)
    found = centroids_task(params, scope, seed)
    given = {"params": params, **both_splits(scope.limit)}
    needs, seconds = {"centroids": found.name}, 15 * scope.share
    task = Task(name=f"elastic-{seed}", run=score_elastic, params=given, seed=seed, needs=needs, seconds=seconds)
    return [(("elastic_static", "elastic"), found), (("elastic_static", "elastic"), task)]
