"""Associative retrieval: an elastic layer whose plasticity is trained, beside other networks of as many parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    from torch import nn
except ImportError:
    raise missing_extra("springback_paper.figures.retrieval", "torch") from None

from springback import check
from springback.streaming.wording import percent
from springback_paper.baselines.models import n_parameters
from springback_paper.baselines.recall import (
    DeltaRetriever,
    ElasticRetriever,
    Lessons,
    PlainRetriever,
    Retriever,
    learn,
)
from springback_paper.baselines.torch_state import seeded
from springback_paper.figures.exhibit import THEORY, Exhibit, seeds_in_words
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, house_style, legend_above
from springback_paper.figures.table import Table, tidy
from springback_paper.run_scope import Scope

Floats = NDArray[np.float64]

_EMBEDDED = 16
_PRACTICE_SEED, _TESTS_SEED = 5_000_000, 6_000_000

NETWORKS: Mapping[str, Callable[[], Retriever]] = MappingProxyType(
    {
        "elastic, per unit": lambda: ElasticRetriever(_EMBEDDED, 45, "unit"),
        "elastic, per synapse": lambda: ElasticRetriever(_EMBEDDED, 25, "synapse"),
        "delta rule": lambda: DeltaRetriever(_EMBEDDED, 24, 14),
        "LSTM": lambda: PlainRetriever(_EMBEDDED, 20, nn.LSTM),
        "RNN": lambda: PlainRetriever(_EMBEDDED, 45, nn.RNN),
    }
)
"""Networks of about 3,900 parameters."""

_COLOURS = dict(zip(NETWORKS, (BLUE, GREEN, ORANGE, RED, BLACK), strict=True))


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """What to run.

    Parameters
    ----------
    lessons : Lessons
        Of every network.
    rates : tuple[float, ...]
        Learning rates; the best of each network is chosen with a seed and strings of its own.
    rate_steps : int
        How long each rate is tried.
    """

    lessons: Lessons = field(default_factory=Lessons)
    rates: tuple[float, ...] = (1e-3, 3e-3, 1e-2)
    rate_steps: int = 750

    def __post_init__(self) -> None:
        check.require(len(self.rates) > 0, "Retrieval.rates", "have at least one value", ())
        check.integer("Retrieval.rate_steps", self.rate_steps, low=self.lessons.every)


@dataclass(frozen=True, kw_only=True, eq=False)
class RetrievalResult:
    """The accuracy of every network on new strings while it learns.

    Parameters
    ----------
    networks : tuple[str, ...]
        By name; `parameters` and `rates` are the number of parameters and the chosen learning rate of each.
    steps, characters : tuple[int, ...]
        After how many steps of training, and of how many characters of keys and values.
    accuracy : Floats
        (networks, seeds, steps, characters).
    """

    networks: tuple[str, ...]
    parameters: tuple[int, ...]
    rates: tuple[float, ...]
    steps: tuple[int, ...]
    characters: tuple[int, ...]
    accuracy: Floats
    strings: int
    seeds: tuple[int, ...]


def run(params: Retrieval, *, seeds: tuple[int, ...] = (0,)) -> RetrievalResult:
    """Choose a learning rate for each network, then train it with every seed."""
    rates = {name: chosen_rate(params, name) for name in NETWORKS}
    accuracy = [[curve(params, name, rates[name], seed) for seed in seeds] for name in NETWORKS]
    lessons = params.lessons
    return RetrievalResult(
        networks=tuple(NETWORKS),
        parameters=tuple(n_parameters(make()) for make in NETWORKS.values()),
        rates=tuple(rates.values()),
        steps=tuple(range(lessons.every, lessons.steps + 1, lessons.every)),
        characters=tuple(2 * pairs for pairs in lessons.pairs),
        accuracy=np.array(accuracy),
        strings=lessons.strings,
        seeds=tuple(int(seed) for seed in seeds),
    )


def chosen_rate(params: Retrieval, name: str) -> float:
    """The learning rate with which a network is best after the steps that each is tried for."""
    brief = replace(params, lessons=replace(params.lessons, steps=params.rate_steps))
    found = {rate: float(curve(brief, name, rate, _PRACTICE_SEED)[-1].mean()) for rate in params.rates}
    return max(found, key=lambda rate: found[rate])


def curve(params: Retrieval, name: str, rate: float, seed: int) -> Floats:
    """The accuracy of a network on new strings while it learns, (steps, characters)."""
    with seeded(seed):
        network = NETWORKS[name]()
    return learn(network, replace(params.lessons, learning_rate=rate), seed=seed, tests_seed=seed + _TESTS_SEED)


@house_style()
def draw(result: RetrievalResult) -> Figure:
    """Accuracy against steps of training on the left, and after the last of them against the length on the right."""
    figure = Figure(figsize=(7.2, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for name, values in zip(result.networks, 100 * result.accuracy, strict=True):
        for panel, places, curves in (
            (left, result.steps, values.mean(axis=2)),
            (right, result.characters, values[:, -1]),
        ):
            mean, spread = curves.mean(axis=0), curves.std(axis=0, ddof=min(1, len(curves) - 1))
            panel.plot(places, mean, color=_COLOURS[name], label=name, marker="o", markersize=3)
            panel.fill_between(places, mean - spread, mean + spread, color=_COLOURS[name], alpha=0.2, linewidth=0)
    for panel in (left, right):
        panel.axhline(10, color="0.8", zorder=0)
    left.set_ylabel("accuracy (%)")
    left.set_ylim(0, 103)
    left.set_xlabel(f"steps of training ({result.strings} strings each)")
    right.set_xlabel("characters of keys and values, after the last step")
    legend_above(figure, left, ncols=5, columnspacing=1.2)
    return figure


def table(result: RetrievalResult) -> Table:
    """The accuracy of every network and seed at every step and length."""
    axes = {
        "network": result.networks,
        "seed": result.seeds,
        "training_steps": result.steps,
        "characters": result.characters,
    }
    columns = {"parameters": result.parameters, "learning_rate": result.rates}
    along = {name: np.array(values).reshape(-1, 1, 1, 1) for name, values in columns.items()}
    return tidy(axes, {"accuracy": result.accuracy, **along})


def _said(result: RetrievalResult) -> str:
    """What each network reaches in the end, in words."""
    last = result.accuracy[:, :, -1].mean(axis=(1, 2))
    return ", ".join(
        f"{name} {percent(float(one))} % ({parameters:,} parameters, learning rate {rate:g})"
        for name, one, parameters, rate in zip(result.networks, last, result.parameters, result.rates, strict=True)
    )


EXHIBIT = Exhibit(
    title="Retrieval of values by their keys, learned by backpropagation",
    section=THEORY,
    draw=draw,
    table=table,
    shows="Networks learn to answer with the digit that followed a letter in a string. Grey: chance. Bands: one "
    "standard deviation over seeds.",
    ran=lambda r: (
        f"strings of {r.characters[0]} to {r.characters[-1]} characters, {r.steps[-1]:,} steps, "
        f"{seeds_in_words(r.seeds)}; new strings after the last step: {_said(r)}."
    ),
    paper="trained plasticity is not part of it.",
    run=run,
    given=lambda scope: {"params": _params(scope)},
    seconds=900,
    only_full=True,
)


def _params(scope: Scope) -> Retrieval:
    if scope.limit is None:
        return Retrieval()
    return Retrieval(lessons=Lessons(steps=4, every=2, tests=10), rates=(1e-3, 1e-2), rate_steps=2)
