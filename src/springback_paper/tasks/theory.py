"""Elastic clustering as the theory is written: derived pull, no concentration, and each bias of the linear model.

Each is the model of `springback_paper.tasks.elastic` with some of its settings replaced by those of the paper; memory
and beta, of which the paper says nothing, stay. The rows of `springback_paper.models` say why each is so.
"""

from dataclasses import replace

from springback.data import make_omnist
from springback.elastic import Elasticity, prepare
from springback.streaming.records import Images
from springback_paper.inputs.digits import both_splits
from springback_paper.inputs.elastic_omnist import ElasticOmnist
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.elastic import Centroids, name_centroids, practice_video, score_model
from springback_paper.tasks.entry import Added

_ALWAYS = ("theory_exponential", "theory_winner", "theory_maximum")


def as_written(tuned: ElasticOmnist) -> dict[str, Elasticity]:
    """The parameters of every row, from those that were tuned.

    Examples
    --------
    >>> as_written(ElasticOmnist())["theory_exponential"].kappa
    1.0
    """
    derived = Elasticity(kappa=tuned.kappa, pull=None, memory=tuned.memory, beta=tuned.beta)
    linear = replace(derived, likelihood="linear")
    return {
        "theory_exponential": replace(derived, kappa=1.0),
        "theory_winner": replace(derived, kappa=1.0),
        "theory_maximum": replace(derived, kappa=1.0, pull=tuned.pull, beta=None, inference="maximum"),
        "theory_kappa": derived,
        "theory_algorithm": replace(derived, bias_update="algorithm"),
        "theory_line": replace(linear, bias_rule="line"),
        "theory_circle": replace(linear, bias_rule="circle"),
        "theory_sphere": replace(linear, bias_rule="sphere"),
        "theory_zero": replace(linear, bias_rule="zero"),
    }


def score_as_written(
    model: str,
    written: Elasticity,
    tuned: ElasticOmnist,
    train: Images,
    test: Images,
    centroids: Centroids,
    seed: int,
) -> Scores:
    """One row on the video; the theory does not say how centroids get their labels, so they have the tuned model's."""
    named = name_centroids(tuned, centroids.resting, train)
    practice, video = practice_video(train, tuned.threshold_images, seed), make_omnist(test, seed=seed)
    elastic = prepare(written, centroids.resting)
    score = score_model(elastic, named, practice, video, tuned.power, winner=model == "theory_winner")
    return Scores(
        n_train=len(train),
        n_test=len(test),
        n_frames=len(video),
        omnist_test={model: score.accuracy},
        by_rows_hidden={model: score.by_rows_hidden},
        by_ink_hidden={model: score.by_ink_hidden},
    )


def tasks(scope: Scope, seed: int) -> list[Added]:
    """One task for each row, unless the scope is full only of those that a claim is judged by; they share centroids."""
    if seed not in scope.fewest_seeds:
        return []
    tuned = ElasticOmnist(n_clusters=scope.neurons)
    found: list[Added] = []
    for model, written in as_written(tuned).items():
        if not scope.full and model not in _ALWAYS:
            continue
        given = {"model": model, "written": written, "tuned": tuned, **both_splits(scope.limit)}
        needs = {"centroids": f"centroids_{tuned.power:g}-{seed}"}
        seconds = 12 * scope.share
        task = Task(name=f"{model}-{seed}", run=score_as_written, params=given, seed=seed, needs=needs, seconds=seconds)
        found.append(((model,), task))
    return found
