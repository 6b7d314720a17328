"""A whole reproduction: what is on disk of a scope, as the results of results.json."""

from dataclasses import asdict
from typing import Any

from springback_paper.catalogue import Catalogue
from springback_paper.claims.judging import judge_claims
from springback_paper.results.earlier_run import completed, completed_claims
from springback_paper.results.results_json import collect, this_environment, what_was_used
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.run import TaskStore
from springback_paper.runner.task import code_digests
from springback_paper.tasks.speed import Speed


def gather(
    scope: Scope, catalogue: Catalogue, folder: TaskStore, earlier: dict[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dictionary of results.json, and the results of all tasks that are on disk, by name.

    Only results of exactly this scope count: same parameters, data, code and versions. Models that they lack are taken
    from the `earlier` results, if these are given.
    """
    found = folder.load_all()
    scores = [found[task.name] for task in catalogue.tasks if isinstance(found.get(task.name), Scores)]
    speed: dict[str, Any] = {}
    for result in found.values():
        if isinstance(result, Speed):
            speed |= asdict(result)
    speed["task_seconds"] = {name: folder.timing(name).seconds for name in found}
    about = {**asdict(scope), **what_was_used(scores)}
    about["seeds"] = list(scope.seeds)
    environment = {**this_environment(), "scope": about}
    results = collect(scores, seeds=scope.seeds, speed=speed, environment=environment)
    code = code_digests(catalogue.tasks)
    if earlier is None:
        return {**results, "claims": judge_claims(results, found, code)}, found
    results = completed(results, earlier)
    return {**results, "claims": completed_claims(judge_claims(results, found, code), earlier["claims"])}, found
