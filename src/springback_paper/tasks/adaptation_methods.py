"""Ways to follow a stream with one frozen network, each with the settings it may choose from.

`static` is the network as it is, and once more with a constant added to its logit of noise; `elastic` has an elastic
last layer (`springback.torch`); the others are `springback_bench.rivals`. All of them get the same features and logits,
frame after frame, and answer with numbers (T, K), of which the largest is the class.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_paper.tasks.adaptation_methods", "torch") from None

from springback.streaming import metrics
from springback.torch import Springs, elasticize, track
from springback_bench.rivals.carry_over import CarryOver
from springback_bench.rivals.class_feedback import ClassFeedback
from springback_bench.rivals.entropy_minimisation import EntropyMinimisation
from springback_bench.rivals.markov_filter import MarkovFilter, count_transitions, sticky_transitions
from springback_bench.rivals.prototype_adjustment import PrototypeAdjustment
from springback_bench.rivals.smoothing import Smoothing

_LANES = 32
_MEMORIES = (0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
_STAYS = (0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999)
_SHARPNESS = (0.05, 0.1, 0.2, 0.35, 0.5, 1.0)


class Seen(NamedTuple):
    """A stream through a frozen network.

    Features (T, n), logits (T, K), weight (K, n) and bias (K,) of its last layer, and the labels (T,) to compare with.
    """

    features: NDArray[np.float32]
    logits: NDArray[np.float32]
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    labels: NDArray[np.int64]


class Method(NamedTuple):
    """(seen, **settings) -> answers (T, K), and the settings to choose from; `practise` answers faster, if given."""

    answer: Callable[..., NDArray[Any]]
    grid: Mapping[str, tuple[float, ...]]
    practise: Callable[..., NDArray[Any]] | None = None


def methods(practice_labels: NDArray[np.int64], n_classes: int = 11) -> dict[str, Method]:
    """All methods by name; the Markov filter that knows the stream's transitions counts them on the practice stream.

    Examples
    --------
    >>> list(methods(np.arange(11)))[:2]
    ['static', 'elastic']
    """
    counted = count_transitions(practice_labels, n_classes)
    share = np.bincount(practice_labels, minlength=n_classes) + 1.0

    def shifted(seen: Seen, shift: float) -> NDArray[Any]:
        return np.asarray(seen.logits + shift * (np.arange(n_classes) == n_classes - 1))

    def smoothed(seen: Seen, average: str, memory: float) -> NDArray[Any]:
        return Smoothing(n_classes, memory=memory, average=average).track(seen.logits)

    def sticky(seen: Seen, stay: float, sharpness: float) -> NDArray[Any]:
        transitions = sticky_transitions(n_classes, stay)
        return MarkovFilter(n_classes, transitions=transitions, sharpness=sharpness).track(seen.logits)

    def informed(seen: Seen, sharpness: float, prior_power: float) -> NDArray[Any]:
        model = MarkovFilter(n_classes, transitions=counted, prior=share**prior_power, sharpness=sharpness)
        return model.track(seen.logits)

    def feedback(seen: Seen, **settings: float) -> NDArray[Any]:
        return ClassFeedback(n_classes, **settings).track(seen.logits)

    def carried(seen: Seen, **settings: float) -> NDArray[Any]:
        return CarryOver(seen.weight, seen.bias, **settings).track(seen.features)

    def entropy(seen: Seen, **settings: float) -> NDArray[Any]:
        return EntropyMinimisation(seen.weight, seen.bias, **settings).track(seen.features)

    def prototypes(seen: Seen, n_support: int) -> NDArray[Any]:
        return PrototypeAdjustment(seen.weight, seen.bias, n_support=n_support).track(seen.features)

    return {
        "static": Method(lambda seen: seen.logits, {}),
        "elastic": Method(
            answer_elastically,
            {"pull": (15.0, 25.0, 40.0, 65.0, 100.0), "memory": (0.7, 1.0, 1.4, 2.0), "kappa": (1.0, 2.0, 4.0, 8.0)},
            practise=answer_elastically_in_lanes,
        ),
        "static, noise shifted": Method(shifted, {"shift": tuple(float(shift) for shift in range(-12, 13))}),
        "smoothed probabilities": Method(partial(smoothed, average="probabilities"), {"memory": _MEMORIES}),
        "smoothed logits": Method(partial(smoothed, average="logits"), {"memory": _MEMORIES}),
        "sticky Markov filter": Method(sticky, {"stay": _STAYS, "sharpness": _SHARPNESS}),
        "informed Markov filter": Method(informed, {"sharpness": _SHARPNESS, "prior_power": (0.0, 0.5, 1.0)}),
        "class feedback": Method(
            feedback,
            {"pull": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0), "memory": (0.5, 1.0, 2.0, 4.0), "kappa": (0.25, 0.5, 1.0, 2.0)},
        ),
        "kernel carry-over": Method(
            carried, {"strength": (2.0, 5.0, 10.0, 20.0, 40.0), "sharpness": (0.0, 1.0, 2.0, 5.0, 10.0, 20.0)}
        ),
        "entropy minimisation": Method(
            entropy, {"learning_rate": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2), "momentum": (0.0, 0.9)}
        ),
        "prototype adjustment": Method(prototypes, {"n_support": (1, 5, 20, 100, 1000)}),
    }


def choose(method: Method, practice: Seen) -> tuple[dict[str, float], float]:
    """The settings of the grid with the best accuracy on the practice stream, and that accuracy.

    Examples
    --------
    >>> seen = Seen(*[np.zeros((1, 1), np.float32)] * 4, labels=np.array([1]))
    >>> choose(Method(lambda seen, shift: np.array([[0.0, shift]]), {"shift": (-1.0, 1.0)}), seen)
    ({'shift': 1.0}, 1.0)
    """
    best: dict[str, float] = {}
    reached = -1.0
    answer = method.practise or method.answer
    for values in product(*method.grid.values()):
        settings = dict(zip(method.grid, values, strict=True))
        classes = np.asarray(answer(practice, **settings).argmax(axis=1), np.int64)
        score = metrics.accuracy(classes, practice.labels[: len(classes)])
        if score > reached:
            best, reached = settings, score
    return best, reached


def answer_elastically(seen: Seen, pull: float, memory: float, kappa: float) -> NDArray[Any]:
    """Outputs (T, K) of the elastic last layer: one stream, one frame at a time."""
    return _follow(seen, seen.features[:, None], Springs(pull=pull, memory=memory, kappa=kappa, continuity=0.0))


def answer_elastically_in_lanes(seen: Seen, pull: float, memory: float, kappa: float) -> NDArray[Any]:
    """The same with the stream cut into stretches that are followed side by side; what is over at the end is left out.

    Stretches begin at rest, so that a frame or two after each cut can differ: good enough to choose settings by.
    """
    steps = max(len(seen.features) // _LANES, 1)
    lanes = seen.features[: steps * (len(seen.features) // steps)].reshape(-1, steps, seen.features.shape[1])
    outputs = _follow(seen, lanes.transpose(1, 0, 2), Springs(pull=pull, memory=memory, kappa=kappa, continuity=0.0))
    return outputs.reshape(steps, len(lanes), -1).transpose(1, 0, 2).reshape(len(lanes) * steps, -1)


@torch.no_grad()
def _follow(seen: Seen, frames: NDArray[np.float32], springs: Springs) -> NDArray[Any]:
    """Outputs (T * streams, K) for frames (T, streams, n)."""
    head = torch.nn.Linear(seen.weight.shape[1], len(seen.weight))
    head.weight.copy_(torch.from_numpy(seen.weight))
    head.bias.copy_(torch.from_numpy(seen.bias))
    outputs = track(elasticize(head.eval(), springs), torch.from_numpy(frames))
    return outputs.flatten(0, 1).numpy()
