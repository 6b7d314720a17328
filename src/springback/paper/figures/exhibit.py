"""What a figure consists of, and the walk that finds every figure.

Each module of this package that defines an `EXHIBIT` is a figure: what it runs, how the result is drawn, and what its
caption says. Adding such a file is all it takes to add a figure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from matplotlib.figure import Figure

from springback.paper import figures
from springback.paper.runner.task import Run, Task
from springback.paper.scope import Scope
from springback.paper.words import listed
from springback.spiking.presets import Preset, springback_2026

COMPARISON = "Comparison"
CIRCUIT = "The circuit at work"
SUPPLEMENT = "Supplement"
THEORY = "Theory and parameters"
SECTIONS = (COMPARISON, CIRCUIT, SUPPLEMENT, THEORY)
"""Sections of the report, in order; within a section figures are in the order of their names."""

Inputs = Mapping[str, Any]
"""Results of the tasks that a task needs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureParams:
    """Parameters of a figure's task.

    Parameters
    ----------
    preset : Preset
        Parameters of the spiking network.
    limit : int | None
        Use only the first images of each split; None: all.
    what : Any
        Parameters of the experiment itself, if it has any.
    seeds : tuple[int, ...]
        Of an experiment that is repeated within the task.
    """

    preset: Preset
    limit: int | None = None
    what: Any = None
    seeds: tuple[int, ...] = ()


def usual_params(scope: Scope) -> FigureParams:
    """The network of the scope, and nothing else."""
    return FigureParams(preset=springback_2026(n_neurons=scope.neurons), limit=scope.limit)


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One figure of the report.

    Parameters
    ----------
    name : str
        Of its files, and of its entry on the command line.
    section : str
        Where it stands in the report, one of `SECTIONS`.
    draw : Callable[[Any], Figure]
        The figure of a result.
    shows : str
        What there is to see.
    ran : Callable[[Any], str]
        What was run, from the result, so that a caption cannot be out of date.
    paper : str
        What the paper shows in its place.
    run : Run | None
        (params, seed, inputs) -> result; None: the figure is drawn from results.json.
    params : Callable[[Scope], FigureParams]
        What `run` receives, from the scope.
    needs_network : bool
        Whether `run` receives the trained spiking network of the first seed as `inputs["network"]`.
    seconds : float
        What `run` takes on one core, roughly.
    """

    name: str
    title: str
    section: str
    draw: Callable[[Any], Figure]
    shows: str
    ran: Callable[[Any], str]
    paper: str
    run: Run | None = None
    params: Callable[[Scope], FigureParams] = usual_params
    needs_network: bool = True
    seconds: float = 10.0

    def task(self, scope: Scope) -> Task:
        """What computes the figure's result."""
        assert self.run is not None
        first = scope.seeds[0]
        return Task(
            name=self.name,
            run=self.run,
            params=self.params(scope),
            seed=first,
            needs={"network": f"snn-{first}"} if self.needs_network else {},
            seconds=max(1.0, self.seconds * scope.share),
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
    ['fig_4a', 'fig_4b', 'fig_2b']
    """
    modules = [import_module(f"{figures.__name__}.{module.name}") for module in iter_modules(figures.__path__)]
    found = [module.EXHIBIT for module in modules if hasattr(module, "EXHIBIT")]
    return tuple(sorted(found, key=lambda one: (SECTIONS.index(one.section), one.name)))


def seeds_in_words(seeds: tuple[int, ...]) -> str:
    """The seeds as they stand in a caption.

    Examples
    --------
    >>> seeds_in_words((0, 1))
    'seeds 0 and 1'
    """
    return f"seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}"


def models_run(results: Any) -> str:
    """Which models a figure of the comparison shows."""
    return f"every model that has a value of ours, {seeds_in_words(tuple(results['seeds']))}."
