"""Choosing how a head remembers, on recorded streams, with or without labels."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback import check
from springback.adaptation.search import Choice, Range, search
from springback.heads.elastic_head import ElasticHead
from springback.heads.found import VARIANTS, Found, Trial, Variant
from springback.heads.hindsight import Hindsight, staying
from springback.heads.known_settings import KNOWN
from springback.heads.observer import Observer
from springback.heads.scale import measure_scale
from springback.heads.settings import Settings
from springback.heads.springs import Springs
from springback.magnitude import unit_rows

WORTH_IT = 0.3
"""Without labels, a head must make up this share of what the frozen one lacks to full agreement, or it is not used: the
judges are not more precise than that."""

RANGES: dict[Variant, dict[str, Range | Choice]] = {
    "springs": {
        "hold": Range(0.05, 10.0, log=True),
        "memory": Range(0.5, 64.0, log=True),
        "kappa": Range(0.25, 8.0, log=True),
        "constant": Choice((0.0, 0.0, 0.0, 0.05, 0.2, 0.5, 1.0)),
        "centred": Choice((False, True)),
    },
    "classes": {
        "memory": Range(0.5, 64.0, log=True),
        "novelty": Range(1e-5, 1.0, log=True),
        "evidence": Choice((0.0, 0.05, 0.1, 0.25, 0.5, 1.0)),
        "sharpness": Range(1.0, 40.0, log=True),
    },
    "observer": {
        "memory": Range(0.5, 64.0, log=True),
        "kappa": Range(1.0, 64.0, log=True),
        "novelty": Range(1e-5, 1.0, log=True),
        "evidence": Choice((0.0, 0.05, 0.1, 0.25, 0.5, 1.0)),
        "gain": Choice((1.0, 1.0, 1.0, 0.6, 0.4, 0.25, 0.15, 0.08)),
        "sharpness": Range(1.0, 40.0, log=True),
        "centred": Choice((False, True)),
    },
}
"""What is tried of each variant. `hold` is what F of one class adds to its logit, in spreads of the logits, if the same
frame is seen again and again."""

_SURE = 0.9


class TunedHead(Found):
    """What `tune_head` has found, which makes heads."""

    def head(self, weight: NDArray[Any], bias: NDArray[Any]) -> ElasticHead:
        """An elastic head with these settings, or one that stays frozen."""
        return ElasticHead(weight, bias, self.in_use, centre=self.centre, scale=self.scale)


def tune_head(
    weight: NDArray[Any],
    bias: NDArray[Any],
    streams: Sequence[NDArray[Any]],
    labels: Sequence[NDArray[Any]] | None = None,
    *,
    centre: NDArray[Any] | None = None,
    variants: Sequence[Variant] = VARIANTS,
    n_trials: int = 60,
    seed: int = 0,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> TunedHead:
    """Choose the kind of memory and its settings on recorded streams; each stream begins at rest.

    The first trials of each variant are settings that suit many streams; then some are drawn at random, up to half of
    all trials, and the others closer and closer to the best so far. With labels, the score is the accuracy. Without, it
    is the agreement with two observers that need none: one that pools the frozen head's answers over each object with
    hindsight (`Hindsight`), and a careful one that keeps its last sure answer to the same object. A head that does not
    score clearly higher than the frozen one is not used.

    Parameters
    ----------
    weight, bias : NDArray[Any]
        The frozen layer, (K, n) and (K,).
    streams : Sequence[NDArray[Any]]
        Features (T, n) of each stream, in time order.
    labels : Sequence[NDArray[Any]] | None
        Right classes (T,) of each stream, negative where unknown; None: tune without labels.
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
    >>> tuned = tune_head(5 * np.eye(2), np.zeros(2), [turning], [labels], n_trials=20)
    >>> round(tuned.score_at_rest, 3), tuned.score
    (0.833, 1.0)
    """
    check.integer("n_trials", n_trials, low=1)
    check.require(len(streams) > 0, "streams", "hold at least one stream", len(streams))
    check.require(len(variants) > 0, "variants", "name at least one of " + ", ".join(VARIANTS), variants)
    for variant in variants:
        check.one_of("variants", variant, VARIANTS)
    frozen = ElasticHead(weight, bias, Springs(pull=0.0))
    rows = [frozen._rows("streams", one, (None, frozen.n_inputs)) for one in streams]
    logits = [one @ frozen.weight.T + frozen.bias for one in rows]
    mean = np.asarray(np.concatenate(rows).mean(axis=0) if centre is None else centre, np.float32)
    scales = {
        one: measure_scale(logits, [unit_rows(row - (mean if one else 0)) for row in rows]) for one in (False, True)
    }
    score_of = (
        _agreement(logits, [unit_rows(row - mean) for row in rows]) if labels is None else _accuracy(logits, labels)
    )
    at_rest = score_of(logits)

    trials: list[Trial] = []

    def score(variant: Variant, draw: dict[str, Any]) -> float:
        centred = bool(draw.pop("centred", False))
        settings = settings_of(variant, draw, scales[centred].spread)
        head = ElasticHead(weight, bias, settings, centre=mean if centred else None, scale=scales[centred])
        trials.append(Trial(settings, centred, score_of([head.track(one) for one in rows])))
        on_trial(trials[-1])
        return trials[-1].score

    for variant in variants:
        search(RANGES[variant], partial(score, variant), n_trials=n_trials, seed=seed, first=KNOWN[variant])
    best = max(trials, key=lambda trial: trial.score)
    margin = WORTH_IT * (1 - at_rest) if labels is None else 0.0
    worth = best.score > at_rest + margin
    return TunedHead(
        settings=best.settings if worth else None,
        centre=mean if worth and best.centred else None,
        scale=scales[worth and best.centred],
        score=best.score if worth else at_rest,
        score_at_rest=at_rest,
        criterion="agreement" if labels is None else "accuracy",
        trials=tuple(trials),
    )


def settings_of(variant: Variant, draw: Mapping[str, Any], spread: float) -> Settings:
    """The settings that a draw from `RANGES` stands for, if the logits have this spread."""
    if variant == "springs":
        pull = draw["hold"] * spread * float(np.expm1(1 / draw["memory"]))
        return Springs(pull=pull, memory=draw["memory"], kappa=draw["kappa"], constant=draw["constant"])
    return Observer(**{"kappa": 0.0, **draw})


Score = Callable[[Sequence[NDArray[Any]]], float]
"""Scores answers (T, K) to all streams."""


def _accuracy(logits: Sequence[NDArray[Any]], labels: Sequence[NDArray[Any]]) -> Score:
    check.require(len(labels) == len(logits), "labels", "hold one array for each stream", len(labels))
    known = []
    for one, wanted in zip(logits, labels, strict=True):
        given = np.asarray(wanted)
        check.require(given.shape == (len(one),), "labels", f"have shape ({len(one)},), one per frame", given.shape)
        check.require(given.dtype.kind in "iu", "labels", "be whole numbers, negative where unknown", given.dtype)
        most = int(given.max(initial=-1))
        check.require(most < one.shape[1], "labels", f"be below {one.shape[1]}, the classes of the head", most)
        known.append(given.astype(np.int64))
    everything = np.concatenate(known)
    check.require(bool((everything >= 0).any()), "labels", "be known for some frames", "none")

    def score(answers: Sequence[NDArray[Any]]) -> float:
        classes = np.concatenate([one.argmax(axis=1) for one in answers])
        return float((classes == everything)[everything >= 0].mean())

    return score


def _agreement(logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]]) -> Score:
    """Mean agreement with an observer that has hindsight and with a careful one."""
    hindsight = Hindsight()
    stays = staying(directions, hindsight.hazard)
    pooled = np.concatenate(hindsight.pool_objects(logits, stays))
    careful = np.concatenate([_last_sure(one, stay) for one, stay in zip(logits, stays, strict=True)])
    told = careful >= 0
    counts = np.bincount(careful[told], minlength=pooled.shape[1])

    def score(answers: Sequence[NDArray[Any]]) -> float:
        classes = np.concatenate([one.argmax(axis=1) for one in answers])
        with_hindsight = float(np.take_along_axis(pooled, classes[:, None], axis=1).mean())
        if not told.any():
            return with_hindsight
        right = np.bincount(careful[told], weights=classes[told] == careful[told], minlength=len(counts))
        return (with_hindsight + float((right[counts > 0] / counts[counts > 0]).mean())) / 2

    return score


def _last_sure(logits: NDArray[Any], stay: NDArray[np.float64]) -> NDArray[np.int64]:
    """The answer where the frozen head is sure of it, else its last sure answer to the same object, or -1, (T,)."""
    sure = softmax(logits, axis=1).max(axis=1) >= _SURE
    frames = np.arange(len(logits))
    last = np.maximum.accumulate(np.where(sure, frames, -1))
    begun = np.maximum.accumulate(np.where(stay < 0.5, frames, 0))
    return np.where(last >= begun, logits.argmax(axis=1)[np.maximum(last, 0)], -1)
