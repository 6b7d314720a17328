"""How a module of this package adds tasks to the reproduction, and the walk that finds them all.

Each module here that defines `tasks(scope, seed)` contributes models: the tasks, and the names a user can ask for.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from springback.extras import MissingExtraError
from springback.paper import tasks as package
from springback.paper.runner.task import Task
from springback.paper.scope import Scope

Added = tuple[tuple[str, ...], Task]
"""Which entries of the command line ask for a task, and the task."""


def all_tasks(scope: Scope) -> list[Added]:
    """The tasks of every model, for each seed; those of networks trained with labels only where torch is installed."""
    sources: list[Callable[[Scope, int], list[Added]]] = []
    for module in iter_modules(package.__path__):
        try:
            source = import_module(f"{package.__name__}.{module.name}")
        except MissingExtraError:
            continue
        if hasattr(source, "tasks"):
            sources.append(source.tasks)
    return [added for seed in scope.seeds for source in sources for added in source(scope, seed)]
