"""The memory of an `ElasticHead`, or of a linear classifier with one, chosen on recorded streams."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict
from typing import Any

from springback.heads import ElasticHead, ElasticLinearClassifier, Trial, TuningResult, tune_head
from springback.heads.memories.observer import Observer
from springback.live.tuning.recorded import Recorded
from springback.live.tuning.tuned import Tried, TunedModel

_SPRINGS = ("pull", "memory", "kappa", "constant")
_OBSERVER = ("memory", "kappa", "novelty_odds", "evidence", "gain", "sharpness")


def tune_elastic_head(
    head: ElasticHead,
    streams: Sequence[Recorded],
    *,
    n_trials: int,
    seed: int,
    on_trial: Callable[[Tried], None] = lambda _: None,
) -> TunedModel:
    """Choose the kind of memory and its settings with `springback.heads.tune_head`; `n_trials` for each kind."""
    labels = [one.labels for one in streams if one.labels is not None]
    found = tune_head(
        head.weight,
        head.bias,
        [one.rows for one in streams],
        labels if len(labels) == len(streams) else None,
        centre=head.centre,
        n_trials=n_trials,
        seed=seed,
        on_trial=lambda trial: on_trial(tried_of(trial)),
    )
    return _tuned(found.head(head.weight, head.bias), found)


def tune_linear_classifier(
    model: ElasticLinearClassifier,
    streams: Sequence[Recorded],
    *,
    n_trials: int,
    seed: int,
    on_trial: Callable[[Tried], None] = lambda _: None,
) -> TunedModel:
    """The same for the head of a linear classifier of scikit-learn; the given model does not change."""
    names = [*model.classes_.tolist(), None]  # the number of an unknown class is -1
    labels = [[names[one] for one in stream.labels] for stream in streams if stream.labels is not None]
    tuned = deepcopy(model).tune(
        [one.rows for one in streams],
        labels if len(labels) == len(streams) else None,
        n_trials=n_trials,
        seed=seed,
        on_trial=lambda trial: on_trial(tried_of(trial)),
    )
    return _tuned(tuned, tuned.found_)


def _tuned(model: Any, found: TuningResult) -> TunedModel:
    return TunedModel(
        model=model,
        score=found.score,
        score_at_rest=found.score_at_rest,
        criterion=found.criterion,
        tried=tuple(map(tried_of, found.trials)),
        helps=found.settings is not None,
        held_out=found.held_out,
    )


def tried_of(trial: Trial) -> Tried:
    """A trial of `tune_head`, with the settings that were searched.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> tried_of(Trial(Springs(pull=2.0, memory=3.0), True, 0.5)).settings
    {'pull': 2.0, 'memory': 3.0, 'kappa': 1.0, 'constant': 0.0, 'centred': True}
    """
    springs = not isinstance(trial.settings, Observer)
    values: dict[str, Any] = asdict(trial.settings)
    names = _SPRINGS if springs else _OBSERVER
    variant = "springs" if springs else "observer" if values["kappa"] > 0 else "classes"
    return Tried(variant, {name: values[name] for name in names} | {"centred": trial.centred}, trial.score)
