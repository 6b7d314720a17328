"""The paper's baselines on OMNIST: networks trained with labels, on still images and noise or on the training video.

Methods, "ANN training and testing". The test video is one stream: a recurrent network keeps its state from the first
frame to the last.
"""

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
    raise missing_extra("springback_paper.tasks.baselines", "torch") from None

from springback import check
from springback.data import make_omnist
from springback.streaming.metrics import accuracy
from springback.streaming.readout import refuse_overlap
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_paper.baselines import (
    SequenceModel,
    SequenceTraining,
    StillModel,
    StillTraining,
    classify,
    train_sequence,
    train_still,
)
from springback_paper.baselines.learning import OPTIMISERS, OnProgress, ignore_progress
from springback_paper.baselines.models import MODELS
from springback_paper.inputs.digits import Digits, both_splits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Made, Task
from springback_paper.tasks.entry import Added

_TRAINING_SEEDS = 1_000_000
_STILL = ("mlp", "cnn")
_HIDDEN = {"mlp": 40, "cnn": 400, "rnn": 400, "lstm": 90}
_EPOCHS = {
    ("mlp", "mnist"): 20,
    ("cnn", "mnist"): 20,
    ("mlp", "omnist"): 5,
    ("cnn", "omnist"): 1,
    ("rnn", "omnist"): 2,
    ("lstm", "omnist"): 2,
}

AS_LARGE = 400
"""Hidden units with which the MLP has as many parameters as the circuit."""

VIDEO_SECONDS = {"mlp": 65, "cnn": 145, "rnn": 90, "lstm": 80}
"""What training on the video takes on one core, roughly."""


@dataclass(frozen=True, kw_only=True)
class BaselineOmnist:
    """What to run. Batches and sequences are the defaults of `springback_paper.baselines`.

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
    optimiser, learning_rate
        "adam", or "sgd" (plain gradient descent), and its rate.

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
    optimiser: str = "adam"
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        check.one_of("BaselineOmnist.model", self.model, tuple(_HIDDEN))
        check.one_of("BaselineOmnist.trained_on", self.trained_on, ("mnist", "omnist"))
        check.require(
            self.trained_on == "omnist" or self.model in _STILL,
            "BaselineOmnist.trained_on",
            "be 'omnist' for a recurrent network",
            self.trained_on,
        )
        optional = {name: 1 for name in ("n_hidden", "epochs") if getattr(self, name) is not None}
        check.sizes(self, noise_frames=0, lanes=1, **optional)
        check.one_of("BaselineOmnist.optimiser", self.optimiser, OPTIMISERS)
        check.real("BaselineOmnist.learning_rate", self.learning_rate, above=0)

    @property
    def key(self) -> str:
        """Of its row in `springback_paper.models`."""
        size = f"_{AS_LARGE}" if self.n_hidden == AS_LARGE else ""
        return f"{self.model}{size}_{self.trained_on}" + ("" if self.optimiser == "adam" else f"_{self.optimiser}")


def evaluate(
    params: BaselineOmnist,
    train: Images,
    test: Images,
    seed: int,
    *,
    checkpoint: Path | None = None,
    on_progress: OnProgress = ignore_progress,
) -> Scores:
    """Train on some images, then classify others, still and as their video.

    The seed drives the first weights, the order of frames, dropout and both videos.

    Examples
    --------
    >>> halves = np.zeros((60, 28, 28), np.uint8)
    >>> halves[::2, :14], halves[1::2, 14:] = 255, 255
    >>> halves[:, :, 5] = np.arange(60)[:, None]
    >>> images = Images(halves, np.arange(60) % 2)
    >>> small = BaselineOmnist(model="mlp", trained_on="mnist", n_hidden=5, epochs=200, noise_frames=10)
    >>> evaluate(small, images[:40], images[40:], seed=0).mnist_test
    {'mlp_mnist': 1.0}
    """
    refuse_overlap(train, test)
    model = train_model(params, train, seed, checkpoint=checkpoint, on_progress=on_progress)
    return score(params, model, train, test, seed)


def score(
    params: BaselineOmnist,
    model: StillModel | SequenceModel,
    train: Images,
    test: Images,
    seed: int,
    *,
    key: str | None = None,
) -> Scores:
    """How a trained network does on still test images, unless it is recurrent, and on their video.

    Parameters
    ----------
    key : str | None
        Of the model in the scores; None: `params.key`.
    """
    video, name = make_omnist(test, seed=seed), key or params.key
    still = {name: accuracy(classify(model, test), test.labels)} if isinstance(model, StillModel) else {}
    return Scores.of({name: classify(model, video)}, video, n_train=len(train), n_test=len(test), mnist_test=still)


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
    how: dict[str, Any] = {"learning_rate": params.learning_rate, "optimiser": params.optimiser}
    if isinstance(new, SequenceModel):
        lessons = SequenceTraining(passes=_epochs(params), lanes=params.lanes, **how)
        return train_sequence(new, video, lessons, checkpoint=checkpoint, on_progress=on_progress)
    frames = video if params.trained_on == "omnist" else with_noise(train, video, params.noise_frames)
    schooling = StillTraining(epochs=_epochs(params), **how)
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


@dataclass(frozen=True)
class StillNetwork(Made):
    """The trained network that a task needs, ready to answer."""

    def make(self, seed: int, inputs: Mapping[str, Any]) -> StillModel:  # noqa: ARG002
        """The network."""
        model: StillModel = inputs["network"].model()
        return model


def train_still_network(params: BaselineOmnist, train: Images, seed: int) -> TrainedStill:
    """A network trained on still digits and noise."""
    model = train_model(params, train, seed)
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    return TrainedStill(
        kind=params.model,
        n_hidden=model.head.in_features,
        names=tuple(state),
        shapes=tuple(tuple(int(n) for n in array.shape) for array in state.values()),
        values=np.concatenate([array.ravel() for array in state.values()]).astype(np.float32),
    )


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Networks trained on still digits and noise, and on the video; beyond the few seeds only what others need."""
    found: list[Added] = []
    images, few = both_splits(scope.limit), seed in scope.few_seeds
    for kind, seconds in (("mlp", 12), ("cnn", 170)) if few else (("cnn", 170),):
        trained = training_task(kind, scope, seed, seconds)
        params = {"params": trained.params["params"], "model": StillNetwork(), **images}
        needs = {"network": trained.name}
        name, takes = f"{kind}_mnist", 10 * scope.share
        scored = Task(name=f"{name}-{seed}", run=score, params=params, seed=seed, needs=needs, seconds=takes)
        found += [((name,), trained), ((name,), scored)]
    for kind, seconds in VIDEO_SECONDS.items() if few else ():
        on_video = BaselineOmnist(model=kind, trained_on="omnist", lanes=lanes_of(scope))
        found.append(evaluation(on_video, scope, seed, seconds))
    if scope.full and seed in scope.fewest_seeds:
        for source, seconds in (("mnist", 30), ("omnist", 150)):
            as_large = BaselineOmnist(model="mlp", trained_on=source, n_hidden=AS_LARGE)
            found.append(evaluation(as_large, scope, seed, seconds))
    return found


def evaluation(params: BaselineOmnist, scope: Scope, seed: int, seconds: float) -> Added:
    """The task that trains a network and scores it."""
    name, given = params.key, {"params": params, **both_splits(scope.limit)}
    takes = seconds * scope.share
    return (name,), Task(name=f"{name}-{seed}", run=evaluate, params=given, seed=seed, needs={}, seconds=takes)


def lanes_of(scope: Scope) -> int:
    """As many as the paper has; fewer for a quick look, whose video is too short for them.

    Examples
    --------
    >>> lanes_of(Scope()), lanes_of(Scope(limit=10))
    (128, 5)
    """
    return 128 if scope.limit is None else min(128, scope.limit // 2)


def training_task(kind: str, scope: Scope, seed: int, seconds: float, *, source: str = "mnist") -> Task:
    """The training of a network on still images and noise; other tasks need it by its name."""
    return Task(
        name=f"{kind}_on_{source}-{seed}",
        run=train_still_network,
        params={
            "params": BaselineOmnist(model=kind, trained_on="mnist"),
            "train": Digits("train", scope.limit, source),
        },
        seed=seed,
        needs={},
        seconds=seconds * scope.share,
    )
