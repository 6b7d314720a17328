"""Elastic clustering: the paper's optimal observer, without spikes.

The theory as pure functions (`prepare`, `init`, `track`, `step`, `read`, `relax`), many streams at once
(`init_streams`, `advance_streams`), and the estimators `ElasticClustering` and `ElasticClassifier`. The river adapter
lives in `springback.elastic.river_adapter`, because river is optional.
"""

from typing import TYPE_CHECKING

from springback.elastic.algorithm import (
    Model,
    Response,
    State,
    advance,
    efficacy,
    expected,
    init,
    prepare,
    read,
    relax,
    short_term,
    step,
    track,
)
from springback.elastic.kernels import Exponential, ExponentialSum, Kernel, Windowed, measurement_kernel
from springback.elastic.measurement import MeasurementState, hidden_input, measurement_weights
from springback.elastic.novelty import (
    best_threshold,
    is_novel_by_likelihood,
    is_novel_by_similarity,
    similarity_threshold,
)
from springback.elastic.params import Elasticity
from springback.elastic.resting import Resting, fit_von_mises_fisher, spherical_k_means
from springback.elastic.streams import advance_streams, frames_needed, init_streams

if TYPE_CHECKING:
    from springback.elastic.classifier import ElasticClassifier
    from springback.elastic.estimator import ElasticClustering

__all__ = [
    "ElasticClassifier",
    "ElasticClustering",
    "Elasticity",
    "Exponential",
    "ExponentialSum",
    "Kernel",
    "MeasurementState",
    "Model",
    "Response",
    "Resting",
    "State",
    "Windowed",
    "advance",
    "advance_streams",
    "best_threshold",
    "efficacy",
    "expected",
    "fit_von_mises_fisher",
    "frames_needed",
    "hidden_input",
    "init",
    "init_streams",
    "is_novel_by_likelihood",
    "is_novel_by_similarity",
    "measurement_kernel",
    "measurement_weights",
    "prepare",
    "read",
    "relax",
    "short_term",
    "similarity_threshold",
    "spherical_k_means",
    "step",
    "track",
]


def __getattr__(name: str) -> object:
    """The estimators, imported when they are first used: they alone need scikit-learn, which takes 40 MB."""
    if name == "ElasticClassifier":
        from springback.elastic.classifier import ElasticClassifier

        return ElasticClassifier
    if name == "ElasticClustering":
        from springback.elastic.estimator import ElasticClustering

        return ElasticClustering
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
