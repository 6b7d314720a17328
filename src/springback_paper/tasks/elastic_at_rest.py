"""What elastic clustering is compared with: the same centroids held at rest at their own best, and class feedback.

Held at rest, the centroids answer every frame by itself; their brightness, concentration and noise threshold are their
own and not those of the elastic model. Class feedback (`springback_bench.rivals`) is the ablation without
springs: the posterior of the classes is fed back and leaks, while the centroids stay. Noise is a class of its own then,
as likely as a centroid at a certain cosine. All settings are the best of a grid on a video of training digits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.data import make_omnist
from springback.elastic import best_threshold
from springback.elastic.novelty import similarity
from springback.streaming.metrics import accuracy
from springback.streaming.readout import N_CLASSES
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback.streaming.stream_classifier import softmax
from springback_bench.rivals.class_feedback import ClassFeedback
from springback_paper.inputs.digits import both_splits
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.elastic import Centroids, centroids_task, practice_video
from springback_paper.tasks.entry import Added

_CHUNK = 4096


@dataclass(frozen=True, kw_only=True)
class AtRest:
    """The grids that settings are chosen from.

    Parameters
    ----------
    powers : tuple[float, ...]
        Brightness is raised to one of these; each has centroids of its own.
    kappas : tuple[float, ...]
        Concentrations.
    noises : tuple[float, ...]
        Class feedback only: the cosine to a centroid at which noise is as likely as its class.
    pulls, memories, sharpnesses : tuple[float, ...]
        Of class feedback: its `pull`, `memory` and `kappa`.
    practice_images : int
        How many of the last training images make the video that settings are chosen on.
    """

    powers: tuple[float, ...] = (0.5, 1.0)
    kappas: tuple[float, ...] = (20.0, 30.0, 40.0, 60.0, 80.0)
    noises: tuple[float, ...] = (0.45, 0.5, 0.55)
    pulls: tuple[float, ...] = (8.0, 16.0, 32.0)
    memories: tuple[float, ...] = (0.5, 0.75, 1.0, 1.5)
    sharpnesses: tuple[float, ...] = (1.0, 2.0)
    practice_images: int = 1000

    def __post_init__(self) -> None:
        check.sizes(self, practice_images=1)


class FrameEvidence(NamedTuple):
    """What centroids at rest make of T frames, each by itself.

    log_joint (T, 10): `ln sum_k P(class | k) exp(kappa u_k)`, up to a constant; similarity (T,): the largest cosine.
    """

    log_joint: NDArray[np.float64]
    similarity: NDArray[np.float64]


class Named(NamedTuple):
    """Resting centroids (K, n) of one brightness, with the share of each label in each of them, (K, 10), by kappa."""

    power: float
    resting: NDArray[np.float32]
    shares: Mapping[float, NDArray[np.float64]]

    def look(self, frames: NDArray[np.uint8] | Video, kappa: float) -> FrameEvidence:
        """What they make of images or of the frames of a video."""
        joints, tops = [], []
        for part in _parts(frames):
            u = similarity(self.resting, brightness(part, self.power)).astype(np.float64)
            top = u.max(axis=1)
            joint = np.exp(kappa * (u - top[:, None])) @ self.shares[kappa]
            joints.append(kappa * top[:, None] + np.log(np.maximum(joint, 1e-30)))
            tops.append(top)
        return FrameEvidence(np.concatenate(joints), np.concatenate(tops))


def name_at_rest(resting: NDArray[np.float32], train: Images, power: float, kappas: tuple[float, ...]) -> Named:
    """Centroids with the share of each label, by the posteriors of the training images at each concentration.

    Examples
    --------
    >>> bars = np.zeros((2, 28, 28), np.uint8)
    >>> bars[0, :, 9], bars[1, 9, :] = 255, 255
    >>> named = name_at_rest(brightness(bars, 1.0), Images(bars, np.array([1, 7])), 1.0, (30.0,))
    >>> named.shares[30.0].argmax(axis=1)
    array([1, 7])
    """
    counts = {kappa: np.zeros((len(resting), N_CLASSES)) for kappa in kappas}
    for start in range(0, len(train), _CHUNK):
        part = train[start : start + _CHUNK]
        u = similarity(resting, brightness(part.pixels, power)).astype(np.float64)
        members = (part.labels[:, None] == np.arange(N_CLASSES)).astype(np.float64)
        for kappa in kappas:
            counts[kappa] += softmax(kappa * u).T @ members
    return Named(power, resting, {kappa: one / one.sum(axis=1, keepdims=True) for kappa, one in counts.items()})


class StaticRule(NamedTuple):
    """Each frame by itself: the likeliest class, or noise below a similarity."""

    named: Named
    kappa: float
    threshold: float

    def answer(self, video: Video) -> NDArray[np.int64]:
        """The class of every frame."""
        seen = self.named.look(video, self.kappa)
        return np.where(seen.similarity < self.threshold, NOISE_LABEL, seen.log_joint.argmax(axis=1))


class FeedbackRule(NamedTuple):
    """The log joint of the classes and of noise, with the recent posteriors fed back."""

    named: Named
    kappa: float
    noise: float
    feedback: ClassFeedback

    def answer(self, video: Video) -> NDArray[np.int64]:
        """The class of every frame."""
        seen = self.named.look(video, self.kappa)
        return np.asarray(self.feedback.track(with_noise_class(seen, self.kappa * self.noise)).argmax(axis=1))


def with_noise_class(seen: FrameEvidence, level: float) -> NDArray[np.float64]:
    """The log joint with noise as the last class, always at the same level, (T, 11).

    Examples
    --------
    >>> with_noise_class(FrameEvidence(np.zeros((1, 2)), np.zeros(1)), 0.5)
    array([[0. , 0. , 0.5]])
    """
    return np.column_stack([seen.log_joint, np.full(len(seen.log_joint), level)])


def choose_static(named: list[Named], practice: Video) -> StaticRule:
    """The best brightness and concentration on the practice video, each with its best noise threshold."""
    best, chosen = -1.0, None
    for one in named:
        for kappa in one.shares:
            seen = one.look(practice, kappa)
            rule = StaticRule(one, kappa, best_threshold(seen.similarity, practice.labels == NOISE_LABEL))
            said = np.where(seen.similarity < rule.threshold, NOISE_LABEL, seen.log_joint.argmax(axis=1))
            right = accuracy(said, practice.labels)
            if right > best:
                best, chosen = right, rule
    assert chosen is not None
    return chosen


def choose_feedback(named: list[Named], practice: Video, params: AtRest) -> FeedbackRule:
    """The best settings of class feedback on the practice video."""
    best, chosen = -1.0, None
    for one in named:
        for kappa in one.shares:
            seen = one.look(practice, kappa)
            for noise, pull, memory, sharpness in product(
                params.noises, params.pulls, params.memories, params.sharpnesses
            ):
                feedback = ClassFeedback(N_CLASSES + 1, pull=pull, memory=memory, kappa=sharpness)
                said = feedback.track(with_noise_class(seen, kappa * noise)).argmax(axis=1)
                right = accuracy(said, practice.labels)
                if right > best:
                    best, chosen = right, FeedbackRule(one, kappa, noise, feedback)
    assert chosen is not None
    return chosen


def score_at_rest(params: AtRest, train: Images, test: Images, seed: int, **centroids: Centroids) -> Scores:
    """Centroids held at rest at their own best, and class feedback, on still digits and on the video.

    `centroids` are those of `params.powers`, in their order.
    """
    practice = practice_video(train, params.practice_images, seed)
    named = [
        name_at_rest(found.resting, train, power, params.kappas)
        for power, found in zip(params.powers, centroids.values(), strict=True)
    ]
    rules: dict[str, StaticRule | FeedbackRule] = {
        "elastic_static_best": choose_static(named, practice),
        "elastic_feedback": choose_feedback(named, practice, params),
    }
    video = make_omnist(test, seed=seed)
    still = {
        model: accuracy(rule.named.look(test.pixels, rule.kappa).log_joint.argmax(axis=1), test.labels)
        for model, rule in rules.items()
    }
    answers = {model: rule.answer(video) for model, rule in rules.items()}
    return Scores.of(answers, video, n_train=len(train), n_test=len(test), mnist_test=still)


def _parts(frames: NDArray[np.uint8] | Video) -> Iterator[NDArray[np.uint8]]:
    if isinstance(frames, Video):
        yield from (part.frames for part in frames.chunks(_CHUNK))
    else:
        yield from (frames[start : start + _CHUNK] for start in range(0, len(frames), _CHUNK))


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Both in one task; centroids of the elastic model's brightness are shared with it."""
    usual, elastic = AtRest(), ElasticOmnist(n_clusters=scope.neurons)
    practice = usual.practice_images if scope.limit is None else max(2, scope.limit // 10)
    params = AtRest(practice_images=practice)
    names = ("elastic_static_best", "elastic_feedback")
    found: list[Added] = []
    needs = {}
    for place, power in enumerate(params.powers):
        search = centroids_task(ElasticOmnist(n_clusters=scope.neurons, power=power), scope, seed)
        needs[f"centroids_{place}"] = search.name
        if power != elastic.power:
            found.append((names, search))
    given = {"params": params, **both_splits(scope.limit)}
    seconds = 60 * scope.share
    task = Task(
        name=f"elastic_at_rest-{seed}", run=score_at_rest, params=given, seed=seed, needs=needs, seconds=seconds
    )
    return [*found, (names, task)]
