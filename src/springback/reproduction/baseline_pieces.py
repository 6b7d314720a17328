"""The networks trained with labels as pieces (extra: torch): the paper's baselines, and a CNN with an elastic head."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback.reproduction.baseline_pieces", "torch") from None

from springback.baselines import StillModel, classify
from springback.baselines.models import MODELS
from springback.experiments import adaptation, baselines_omnist
from springback.experiments.adaptation import Adaptation, AdaptationResult
from springback.experiments.baselines_omnist import BaselineOmnist
from springback.readout import accuracy, accuracy_by_ink, accuracy_by_rows
from springback.reproduction.digits import digits, video_of_tests
from springback.reproduction.scores import Scores


@dataclass(frozen=True, kw_only=True)
class BaselinePiece:
    """A baseline, how many images of each split (None: all), and whether they show clothing instead of digits."""

    baseline: BaselineOmnist
    limit: int | None = None
    fashion: bool = False


@dataclass(frozen=True, kw_only=True)
class AdaptationPiece:
    """Which stream the trained network follows, and how many images of each split (None: all)."""

    adaptation: Adaptation
    limit: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedStill:
    """A trained network that sees single frames: its kind and size, and all its numbers in a row, float32.

    names, shapes  of the tensors that `values` holds one after the other
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


def train_still(params: BaselinePiece, seed: int, inputs: Mapping[str, Any]) -> TrainedStill:  # noqa: ARG001
    """A network trained on still digits and noise."""
    model = baselines_omnist.train_model(params.baseline, digits("train", params.limit, fashion=params.fashion), seed)
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    return TrainedStill(
        kind=params.baseline.model,
        n_hidden=model.head.in_features,
        names=tuple(state),
        shapes=tuple(tuple(int(n) for n in array.shape) for array in state.values()),
        values=np.concatenate([array.ravel() for array in state.values()]).astype(np.float32),
    )


def score_still_network(params: BaselinePiece, seed: int, inputs: Mapping[str, Any]) -> Scores:
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


def score_baseline(params: BaselinePiece, seed: int, inputs: Mapping[str, Any]) -> Scores:  # noqa: ARG001
    """A baseline of the paper, trained and tested."""
    found = baselines_omnist.evaluate(
        params.baseline, digits("train", params.limit), digits("test", params.limit), seed
    )
    return _scores(
        params,
        mnist_test=found.mnist_test,
        omnist_test=found.omnist,
        by_rows_hidden=found.by_rows_hidden,
        by_ink_hidden=found.by_ink_hidden,
        n_frames=found.n_frames,
    )


def follow_stream(params: AdaptationPiece, seed: int, inputs: Mapping[str, Any]) -> AdaptationResult:
    """The trained network on a stream, with an elastic head and in every way that rivals it."""
    fashion = params.adaptation.stream == "fashion"
    train, tests = (digits(split, params.limit, fashion=fashion) for split in ("train", "test"))
    return adaptation.run(params.adaptation, inputs["network"].model(), train, tests, seed=seed)


def score_elastic_head(params: AdaptationPiece, seed: int, inputs: Mapping[str, Any]) -> Scores:  # noqa: ARG001
    """What the CNN with an elastic head reached on the occluded video."""
    found = inputs["adaptation"]
    return Scores(
        n_train=len(digits("train", params.limit)),
        n_test=len(digits("test", params.limit)),
        n_frames=found.n_frames,
        mnist_test={"cnn_elastic": found.still},
        omnist_test={"cnn_elastic": found.accuracy["elastic"]},
        by_rows_hidden={"cnn_elastic": found.elastic_by_rows},
        by_ink_hidden={"cnn_elastic": found.elastic_by_ink},
    )


def _scores(params: BaselinePiece, *, n_frames: int, mnist_test: float | None, **values: Any) -> Scores:
    model = f"{params.baseline.model}_{params.baseline.trained_on}"
    return Scores(
        n_train=len(digits("train", params.limit)),
        n_test=len(digits("test", params.limit)),
        n_frames=n_frames,
        mnist_test={} if mnist_test is None else {model: mnist_test},
        **{name: {model: value} for name, value in values.items()},
    )
