"""Elastic layers inside a network: each layer alone, all of them, the head alone, and the head with one of the others.

The networks were trained on still digits and noise; the CNN is the one that is shipped. Every choice has the same
search, on a video of the last training digits: a layer alone over its pull, memory and kappa; a layer beside the head
over its own, with those of the head alone; all layers with these, and all hidden pulls multiplied by one factor. Videos
are followed as streams side by side.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_paper.figures.hidden", "torch") from None

from springback import check
from springback.data import make_omnist
from springback.data.pretrained import shipped_cnn
from springback.heads import Springs
from springback.heads.search import Range, search
from springback.streaming.records import Images, Video
from springback.streaming.wording import percent
from springback.torch import ElasticFilters2d, ElasticLinear, track
from springback_paper.baselines import Cnn, StillModel
from springback_paper.baselines.torch_state import one_thread
from springback_paper.figures.exhibit import THEORY, Exhibit, seeds_in_words
from springback_paper.figures.style import BLUE, house_style
from springback_paper.figures.table import Table, tidy
from springback_paper.run_scope import Scope
from springback_paper.tasks.baselines import TrainedStill
from torch import nn

Floats = NDArray[np.float64]
Chosen = Mapping[str, Springs]
"""The springs of each layer that is elastic."""

_RANGES = {
    "pull": Range(0.05, 200.0, log=True),
    "memory": Range(0.3, 8.0, log=True),
    "kappa": Range(0.2, 10.0, log=True),
}
_FACTOR = {"factor": Range(0.003, 1.0, log=True)}
_PRACTICE_SEED = 4_000_000


@dataclass(frozen=True, kw_only=True)
class HiddenLayers:
    """What to run.

    Parameters
    ----------
    practice_images, test_images : int
        The last training digits, on whose video settings are chosen, and the test digits of each video that counts.
    streams : int
        A video is cut into this many streams, which are followed side by side; each begins at rest.
    trials : int
        Settings tried for each choice.
    """

    practice_images: int = 250
    test_images: int = 300
    streams: int = 25
    trials: int = 12

    def __post_init__(self) -> None:
        check.sizes(self, practice_images=1, test_images=1, streams=1, trials=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class HiddenResult:
    """The accuracy of every choice of elastic layers.

    Parameters
    ----------
    networks, elastic : tuple[str, ...]
        One of each for each choice: the network, and the layers that are elastic.
    practice : Floats
        On the video of training digits, with the settings that were chosen on it, (choices,).
    accuracy : Floats
        On the video of test digits, one for each seed of the video, (choices, seeds).
    settings : tuple[str, ...]
        What was chosen, in words.
    """

    networks: tuple[str, ...]
    elastic: tuple[str, ...]
    practice: Floats
    accuracy: Floats
    settings: tuple[str, ...]
    test_images: int
    trials: int
    seeds: tuple[int, ...]

    def best(self, network: str, *, hidden: bool) -> int:
        """The place of the choice of a network that was best on training video, with a hidden layer or without."""
        places = [
            at
            for at, (one, elastic) in enumerate(zip(self.networks, self.elastic, strict=True))
            if one == network and (elastic not in ("none", "head")) == hidden
        ]
        return max(places, key=lambda at: float(self.practice[at]))


class _Streams:
    """A video as frames (T, B, 28, 28) of streams side by side, and its labels (T, B); what is over is left out."""

    def __init__(self, video: Video, streams: int) -> None:
        steps = max(len(video) // streams, 1)
        count = min(streams, len(video))

        def cut(values: NDArray[Any]) -> NDArray[Any]:
            return np.ascontiguousarray(values[: steps * count].reshape(count, steps, *values.shape[1:]).swapaxes(0, 1))

        self.frames, self.labels = torch.tensor(cut(video.frames)) / 255, cut(video.labels)

    def accuracy(self, model: nn.Module, springs: Chosen) -> float:
        """How often the model is right if these layers are elastic."""
        answers = track(_elastic(model, springs), self.frames).argmax(dim=-1).numpy()
        return float((answers == self.labels).mean())


def _elastic(model: nn.Module, springs: Chosen) -> nn.Module:
    model = copy.deepcopy(model)
    for name, one in springs.items():
        layer = model.get_submodule(name)
        (ElasticFilters2d if isinstance(layer, nn.Conv2d) else ElasticLinear).convert(layer, one)
    return model


@one_thread()
def run(
    params: HiddenLayers,
    mlp: TrainedStill,
    train: Images,
    test: Images,
    *,
    seeds: tuple[int, ...] = (0,),
) -> HiddenResult:
    """Choose the settings of every choice of layers on training digits, then follow videos of test digits."""
    practice = _Streams(make_omnist(train[-params.practice_images :], seed=_PRACTICE_SEED), params.streams)
    parts = [test[at * params.test_images : (at + 1) * params.test_images] for at in range(len(seeds))]
    videos = [_Streams(make_omnist(part, seed=seed), params.streams) for part, seed in zip(parts, seeds, strict=True)]
    networks, elastic, reached, accuracy, settings = [], [], [], [], []
    for model in (mlp.model(), _shipped_network()):
        for name, springs in _choices(model, practice, params.trials).items():
            networks.append(model.kind.upper())
            elastic.append(name)
            reached.append(practice.accuracy(model, springs))
            accuracy.append([video.accuracy(model, springs) for video in videos])
            settings.append("; ".join(f"{layer} {_in_words(one)}" for layer, one in springs.items()))
    return HiddenResult(
        networks=tuple(networks),
        elastic=tuple(elastic),
        practice=np.array(reached),
        accuracy=np.array(accuracy),
        settings=tuple(settings),
        test_images=params.test_images,
        trials=params.trials,
        seeds=tuple(int(seed) for seed in seeds),
    )


def _shipped_network() -> StillModel:
    network = Cnn()
    network.load_state_dict({name: torch.tensor(weights) for name, weights in shipped_cnn().items()})
    return network.eval()


def _choices(model: StillModel, practice: _Streams, trials: int) -> dict[str, Chosen]:
    """Every choice of elastic layers by name, with the settings that are best on the practice video."""

    def best(layer: str, others: Chosen) -> Chosen:
        def score(drawn: dict[str, Any]) -> float:
            return practice.accuracy(model, {**others, layer: Springs(continuity=0.0, **drawn)})

        tried = search(_RANGES, score, n_trials=trials, seed=0)
        return {**others, layer: Springs(continuity=0.0, **max(tried, key=lambda one: one.score).settings)}

    hidden = [
        name for name, layer in model.named_modules() if isinstance(layer, nn.Linear | nn.Conv2d) and name != "head"
    ]
    alone = {name: best(name, {}) for name in [*hidden, "head"]}
    head = alone["head"]
    beside = {name: best(name, head) for name in hidden}

    def weakened(factor: float) -> Chosen:
        springs = {name: beside[name][name] for name in hidden}
        weaker = {name: Springs(**{**vars(one), "pull": (one.pull or 0.0) * factor}) for name, one in springs.items()}
        return {**weaker, **head}

    tried = search(_FACTOR, lambda drawn: practice.accuracy(model, weakened(**drawn)), n_trials=trials, seed=0)
    every = weakened(**max(tried, key=lambda one: one.score).settings)
    return {"none": {}, **alone, **{f"head and {name}": one for name, one in beside.items()}, "all": every}


def _in_words(springs: Springs) -> str:
    return f"pull {springs.pull:.3g}, memory {springs.memory:.3g}, kappa {springs.kappa:.3g}"


@house_style()
def draw(result: HiddenResult) -> Figure:
    """A row for each choice of elastic layers of each network: a dot for each video."""
    figure = Figure(figsize=(6, 3.4), layout="constrained")
    panel = figure.subplots()
    places = np.arange(len(result.elastic))
    for values in result.accuracy.T:
        panel.scatter(100 * values, places, color=BLUE, s=14, zorder=3)
    panel.set_yticks(places, [f"{one}: {name}" for one, name in zip(result.networks, result.elastic, strict=True)])
    panel.invert_yaxis()
    panel.grid(axis="x", color="0.93")
    panel.set_axisbelow(True)
    panel.set_xlabel("accuracy (%) on the frames of the video")
    return figure


def table(result: HiddenResult) -> Table:
    """The accuracy of every choice, by the seed of the video, and its settings."""
    found = tidy(
        {"choice": range(len(result.elastic)), "seed": result.seeds},
        {"accuracy": result.accuracy, "training_video_accuracy": result.practice[:, None]},
    )
    at = np.asarray(found["choice"])
    words = {"network": result.networks, "elastic": result.elastic, "settings": result.settings}
    return {**{name: np.array(column)[at] for name, column in words.items()}, **found}


def _said(result: HiddenResult) -> str:
    """What each network gains by hidden layers, in words."""
    parts = []
    for network in dict.fromkeys(result.networks):
        without, within = (result.accuracy[result.best(network, hidden=one)] for one in (False, True))
        name = result.elastic[result.best(network, hidden=True)]
        parts.append(
            f"{network}: {percent(float(without.mean()))} % with the best choice without hidden layers, "
            f"{percent(float(within.mean()))} % with the best choice with one ({name})"
        )
    return "; ".join(parts)


EXHIBIT = Exhibit(
    title="Elastic layers inside a network",
    section=THEORY,
    draw=draw,
    table=table,
    shows="Networks trained on still digits follow the video with different layers elastic.",
    ran=lambda r: (
        f"videos of {r.test_images:,} test digits each, {seeds_in_words(r.seeds)}; {r.trials} settings tried for each "
        f"choice on a video of training digits. {_said(r)}."
    ),
    paper="hidden layers are named as a next step; no numbers.",
    run=run,
    given=lambda scope: {"params": _params(scope)},
    seconds=200,
    only_full=True,
)


def _params(scope: Scope) -> HiddenLayers:
    if scope.limit is None:
        return HiddenLayers()
    return HiddenLayers(practice_images=5, test_images=5, streams=2, trials=3)
