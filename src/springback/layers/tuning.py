"""Choosing pull and memory on a stream, with labels or without."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from springback import check
from springback.extras import require_extra
from springback.layers import algorithm
from springback.layers.models import deelasticize, find_head
from springback.layers.springs import Springs

MEMORIES = (0.3, 30.0)
PULLS = (0.05, 20.0)
"""Where pull is sought, in units of the usual spread of the logits."""

Search = Literal["seeded", "optuna"]


class Trial(NamedTuple):
    """One pair that was tried, and how it scored in percent."""

    pull: float
    memory: float
    score: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tuned:
    """What `tune_elastic` found.

    springs         with the best pull and memory; those given, if nothing was better
    score           their score in percent
    score_at_rest   that of the plain model
    criterion       "accuracy" (with labels) or "agreement" (without)
    trials          everything that was tried, in order

    >>> Tuned(springs=Springs(), score=90.0, score_at_rest=60.0, criterion="accuracy", trials=()).score
    90.0
    """

    springs: Springs
    score: float
    score_at_rest: float
    criterion: str
    trials: tuple[Trial, ...]


@torch.no_grad()
def tune_elastic(
    model: nn.Module,
    frames: Tensor,
    labels: Tensor | None = None,
    *,
    springs: Springs | None = None,
    layer: str | None = None,
    n_trials: int = 40,
    confidences: tuple[float, ...] = (0.9, 0.99),
    search: Search = "seeded",
    seed: int = 0,
    images_at_once: int = 1024,
) -> Tuned:
    """Choose pull and memory of a model's head on frames (T, B, ...) of training streams; the model is left as it was.

    labels       (T, B), negative where unknown: the score is the accuracy of the head. Without labels it is the
                 agreement with what a careful observer would say, averaged over the classes: the plain model's answer
                 where it is sure of it, its last sure answer where it is not
    confidences  the posterior from which the plain model is sure; the score is the mean over these observers
    springs      where to start, and all other settings
    layer        name of the head; `find_head` if None
    search       "seeded": a small random search of our own; "optuna": optuna's, if it is installed

    The network runs once over the frames; only the head is tried again and again. The same seed gives the same result.

    >>> model = nn.Linear(2, 2, bias=False)
    >>> model.weight.data = 5 * torch.eye(2)
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0], [0.0, 1.0], [0.0, 1.0]]).unsqueeze(1)
    >>> tuned = tune_elastic(model, turning, torch.tensor([[0], [0], [0], [0], [1], [1]]), n_trials=20)
    >>> round(tuned.score_at_rest, 1), round(tuned.score, 1)
    (83.3, 100.0)
    """
    check.integer("n_trials", n_trials, low=1)
    check.one_of("search", search, ("seeded", "optuna"))
    start = springs or Springs()
    features, weight, bias = _what_the_head_sees(model, layer, frames, images_at_once)
    rest = nn.functional.linear(features, weight, bias)
    score_of = _agreement(rest, confidences) if labels is None else _accuracy(rest, labels)

    def score(pull: float, memory: float) -> float:
        tried = dataclasses.replace(start, pull=pull, memory=memory)
        state = algorithm.init(tried, weight, rest.shape[1])
        return score_of(algorithm.advance(tried, weight, bias, state, features).output)

    spread = float((rest.amax(dim=-1) - rest.amin(dim=-1)).median())
    pulls = (PULLS[0] * spread, PULLS[1] * spread)
    first = None if start.pull in (None, 0) else (float(start.pull or 0), start.memory)
    seek = _seek if search == "seeded" else _seek_with_optuna
    trials = seek(score, pulls, MEMORIES, first, n_trials, seed)
    best = max(trials, key=lambda trial: trial.score)
    return Tuned(
        springs=dataclasses.replace(start, pull=best.pull, memory=best.memory),
        score=best.score,
        score_at_rest=score_of(rest),
        criterion="agreement" if labels is None else "accuracy",
        trials=tuple(trials),
    )


def _what_the_head_sees(
    model: nn.Module, layer: str | None, frames: Tensor, images_at_once: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Inputs (T, B, n), weights and biases of the head; nothing of the model moves."""
    check.require(
        frames.ndim >= 3 and len(frames) > 0, "frames", "have shape (time, streams, ...)", tuple(frames.shape)
    )
    plain = deelasticize(model).eval()
    head = plain.get_submodule(find_head(plain) if layer is None else layer)
    if not isinstance(head, nn.Linear):
        raise TypeError(f"the head must be an nn.Linear; got {type(head).__name__}")
    inputs: list[Tensor] = []

    def keep(_: nn.Module, args: Any) -> None:
        inputs.append(args[0])

    head.register_forward_pre_hook(keep)
    images = frames.flatten(0, 1)
    for first in range(0, len(images), images_at_once):
        plain(images[first : first + images_at_once])
    features = torch.cat(inputs)
    wanted = (len(images), head.in_features)
    check.require(features.shape == wanted, "what the head sees", f"have shape {wanted}", tuple(features.shape))
    return features.reshape(*frames.shape[:2], -1), head.weight, head.bias


def _accuracy(rest: Tensor, labels: Tensor) -> Callable[[Tensor], float]:
    """Outputs (T, B, K) -> percent right, where the label is known."""
    check.require(labels.shape == rest.shape[:2], "labels", f"have shape {tuple(rest.shape[:2])}", tuple(labels.shape))
    labels = labels.to(rest.device)
    known = labels >= 0
    check.require(bool(known.any()), "labels", "be known for some frames", "none")
    return lambda output: 100 * float((output.argmax(dim=-1) == labels)[known].double().mean())


def _agreement(rest: Tensor, confidences: tuple[float, ...]) -> Callable[[Tensor], float]:
    """Outputs (T, B, K) -> percent agreement with careful observers; every class weighs the same, so that answering
    one class always is not rewarded."""
    posterior, answer = rest.float().softmax(dim=-1).max(dim=-1)
    observers = [_last_sure(posterior >= sure, answer) for sure in confidences if bool((posterior >= sure).any())]
    check.require(bool(observers), "confidences", "be reached by the plain model on some frame", confidences)

    def score(output: Tensor) -> float:
        shares = []
        for wanted in observers:
            known = wanted >= 0
            counts = torch.bincount(wanted[known])
            right = (output.argmax(dim=-1) == wanted)[known].double()
            shares.append((torch.bincount(wanted[known], weights=right)[counts > 0] / counts[counts > 0]).mean())
        return 100 * float(torch.stack(shares).mean())

    return score


def _last_sure(sure: Tensor, answer: Tensor) -> Tensor:
    """The answer where it is sure, the last sure one where it is not, -1 before the first; all (T, B)."""
    time = torch.arange(len(answer), device=answer.device).unsqueeze(1).expand_as(answer)
    last = torch.where(sure, time, -1).cummax(dim=0).values
    return torch.where(last >= 0, answer.gather(0, last.clamp_min(0)), -1)


Score = Callable[[float, float], float]
Span = tuple[float, float]


def _seek(score: Score, pulls: Span, memories: Span, first: Span | None, n_trials: int, seed: int) -> list[Trial]:
    """One in three pairs from the whole range, the others near the best so far, ever nearer; on logarithmic scales."""
    rng = np.random.default_rng(seed)
    spans = np.log([pulls, memories])
    trials: list[Trial] = []
    for number in range(n_trials):
        if number == 0 and first is not None:
            at = np.log(first)
        elif not trials or number % 3 == 0:
            at = rng.uniform(spans[:, 0], spans[:, 1])
        else:
            best = max(trials, key=lambda trial: trial.score)
            width = (0.25 * (1 - number / n_trials) + 0.03) * (spans[:, 1] - spans[:, 0])
            at = np.clip(rng.normal(np.log([best.pull, best.memory]), width), spans[:, 0], spans[:, 1])
        pull, memory = math.exp(at[0]), math.exp(at[1])
        trials.append(Trial(pull, memory, score(pull, memory)))
    return trials


def _seek_with_optuna(
    score: Score, pulls: Span, memories: Span, first: Span | None, n_trials: int, seed: int
) -> list[Trial]:
    require_extra('search="optuna"', "optuna")
    import optuna

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        if first is not None:
            inside = [min(max(value, span[0]), span[1]) for value, span in zip(first, (pulls, memories), strict=True)]
            study.enqueue_trial({"pull": inside[0], "memory": inside[1]})
        trials = []
        for _ in range(n_trials):
            asked = study.ask()
            pull = asked.suggest_float("pull", *pulls, log=True)
            memory = asked.suggest_float("memory", *memories, log=True)
            trials.append(Trial(pull, memory, score(pull, memory)))
            study.tell(asked, trials[-1].score)
        return trials
    finally:
        optuna.logging.set_verbosity(verbosity)
