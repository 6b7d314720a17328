"""Choosing pull and memory on a stream, with labels or without."""

import dataclasses
import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from springback import check
from springback.extras import require_extra
from springback.heads.springs import Springs
from springback.layers import algorithm
from springback.layers._use import refuse_unused, watch_calls
from springback.layers.models import check_frames, deelasticize, find_head

HOLDS = (0.05, 20.0)
"""The range of the hold: what a class that is seen forever adds to its own logit, `pull / (exp(1 / memory) - 1)`, in
units of the usual spread of the logits. A hold that is too small does nothing; one that is too large never lets go."""

MEMORIES = (0.3, 30.0)

GRID = tuple((hold, memory) for memory in (1.0, 3.0, 0.5, 8.0) for hold in (1.0, 0.5, 2.0, 0.7, 1.4, 3.0))
"""Pairs of hold and memory that are tried first, the more common ones before the others."""

Search = Literal["seeded", "optuna"]


class Trial(NamedTuple):
    """One pair that was tried, and how it scored (a fraction)."""

    pull: float
    memory: float
    score: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tuned:
    """What `tune_elastic` found.

    Parameters
    ----------
    springs : Springs
        With the best pull and memory; `pull=0`, the plain model, if nothing scored higher than that.
    score : float
        Their score as a fraction, never below `score_at_rest`.
    score_at_rest : float
        That of the plain model.
    criterion : str
        "accuracy" (with labels) or "agreement" (without).
    trials : tuple[Trial, ...]
        Everything that was tried, in order.

    Examples
    --------
    >>> Tuned(springs=Springs(), score=0.9, score_at_rest=0.6, criterion="accuracy", trials=()).score
    0.9
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
    """Choose pull and memory of a model's head on frames (T, B, ...) of training streams; the model does not change.

    The network runs once over the frames; only the head is run again for every trial: first on a fixed grid, which
    covers the usual range in units of this network's logits, then at random near the best pair so far. Results are
    reproducible for a given seed. If no pair scores higher than the plain model, the springs returned are those of the
    plain model.

    Parameters
    ----------
    labels : Tensor | None
        (T, B), negative where unknown: the score is the accuracy of the head. Without labels it is the agreement
        with what a careful observer would say, averaged over the classes: the plain model's answer where it is sure
        of it, its last sure answer where it is not.
    confidences : tuple[float, ...]
        The posterior from which the plain model is sure; the score is the mean over these observers.
    springs : Springs | None
        Where to start, and all other settings.
    layer : str | None
        Name of the head; `find_head` if None.
    search : Search
        "seeded": the grid, then a random search of our own; "optuna": half of the trials from the grid, then
        optuna's search, if it is installed.

    Examples
    --------
    >>> model = nn.Linear(2, 2, bias=False)
    >>> model.weight.data = 5 * torch.eye(2)
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0], [0.0, 1.0], [0.0, 1.0]]).unsqueeze(1)
    >>> tuned = tune_elastic(model, turning, torch.tensor([[0], [0], [0], [0], [1], [1]]), n_trials=20)
    >>> round(tuned.score_at_rest, 3), round(tuned.score, 3)
    (0.833, 1.0)
    """
    check.integer("n_trials", n_trials, low=1)
    check.integer("images_at_once", images_at_once, low=1)
    check.one_of("search", search, ("seeded", "optuna"))
    start = springs or Springs()
    features, weight, bias = _what_the_head_sees(model, layer, frames, images_at_once)
    rest = nn.functional.linear(features, weight, bias)
    score_of = _agreement(rest, confidences) if labels is None else _accuracy(rest, labels)
    scale = _pull_of_hold_one(start, features, weight, rest)

    def score(hold: float, memory: float) -> Trial:
        tried = dataclasses.replace(start, pull=hold * scale * math.expm1(1 / memory), memory=memory)
        state = algorithm.init(tried, weight, rest.shape[1])
        _, response = algorithm.track(tried, weight, bias, state, features, in_place=True)
        return Trial(float(tried.pull or 0), memory, score_of(response.output))

    first = float(start.pull or 0) / (scale * math.expm1(1 / start.memory))
    given = [(first, start.memory)] if first > 0 else []
    seek = _seek if search == "seeded" else _seek_with_optuna
    trials = seek(score, given, n_trials, seed)
    best, at_rest = max(trials, key=lambda trial: trial.score), score_of(rest)
    chosen = dataclasses.replace(start, pull=best.pull, memory=best.memory)
    if best.score <= at_rest:
        chosen = dataclasses.replace(start, pull=0.0, beta=None, likelihood="layer")
    return Tuned(
        springs=chosen,
        score=max(best.score, at_rest),
        score_at_rest=at_rest,
        criterion="agreement" if labels is None else "accuracy",
        trials=tuple(trials),
    )


def _pull_of_hold_one(springs: Springs, features: Tensor, weight: Tensor, rest: Tensor) -> float:
    """How large F of one class must be to equal the output of the resting layer.

    This is the spread of its logits, or the length of a centroid; per squared length of the input, if inputs are used
    as they are.
    """
    if springs.likelihood == "layer":
        reach = (rest.amax(dim=-1) - rest.amin(dim=-1)).double().nanmedian()
    else:
        reach = torch.linalg.vector_norm(weight.double(), dim=-1).median()
    if not springs.unit_inputs:
        lengths: Tensor = torch.linalg.vector_norm(features.double(), dim=-1)
        reach = reach / (lengths.nanmedian() ** 2 if springs.likelihood == "layer" else lengths.nanmedian())
    if not (math.isfinite(reach) and reach > 0):
        raise ValueError("frames must give the plain model outputs that differ between classes; got equal outputs")
    return float(reach)


def _what_the_head_sees(
    model: nn.Module, layer: str | None, frames: Tensor, images_at_once: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Inputs (T, B, n), weights and biases of the head; nothing of the model moves."""
    check_frames(frames)
    plain = deelasticize(model).eval()
    images = frames.flatten(0, 1)
    name = find_head(plain, images[:1]) if layer is None else layer
    head = dict(plain.named_modules()).get(name)
    if not isinstance(head, nn.Linear):
        raise ValueError(f"layer must name an nn.Linear of the model; got {layer!r}")
    inputs: list[Tensor] = []
    with watch_calls({name: head}, lambda _, input: inputs.append(input)):
        for first in range(0, len(images), images_at_once):
            plain(images[first : first + images_at_once])
    refuse_unused([] if inputs else [name], plain)
    features = torch.cat(inputs)
    wanted = (len(images), head.in_features)
    if features.shape != wanted:
        raise ValueError(
            f"layer {name!r} must be called once per image with one row, (images, {head.in_features}); "
            f"{len(images)} images gave it {tuple(features.shape)}"
        )
    return features.reshape(*frames.shape[:2], -1), head.weight, head.bias


def _accuracy(rest: Tensor, labels: Tensor) -> Callable[[Tensor], float]:
    """Outputs (T, B, K) -> share of right answers, where the label is known."""
    wanted = tuple(rest.shape[:2])
    check.require(labels.shape == wanted, "labels", f"have shape {wanted}, (time, streams)", tuple(labels.shape))
    if labels.is_floating_point():
        raise TypeError(f"labels must be whole numbers, negative where unknown; got {labels.dtype}")
    most = int(labels.max())
    check.require(most < rest.shape[-1], "labels", f"be below {rest.shape[-1]}, the outputs of the layer", most)
    labels = labels.to(rest.device)
    known = labels >= 0
    if not bool(known.any()):
        raise ValueError("labels must be known (not negative) for some frames; leave them out to tune without labels")
    return lambda output: float((output.argmax(dim=-1) == labels)[known].double().mean())


def _agreement(rest: Tensor, confidences: tuple[float, ...]) -> Callable[[Tensor], float]:
    """Outputs (T, B, K) -> agreement with careful observers.

    Every class has the same weight, so that always answering one class is not rewarded.
    """
    posterior, answer = rest.float().softmax(dim=-1).max(dim=-1)
    observers = [_last_sure(posterior >= sure, answer) for sure in confidences if bool((posterior >= sure).any())]
    if not observers:
        raise ValueError(
            "confidences must be reached by the plain model on some frame; "
            f"got {confidences}, but its largest posterior is {float(posterior.nan_to_num().max()):.2f}"
        )

    def score(output: Tensor) -> float:
        shares = []
        for wanted in observers:
            known = wanted >= 0
            counts = torch.bincount(wanted[known])
            right = (output.argmax(dim=-1) == wanted)[known].double()
            shares.append((torch.bincount(wanted[known], weights=right)[counts > 0] / counts[counts > 0]).mean())
        return float(torch.stack(shares).mean())

    return score


def _last_sure(sure: Tensor, answer: Tensor) -> Tensor:
    """The answer where it is sure, the last sure one where it is not, -1 before the first; all (T, B)."""
    time = torch.arange(len(answer), device=answer.device).unsqueeze(1).expand_as(answer)
    last = torch.where(sure, time, -1).cummax(dim=0).values
    return torch.where(last >= 0, answer.gather(0, last.clamp_min(0)), -1)


Score = Callable[[float, float], Trial]
"""Scores a hold and a memory."""

Pair = tuple[float, float]


def _seek(score: Score, given: list[Pair], n_trials: int, seed: int) -> list[Trial]:
    """Try the given pairs, the grid, and then pairs closer and closer to the best so far, on logarithmic scales."""
    rng = np.random.default_rng(seed)
    spans = np.log([HOLDS, MEMORIES])
    pairs = [*given, *GRID][:n_trials]
    trials = [score(*pair) for pair in pairs]
    for number in range(len(pairs), n_trials):
        best = max(range(number), key=lambda at: trials[at].score)
        width = 0.5 * (1 - number / n_trials) + 0.05
        near = rng.normal(np.log(pairs[best]), [width, 1.5 * width])
        hold, memory = np.exp(np.clip(near, spans[:, 0], spans[:, 1]))
        pairs.append((float(hold), float(memory)))
        trials.append(score(*pairs[-1]))
    return trials


def _seek_with_optuna(score: Score, given: list[Pair], n_trials: int, seed: int) -> list[Trial]:
    require_extra('search="optuna"', "optuna")
    import optuna

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        for pair in [*given, *GRID][: max(1, n_trials // 2)]:
            inside = [min(max(value, span[0]), span[1]) for value, span in zip(pair, (HOLDS, MEMORIES), strict=True)]
            study.enqueue_trial({"hold": inside[0], "memory": inside[1]})
        trials = []
        for _ in range(n_trials):
            asked = study.ask()
            hold = asked.suggest_float("hold", *HOLDS, log=True)
            memory = asked.suggest_float("memory", *MEMORIES, log=True)
            trials.append(score(hold, memory))
            study.tell(asked, trials[-1].score)
        return trials
    finally:
        optuna.logging.set_verbosity(verbosity)
