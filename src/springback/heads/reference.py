"""The heads in plain NumPy, frame by frame: slow, and as the equations are written.

The compiled head and the PyTorch layer are tested against these lines.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM
from springback.heads.observer import Observer
from springback.heads.scale import (
    FRAMES_OF_SCALE,
    FRAMES_UNTIL_SURE,
    LARGEST_FALL,
    LARGEST_SPREAD,
    LARGEST_STEP,
    SMALLEST_DISTANCE,
    SMALLEST_SPREAD,
    Scale,
)
from springback.heads.settings import Settings
from springback.heads.springs import CentroidSprings, Springs, WindowSprings


def follow(
    settings: Settings,
    weight: NDArray[Any],
    bias: NDArray[Any],
    rows: NDArray[Any],
    *,
    gaps: NDArray[Any] | None = None,
    centre: NDArray[Any] | None = None,
    scale: Scale | None = None,
) -> NDArray[np.float64]:
    """Class probabilities (T, K) of a stream of features (T, n) that begins at rest.

    Parameters
    ----------
    gaps : NDArray[Any] | None
        Time since the frame before, (T,); None: 1 everywhere.

    Examples
    --------
    >>> follow(Springs(pull=0.0), np.eye(2), np.zeros(2), np.ones((1, 2)))
    array([[0.5, 0.5]])
    """
    rows = np.asarray(rows, np.float64)
    gaps = np.ones(len(rows)) if gaps is None else gaps
    logits = rows @ np.asarray(weight, np.float64).T + np.asarray(bias, np.float64)
    use = centre is not None and (not isinstance(settings, Observer) or settings.centred)
    centred = rows - (np.asarray(centre, np.float64) if use else 0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    units = centred / np.where(lengths > 0, lengths, 1)
    trust = _trust(logits.argmax(axis=1), lengths[:, 0] > 0, gaps, logits.shape[1], settings.continuity)
    if isinstance(settings, Observer):
        return _observer(settings, logits, units, gaps, scale, trust)
    if isinstance(settings, CentroidSprings):
        return _centroids(settings, np.asarray(weight, np.float64), np.asarray(bias, np.float64), units, gaps)
    if isinstance(settings, WindowSprings):
        apart = _distances(units) if scale is None else np.full(len(units), scale.distance)
        return _window(settings, logits, units if settings.unit_inputs else centred, gaps, apart, trust)
    return _springs(settings, logits, units if settings.unit_inputs else centred, gaps, trust)


def _trust(answers: Any, visible: Any, gaps: Any, classes: int, continuity: float) -> NDArray[np.float64]:
    """How far memory counts, (T,): d = [c_t = c_(t-1)] - share(c_t);  z = S / sqrt(V);  0 ... 1 for z 1 ... 2 times."""
    trust, last = np.ones(len(answers)), -1
    shares, sums = np.zeros(classes), np.zeros(3)
    for t, c in enumerate(answers):
        known = min(FORGETTING ** (gaps[t] - 1) * sums[0], 1)
        sums = FORGETTING ** gaps[t] * sums
        if visible[t]:
            beyond = known * (float(c == last) - shares[c])
            sums = sums + np.array([1, beyond, beyond**2])
            shares, last = shares + (np.eye(classes)[c] - shares) / sums[0], c
        if continuity > 0:
            errors = (PRIOR_SUM + sums[1]) / np.sqrt(PRIOR_SQUARES + sums[2])
            trust[t] = np.clip(errors / continuity - 1, 0, 1)
    return trust


def _distances(units: Any) -> NDArray[np.float64]:
    """1 - cos of unrelated frames as it is measured until each frame, (T,)."""
    distances, direction = np.empty(len(units)), np.zeros(units.shape[1])
    for t, x in enumerate(units):
        direction = direction + (x - direction) / min(t + 1 + FRAMES_UNTIL_SURE, FRAMES_OF_SCALE)
        distances[t] = max(1 - direction @ direction, SMALLEST_DISTANCE)
    return distances


def _spreads(logits: Any) -> NDArray[np.float64]:
    """Largest minus smallest logit of a usual frame as it is measured until each frame, (T,)."""
    spreads, spread = np.empty(len(logits)), 0.0
    for t, row in enumerate(logits):
        reach = min(np.ptp(row), LARGEST_SPREAD)
        if spread > 0:
            if t < FRAMES_UNTIL_SURE and reach > 0:
                spread = max(min(spread, LARGEST_FALL * reach), spread / LARGEST_FALL)
            reach = min(reach, LARGEST_STEP * spread)
        spread = spreads[t] = spread + (reach - spread) / min(t + 1, FRAMES_OF_SCALE)
    return spreads


def _window(
    settings: WindowSprings, logits: Any, inputs: Any, gaps: Any, apart: Any, trust: Any
) -> NDArray[np.float64]:
    """Z = W x + b + pull sum_i f(t - t_i) ((1 - m) k(x, x_i) + m) Q_i;  k(x, y) = x.y or exp(tuning (x.y - 1))."""
    m = settings.constant
    remembered: list[tuple[float, NDArray[Any], NDArray[Any]]] = []
    answers = np.empty(logits.shape)
    for t, x in enumerate(inputs):
        remembered = [(left * np.exp(-gaps[t] / settings.memory), one, past) for left, one, past in remembered]
        added = np.zeros(logits.shape[1])
        for left, one, past in remembered:
            alike = one @ x if settings.tuning is None else np.exp(settings.tuning / apart[t] * (one @ x - 1))
            added += (settings.pull or 0) * left * ((1 - m) * alike + m) * past
        answers[t] = softmax(logits[t] + trust[t] * added)
        posterior = softmax(settings.kappa * (logits[t] + added))
        remembered = [*remembered, (1.0, x, posterior)][-settings.window :]
    return answers


def _springs(settings: Springs, logits: Any, directions: Any, gaps: Any, trust: Any) -> NDArray[np.float64]:
    """F <- F exp(-gap / memory);  z = W x + b + F x';  F <- F + pull Q x',  x' = [sqrt(1 - m) x, sqrt(m)]."""
    m = settings.constant
    inputs = np.hstack([np.sqrt(1 - m) * directions, np.full((len(directions), 1), np.sqrt(m))])
    pulled = np.zeros((logits.shape[1], inputs.shape[1]))
    answers = np.empty(logits.shape)
    for t, x in enumerate(inputs):
        pulled *= np.exp(-gaps[t] / settings.memory)
        added = pulled @ x
        answers[t] = softmax(logits[t] + trust[t] * added)
        pulled += (settings.pull or 0) * np.outer(softmax(settings.kappa * (logits[t] + added)), x)
    return answers


def _centroids(settings: CentroidSprings, weight: Any, bias: Any, units: Any, gaps: Any) -> NDArray[np.float64]:
    """G = W + F;  z = kappa cos(x, G) + ln P;  F <- F + pull Q x."""
    pulled = np.zeros(weight.shape)
    answers = np.empty((len(units), len(weight)))
    for t, x in enumerate(units):
        pulled *= np.exp(-gaps[t] / settings.memory)
        efficacy = weight + pulled
        lengths = np.linalg.norm(efficacy, axis=1)
        cosines = efficacy @ x / np.where(lengths > 0, lengths, 1)
        answers[t] = softmax(settings.kappa * cosines + log_softmax(bias))
        pulled += (settings.pull or 0) * np.outer(answers[t], x)
    return answers


def _observer(
    settings: Observer, logits: Any, units: Any, gaps: Any, scale: Scale | None, trust: Any
) -> NDArray[np.float64]:
    """P_k ~ beta s_k(x) + sum_i f(t - t_i) exp(kappa (cos(x, m_i) - 1)) Q_i(k) (K s_k(x))^a."""
    classes = logits.shape[1]
    remembered: list[tuple[float, NDArray[Any], NDArray[Any]]] = []
    answers = np.empty(logits.shape)
    spreads, distances = _spreads(logits), _distances(units)
    for t, x in enumerate(units):
        reach, apart = (spreads[t], distances[t]) if scale is None else (scale.spread, scale.distance)
        sharp = settings.sharpness / reach if reach > SMALLEST_SPREAD else 0.0
        frozen = softmax(sharp * logits[t])
        kappa = settings.kappa / apart
        remembered = [(odds * np.exp(-gaps[t] / settings.memory), key, past) for odds, key, past in remembered]
        terms = [settings.novelty_odds * frozen]
        terms += [
            odds * np.exp(kappa * (key @ x - 1)) * past * (classes * frozen) ** settings.evidence
            for odds, key, past in remembered
        ]
        posterior = sum(terms) / sum(term.sum() for term in terms)
        with np.errstate(divide="ignore"):
            mixed = np.log(trust[t] * posterior + (1 - trust[t]) * frozen)
        answers[t] = softmax(mixed / (sharp if sharp > 0 else 1.0))
        same = np.array([term.sum() for term in terms]) / sum(term.sum() for term in terms)
        expected = same[0] * x + sum((share * one[1] for share, one in zip(same[1:], remembered, strict=True)), 0 * x)
        key = (1 - settings.gain) * expected + settings.gain * x
        length = np.linalg.norm(key)
        remembered = [*remembered, (1.0, key / (length if length > 0 else 1), posterior)][-settings.depth :]
    return answers
