"""How much of each class a model remembers: the springs of its classes, as one number each."""

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from springback.heads.elastic_head import ElasticHead
from springback.heads.settings import Settings
from springback.heads.springs import Springs


def remembered(model: Any) -> NDArray[np.float64] | None:
    """The share of each class (K,) in what a model remembers, 0 ... 1; None if the model does not show it.

    For an `Observer`: the odds of the remembered frames times their answers, relative to a stream that has shown one
    class for long. For `Springs`: the length of each class's F, relative to the longest that such a stream can reach.

    Examples
    --------
    >>> head = ElasticHead(5 * np.eye(2), np.zeros(2))
    >>> remembered(head)
    array([0., 0.])
    >>> for _ in range(20):
    ...     answer = head.step([1.0, 0.0])
    >>> remembered(head)[0] > 0.9
    np.True_
    """
    if not isinstance(model, ElasticHead):
        return None
    settings, memory = model.settings, cast(Any, model.state_.memory)
    if "odds" in memory._fields:
        found = (memory.odds @ memory.posteriors) * (1 - math.exp(-1 / settings.memory))
    else:
        pulled = np.column_stack([memory.short_term, memory.classes]).astype(np.float64)
        lengths = np.linalg.norm(pulled, axis=1)
        found = lengths / max(longest_pull(settings), float(lengths.max()), 1e-12)
    return np.asarray(np.clip(found, 0, 1), np.float64)


def longest_pull(settings: Settings) -> float:
    """The length that F reaches if inputs of length one pull a class for long; 0 if it has no such bound."""
    if not isinstance(settings, Springs) or not settings.unit_inputs:
        return 0.0
    return float(settings.pull or 0.0) / (1 - math.exp(-1 / settings.memory))
