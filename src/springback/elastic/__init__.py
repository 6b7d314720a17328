"""Elastic clustering: the paper's optimal observer, without spikes.

Start with the estimators, `ElasticClustering` and `ElasticClassifier`. The theory is also available as pure functions
(`prepare`, `init`, `step`, `track`, `read`, `relax`), also for many streams at once (`init_streams`, `step_streams`).
The river adapter is in `springback.elastic.river_adapter`, because river is optional.

Names are loaded when they are first used: only the estimators need scikit-learn (40 MB), and `springback.torch`, which
shares the parameters, needs no compiled code.
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names

if TYPE_CHECKING:
    from springback.elastic.algorithm import (
        Model,
        Response,
        State,
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
    from springback.elastic.classifier import ElasticClassifier
    from springback.elastic.estimator import ElasticClustering
    from springback.elastic.kernels import Exponential, ExponentialSum, Kernel, Windowed, measurement_kernel
    from springback.elastic.novelty import (
        best_threshold,
        is_novel_by_likelihood,
        is_novel_by_similarity,
        similarity_threshold,
    )
    from springback.elastic.params import Elasticity
    from springback.elastic.plasticity import Plasticity
    from springback.elastic.resting import Resting, fit_von_mises_fisher, spherical_k_means
    from springback.elastic.streams import frames_needed, init_streams, step_streams

__all__ = [
    "ElasticClassifier",
    "ElasticClustering",
    "Elasticity",
    "Exponential",
    "ExponentialSum",
    "Kernel",
    "Model",
    "Plasticity",
    "Response",
    "Resting",
    "State",
    "Windowed",
    "best_threshold",
    "efficacy",
    "expected",
    "fit_von_mises_fisher",
    "frames_needed",
    "init",
    "init_streams",
    "is_novel_by_likelihood",
    "is_novel_by_similarity",
    "measurement_kernel",
    "prepare",
    "read",
    "relax",
    "short_term",
    "similarity_threshold",
    "spherical_k_means",
    "step",
    "step_streams",
    "track",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
