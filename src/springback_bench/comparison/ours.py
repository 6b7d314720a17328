"""Our own head on one split: untuned, tuned without labels, and each kind of memory tuned with labels."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from springback.heads import ElasticHead, TuningResult, tune_head, tune_several
from springback.heads.tuning_result import VARIANTS, Variant
from springback_bench.comparison.measure import SEED, Measured, answer_test, loaded
from springback_bench.comparison.scope import ComparisonScope, cut
from springback_bench.stream_sets import StreamSplit


def measure_untuned(name: str, split: int, version: int, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """The defaults; `version` is that of the stream."""
    return untuned_on(loaded(name, split), scope)


def measure_unlabelled(name: str, split: int, version: int, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """Tuned without labels."""
    return unlabelled_on(loaded(name, split), scope)


def measure_variant(name: str, split: int, version: int, variant: Variant, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """One kind of memory, tuned with labels."""
    return tuned_on(loaded(name, split), (variant,), scope)


def measure_tuned(name: str, split: int, version: int, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """One memory of any kind, tuned with labels."""
    return tuned_on(loaded(name, split), VARIANTS, scope)


def measure_several(name: str, split: int, version: int, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """Several memories, tuned with labels."""
    return several_on(loaded(name, split), scope)


def untuned_on(split: StreamSplit, scope: ComparisonScope) -> Measured:
    """The defaults on a split."""
    head = split.head
    model = ElasticHead(head.weight, head.bias, centre=head.centre)
    return answer_test(model, lambda stream: stream.features, split, scope, settings=asdict(model.settings))


def unlabelled_on(split: StreamSplit, scope: ComparisonScope) -> Measured:
    """Tuned without labels on a split."""
    validation = cut(split.validation, scope.validation)
    return _with_settings(_tuner(split, scope)([one.features for one in validation], variants=VARIANTS), split, scope)


def tuned_on(split: StreamSplit, variants: Sequence[Variant], scope: ComparisonScope) -> Measured:
    """One memory of some kinds, tuned with labels on a split."""
    validation = cut(split.validation, scope.validation)
    features, labels = [one.features for one in validation], [one.labels for one in validation]
    return _with_settings(_tuner(split, scope)(features, labels, variants=variants), split, scope)


def several_on(split: StreamSplit, scope: ComparisonScope) -> Measured:
    """Several memories, tuned with labels on a split."""
    validation = cut(split.validation, scope.validation)
    features, labels = [one.features for one in validation], [one.labels for one in validation]
    model = _tuner(split, scope, tune_several)(features, labels, variants=VARIANTS)
    settings = {f"{number}": asdict(one.settings) for number, one in enumerate(model.heads)}
    return answer_test(
        model,
        lambda stream: stream.features,
        split,
        scope,
        variant=", ".join(one.settings.variant for one in model.heads),
        settings={**settings, "temperature": model.temperature},
    )


def _tuner(split: StreamSplit, scope: ComparisonScope, tune: Any = tune_head) -> Any:
    head = split.head
    each = scope.trials // len(VARIANTS)
    return partial(tune, head.weight, head.bias, centre=head.centre, n_trials=each, seed=SEED)


def _with_settings(tuned: TuningResult, split: StreamSplit, scope: ComparisonScope) -> Measured:
    settings = {} if tuned.settings is None else {**asdict(tuned.settings), "centred": tuned.centre is not None}
    return answer_test(
        tuned.head(split.head.weight, split.head.bias),
        lambda stream: stream.features,
        split,
        scope,
        variant=tuned.variant,
        settings=settings,
        frozen=tuned.settings is None,
        validation=tuned.score,
        validation_static=tuned.score_at_rest,
    )
