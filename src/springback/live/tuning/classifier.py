"""The pull and the memory of an `ElasticClassifier`, chosen on recorded streams."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from springback.elastic import ElasticClassifier, algorithm
from springback.heads.memories.centroids import CentroidSprings
from springback.heads.search import Range, search
from springback.heads.tuning_result import Trial, TuningResult
from springback.live.tuning.recorded import Recorded

RANGES = {"pull": Range(0.03, 30.0, log=True), "memory": Range(0.3, 100.0, log=True)}
"""What is tried; `pull` is in lengths of a centroid."""

KNOWN = ({"pull": 1.0, "memory": 2.0}, {"pull": 3.0, "memory": 2.0}, {"pull": 10.0, "memory": 1.0})
"""What is tried first."""


def tune_classifier(
    model: ElasticClassifier,
    streams: Sequence[Recorded],
    *,
    n_trials: int,
    seed: int,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> tuple[ElasticClassifier, TuningResult]:
    """Choose pull and memory; each stream begins at rest. With labels, the score is the accuracy.

    Without labels it is the mean log-likelihood of the next row, given all before it. Clusters and their names stay as
    they are. If nothing is better than no pull at all, the model gets no pull.

    Examples
    --------
    >>> from springback.elastic import ElasticClustering
    >>> clustering = ElasticClustering(2, resting=np.eye(2), kappa=20.0)
    >>> model = ElasticClassifier(clustering).fit(np.eye(2), ["right", "up"])
    >>> turning = Recorded(np.array([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]), np.zeros(4, np.int64))
    >>> _, tuned = tune_classifier(model, [turning], n_trials=5, seed=0)
    >>> tuned.score_at_rest, tuned.score
    (0.75, 1.0)
    """
    labelled = all(one.labels is not None for one in streams)
    criterion = "accuracy" if labelled else "log-likelihood"
    rest = with_settings(model, pull=0.0, memory=model.clustering_.model_.params.memory)
    at_rest = _score(rest, streams, labelled)
    tried: list[Trial] = []

    def score(settings: dict[str, Any]) -> float:
        found = _score(with_settings(model, **settings), streams, labelled)
        tried.append(Trial(CentroidSprings(**settings), None, found))
        on_trial(tried[-1])
        return tried[-1].score

    search(RANGES, score, n_trials=n_trials, seed=seed, first=KNOWN)
    best = max(tried, key=lambda one: one.score)
    better = best.score > at_rest
    chosen, score_of_it = (best.settings, best.score) if better else (None, at_rest)
    result = TuningResult(chosen, None, None, score_of_it, at_rest, criterion, tuple(tried))
    return with_settings(model, **best.values) if better else rest, result


def with_settings(model: ElasticClassifier, *, pull: float, memory: float) -> ElasticClassifier:
    """A copy of the model at rest with another pull and memory."""
    made: ElasticClassifier = deepcopy(model)
    made.memory_in_ = "frames"
    clustering = made.clustering_
    params = replace(clustering.model_.params, pull=pull, memory=memory, kernel=None)
    clustering.set_params(pull=pull, memory=memory, kernel=None)
    if made.clustering is not None:
        made.clustering.set_params(pull=pull, memory=memory, kernel=None)
    clustering.model_ = algorithm.prepare(params, clustering.cluster_centers_, clustering.prior_, clustering.channels_)
    clustering.state_ = algorithm.init(clustering.model_)
    return made


def _score(model: ElasticClassifier, streams: Sequence[Recorded], labelled: bool) -> float:
    if labelled:
        pairs = [(model.track(one.rows, one.times).argmax(axis=1), one.labels) for one in streams]
        found, truth = (np.concatenate(some) for some in zip(*pairs, strict=True))
        return float((found == truth)[truth >= 0].mean())
    densities = [model.clustering_.track_log_density(one.rows, one.times) for one in streams]
    return float(np.nanmean(np.concatenate(densities)))
