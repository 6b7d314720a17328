"""All methods that are compared: the frozen network, the rivals, and springback."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback_bench.rivals import Rival, StreamClassifier, all_rivals
from springback_bench.rivals.markov_filter import count_transitions
from springback_bench.stream_sets import Head, Stream

Make = Callable[..., StreamClassifier]
"""Makes a method from its settings."""


@dataclass(frozen=True, kw_only=True)
class Own:
    """A method of springback, or the frozen network; name, title, about and microseconds are those of a `Rival`.

    Parameters
    ----------
    kind : Literal["static", "ours", "variant"]
        "static": the frozen network; "ours": springback; "variant": one kind of its memory alone.
    """

    name: str
    title: str
    about: str
    kind: Literal["static", "ours", "variant"] = "ours"
    slow: bool = False
    microseconds: float = 8.0


STATIC = Own(name="static", title="frozen", about="the frozen network as it is", kind="static", microseconds=5)
SPRINGBACK = (
    Own(
        name="untuned",
        title="springback, untuned",
        about="`ElasticHead` with its defaults and the stored mean of the training features",
    ),
    Own(
        name="unlabelled",
        title="springback, tuned without labels",
        about="`tune_head` on the validation streams, without their labels",
    ),
    Own(
        name="several",
        title="springback",
        about="`tune_several` on the validation streams with labels: the untuned memory and the best of the two best "
        "kinds answer together",
        microseconds=24.0,
    ),
    Own(
        name="springback",
        title="springback, one memory",
        about="`tune_head` on the validation streams with labels: the best of the four kinds of memory",
    ),
    Own(
        name="springs",
        title="springs alone",
        about="a centroid per class that is pulled and springs back",
        kind="variant",
        microseconds=5,
    ),
    Own(
        name="classes",
        title="class memory alone",
        about="which classes were seen lately, whatever they looked like",
        kind="variant",
        microseconds=5,
    ),
    Own(
        name="observer",
        title="observer alone",
        about="the last frames, and what was thought of them",
        kind="variant",
    ),
    Own(
        name="learning",
        title="learning observer alone",
        about="the same, and how each class looks in this stream",
        kind="variant",
        microseconds=16.0,
    ),
)


def all_methods() -> tuple[Own | Rival, ...]:
    """Every method, in the order of the page."""
    return (STATIC, *all_rivals(), *SPRINGBACK)


def method_names() -> tuple[str, ...]:
    """The names of all methods, in the order of the page."""
    return tuple(one.name for one in all_methods())


def rival_named(name: str) -> Rival:
    """The rival of that name."""
    return next(one for one in all_rivals() if one.name == name)


def rows_of(rival: Rival, head: Head, stream: Stream) -> NDArray[np.float32]:
    """What a rival reads of a stream: logits or features."""
    return head.logits(stream.features) if rival.reads == "logits" else stream.features


def maker_of(rival: Rival, head: Head, validation: Sequence[Stream]) -> Make:
    """What makes a rival from its settings."""
    made: Make = rival.method
    if rival.reads == "features":
        return partial(made, head.weight, head.bias)
    known: dict[str, Any] = {"transitions": transitions_of(validation, len(head.bias))} if rival.informed else {}
    return partial(made, len(head.bias), **known)


def transitions_of(streams: Sequence[Stream], n_classes: int) -> NDArray[np.float64]:
    """Transitions between the labels of streams, (K, K); none are counted between streams or over unknown labels."""
    unknown = n_classes
    joined = np.concatenate([np.append(one.labels, unknown) for one in streams])
    counted = count_transitions(np.where(joined < 0, unknown, joined), n_classes + 1)[:n_classes, :n_classes]
    return np.asarray(counted / counted.sum(axis=1, keepdims=True))
