"""All methods that are compared: ONE table. How each is made from a frozen head, and what it may choose."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback.adaptation import (
    CarryOver,
    ClassFeedback,
    EntropyMinimisation,
    FeatureAveraging,
    FeatureCache,
    LaplacianAdjustment,
    LearnedTransitions,
    MarkovFilter,
    PriorCorrection,
    PrototypeAdjustment,
    PrototypeDynamics,
    Smoothing,
    StreamClassifier,
    count_transitions,
)
from springback.adaptation.ranges import RANGES
from springback.adaptation.search import Choice, Range
from springback.datasets.streams import Head, Stream

KNOWN = Path(__file__).parents[1] / "known_settings.json"
"""Settings that suit many streams, for our head and for its rivals."""

Kind = Literal["static", "rival", "network", "ours", "variant"]
Make = Callable[..., StreamClassifier]
"""Makes a method from its settings."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of the comparison.

    Parameters
    ----------
    name : str
        In the results.
    title : str
        On the page.
    about : str
        What it does, in one line.
    kind : Kind
        "static": the frozen network; "rival": another method that follows features or logits; "network": another
        method that adapts the network itself; "ours": springback; "variant": one kind of its memory alone.
    method : type[StreamClassifier] | None
        Of a rival: the class.
    reads_logits : bool
        Of a rival: whether it reads logits instead of features.
    informed : bool
        Of a filter: whether its transitions are counted on the labels of the validation streams.
    slow : bool
        Whether it is so slow that fewer frames are used for validation.
    microseconds : float
        What a frame takes, roughly, with ten classes: only to begin with what takes longest.
    """

    name: str
    title: str
    about: str
    kind: Kind = "rival"
    method: type[StreamClassifier] | None = None
    reads_logits: bool = False
    informed: bool = False
    slow: bool = False
    microseconds: float = 5.0

    @property
    def ranges(self) -> Mapping[str, Range | Choice]:
        """The settings among which a rival chooses."""
        assert self.method is not None
        return {name: one for name, one in RANGES[self.method].items() if not (self.informed and name == "switch_rate")}

    @property
    def first(self) -> list[dict[str, Any]]:
        """The settings that a rival tries first, as for logits of spread 1 (`benchmarks.streams.known`)."""
        known: list[dict[str, Any]] = json.loads(KNOWN.read_text())["known"].get(self.name, [])
        return known

    def rows(self, head: Head, stream: Stream) -> NDArray[np.float32]:
        """What a rival reads of a stream."""
        return head.logits(stream.features) if self.reads_logits else stream.features

    def maker(self, head: Head, validation: Sequence[Stream]) -> Make:
        """What makes a rival from its settings."""
        assert self.method is not None
        if not self.reads_logits:
            return partial(self.method, head.weight, head.bias)
        known: dict[str, Any] = {"transitions": transitions_of(validation, len(head.bias))} if self.informed else {}
        return partial(self.method, len(head.bias), **known)


def transitions_of(streams: Sequence[Stream], n_classes: int) -> NDArray[np.float64]:
    """Transitions between the labels of streams, (K, K); none are counted between streams or over unknown labels."""
    unknown = n_classes
    joined = np.concatenate([np.append(one.labels, unknown) for one in streams])
    counted = count_transitions(np.where(joined < 0, unknown, joined), n_classes + 1)[:n_classes, :n_classes]
    return np.asarray(counted / counted.sum(axis=1, keepdims=True))


METHODS: tuple[Method, ...] = (
    Method(name="static", title="static", about="the frozen network as it is", kind="static"),
    Method(
        name="smoothing",
        title="smoothing",
        about="exponential average of probabilities or logits",
        method=Smoothing,
        reads_logits=True,
        microseconds=1,
    ),
    Method(
        name="sticky-filter",
        title="sticky filter",
        about="Markov filter that stays in a class with a probability that is tuned",
        method=MarkovFilter,
        reads_logits=True,
        microseconds=1,
    ),
    Method(
        name="informed-filter",
        title="informed filter",
        about="Markov filter with the transitions counted on the labels of the validation streams",
        method=MarkovFilter,
        reads_logits=True,
        informed=True,
        microseconds=1,
    ),
    Method(
        name="learned-transitions",
        title="learned transitions",
        about="Bayes filter that learns its transitions online, behind a gate (after OATTA)",
        method=LearnedTransitions,
        reads_logits=True,
        microseconds=3,
    ),
    Method(
        name="class-feedback",
        title="class feedback",
        about="posteriors fed back as biases that fade: the elastic update without features",
        method=ClassFeedback,
        reads_logits=True,
        microseconds=1,
    ),
    Method(
        name="prior-correction",
        title="prior correction",
        about="probabilities times the recent share of each class (the last step of ROID)",
        method=PriorCorrection,
        reads_logits=True,
        microseconds=1,
    ),
    Method(
        name="carry-over",
        title="carry-over",
        about="the last posterior is added to the logits as far as the two frames are alike",
        method=CarryOver,
    ),
    Method(
        name="lame",
        title="LAME",
        about="answers within a causal window are made to agree among neighbours (after Boudiaf et al. 2022)",
        method=LaplacianAdjustment,
        slow=True,
        microseconds=150,
    ),
    Method(
        name="stad",
        title="STAD",
        about="class prototypes in a state-space model on the sphere (after Schirmer et al. 2025)",
        method=PrototypeDynamics,
        slow=True,
        microseconds=80,
    ),
    Method(
        name="t3a",
        title="T3A",
        about="prototypes from frames of low entropy (after Iwasawa & Matsuo 2021)",
        method=PrototypeAdjustment,
    ),
    Method(
        name="tda",
        title="TDA",
        about="a cache of certain and of uncertain frames votes (after Karmanov et al. 2024)",
        method=FeatureCache,
        microseconds=10,
    ),
    Method(
        name="cofa",
        title="COFA",
        about="features averaged with those of the last frame, if that is more certain (UniTTA)",
        method=FeatureAveraging,
    ),
    Method(
        name="entropy",
        title="entropy minimisation",
        about="scale and shift of the features follow the gradient of the entropy (after TENT)",
        method=EntropyMinimisation,
    ),
    Method(
        name="tent",
        title="TENT",
        about="scales and shifts inside the network follow the gradient of the entropy",
        kind="network",
        microseconds=5_000,
    ),
    Method(
        name="note",
        title="NOTE",
        about="the same on a memory with all classes, with instance-aware normalisation",
        kind="network",
        microseconds=4_000,
    ),
    Method(
        name="roid",
        title="ROID",
        about="weighted gradients, averaged with the weights at rest, and the correction of the prior",
        kind="network",
        microseconds=20_000,
    ),
    Method(
        name="untuned",
        title="springback, untuned",
        about="`ElasticHead` with its defaults and the stored mean of the training features",
        kind="ours",
        microseconds=8,
    ),
    Method(
        name="unlabelled",
        title="springback, tuned without labels",
        about="`tune_head` on the validation streams, without their labels",
        kind="ours",
        microseconds=8,
    ),
    Method(
        name="springback",
        title="springback",
        about="`tune_head` on the validation streams with labels: the best of the three kinds of memory",
        kind="ours",
        microseconds=8,
    ),
    Method(
        name="springs",
        title="springs alone",
        about="a centroid per class that is pulled and springs back",
        kind="variant",
        microseconds=5,
    ),
    Method(
        name="classes",
        title="class memory alone",
        about="which classes were seen lately, whatever they looked like",
        kind="variant",
        microseconds=5,
    ),
    Method(
        name="observer",
        title="observer alone",
        about="the last frames, and what was thought of them",
        kind="variant",
        microseconds=8,
    ),
)


def method_named(name: str) -> Method:
    """The method of that name."""
    return next(one for one in METHODS if one.name == name)
