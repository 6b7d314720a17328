"""Everything a reproduction is made of: the tasks, and the names a user can ask for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from springback import check
from springback.extras import is_installed, missing_extra
from springback_paper.figures.exhibit import exhibits
from springback_paper.models import MODELS
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.entry import all_tasks


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All tasks of a scope, and for every name a user can ask for the tasks it takes."""

    tasks: tuple[Task, ...]
    entries: Mapping[str, tuple[str, ...]]

    def choose(self, patterns: Iterable[str]) -> list[str]:
        """The tasks that the names ask for; a name may have the wildcards * and ?.

        Examples
        --------
        >>> catalogue_of(Scope()).choose(["fig_3[de]"])
        ['fig_3d', 'fig_3e']
        """
        chosen: dict[str, None] = {}
        for pattern in patterns:
            found = [name for name in self.entries if fnmatchcase(name, pattern)]
            more = "" if is_installed("torch") else f" ({missing_extra('a network of PyTorch', 'torch')})"
            check.require(bool(found), "--only", f"name some of {', '.join(self.entries)}{more}", pattern)
            chosen |= dict.fromkeys(task for name in found for task in self.entries[name])
        return list(chosen)


def catalogue_of(scope: Scope) -> Catalogue:
    """The tasks and entries of a scope.

    Examples
    --------
    >>> ["spiking_1600_st_stdp" in catalogue_of(Scope(full=full)).entries for full in (False, True)]
    [False, True]
    """
    tasks: list[Task] = []
    entries: dict[str, list[str]] = {}

    def add(names: Iterable[str], task: Task) -> None:
        tasks.append(task)
        for name in names:
            entries.setdefault(name, []).append(task.name)

    for names, task in all_tasks(scope):
        add(names, task)
    for exhibit in exhibits():
        if exhibit.run is not None and (scope.full or not exhibit.only_full):
            add([exhibit.name], exhibit.task(scope))
    of_models = {task for model in MODELS for task in entries.get(model, ())}
    comparison = [task.name for task in tasks if task.name in of_models]
    known = {model: entries[model] for model in MODELS if model in entries}
    figures = {name: some for name, some in entries.items() if name not in known}
    drawn = {exhibit.name: comparison for exhibit in exhibits() if exhibit.run is None}
    every = {**known, **drawn, **figures}
    return Catalogue(tasks=tuple(tasks), entries={name: tuple(some) for name, some in every.items()})
