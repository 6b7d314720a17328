"""One method on one split: settings chosen on the validation streams, then the test streams answered once."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.heads.search import Choice, Range, search
from springback.heads.significance import is_clearly_better
from springback_bench.comparison import scores
from springback_bench.comparison.methods import Make, maker_of, rival_named, rows_of
from springback_bench.comparison.scope import ComparisonScope, beginning, cut
from springback_bench.rivals import StreamClassifier, logit_spread, softmax
from springback_bench.stream_sets import Stream, StreamSplit, load_stream

SEED = 0
"""Of every search, and of the random order."""

GAP_STREAMS = ("hidden-gap", "distractors")
"""Streams whose objects return, for accuracy against how long they were away."""

Rows = Callable[[Stream], NDArray[Any]]
"""What a method reads of a stream."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one method did on one split; accuracies are fractions.

    Parameters
    ----------
    settings : dict[str, Any]
        As they were chosen.
    variant : str
        The kind of memory of our head; empty for other methods.
    frozen : bool
        Whether no setting was clearly better than the frozen network on the validation streams.
    validation, validation_static : float
        What was made large there, for these settings and for the frozen network; NaN if nothing was chosen.
    accuracy, shuffled : float
        On the test streams, and on the same frames in random order.
    calibration_error, at_coverage : float
        The expected calibration error on the test streams, and the accuracy of the most confident answers.
    by_gap : dict[str, float]
        Accuracy on objects that return, by the number of frames they were away.
    microseconds : float
        Processor time per frame, beyond the network itself; NaN if it was not measured on this split.
    state_bytes : int
        Of the state, beyond the weights of the frozen head.
    """

    settings: dict[str, Any]
    variant: str
    frozen: bool
    validation: float
    validation_static: float
    accuracy: float
    shuffled: float
    calibration_error: float
    at_coverage: float
    by_gap: dict[str, float]
    microseconds: float
    state_bytes: int

    @property
    def headline(self) -> str:
        """For the display of a run."""
        return f"{100 * self.accuracy:.1f} % right"


@lru_cache(maxsize=2)
def loaded(name: str, split: int) -> StreamSplit:
    """A split from the data home; a worker measures some methods on the same one."""
    return load_stream(name, split)


class Frozen(StreamClassifier):
    """The frozen network: every frame is answered by itself."""

    def _init(self) -> tuple[NDArray[Any], ...]:
        return ()

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[Any]:  # noqa: ARG002
        return softmax(rows)


def measure_static(name: str, split: int, version: int, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """The frozen network; `version` is that of the stream."""
    return static_on(loaded(name, split), scope)


def static_on(split: StreamSplit, scope: ComparisonScope) -> Measured:
    """The frozen network on a split."""
    frozen = Frozen(len(split.head.bias))
    return answer_test(frozen, lambda stream: split.head.logits(stream.features), split, scope)


def measure_rival(
    name: str,
    split: int,
    version: int,  # noqa: ARG001
    method: str,
    first: Sequence[Mapping[str, Any]],
    scope: ComparisonScope,
) -> Measured:
    """A method that reads logits or features; `version` is that of the stream, `first` are the settings tried first."""
    return rival_on(loaded(name, split), method, scope, first)


def rival_on(
    split: StreamSplit, name: str, scope: ComparisonScope, first: Sequence[Mapping[str, Any]] = ()
) -> Measured:
    """A rival on a split."""
    rival, head = rival_named(name), split.head
    validation = cut(split.validation, scope.slow_validation if rival.slow else scope.validation)
    spread = logit_spread(np.concatenate([head.logits(one.features) for one in validation]))

    def rows(stream: Stream) -> NDArray[Any]:
        return rows_of(rival, head, stream)

    make = maker_of(rival, head, validation)
    about = chosen(
        make,
        rival.ranges,
        rows,
        validation,
        at_rest=[head.logits(one.features) for one in validation],
        trials=scope.trials,
        spread=spread,
        first=first,
    )
    return answer_test(make(**about["settings"]), rows, split, scope, **about)


def chosen(
    make: Make,
    ranges: Mapping[str, Range | Choice],
    rows: Rows,
    validation: Sequence[Stream],
    *,
    at_rest: Sequence[NDArray[Any]],
    trials: int,
    spread: float = 1.0,
    first: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The settings with the highest accuracy on the validation streams, and whether they are used at all.

    `at_rest` are the answers of the frozen network. What `answer_test` wants to know is returned.
    """
    read = [rows(one) for one in validation]
    labels = np.concatenate([one.labels for one in validation])

    def score(settings: dict[str, Any]) -> float:
        model = make(**settings)
        return scores.right_answers(np.concatenate([answers(model, one) for one in read]), labels)

    best = max(search(ranges, score, n_trials=trials, seed=SEED, spread=spread, first=first), key=lambda one: one.score)
    model = make(**best.settings)
    right, before = (
        [answer.argmax(axis=1) == one.labels for answer, one in zip(given, validation, strict=True)]
        for given in ([answers(model, one) for one in read], at_rest)
    )
    return {
        "settings": best.settings,
        "frozen": not is_clearly_better(right, before, [one.labels >= 0 for one in validation]),
        "validation": best.score,
        "validation_static": scores.right_answers(np.concatenate(list(at_rest)), labels),
    }


def answer_test(
    model: StreamClassifier,
    rows: Rows,
    split: StreamSplit,
    scope: ComparisonScope,
    *,
    test: Sequence[Stream] | None = None,
    variant: str = "",
    settings: Mapping[str, Any] | None = None,
    frozen: bool = False,
    validation: float = float("nan"),
    validation_static: float = float("nan"),
) -> Measured:
    """Answer the test streams (those of the split) once, in order and in random order; each begins at rest."""
    test = cut(split.test if test is None else test, scope.test)
    labels = np.concatenate([one.labels for one in test])
    found = np.concatenate([answers(model, rows(one)) for one in test])
    mixed = [one.shuffled(SEED) for one in test]
    in_disorder = np.concatenate([answers(model, rows(one)) for one in mixed])
    away = np.concatenate([one.frames_away() for one in test]) if split.name in GAP_STREAMS else np.zeros_like(labels)
    return Measured(
        settings={name: _plain(value) for name, value in (settings or {}).items()},
        variant=variant,
        frozen=bool(frozen),
        validation=validation,
        validation_static=validation_static,
        accuracy=scores.right_answers(found, labels),
        shuffled=scores.right_answers(in_disorder, np.concatenate([one.labels for one in mixed])),
        calibration_error=scores.calibration_error(found, labels),
        at_coverage=scores.accuracy_at_coverage(found, labels),
        by_gap=scores.accuracy_by_gap(found, labels, away),
        microseconds=_microseconds(model, rows(beginning(test[0], scope.timed))) if split.split == 0 else float("nan"),
        state_bytes=sum(part.nbytes for part in model._state),
    )


def answers(model: StreamClassifier, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities (T, K) from rest; settings that overflow know nothing: all classes are equally likely."""
    try:
        return model.track(rows)
    except ValueError:
        return np.full((len(rows), model.n_classes), 1 / model.n_classes)


def _microseconds(model: StreamClassifier, rows: NDArray[Any]) -> float:
    """Processor time per frame: the median of three."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        answers(model, rows)
        spent.append(time.process_time() - start)
    return 1e6 * median(spent) / len(rows)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
