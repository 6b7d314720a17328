"""What each memory keeps of its streams: the parts of its state, and the numbers that its compiled kernel takes.

The compiled kernels and the arithmetic in torch move the same parts; the first axis of each counts the streams. At
rest, all of it is zero.
"""

from typing import Any, NamedTuple

from springback.heads.observer import Observer
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.springs import AnySprings, CentroidSprings, WindowSprings

NOT_TUNED = -1.0
"""In the place of `WindowSprings.tuning`: similarity is the dot product."""

NEVER_NOVEL = -2.0
"""In the place of `Springs.novelty_threshold`: every input pulls."""

FADING = ("short_term", "responsibility", "total", "odds")
"""The parts that fade with the time constant of the memory."""

WHOLE = ("answered", "position")
"""The parts that hold whole numbers."""


class Gate(NamedTuple):
    """What the gate remembers of the answers of the frozen head; B streams, K classes.

    Parameters
    ----------
    answered : Any
        The last answer, counted from 1, (B, 1).
    shares : Any
        Running share of each class among the answers, (B, K).
    agreement : Any
        The number of frames and the sums S and V of `springback.heads.continuity`, all with forgetting, (B, 3).
    """

    answered: Any
    shares: Any
    agreement: Any


class SpringState(NamedTuple):
    """F as a matrix; B streams, K classes, n features. Centroids have the same parts.

    Parameters
    ----------
    short_term : Any
        F, (B, K, n); with a constant component in what pulls, (B, K, n + 1), the class memory last; with nothing but
        class memory, (B, K, 1).
    responsibility : Any
        Sum of past posteriors with decay, (B, K); moves if `beta` is given.
    total : Any
        Sum of the decay over past inputs, (B, 1); moves if `beta` is given.
    answered, shares, agreement : Any
        A `Gate`.
    """

    short_term: Any
    responsibility: Any
    total: Any
    answered: Any
    shares: Any
    agreement: Any


class WindowState(NamedTuple):
    """F as the last D inputs and how strongly each pulled: F = sum_d odds_d strength_d x_d^T.

    Parameters
    ----------
    keys : Any
        The inputs, (B, D, n), with a constant component as in `SpringState`.
    strengths : Any
        Pull times posterior, (B, D, K).
    odds : Any
        What is left of the pull of each input, (B, D); 0 where there is none yet.
    position : Any
        Where the next input is written, (B, 1).
    responsibility, total : Any
        As in `SpringState`.
    seen : Any
        Frames since rest, (B, 1); counted if the distance of unrelated frames is measured, as is the next.
    direction : Any
        Running mean of the directions of the features, (B, n).
    answered, shares, agreement : Any
        A `Gate`.
    """

    keys: Any
    strengths: Any
    odds: Any
    position: Any
    responsibility: Any
    total: Any
    seen: Any
    direction: Any
    answered: Any
    shares: Any
    agreement: Any


class ObserverState(NamedTuple):
    """What an observer remembers; B streams, D frames, K classes, n features.

    Parameters
    ----------
    keys : Any
        What each remembered object looked like, of unit length, (B, D, n).
    posteriors : Any
        The answers to the remembered frames, (B, D, K).
    odds : Any
        f(t - t_i) of each remembered frame, (B, D); 0 where there is none yet.
    position : Any
        Where the next frame is written, (B, 1).
    seen : Any
        Frames since rest, (B, 1); counted if the scale is measured, as are the next two.
    spread : Any
        Running mean of the spread of the logits, which no single frame moves far, (B, 1).
    direction : Any
        Running mean of the directions of the features, (B, n).
    answered, shares, agreement : Any
        A `Gate`.
    """

    keys: Any
    posteriors: Any
    odds: Any
    position: Any
    seen: Any
    spread: Any
    direction: Any
    answered: Any
    shares: Any
    agreement: Any


State = SpringState | WindowState | ObserverState
"""What many streams remember."""


def state_type(settings: Settings) -> type[SpringState] | type[WindowState] | type[ObserverState]:
    """The kind of state that a head with these settings has.

    Examples
    --------
    >>> state_type(WindowSprings()).__name__
    'WindowState'
    """
    if isinstance(settings, Observer):
        return ObserverState
    return WindowState if isinstance(settings, WindowSprings) else SpringState


def state_shapes(settings: Settings, n_classes: int, n_features: int) -> dict[str, tuple[int, ...]]:
    """The shape of each part of the state of one stream.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> state_shapes(Springs(), 3, 8)["short_term"]
    (3, 8)
    """
    one, wide, classes = (1,), (n_features,), (n_classes,)
    gate = {"answered": one, "shares": classes, "agreement": (3,)}
    if isinstance(settings, Observer):
        depth = settings.depth
        past = {"keys": (depth, n_features), "posteriors": (depth, n_classes), "odds": (depth,), "position": one}
        return {**past, "seen": one, "spread": one, "direction": wide, **gate}
    width = 1 if settings.constant == 1 else n_features + (settings.constant > 0)
    sums = {"responsibility": classes, "total": one}
    if not isinstance(settings, WindowSprings):
        return {"short_term": (n_classes, width), **sums, **gate}
    depth = settings.window
    ring = {"keys": (depth, width), "strengths": (depth, n_classes), "odds": (depth,), "position": one}
    return {**ring, **sums, "seen": one, "direction": wide, **gate}


def is_compiled(settings: Settings) -> bool:
    """Whether a compiled kernel knows these settings; the PyTorch layer knows all of them.

    Examples
    --------
    >>> from springback.heads import Springs
    >>> is_compiled(Observer()), is_compiled(WindowSprings()), is_compiled(Springs(weight_dependence=0.5))
    (True, True, False)
    """
    if isinstance(settings, Observer):
        return True
    if settings.posterior_from != "layer" or settings.posterior_rule != "softmax":
        return False
    if isinstance(settings, CentroidSprings):
        return settings.likelihood == "exponential" and settings.weight_dependence == 1 and not _moves(settings)
    return isinstance(settings, WindowSprings) or settings.weight_dependence == 1


def _moves(settings: AnySprings) -> bool:
    """Whether biases move, or inputs may be novel."""
    novel = not isinstance(settings, WindowSprings) and settings.novelty_threshold is not None
    return novel or settings.beta is not None


def reads_weights(settings: Settings) -> bool:
    """Whether the kernel reads weights and biases; otherwise the output at rest is enough."""
    if isinstance(settings, Observer):
        return False
    return isinstance(settings, CentroidSprings) or _moves(settings)


def numbers_of(settings: Settings, scale: Scale | None) -> tuple[float, ...]:
    """The settings as the kernel takes them; a scale of zeros is measured.

    Examples
    --------
    >>> numbers_of(Observer(), None)
    (3.0, 5.0, 0.2, 0.3, 1.0, 2.2, 2.0, 0.0, 0.0)
    """
    spread, distance = (0.0, 0.0) if scale is None else (scale.spread, scale.distance)
    if isinstance(settings, Observer):
        weighed = (settings.memory, settings.kappa, settings.novelty_odds, settings.evidence, settings.gain)
        return _floats(*weighed, settings.sharpness, settings.continuity, spread, distance)
    pull = -1.0 if settings.pull is None else settings.pull
    if isinstance(settings, CentroidSprings):
        return _floats(settings.memory, pull, settings.kappa, settings.unit_inputs)
    beta = 0.0 if settings.beta is None else settings.beta
    pulled = (settings.memory, pull, settings.kappa, beta, settings.constant, settings.continuity, settings.unit_inputs)
    if isinstance(settings, WindowSprings):
        return _floats(*pulled, NEVER_NOVEL, NOT_TUNED if settings.tuning is None else settings.tuning, distance)
    threshold = NEVER_NOVEL if settings.novelty_threshold is None else settings.novelty_threshold
    return _floats(*pulled, threshold, NOT_TUNED, distance)


def _floats(*values: float) -> tuple[float, ...]:
    return tuple(float(one) for one in values)
