"""A network trained on still images follows streams: with an elastic head, and with every other method.

One network, one stream, one pass, batch size one, no labels. Every method has its settings chosen by the same rule: the
best of its grid on a stream of *training* images.
"""

from dataclasses import dataclass

import numpy as np

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback.paper.tasks.elastic_head", "torch") from None

from springback import check, metrics
from springback.datasets import NoiseObject, Omnist, fading, make_drift, make_omnist, moving, turning
from springback.paper.baselines import StillModel, classify, respond
from springback.paper.digits import both_splits
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.tasks.adaptation_methods import Seen, choose, methods
from springback.paper.tasks.baselines import StillNetwork, training_task
from springback.paper.tasks.entry import Added
from springback.records import Images, Video
from springback.torch_state import one_thread

STREAMS = ("omnist", "fashion-mnist", "turning", "moving", "fading", "unseparated", "shuffled")
"""Digits or articles of clothing that are occluded; digits that turn, move or fade; occluded digits without noise
between them; the frames of OMNIST in random order, with settings chosen on frames in their true order."""

PRACTICE_SEED = 1_000_000
"""Added to the seed for a video of training images, so that it is never the test video's."""

_DRIFTS = {"turning": turning, "moving": moving, "fading": fading}


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """What to run.

    Parameters
    ----------
    stream : str
        One of `STREAMS`.
    practice_images : int
        How many of the last training images make the stream that settings are chosen on.
    """

    stream: str = "omnist"
    practice_images: int = 1000

    def __post_init__(self) -> None:
        check.one_of("Adaptation.stream", self.stream, STREAMS)
        check.integer("Adaptation.practice_images", self.practice_images, low=1)


@dataclass(frozen=True, kw_only=True)
class AdaptationResult:
    """How each method did on the stream: the share of its frames that it answered rightly.

    Parameters
    ----------
    still : float
        Accuracy of the network on the still test images.
    accuracy : dict[str, float]
        {method: accuracy}; `static` is the network as it is.
    settings : dict[str, str]
        {method: what was chosen on the practice stream}.
    practice : dict[str, float]
        {method: accuracy on the practice stream, with these settings}.
    by_rows, by_ink : dict[str, dict[str, float]]
        {method: accuracy by how much is hidden, and on noise}.
    """

    stream: str
    seed: int
    video: str
    n_frames: int
    still: float
    accuracy: dict[str, float]
    settings: dict[str, str]
    practice: dict[str, float]
    by_rows: dict[str, dict[str, float]]
    by_ink: dict[str, dict[str, float]]


@one_thread()
def run(params: Adaptation, model: StillModel, train: Images, test: Images, *, seed: int) -> AdaptationResult:
    """Choose settings on a stream of the last training images, then follow the stream of the test images.

    Parameters
    ----------
    model : StillModel
        Trained on the still training images (and noise); `train` and `test` are of the same kind.

    Examples
    --------
    >>> Adaptation(stream="cinema")
    Traceback (most recent call last):
    ValueError: Adaptation.stream must be one of 'omnist', ..., 'shuffled'; got 'cinema'
    """
    rehearsed = "omnist" if params.stream == "shuffled" else params.stream
    practice = see(model, make_stream(rehearsed, train[-params.practice_images :], seed + PRACTICE_SEED))
    video = make_stream(params.stream, test, seed)
    seen = see(model, video)
    accuracy, settings, practised, classes = {}, {}, {}, {}
    for name, method in methods(practice.labels).items():
        chosen, practised[name] = choose(method, practice)
        settings[name] = ", ".join(f"{key} {value:g}" for key, value in chosen.items())
        classes[name] = np.asarray(method.answer(seen, **chosen).argmax(axis=1), np.int64)
        accuracy[name] = metrics.accuracy(classes[name], video.labels)
    return AdaptationResult(
        stream=params.stream,
        seed=seed,
        video=video.name,
        n_frames=len(video),
        still=metrics.accuracy(classify(model, test), test.labels),
        accuracy=accuracy,
        settings=settings,
        practice=practised,
        by_rows={name: metrics.accuracy_by_rows(said, video) for name, said in classes.items()},
        by_ink={name: metrics.accuracy_by_ink(said, video) for name, said in classes.items()},
    )


def make_stream(name: str, images: Images, seed: int) -> Video:
    """The video of a stream by its name.

    Examples
    --------
    >>> one = Images(np.full((1, 28, 28), 9, np.uint8), np.array([4]))
    >>> make_stream("fading", one, seed=0).labels[:2]
    array([4, 4])
    """
    check.one_of("stream", name, STREAMS)
    if name in _DRIFTS:
        return make_drift(images, seed=seed, params=_DRIFTS[name]())
    if name == "unseparated":
        return make_omnist(images, seed=seed, params=Omnist(noise=NoiseObject(n_frames=0)))
    video = make_omnist(images, seed=seed)
    return _in_random_order(video, seed) if name == "shuffled" else video


def _in_random_order(video: Video, seed: int) -> Video:
    order = np.random.default_rng([seed, len(video)]).permutation(len(video))
    frames = video.frames
    return Video(
        labels=video.labels[order],
        rows_hidden=video.rows_hidden[order],
        ink_hidden=video.ink_hidden[order],
        digit=video.digit[order],
        frame_shape=video.frame_shape,
        source=lambda start, stop: frames[order[start:stop]],
        name=f"{video.name}, shuffled",
    )


def see(model: StillModel, video: Video) -> Seen:
    """What a network that does not adapt makes of every frame."""
    parts = list(respond(model, video))
    with torch.no_grad():
        weight, bias = model.head.weight.numpy().copy(), model.head.bias.numpy().copy()
    return Seen(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.logits for part in parts]),
        weight,
        bias,
        video.labels,
    )


ROWS = {
    "cnn_elastic": "elastic",
    "cnn_carry_over": "kernel carry-over",
    "cnn_feedback": "class feedback",
    "cnn_markov": "informed Markov filter",
    "cnn_static_best": "static, noise shifted",
}
"""Models of the comparison, and the method of each; the network as it is has a task of its own."""


def score_methods(adaptation: AdaptationResult, train: Images, test: Images) -> Scores:
    """What the CNN reached on the occluded video with the methods that stand in the comparison."""
    return Scores(
        n_train=len(train),
        n_test=len(test),
        n_frames=adaptation.n_frames,
        mnist_test={model: adaptation.still for model in ROWS if model != "cnn_static_best"},
        omnist_test={model: adaptation.accuracy[method] for model, method in ROWS.items()},
        by_rows_hidden={model: adaptation.by_rows[method] for model, method in ROWS.items()},
        by_ink_hidden={model: adaptation.by_ink[method] for model, method in ROWS.items()},
    )


def tasks(scope: Scope, seed: int) -> list[Added]:
    """The elastic head on the occluded video; with a full scope also on other streams, on clothing, and on the MLP.

    What a full scope adds is run with few seeds.
    """
    practice = 1000 if scope.limit is None else max(2, scope.limit // 10)

    def follow(name: str, stream: str, network: str, seconds: float) -> Task:
        images = both_splits(scope.limit, "fashion-mnist" if stream == "fashion-mnist" else "mnist")
        adaptation = Adaptation(stream=stream, practice_images=practice)
        params = {"params": adaptation, "model": StillNetwork(), **images}
        needs, seconds = {"network": network}, seconds * scope.share
        return Task(name=name, run=run, params=params, seed=seed, needs=needs, seconds=seconds)

    adapting = follow(f"adaptation-{seed}", "omnist", f"cnn_on_mnist-{seed}", 55)
    needs, images = {"adaptation": adapting.name}, both_splits(scope.limit)
    scored = Task(name=f"cnn_methods-{seed}", run=score_methods, params=images, seed=seed, needs=needs)
    found: list[Added] = [((*ROWS, "adaptation"), adapting), (tuple(ROWS), scored)]
    if not scope.full or seed not in scope.fewest_seeds:
        return found
    clothing = training_task("cnn", scope, seed, 240, source="fashion-mnist")
    networks = dict.fromkeys(STREAMS, ("cnn", f"cnn_on_mnist-{seed}"))
    networks |= {"fashion-mnist": ("cnn", clothing.name), "omnist": ("mlp", f"mlp_on_mnist-{seed}")}
    found.append((("adaptation",), clothing))
    for stream, (kind, network) in networks.items():
        found.append((("adaptation",), follow(f"adaptation_{kind}_{stream}-{seed}", stream, network, 60)))
    return found
