"""The models of the comparison (Fig. 4): one table with everything that tables and figures say about them.

A new model is one row here and one file in `springback.paper.tasks`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CITATION = (
    "T. Moraitis, A. Sebastian and E. Eleftheriou, Optimality of short-term synaptic plasticity in modelling "
    "certain dynamic environments (2020)"
)
FRAMES = {"train": 990_089, "test": 164_915, "source": 'caption of Fig. 4; Methods, "The OMNIST dataset"'}

STILL_UNLABELLED, STILL_LABELLED, VIDEO_LABELLED = "still digits, no labels", "still digits, labels", "video, labels"
GROUPS = (STILL_UNLABELLED, STILL_LABELLED, VIDEO_LABELLED)
"""What models were trained on; figures show them in these groups."""

QUALITIES = (
    "no labels",
    "still digits only",
    "≤ 66,000 examples",
    "one epoch",
    "local learning",
    "event-based",
    "biologically plausible",
)
"""The paper's qualities (caption of Fig. 4a); all are about training but the last two."""

_UNSUPERVISED = frozenset(QUALITIES[:3])
_SPIKING = frozenset(QUALITIES)
_SAMPLING = _SPIKING - {"event-based"}
_LABELLED = frozenset({"≤ 66,000 examples"})


@dataclass(frozen=True)
class Published:
    """Accuracy in the paper, in percent: mean and standard deviation over `n` runs (None where it does not say)."""

    mean: float
    std: float
    source: str
    n: int | None = None


def _snn(mean: float, std: float, n: int | None = None) -> Published:
    return Published(mean, std, 'main text, "Application to recognition of transforming visual inputs"', n)


def _ann(mean: float, std: float, n: int | None = None) -> Published:
    return Published(mean, std, 'main text, "Comparison with ANNs"', n)


@dataclass(frozen=True, kw_only=True)
class Model:
    """One model of the comparison.

    Parameters
    ----------
    key : str
        In results.json and on the command line.
    name : str
        In tables.
    short_name : str
        In figures, within its group.
    group : str
        What it was trained on, one of `GROUPS`.
    qualities : frozenset[str]
        Which of `QUALITIES` it has; `partly`: those it has in part (noise frames beside still digits; spikes out,
        but not in).
    still, video : Published | None
        The paper's accuracies on MNIST and OMNIST, where it gives them.
    sees_stills : bool
        False: a recurrent network, which is only shown video.
    emphasised : bool
        One of the models this library is about.
    """

    key: str
    name: str
    short_name: str
    group: str
    qualities: frozenset[str] = frozenset()
    partly: frozenset[str] = frozenset()
    still: Published | None = None
    video: Published | None = None
    sees_stills: bool = True
    emphasised: bool = False

    @property
    def trained_on(self) -> str:
        """What it was trained on, in words."""
        return "still digits and noise, labels" if self.group == STILL_LABELLED else self.group


MODELS: dict[str, Model] = {
    model.key: model
    for model in (
        Model(
            key="snn_st_stdp",
            name="Spiking network, ST-STDP",
            short_name="spiking, ST-STDP",
            group=STILL_UNLABELLED,
            qualities=_SPIKING,
            video=_snn(87.90, 0.29, 10),
            emphasised=True,
        ),
        Model(
            key="snn_1600_st_stdp",
            name="Spiking network, 1,600 neurons, ST-STDP",
            short_name="spiking, ST-STDP, 1,600",
            group=STILL_UNLABELLED,
            qualities=_SPIKING,
        ),
        Model(
            key="snn_static",
            name="Spiking network, static",
            short_name="spiking, static",
            group=STILL_UNLABELLED,
            qualities=_SPIKING,
            still=_snn(88.49, 0.12, 5),
            video=_snn(61.10, 0.48),
        ),
        Model(
            key="elastic",
            name="Elastic clustering",
            short_name="elastic clustering",
            group=STILL_UNLABELLED,
            qualities=_UNSUPERVISED,
            emphasised=True,
        ),
        Model(
            key="elastic_static",
            name="Elastic clustering, held at rest",
            short_name="elastic, held at rest",
            group=STILL_UNLABELLED,
            qualities=_UNSUPERVISED,
        ),
        Model(
            key="sampling_exponential",
            name="Sampling network, exponential",
            short_name="sampling, exponential",
            group=STILL_UNLABELLED,
            qualities=_SAMPLING,
            partly=frozenset({"event-based"}),
        ),
        Model(
            key="sampling_relu",
            name="Sampling network, ReLU",
            short_name="sampling, ReLU",
            group=STILL_UNLABELLED,
            qualities=_SAMPLING,
            partly=frozenset({"event-based"}),
        ),
        Model(
            key="cnn_elastic",
            name="CNN on still digits, elastic head",
            short_name="CNN, elastic head",
            group=STILL_LABELLED,
            qualities=_LABELLED,
            partly=frozenset({"still digits only"}),
            emphasised=True,
        ),
        Model(
            key="cnn_mnist",
            name="CNN on still digits",
            short_name="CNN",
            group=STILL_LABELLED,
            qualities=_LABELLED,
            partly=frozenset({"still digits only"}),
            still=_ann(98.92, 0.21),
            video=_ann(65.91, 2.68),
        ),
        Model(
            key="mlp_mnist",
            name="MLP on still digits",
            short_name="MLP",
            group=STILL_LABELLED,
            qualities=_LABELLED,
            partly=frozenset({"still digits only"}),
            still=_ann(96.89, 0.17),
            video=_ann(56.89, 0.78),
        ),
        Model(
            key="lstm_omnist",
            name="LSTM on video",
            short_name="LSTM",
            group=VIDEO_LABELLED,
            video=_ann(84.78, 4.21, 10),
            sees_stills=False,
        ),
        Model(
            key="rnn_omnist",
            name="RNN on video",
            short_name="RNN",
            group=VIDEO_LABELLED,
            video=_ann(82.01, 0.17, 10),
            sees_stills=False,
        ),
        Model(
            key="cnn_omnist",
            name="CNN on video",
            short_name="CNN",
            group=VIDEO_LABELLED,
            video=_ann(84.19, 0.32, 10),
        ),
        Model(
            key="mlp_omnist",
            name="MLP on video",
            short_name="MLP",
            group=VIDEO_LABELLED,
            video=_ann(80.76, 0.58, 10),
        ),
    )
}
"""Every model by its key, in the order of tables and figures."""


def published() -> dict[str, Any]:
    """The paper's numbers in the form of results.json.

    Examples
    --------
    >>> published()["omnist_test"]["snn_st_stdp"]["mean"]
    87.9
    """

    def stats(choose: Callable[[Model], Published | None]) -> dict[str, Any]:
        found = {key: choose(model) for key, model in MODELS.items()}
        return {key: {**vars(one)} for key, one in found.items() if one is not None}

    return {
        "citation": CITATION,
        "mnist_test": stats(lambda model: model.still),
        "omnist_test": stats(lambda model: model.video),
        "frames": FRAMES,
    }
