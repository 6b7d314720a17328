"""How a module of this package adds tasks to the reproduction, and the walk that finds them all.

Each module here that defines `tasks(scope, seed)` contributes models: the tasks, and the names a user can ask for.
"""

from springback.extras import collect
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task

Added = tuple[tuple[str, ...], Task]
"""Which entries of the command line ask for a task, and the task."""


def all_tasks(scope: Scope) -> list[Added]:
    """The tasks of every model, for each seed; those of networks trained with labels only where torch is installed."""
    sources = collect("springback_paper.tasks", "tasks")
    return [added for seed in scope.seeds for source in sources for added in source(scope, seed)]
