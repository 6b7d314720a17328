"""What a figure consists of, and the walk that finds every figure.

Each module of this package that defines an `EXHIBIT` is a figure: what it runs, how the result is drawn, which numbers
it shows, and what its caption says. Adding such a file is all it takes to add a figure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any

from matplotlib.figure import Figure

from springback.extras import collect
from springback_paper.figures.table import Table
from springback_paper.inputs.digits import VideoOfTests, both_splits
from springback_paper.models import MODELS
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.wording import listed

COMPARISON = "Comparison"
ENVIRONMENT = "Environment and clustering"
CIRCUIT = "The circuit at work"
SUPPLEMENT = "Supplement"
THEORY = "Theory and parameters"
SECTIONS = (COMPARISON, ENVIRONMENT, CIRCUIT, SUPPLEMENT, THEORY)
"""Sections of the report, in order; within a section figures are in the order of their names."""

_TASKS = {
    "model": "spiking",
    "centroids": "centroids_1",
    "root_centroids": "centroids_0.5",
    "mlp": "mlp_on_mnist",
}
"""The results of tasks that a figure can ask for: {name of the argument: name of the task, without its seed}."""


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One figure of the report; its name is that of its module.

    Parameters
    ----------
    section : str
        Where it stands in the report, one of `SECTIONS`.
    draw : Callable[[Any], Figure]
        The figure of a result.
    table : Callable[[Any], Table]
        The numbers that it shows, see `springback_paper.figures.table`.
    shows : str
        What there is to see.
    ran : Callable[[Any], str]
        What was run, from the result, so that a caption cannot be out of date.
    paper : str
        What the paper shows in its place.
    run : Callable[..., Any] | None
        Computes the result; None: the figure is drawn from results.json. It receives what it names: `model`, the
        trained spiking network of the first seed; `centroids` and `root_centroids`, the resting centroids of the digits
        and of the roots of their brightness; `video`, the test video; `train` and `test`, the still digits; `seed`;
        `seeds`, for what it repeats itself; and what `given` adds.
    given : Callable[[Scope], Mapping[str, Any]]
        Further arguments of `run`, from the scope.
    seconds : float
        What `run` takes on one core, roughly.
    full_seconds : float | None
        The same in a full run, where that is more; None: as much.
    only_full : bool
        Whether it takes so long that only a full run has it.
    """

    title: str
    section: str
    draw: Callable[[Any], Figure]
    table: Callable[[Any], Table]
    shows: str
    ran: Callable[[Any], str]
    paper: str
    run: Callable[..., Any] | None = None
    given: Callable[[Scope], Mapping[str, Any]] = lambda _: {}
    seconds: float = 3.0
    full_seconds: float | None = None
    only_full: bool = False

    @property
    def name(self) -> str:
        """Of its files, and of its entry on the command line."""
        return self.draw.__module__.rpartition(".")[2]

    def task(self, scope: Scope) -> Task:
        """What computes the figure's result."""
        assert self.run is not None
        offered = {"video": VideoOfTests(scope.limit), **both_splits(scope.limit), "seeds": scope.repeats}
        named = signature(self.run).parameters
        return Task(
            name=self.name,
            run=self.run,
            params={name: one for name, one in offered.items() if name in named} | dict(self.given(scope)),
            seed=scope.seeds[0],
            needs={name: f"{task}-{scope.seeds[0]}" for name, task in _TASKS.items() if name in named},
            seconds=max(1.0, (self.full_seconds if scope.full and self.full_seconds else self.seconds) * scope.share),
        )

    def caption(self, result: Any) -> str:
        """What it shows, what was run, and the paper's side."""
        return f"{self.shows} Run: {self.ran(result)} In the paper: {self.paper}"


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """Every figure, in the order of the report.

    Examples
    --------
    >>> [one.name for one in exhibits()][:3]
    ['fig_4a', 'fig_4b', 'fig_4b_ink']
    """
    found = collect("springback_paper.figures", "EXHIBIT")
    return tuple(sorted(found, key=lambda one: (SECTIONS.index(one.section), one.name)))


def seeds_in_words(seeds: tuple[int, ...]) -> str:
    """The seeds as they stand in a caption.

    Examples
    --------
    >>> seeds_in_words((0, 1))
    'seeds 0 and 1'
    """
    return f"seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}"


_MOST_NAMES = 3
"""More models than this are counted in a caption, and no longer named."""


def models_run(results: Any) -> str:
    """Which models a figure of the comparison shows, and with how many seeds.

    Examples
    --------
    >>> models_run({"seeds": [0, 1], "omnist_test": {"elastic": {"n": 2}, "lstm_omnist": {"n": 1}}})
    'every model that has a value of ours, seeds 0 and 1; only the first for LSTM on video.'
    """
    ran = {model: stat["n"] for model, stat in results.get("omnist_test", {}).items()}
    fewer = ""
    for n in sorted({n for n in ran.values() if n < len(results["seeds"])}, reverse=True):
        names = [MODELS[model].name for model in ran if ran[model] == n]
        whom = listed(names) if len(names) <= _MOST_NAMES else f"{len(names)} models"
        fewer += f"; only the first{f' {n}' if n > 1 else ''} for {whom}"
    return f"every model that has a value of ours, {seeds_in_words(tuple(results['seeds']))}{fewer}."
