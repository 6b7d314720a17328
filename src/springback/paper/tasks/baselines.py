"""The paper's baselines on OMNIST: networks trained with labels, on still images and noise or on the training video.

Methods, "ANN training and testing". The test video is one stream: a recurrent network keeps its state from the first
frame to the last.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback.paper.tasks.baselines", "torch") from None

from springback import check
from springback.datasets import load_mnist, make_omnist
from springback.paper.baselines import (
    SequenceModel,
    SequenceTraining,
    StillModel,
    StillTraining,
    classify,
    n_parameters,
    train_sequence,
    train_still,
)
from springback.paper.baselines.learning import OnProgress, ignore_progress
from springback.paper.baselines.models import MODELS
from springback.paper.digits import digits, video_of_tests
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.tasks.entry import Added
from springback.readout import accuracy, accuracy_by_ink, accuracy_by_rows, refuse_overlap
from springback.records import NOISE_LABEL, Images, Video

_TRAINING_SEEDS = 1_000_000
_STILL = ("mlp", "cnn")
_HIDDEN = {"mlp": 40, "cnn": 400, "rnn": 400, "lstm": 90}
_EPOCHS = {
    ("mlp", "mnist"): 20,
    ("cnn", "mnist"): 20,
    ("mlp", "omnist"): 5,
    ("cnn", "omnist"): 2,
    ("rnn", "omnist"): 2,
    ("lstm", "omnist"): 2,
}


@dataclass(frozen=True, kw_only=True)
class BaselineOmnist:
    """What to run. Learning rate, batches and sequences are the defaults of `springback.paper.baselines`.

    Parameters
    ----------
    model : str
        "mlp", "cnn", "rnn" or "lstm".
    trained_on : str
        "mnist": the still training images and noise frames (mlp, cnn); "omnist": their video (all).
    n_hidden : int | None
        Units of the hidden layer; None: the paper's.
    epochs : int | None
        How often the training data are seen; None: the paper's, on the video fewer for mlp and cnn.
    noise_frames : int
        How many noise frames of the training video join the still images.
    lanes : int
        Places of the training video that a recurrent network follows side by side.

    Examples
    --------
    >>> BaselineOmnist(model="rnn", trained_on="mnist")
    Traceback (most recent call last):
    ValueError: BaselineOmnist.trained_on must be 'omnist' for a recurrent network; got 'mnist'
    """

    model: str
    trained_on: str
    n_hidden: int | None = None
    epochs: int | None = None
    noise_frames: int = 6000
    lanes: int = 128

    def __post_init__(self) -> None:
        check.one_of("BaselineOmnist.model", self.model, tuple(_HIDDEN))
        check.one_of("BaselineOmnist.trained_on", self.trained_on, ("mnist", "omnist"))
        check.require(
            self.trained_on == "omnist" or self.model in _STILL,
            "BaselineOmnist.trained_on",
            "be 'omnist' for a recurrent network",
            self.trained_on,
        )
        if self.n_hidden is not None:
            check.integer("BaselineOmnist.n_hidden", self.n_hidden, low=1)
        if self.epochs is not None:
            check.integer("BaselineOmnist.epochs", self.epochs, low=1)
        check.integer("BaselineOmnist.noise_frames", self.noise_frames, low=0)
        check.integer("BaselineOmnist.lanes", self.lanes, low=1)


@dataclass(frozen=True, kw_only=True)
class BaselineOmnistResult:
    """One run. Accuracies are in percent.

    Parameters
    ----------
    mnist_test : float | None
        On the still test images; None for recurrent networks.
    omnist : float
        On the frames of the test video.
    by_rows_hidden, by_ink_hidden : dict[str, float]
        The same, as `springback.readout` names the groups.
    training_seconds : float
        On one core; if training was interrupted, since it was taken up again.
    video, n_frames
        The test video.
    """

    model: str
    trained_on: str
    seed: int
    n_hidden: int
    epochs: int
    n_parameters: int
    training_seconds: float
    mnist_test: float | None
    omnist: float
    by_rows_hidden: dict[str, float]
    by_ink_hidden: dict[str, float]
    video: str
    n_frames: int


def paper_baselines() -> tuple[BaselineOmnist, ...]:
    """The six runs of the paper, and an MLP with as many parameters as the spiking network.

    Examples
    --------
    >>> len(paper_baselines())
    7
    """
    still = [BaselineOmnist(model=model, trained_on=data) for data in ("mnist", "omnist") for model in _STILL]
    recurrent = [BaselineOmnist(model=model, trained_on="omnist") for model in ("rnn", "lstm")]
    return (*still, *recurrent, BaselineOmnist(model="mlp", trained_on="mnist", n_hidden=400))


def run(params: BaselineOmnist, seed: int) -> BaselineOmnistResult:
    """Train on all of MNIST's training images, then follow the video of its test images.

    Examples
    --------
    >>> run(BaselineOmnist(model="elman", trained_on="omnist"), seed=0)
    Traceback (most recent call last):
    ValueError: BaselineOmnist.model must be one of 'mlp', 'cnn', 'rnn', 'lstm'; got 'elman'
    """
    return evaluate(params, load_mnist("train"), load_mnist("test"), seed)


def evaluate(
    params: BaselineOmnist,
    train: Images,
    test: Images,
    seed: int,
    *,
    checkpoint: Path | None = None,
    on_progress: OnProgress = ignore_progress,
) -> BaselineOmnistResult:
    """`run` on given images: for tuning, some of the training images take the place of the test images.

    The seed drives the first weights, the order of frames, dropout and both videos.

    Examples
    --------
    >>> halves = np.zeros((60, 28, 28), np.uint8)
    >>> halves[::2, :14], halves[1::2, 14:] = 255, 255
    >>> halves[:, :, 5] = np.arange(60)[:, None]
    >>> images = Images(halves, np.arange(60) % 2)
    >>> small = BaselineOmnist(model="mlp", trained_on="mnist", n_hidden=5, epochs=200, noise_frames=10)
    >>> evaluate(small, images[:40], images[40:], seed=0).mnist_test
    100.0
    """
    refuse_overlap(train, test)
    began = time.perf_counter()
    model = train_model(params, train, seed, checkpoint=checkpoint, on_progress=on_progress)
    seconds = time.perf_counter() - began
    video = make_omnist(test, seed=seed)
    predicted = classify(model, video)
    still = accuracy(classify(model, test), test.labels) if isinstance(model, StillModel) else None
    return BaselineOmnistResult(
        model=params.model,
        trained_on=params.trained_on,
        seed=seed,
        n_hidden=_n_hidden(params),
        epochs=_epochs(params),
        n_parameters=n_parameters(model),
        training_seconds=seconds,
        mnist_test=still,
        omnist=accuracy(predicted, video.labels),
        by_rows_hidden=accuracy_by_rows(predicted, video),
        by_ink_hidden=accuracy_by_ink(predicted, video),
        video=video.name,
        n_frames=len(video),
    )


def train_model(
    params: BaselineOmnist,
    train: Images,
    seed: int,
    *,
    checkpoint: Path | None = None,
    on_progress: OnProgress = ignore_progress,
) -> StillModel | SequenceModel:
    """The trained network, in eval mode."""
    new: StillModel | SequenceModel = MODELS[params.model](n_hidden=_n_hidden(params), seed=seed)
    video = training_video(train, seed)
    if isinstance(new, SequenceModel):
        lessons = SequenceTraining(passes=_epochs(params), lanes=params.lanes)
        return train_sequence(new, video, lessons, checkpoint=checkpoint, on_progress=on_progress)
    frames = video if params.trained_on == "omnist" else with_noise(train, video, params.noise_frames)
    schooling = StillTraining(epochs=_epochs(params))
    return train_still(new, frames, schooling, seed=seed, checkpoint=checkpoint, on_progress=on_progress)


def training_video(train: Images, seed: int) -> Video:
    """The video of the training images; its durations and noise are not those of the test video of the same seed.

    Examples
    --------
    >>> one = Images(np.zeros((1, 28, 28), np.uint8), np.array([4]))
    >>> bool((training_video(one, seed=0).frames[-1] == make_omnist(one, seed=0).frames[-1]).all())
    False
    """
    return make_omnist(train, seed=seed + _TRAINING_SEEDS)


def n_training_frames(params: BaselineOmnist, train: Images, seed: int) -> int:
    """How many frames a training shows, roughly: what a progress bar counts to.

    Examples
    --------
    >>> one = Images(np.zeros((1, 28, 28), np.uint8), np.array([4]))
    >>> n_training_frames(BaselineOmnist(model="mlp", trained_on="mnist"), one, seed=0)
    100
    """
    video = training_video(train, seed)
    shown = len(train) + min(params.noise_frames, int((video.labels == NOISE_LABEL).sum()))
    return _epochs(params) * (len(video) if params.trained_on == "omnist" else shown)


def with_noise(train: Images, video: Video, n_noise: int) -> Images:
    """The still images and, as the eleventh class, the first noise frames of their video.

    Examples
    --------
    >>> one = Images(np.zeros((1, 28, 28), np.uint8), np.array([4]))
    >>> with_noise(one, make_omnist(one), 2).labels
    array([ 4, 10, 10])
    """
    at = np.flatnonzero(video.labels == NOISE_LABEL)[:n_noise]
    noise = video.source(0, int(at[-1]) + 1)[at] if len(at) else np.empty((0, *video.frame_shape), np.uint8)
    return Images(np.concatenate([train.pixels, noise]), np.concatenate([train.labels, np.full(len(at), NOISE_LABEL)]))


def _n_hidden(params: BaselineOmnist) -> int:
    return _HIDDEN[params.model] if params.n_hidden is None else params.n_hidden


def _epochs(params: BaselineOmnist) -> int:
    return _EPOCHS[params.model, params.trained_on] if params.epochs is None else params.epochs


@dataclass(frozen=True, kw_only=True)
class BaselineParams:
    """A baseline, how many images of each split (None: all), and whether they show clothing instead of digits."""

    baseline: BaselineOmnist
    limit: int | None = None
    fashion: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedStill:
    """A trained network that sees single frames: its kind and size, and all its numbers in a row, float32.

    Parameters
    ----------
    names, shapes
        Of the tensors that `values` holds one after the other.
    """

    kind: str
    n_hidden: int
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    values: NDArray[np.float32]

    def model(self) -> StillModel:
        """The network, ready to answer."""
        network = MODELS[self.kind](n_hidden=self.n_hidden, seed=0)
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        parts = np.split(self.values, ends[:-1])
        state = {
            name: torch.tensor(part).reshape(shape)
            for name, part, shape in zip(self.names, parts, self.shapes, strict=True)
        }
        network.load_state_dict(state)
        network.eval()
        assert isinstance(network, StillModel)
        return network


def train_still_network(params: BaselineParams, seed: int, inputs: Mapping[str, Any]) -> TrainedStill:  # noqa: ARG001
    """A network trained on still digits and noise."""
    model = train_model(params.baseline, digits("train", params.limit, fashion=params.fashion), seed)
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    return TrainedStill(
        kind=params.baseline.model,
        n_hidden=model.head.in_features,
        names=tuple(state),
        shapes=tuple(tuple(int(n) for n in array.shape) for array in state.values()),
        values=np.concatenate([array.ravel() for array in state.values()]).astype(np.float32),
    )


def score_still_network(params: BaselineParams, seed: int, inputs: Mapping[str, Any]) -> Scores:
    """A network trained on still digits: on the still test digits and on their video."""
    model = inputs["network"].model()
    tests, video = digits("test", params.limit), video_of_tests(params.limit, seed)
    answers = classify(model, video)
    return _scores(
        params,
        mnist_test=accuracy(classify(model, tests), tests.labels),
        omnist_test=accuracy(answers, video.labels),
        by_rows_hidden=accuracy_by_rows(answers, video),
        by_ink_hidden=accuracy_by_ink(answers, video),
        n_frames=len(video),
    )


def score_baseline(params: BaselineParams, seed: int, inputs: Mapping[str, Any]) -> Scores:  # noqa: ARG001
    """A baseline of the paper, trained and tested."""
    found = evaluate(params.baseline, digits("train", params.limit), digits("test", params.limit), seed)
    return _scores(
        params,
        mnist_test=found.mnist_test,
        omnist_test=found.omnist,
        by_rows_hidden=found.by_rows_hidden,
        by_ink_hidden=found.by_ink_hidden,
        n_frames=found.n_frames,
    )


def _scores(params: BaselineParams, *, n_frames: int, mnist_test: float | None, **values: Any) -> Scores:
    model = f"{params.baseline.model}_{params.baseline.trained_on}"
    return Scores(
        n_train=len(digits("train", params.limit)),
        n_test=len(digits("test", params.limit)),
        n_frames=n_frames,
        mnist_test={} if mnist_test is None else {model: mnist_test},
        **{name: {model: value} for name, value in values.items()},
    )


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Networks trained on still digits and noise; with a full scope also those trained on the video."""
    found: list[Added] = []
    for kind, seconds in (("mlp", 30), ("cnn", 240)):
        trained = training_task(kind, scope, seed, seconds)
        scored = Task(
            name=f"{kind}_mnist-{seed}",
            run=score_still_network,
            params=trained.params,
            seed=seed,
            needs={"network": trained.name},
            seconds=10 * scope.share,
        )
        found += [((f"{kind}_mnist",), trained), ((f"{kind}_mnist",), scored)]
    for kind, seconds in (("mlp", 120), ("cnn", 500), ("rnn", 600), ("lstm", 600)) if scope.full else ():
        task = Task(
            name=f"{kind}_omnist-{seed}",
            run=score_baseline,
            params=BaselineParams(baseline=BaselineOmnist(model=kind, trained_on="omnist"), limit=scope.limit),
            seed=seed,
            needs={},
            seconds=seconds * scope.share,
        )
        found.append(((f"{kind}_omnist",), task))
    return found


def training_task(kind: str, scope: Scope, seed: int, seconds: float, *, fashion: bool = False) -> Task:
    """The training of a network on still images and noise; other tasks need it by its name."""
    baseline = BaselineOmnist(model=kind, trained_on="mnist")
    return Task(
        name=f"{kind}_on_{'fashion' if fashion else 'mnist'}-{seed}",
        run=train_still_network,
        params=BaselineParams(baseline=baseline, limit=scope.limit, fashion=fashion),
        seed=seed,
        needs={},
        seconds=seconds * scope.share,
    )
