"""Choosing how a head remembers, on recorded streams, with or without labels."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.criteria import Accuracy, Agreement
from springback.heads.elastic_head import ElasticHead
from springback.heads.known_settings import KNOWN
from springback.heads.memories.learning_observer import LearningObserver
from springback.heads.memories.observer import Observer
from springback.heads.memories.springs import Springs
from springback.heads.memories.window import WindowSprings
from springback.heads.scale import measure_scale
from springback.heads.search import Choice, Range, search
from springback.heads.settings import Settings
from springback.heads.several_memories import SeveralMemories, best_temperature
from springback.heads.tuning_result import VARIANTS, Trial, TuningResult, Variant
from springback.streaming.row_scaling import unit_rows

RANGES: dict[Variant, dict[str, Range | Choice]] = {
    "springs": {
        "hold": Range(0.05, 20.0, log=True),
        "memory": Range(0.2, 64.0, log=True),
        "sharpness": Choice((None, None, None, 0.5, 1.5, 5.0, 15.0, 50.0, 150.0)),
        "constant": Choice((0.0, 0.0, 0.0, 0.05, 0.2, 0.5)),
        "tuning": Choice((None, None, None, 1.0, 2.0, 3.0, 5.0, 8.0, 16.0)),
        "centred": Choice((False, True)),
    },
    "classes": {
        "springs": Choice((False, True)),
        "memory": Range(0.2, 64.0, log=True),
        "sharpness": Range(0.15, 150.0, log=True),
        "hold": Range(0.05, 40.0, log=True),
        "novelty_odds": Range(1e-5, 1.0, log=True),
        "evidence": Choice((0.0, 0.05, 0.1, 0.25, 0.5, 1.0)),
    },
    "observer": {
        "memory": Range(0.5, 64.0, log=True),
        "kappa": Range(1.0, 64.0, log=True),
        "novelty_odds": Range(1e-5, 1.0, log=True),
        "evidence": Choice((0.0, 0.05, 0.1, 0.25, 0.5, 1.0)),
        "gain": Choice((1.0, 1.0, 1.0, 0.6, 0.4, 0.25, 0.15, 0.08)),
        "sharpness": Range(1.0, 40.0, log=True),
        "centred": Choice((False, True)),
    },
}
RANGES["learning"] = {
    **RANGES["observer"],
    "evidence": Choice((0.0, 0.05, 0.15, 0.25, 0.5, 1.0)),
    "strength": Range(0.25, 8.0, log=True),
}
"""What is tried of each variant. `hold` is what F of one class adds to its logit, in spreads of the logits, if the same
frame is seen again and again; `sharpness` of springs is that of the posterior that pulls, None for that of the network.
Class memory is tried both by springs, which have a `hold`, and as an observer, with `novelty_odds` and `evidence`."""

_LONGEST_WINDOW = 48


def tune_head(
    weight: NDArray[Any],
    bias: NDArray[Any],
    streams: Sequence[NDArray[Any]],
    labels: Sequence[NDArray[Any]] | None = None,
    *,
    times: Sequence[Any] | None = None,
    centre: NDArray[Any] | None = None,
    variants: Sequence[Variant] = VARIANTS,
    n_trials: int = 45,
    seed: int = 0,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> TuningResult:
    """Choose the kind of memory and its settings on recorded streams; each stream begins at rest.

    The first trials of each variant are settings that suit many streams; then some are drawn at random, up to half of
    all trials, and the others closer and closer to the best so far.

    With labels, the score is the accuracy, and the best of a variant only counts if its gain is more than twice the
    standard error of the gain between parts of the streams. The untuned default, which was not chosen from many, counts
    as soon as it is better than the frozen head.

    Without labels, the score is the agreement with two observers that have hindsight and pool the frozen head's answers
    over each object (`Smoother`), on the first half of the frames. The best settings are then compared with the frozen
    head and with the untuned default on the second half. The default is used if it is better than the frozen head and
    neither observer objects; the best settings replace that if they are clearly better; else the head stays frozen.
    `held_out` of the result says how clear this was, and what was not tested.

    Parameters
    ----------
    weight, bias : NDArray[Any]
        The frozen layer, (K, n) and (K,).
    streams : Sequence[NDArray[Any]]
        Features (T, n) of each stream, in time order.
    labels : Sequence[NDArray[Any]] | None
        Correct classes (T,) of each stream, negative where unknown; None: tune without labels.
    times : Sequence[Any] | None
        Time stamps (T,) of each stream in any unit; None: frames are one step apart. The memory that is found is in
        frames.
    centre : NDArray[Any] | None
        Mean of the features; None: of those in `streams`.
    variants : Sequence[Variant]
        Which kinds of memory to try.
    n_trials : int
        Number of settings tried for each variant.
    seed : int
        Of the search.
    on_trial : Callable[[Trial], None]
        Receives every trial as soon as it is scored.

    Examples
    --------
    >>> turning = np.array([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> labels = np.array([0, 0, 0, 0, 1, 1])
    >>> tuned = tune_head(5 * np.eye(2), np.zeros(2), [turning] * 3, [labels] * 3, n_trials=20)
    >>> round(tuned.score_at_rest, 3), tuned.score
    (0.833, 1.0)
    """
    check.integer("n_trials", n_trials, low=1)
    check.require(len(variants) > 0, "variants", "name at least one of " + ", ".join(VARIANTS), variants)
    for variant in variants:
        check.one_of("variants", variant, VARIANTS)
    seen = _Recorded(weight, bias, streams, times, centre)
    judge: Agreement | Accuracy
    if labels is None:
        judge = Agreement(seen.logits, [unit_rows(row - seen.mean) for row in seen.rows], seen.weight)
    else:
        judge = Accuracy(seen.logits, labels)
    at_rest = _classes(seen.logits)
    score_at_rest = judge.score(at_rest)
    trials: list[Trial] = []
    answers: list[NDArray[np.int32]] = []

    def score(variant: Variant, draw: dict[str, Any]) -> float:
        centred = bool(draw.pop("centred", False))
        settings = settings_of(variant, draw, seen.scales[centred].spread)
        answers.append(_classes(seen.track(seen.head(settings, centred))))
        trials.append(Trial(settings, centred, judge.score(answers[-1])))
        on_trial(trials[-1])
        return trials[-1].score

    for variant in variants:
        search(RANGES[variant], partial(score, variant), n_trials=n_trials, seed=seed, first=KNOWN[variant])
    scores = [one.score for one in trials]
    default = ElasticHead(weight, bias, centre=centre)
    untuned = _classes(seen.track(default)) if "learning" in variants else None
    number: int | None = int(np.argmax(scores))
    held_out = None
    if isinstance(judge, Accuracy):
        number = judge.choose(scores, answers, at_rest, n_groups=len(variants))
        reached = max(score_at_rest, -1 if number is None else scores[number])
        use_default = untuned is not None and judge.score(untuned) > reached
    else:
        held_out = judge.compare(answers[int(np.argmax(scores))], at_rest, untuned)
        use_default = held_out.choice == "default"
        number = number if held_out.choice == "searched" else None
    criterion = "agreement" if labels is None else "accuracy"
    if use_default and untuned is not None:
        chosen = (default.settings, default.centre, None, judge.score(untuned))
        return TuningResult(*chosen, score_at_rest, criterion, tuple(trials), held_out=held_out)
    worth = number is not None
    best = trials[number or 0]
    return TuningResult(
        settings=best.settings if worth else None,
        centre=seen.mean if worth and best.centred else None,
        scale=seen.scales[worth and best.centred is True],
        score=best.score if worth else score_at_rest,
        score_at_rest=score_at_rest,
        criterion=criterion,
        trials=tuple(trials),
        held_out=held_out,
    )


def tune_several(
    weight: NDArray[Any],
    bias: NDArray[Any],
    streams: Sequence[NDArray[Any]],
    labels: Sequence[NDArray[Any]],
    *,
    times: Sequence[Any] | None = None,
    centre: NDArray[Any] | None = None,
    variants: Sequence[Variant] = VARIANTS,
    n_trials: int = 45,
    seed: int = 0,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> SeveralMemories:
    """Choose three memories with labels, and the temperature of their mean; each stream begins at rest.

    They are the untuned default, and the settings with the highest accuracy of the two best kinds, among all that
    `tune_head` tries. If their mean is no better than the frozen head, the model stays frozen. The temperature makes
    the labels most probable.

    Parameters
    ----------
    weight, bias, streams, labels, times, centre, variants, n_trials, seed, on_trial
        As in `tune_head`.

    Examples
    --------
    >>> turning = np.array([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0], [0.0, 1.0], [0.0, 1.0]])
    >>> labels = np.array([0, 0, 0, 0, 1, 1])
    >>> model = tune_several(5 * np.eye(2), np.zeros(2), [turning] * 3, [labels] * 3, n_trials=20)
    >>> len(model.heads), model.track_labels(turning)
    (3, array([0, 0, 0, 0, 1, 1]))
    """
    given: dict[str, Any] = {"times": times, "centre": centre, "variants": variants, "n_trials": n_trials, "seed": seed}
    trials = tune_head(weight, bias, streams, labels, on_trial=on_trial, **given).trials
    seen = _Recorded(weight, bias, streams, times, centre)
    of_kinds = [trials[first : first + n_trials] for first in range(0, len(trials), n_trials)]
    best = sorted((max(some, key=_score) for some in of_kinds), key=_score, reverse=True)[:2]
    heads = [ElasticHead(weight, bias, centre=centre), *(seen.head(one.settings, one.centred is True) for one in best)]
    answers = seen.track(SeveralMemories(heads))
    judge = Accuracy(seen.logits, labels)
    if judge.score(_classes(answers)) <= judge.score(_classes(seen.logits)):
        heads = [seen.head(Springs(pull=0.0), centred=False)]
        answers = seen.track(SeveralMemories(heads))
    return SeveralMemories(heads, temperature=best_temperature(np.concatenate(answers), np.concatenate(labels)))


def _score(trial: Trial) -> float:
    return trial.score


class _Recorded:
    """Recorded streams as a frozen head sees them."""

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        streams: Sequence[NDArray[Any]],
        times: Sequence[Any] | None,
        centre: NDArray[Any] | None,
    ) -> None:
        check.require(len(streams) > 0, "streams", "hold at least one stream", len(streams))
        frozen = ElasticHead(weight, bias, Springs(pull=0.0))
        self.weight, self.bias = frozen.weight, frozen.bias
        self.rows = [frozen._rows("streams", one, (None, frozen.n_inputs)) for one in streams]
        self.stamps: Sequence[Any] = [None] * len(streams) if times is None else times
        given = len(self.stamps)
        check.require(given == len(streams), "times", f"hold time stamps for each of {len(streams)} streams", given)
        self.logits = [one @ frozen.weight.T + frozen.bias for one in self.rows]
        self.mean = np.asarray(np.concatenate(self.rows).mean(axis=0) if centre is None else centre, np.float32)
        self.scales = {
            centred: measure_scale(self.logits, [unit_rows(row - (self.mean if centred else 0)) for row in self.rows])
            for centred in (False, True)
        }

    def head(self, settings: Settings, centred: bool) -> ElasticHead:
        """A head with these settings."""
        centre = self.mean if centred else None
        return ElasticHead(self.weight, self.bias, settings, centre=centre, scale=self.scales[centred])

    def track(self, model: ElasticHead | SeveralMemories) -> list[NDArray[np.float64]]:
        """Its answers to all frames of each stream."""
        return [model.track(one, at) for one, at in zip(self.rows, self.stamps, strict=True)]


def _classes(outputs: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    """The answers to all frames of all streams."""
    return np.concatenate([one.argmax(axis=1) for one in outputs]).astype(np.int32)


def settings_of(variant: Variant, draw: Mapping[str, Any], spread: float) -> Settings:
    """The settings that a draw from `RANGES` stands for, if the logits have this spread."""
    given = dict(draw)
    if variant in ("observer", "learning"):
        return (Observer if variant == "observer" else LearningObserver)(**given)
    hold = given.pop("hold")
    if variant == "classes":
        if not given.pop("springs"):
            return Observer(kappa=0.0, **given)
        given = {"memory": given["memory"], "sharpness": given["sharpness"], "constant": 1.0}
    sharpness, tuning, memory = given.pop("sharpness"), given.pop("tuning", None), given["memory"]
    given |= {
        "pull": hold * spread * math.expm1(1 / memory),
        "kappa": 1.0 if sharpness is None else sharpness / spread,
    }
    if tuning is None:
        return Springs(**given)
    window = math.ceil(5 * memory)  # what is left of a pull by then is less than one percent
    return WindowSprings(**given, tuning=tuning, window=min(window, _LONGEST_WINDOW))
