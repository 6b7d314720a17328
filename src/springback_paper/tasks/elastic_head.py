"""A network trained on still digits follows their video: with an elastic head, and with every other method.

One network, one video, one pass, batch size one, no labels. Every method has its settings chosen by the same rule: the
best of its grid on a video of *training* digits. `springback bench streams` compares methods on other streams.
"""

from dataclasses import dataclass

import numpy as np

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_paper.tasks.elastic_head", "torch") from None

from springback import check
from springback.data import make_omnist
from springback.streaming import metrics
from springback.streaming.records import Images, Video
from springback_paper.baselines import StillModel, classify, respond
from springback_paper.baselines.torch_state import one_thread
from springback_paper.inputs.digits import both_splits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.adaptation_methods import Seen, choose, methods
from springback_paper.tasks.baselines import StillNetwork
from springback_paper.tasks.entry import Added

PRACTICE_SEED = 1_000_000
"""Added to the seed for a video of training images, so that it is never the test video's."""


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """What to run.

    Parameters
    ----------
    practice_images : int
        How many of the last training images make the video that settings are chosen on.
    """

    practice_images: int = 1000

    def __post_init__(self) -> None:
        check.integer("Adaptation.practice_images", self.practice_images, low=1)


@dataclass(frozen=True, kw_only=True)
class AdaptationResult:
    """How each method did on the video: the share of its frames that it answered correctly.

    Parameters
    ----------
    still : float
        Accuracy of the network on the still test images.
    accuracy : dict[str, float]
        {method: accuracy}; `static` is the network as it is.
    settings : dict[str, str]
        {method: what was chosen on the practice video}.
    practice : dict[str, float]
        {method: accuracy on the practice video, with these settings}.
    by_rows, by_ink : dict[str, dict[str, float]]
        {method: accuracy by how much is hidden, and on noise}.
    """

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
    """Choose settings on the video of the last training images, then follow the video of the test images.

    Parameters
    ----------
    model : StillModel
        Trained on the still training images and noise.
    """
    practice = see(model, make_omnist(train[-params.practice_images :], seed=seed + PRACTICE_SEED))
    video = make_omnist(test, seed=seed)
    seen = see(model, video)
    accuracy, settings, practised, classes = {}, {}, {}, {}
    for name, method in methods(practice.labels).items():
        chosen, practised[name] = choose(method, practice)
        settings[name] = ", ".join(f"{key} {value:g}" for key, value in chosen.items())
        classes[name] = np.asarray(method.answer(seen, **chosen).argmax(axis=1), np.int64)
        accuracy[name] = metrics.accuracy(classes[name], video.labels)
    return AdaptationResult(
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
    """The elastic head and the other methods on the occluded video."""
    practice = 1000 if scope.limit is None else max(2, scope.limit // 10)
    images = both_splits(scope.limit)
    adapting = Task(
        name=f"adaptation-{seed}",
        run=run,
        params={"params": Adaptation(practice_images=practice), "model": StillNetwork(), **images},
        seed=seed,
        needs={"network": f"cnn_on_mnist-{seed}"},
        seconds=25 * scope.share,
    )
    needs = {"adaptation": adapting.name}
    scored = Task(name=f"cnn_methods-{seed}", run=score_methods, params=images, seed=seed, needs=needs)
    return [((*ROWS, "adaptation"), adapting), (tuple(ROWS), scored)]
