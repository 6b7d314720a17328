"""The memory of an `ElasticHead`, or of a linear classifier with one, chosen on recorded streams."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from springback.heads import ElasticHead, ElasticLinearClassifier, Trial, TuningResult, tune_head
from springback.live.tuning.recorded import Recorded


def tune_elastic_head(
    head: ElasticHead, streams: Sequence[Recorded], *, n_trials: int, seed: int, on_trial: Callable[[Trial], None]
) -> tuple[ElasticHead, TuningResult]:
    """Choose the kind of memory and its settings with `springback.heads.tune_head`; `n_trials` for each kind."""
    labels = [one.labels for one in streams if one.labels is not None]
    found = tune_head(
        head.weight,
        head.bias,
        [one.rows for one in streams],
        labels if len(labels) == len(streams) else None,
        times=_times(streams),
        centre=head.centre,
        n_trials=n_trials,
        seed=seed,
        on_trial=on_trial,
    )
    return found.head(head.weight, head.bias), found


def tune_linear_classifier(
    model: ElasticLinearClassifier,
    streams: Sequence[Recorded],
    *,
    n_trials: int,
    seed: int,
    on_trial: Callable[[Trial], None],
) -> tuple[ElasticLinearClassifier, TuningResult]:
    """The same for the head of a linear classifier of scikit-learn; the given model does not change."""
    names = [*model.classes_.tolist(), None]  # the number of an unknown class is -1
    labels = [[names[one] for one in stream.labels] for stream in streams if stream.labels is not None]
    tuned = deepcopy(model).tune(
        [one.rows for one in streams],
        labels if len(labels) == len(streams) else None,
        times=_times(streams),
        n_trials=n_trials,
        seed=seed,
        on_trial=on_trial,
    )
    return tuned, tuned.found_


def _times(streams: Sequence[Recorded]) -> list[Any] | None:
    """Time stamps as a tuner takes them, if there are any."""
    return [one.times for one in streams] if all(one.times is not None for one in streams) else None
