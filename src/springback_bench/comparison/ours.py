"""Our own head on one split: untuned, tuned without labels, and each kind of memory tuned with labels."""

from dataclasses import asdict
from functools import partial
from typing import Any

from springback.heads import ElasticHead, TuningResult, tune_head
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
    return variant_on(loaded(name, split), variant, scope)


def untuned_on(split: StreamSplit, scope: ComparisonScope) -> Measured:
    """The defaults on a split."""
    head = split.head
    model = ElasticHead(head.weight, head.bias, centre=head.centre)
    return answer_test(model, lambda stream: stream.features, split, scope, settings=asdict(model.settings))


def unlabelled_on(split: StreamSplit, scope: ComparisonScope) -> Measured:
    """Tuned without labels on a split."""
    validation = cut(split.validation, scope.validation)
    return _with_settings(_tuner(split, scope)([one.features for one in validation], variants=VARIANTS), split, scope)


def variant_on(split: StreamSplit, variant: Variant, scope: ComparisonScope) -> Measured:
    """One kind of memory, tuned with labels on a split; the best of the four is what `tune_head` would choose."""
    validation = cut(split.validation, scope.validation)
    features, labels = [one.features for one in validation], [one.labels for one in validation]
    return _with_settings(_tuner(split, scope)(features, labels, variants=(variant,)), split, scope)


def _tuner(split: StreamSplit, scope: ComparisonScope) -> Any:
    head = split.head
    each = scope.trials // len(VARIANTS)
    return partial(tune_head, head.weight, head.bias, centre=head.centre, n_trials=each, seed=SEED)


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
