"""The models of the comparison (Fig. 4): one table with everything that tables and figures say about them.

A new model is one row here and one file in `springback_paper.tasks`.
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


@dataclass(frozen=True)
class Published:
    """Accuracy in the paper: mean and standard deviation over `n` runs (None where it does not say)."""

    mean: float
    std: float
    source: str
    n: int | None = None


@dataclass(frozen=True)
class Row:
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
        False: it is only shown video, such as a recurrent network.
    emphasised : bool
        One of the models this library is about.
    variant : bool
        The model above it with another setting; only tables and Fig. 4a show it.
    in_figures : bool
        False: it stands in tables only, so that Fig. 4 stays readable.
    why : str
        Of a row of the table "the theory as written": one sentence on why it reaches what it reaches.
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
    variant: bool = False
    in_figures: bool = True
    why: str = ""

    @property
    def trained_on(self) -> str:
        """What it was trained on, in words."""
        return "still digits and noise, labels" if self.group == STILL_LABELLED else self.group


def _spiking_text(mean: float, std: float, n: int | None = None) -> Published:
    return Published(mean, std, 'main text, "Application to recognition of transforming visual inputs"', n)


def _ann_text(mean: float, std: float, n: int | None = None) -> Published:
    return Published(mean, std, 'main text, "Comparison with ANNs"', n)


_SPIKING: dict[str, Any] = {"group": STILL_UNLABELLED, "qualities": frozenset(QUALITIES) - {"one epoch"}}
_ONCE: dict[str, Any] = {"group": STILL_UNLABELLED, "qualities": frozenset(QUALITIES), "in_figures": False}
_SAMPLED: dict[str, Any] = {"group": STILL_UNLABELLED, "qualities": frozenset(QUALITIES)}
_ELASTIC: dict[str, Any] = {"group": STILL_UNLABELLED, "qualities": frozenset(QUALITIES[:3])}
_SAMPLING: dict[str, Any] = {
    "group": STILL_UNLABELLED,
    "qualities": frozenset(QUALITIES) - {"event-based"},
    "partly": frozenset({"event-based"}),
}
_THEORY: dict[str, Any] = {**_ELASTIC, "sees_stills": False, "in_figures": False}
_ON_STILLS: dict[str, Any] = {
    "group": STILL_LABELLED,
    "qualities": frozenset({"≤ 66,000 examples"}),
    "partly": frozenset({"still digits only"}),
}
_HEBBIAN: dict[str, Any] = {
    "group": STILL_LABELLED,
    "qualities": frozenset({"≤ 66,000 examples", "one epoch"}),
    "partly": frozenset({"no labels", "still digits only", "local learning"}),
    "in_figures": False,
}
_ON_VIDEO: dict[str, Any] = {"group": VIDEO_LABELLED}
_DESCENT: dict[str, Any] = {**_ON_VIDEO, "variant": True}

_THEORY_ROWS = (
    Row("theory_exponential", "Exponential model, kappa 1, derived pull", "kappa 1", **_THEORY,
          why="A cosine is at most 1, so the soft-max over all centroids is nearly flat, and an input pulls them all."),
    Row("theory_winner", "The same, answered by the likeliest centroid", "kappa 1, winner", **_THEORY,
          why="The sums over the centroids of a class are nearly flat; which centroid is the likeliest is not."),
    Row("theory_maximum", "Q = max, biases at rest, tuned pull", "maximum", **_THEORY,
          why="If the winner takes all, as in k-means, kappa is without effect and none is needed."),
    Row("theory_kappa", "Exponential model, tuned kappa, derived pull", "tuned kappa", **_THEORY,
          why="With kappa the soft-max is sharp; the derived pull is stronger than the best, which costs a little."),
    Row("theory_algorithm", "The same, biases as Algorithm 1 is written", "Algorithm 1", **_THEORY,
          why="Gamma is 1 / P times too strong for the biases, so the last class is expected again too firmly."),
    Row("theory_line", "Linear model, the paper's line (Eq. S66)", "line", **_THEORY,
          why="With 400 classes the bias is nearly -1, so no centroid is ever above threshold and nothing is pulled."),
    Row("theory_circle", "Linear model, bias on the circle (Eq. S39)", "circle", **_THEORY,
          why="The same: the formula is exact for two features, and with 784 hardly any input is above threshold."),
    Row("theory_sphere", "Linear model, bias on the sphere", "sphere", **_THEORY,
          why="Centroids answer, but a ratio of cosines is nearly flat over 400 of them, as with kappa = 1."),
    Row("theory_zero", "Linear model, no bias", "no bias", **_THEORY,
          why="The same: without a bias even more centroids share each input.")
)  # fmt: skip
"""The theory as written: a table of its own."""

_ROWS = (
    Row("spiking_st_stdp", "Spiking network, ST-STDP", "spiking, ST-STDP", **_SPIKING, emphasised=True),
    Row("spiking_st_stdp_likeliest", "Spiking network, ST-STDP, likeliest class", "spiking, ST-STDP, likeliest",
          **_SPIKING, variant=True),
    Row("spiking_static_best", "Spiking network, static at its own best", "spiking, static at its best", **_SPIKING),
    Row("spiking_static", "Spiking network, static, otherwise the same", "spiking, static", **_SPIKING,
          variant=True),
    Row("spiking_1600_st_stdp", "Spiking network, 1,600 neurons, ST-STDP", "spiking, 1,600, ST-STDP", **_SPIKING,
          variant=True),
    Row("spiking_1600_st_stdp_likeliest", "Spiking network, 1,600 neurons, ST-STDP, likeliest class",
          "spiking, 1,600, ST-STDP, likeliest", **_SPIKING, in_figures=False),
    Row("spiking_1600_static_best", "Spiking network, 1,600 neurons, static at its own best",
          "spiking, 1,600, static at its best", **_SPIKING, in_figures=False),
    Row("spiking_1600_static", "Spiking network, 1,600 neurons, static, otherwise the same",
          "spiking, 1,600, static", **_SPIKING, in_figures=False),
    Row("spiking_6400_st_stdp", "Spiking network, 6,400 neurons, ST-STDP", "spiking, 6,400, ST-STDP", **_SPIKING,
          variant=True),
    Row("spiking_6400_st_stdp_likeliest", "Spiking network, 6,400 neurons, ST-STDP, likeliest class",
          "spiking, 6,400, ST-STDP, likeliest", **_SPIKING, in_figures=False),
    Row("spiking_6400_static_best", "Spiking network, 6,400 neurons, static at its own best",
          "spiking, 6,400, static at its best", **_SPIKING, in_figures=False),
    Row("spiking_6400_static", "Spiking network, 6,400 neurons, static, otherwise the same",
          "spiking, 6,400, static", **_SPIKING, in_figures=False),
    Row("moraitis_st_stdp", "The paper's spiking network, ST-STDP", "the paper's, ST-STDP", **_SPIKING,
          still=_spiking_text(0.8849, 0.0012, 5), video=_spiking_text(0.8790, 0.0029, 10)),
    Row("moraitis_static_best", "The paper's spiking network, static at its own best",
          "the paper's, static at its best", **_SPIKING, still=_spiking_text(0.8849, 0.0012, 5)),
    Row("moraitis_static", "The paper's spiking network, static, otherwise the same", "the paper's, static",
          **_SPIKING, still=_spiking_text(0.8849, 0.0012, 5), video=_spiking_text(0.6110, 0.0048)),
    Row("moraitis_replaced_st_stdp", "The paper's spiking network, noise with replacement, ST-STDP",
          "the paper's, other noise", **_SPIKING, video=_spiking_text(0.8790, 0.0029, 10), sees_stills=False,
          in_figures=False),
    Row("moraitis_replaced_static_best", "The paper's spiking network, noise with replacement, static",
          "the paper's, other noise, static", **_SPIKING, video=_spiking_text(0.6110, 0.0048), sees_stills=False,
          in_figures=False),
    Row("moraitis_once_st_stdp", "The paper's spiking network, digits shown once, ST-STDP",
          "the paper's, shown once, ST-STDP", **_ONCE, still=_spiking_text(0.8849, 0.0012, 5),
          video=_spiking_text(0.8790, 0.0029, 10)),
    Row("moraitis_once_static_best", "The paper's spiking network, digits shown once, static",
          "the paper's, shown once, static", **_ONCE, still=_spiking_text(0.8849, 0.0012, 5),
          video=_spiking_text(0.6110, 0.0048)),
    Row("elastic", "Elastic clustering", "elastic clustering", **_ELASTIC, emphasised=True),
    Row("elastic_feedback", "Centroids at rest, class feedback", "at rest, class feedback", **_ELASTIC),
    Row("elastic_static_best", "Centroids held at rest, at their own best", "at rest, own best", **_ELASTIC),
    Row("elastic_static", "Elastic clustering, held at rest", "elastic, held at rest", **_ELASTIC, in_figures=False),
    Row("sampling_exponential", "Sampling network, exponential", "sampling, exponential", **_SAMPLING),
    Row("sampling_exponential_static", "Sampling network, exponential, static", "sampling, exponential, static",
          **_SAMPLING, in_figures=False),
    Row("sampling_relu", "Sampling network, ReLU", "sampling, ReLU", **_SAMPLING),
    Row("sampling_relu_static", "Sampling network, ReLU, static", "sampling, ReLU, static", **_SAMPLING,
          in_figures=False),
    Row("sampling_spiking_exponential", "Sampling network, exponential, spiking input",
          "sampling, exponential, spikes in", **_SAMPLED, variant=True),
    Row("sampling_spiking_exponential_static", "Sampling network, exponential, spiking input, static",
          "sampling, exponential, spikes in, static", **_SAMPLED, in_figures=False),
    Row("sampling_spiking_relu", "Sampling network, ReLU, spiking input", "sampling, ReLU, spikes in", **_SAMPLED,
          variant=True),
    Row("sampling_spiking_relu_static", "Sampling network, ReLU, spiking input, static",
          "sampling, ReLU, spikes in, static", **_SAMPLED, in_figures=False),
    *_THEORY_ROWS,
    Row("cnn_elastic", "CNN on still digits, elastic head", "CNN, elastic head", **_ON_STILLS, emphasised=True),
    Row("cnn_carry_over", "CNN on still digits, kernel carry-over", "CNN, carry-over", **_ON_STILLS,
          in_figures=False),
    Row("cnn_feedback", "CNN on still digits, class feedback", "CNN, class feedback", **_ON_STILLS),
    Row("cnn_markov", "CNN on still digits, informed Markov filter", "CNN, Markov filter", **_ON_STILLS,
          in_figures=False),
    Row("cnn_static_best", "CNN on still digits, noise logit shifted", "CNN, noise shifted", **_ON_STILLS,
          sees_stills=False, in_figures=False),
    Row("cnn_mnist", "CNN on still digits", "CNN", **_ON_STILLS,
          still=_ann_text(0.9892, 0.0021), video=_ann_text(0.6591, 0.0268)),
    Row("cnn_mnist_sgd", "CNN on still digits, plain gradient descent", "CNN, plain descent", **_ON_STILLS,
          variant=True),
    Row("hebbian_elastic", "SoftHebb filters and ridge regression, elastic head", "SoftHebb, elastic head",
          **_HEBBIAN),
    Row("hebbian_static", "SoftHebb filters and ridge regression", "SoftHebb", **_HEBBIAN),
    Row("random_elastic", "The same with filters that learned nothing, elastic head", "random, elastic head",
          **_HEBBIAN),
    Row("random_static", "The same with filters that learned nothing", "random", **_HEBBIAN),
    Row("mlp_mnist", "MLP on still digits", "MLP", **_ON_STILLS,
          still=_ann_text(0.9689, 0.0017), video=_ann_text(0.5689, 0.0078)),
    Row("mlp_400_mnist", "MLP with 400 hidden units on still digits", "MLP, 400 units", **_ON_STILLS,
          in_figures=False),
    Row("cnn_remembers_omnist", "Small CNN whose head remembers, on video", "CNN that remembers", **_ON_VIDEO,
        sees_stills=False),
    Row("lstm_omnist", "LSTM on video", "LSTM", **_ON_VIDEO, video=_ann_text(0.8478, 0.0421, 10), sees_stills=False),
    Row("lstm_omnist_sgd", "LSTM on video, plain gradient descent", "LSTM, plain descent", **_DESCENT,
          sees_stills=False),
    Row("lstm_omnist_sgd_tuned", "LSTM on video, plain gradient descent, tuned rate", "LSTM, descent, tuned rate",
          **_DESCENT, sees_stills=False),
    Row("rnn_omnist", "RNN on video", "RNN", **_ON_VIDEO, video=_ann_text(0.8201, 0.0017, 10), sees_stills=False),
    Row("rnn_omnist_sgd", "RNN on video, plain gradient descent", "RNN, plain descent", **_DESCENT,
          sees_stills=False),
    Row("rnn_omnist_sgd_tuned", "RNN on video, plain gradient descent, tuned rate", "RNN, descent, tuned rate",
          **_DESCENT, sees_stills=False),
    Row("cnn_omnist", "CNN on video", "CNN", **_ON_VIDEO, video=_ann_text(0.8419, 0.0032, 10)),
    Row("cnn_omnist_sgd", "CNN on video, plain gradient descent", "CNN, plain descent", **_DESCENT),
    Row("cnn_omnist_sgd_tuned", "CNN on video, plain gradient descent, tuned rate", "CNN, descent, tuned rate",
          **_DESCENT),
    Row("mlp_omnist", "MLP on video", "MLP", **_ON_VIDEO, video=_ann_text(0.8076, 0.0058, 10)),
    Row("mlp_400_omnist", "MLP with 400 hidden units on video", "MLP, 400 units", **_ON_VIDEO, in_figures=False)
)  # fmt: skip

MODELS: dict[str, Row] = {model.key: model for model in _ROWS}
"""Every model by its key, in the order of tables and figures."""


def published() -> dict[str, Any]:
    """The paper's numbers in the form of results.json.

    Examples
    --------
    >>> published()["omnist_test"]["moraitis_st_stdp"]["mean"]
    0.879
    """

    def stats(choose: Callable[[Row], Published | None]) -> dict[str, Any]:
        found = {key: choose(model) for key, model in MODELS.items()}
        return {key: {**vars(one)} for key, one in found.items() if one is not None}

    return {
        "citation": CITATION,
        "mnist_test": stats(lambda model: model.still),
        "omnist_test": stats(lambda model: model.video),
        "frames": FRAMES,
    }
