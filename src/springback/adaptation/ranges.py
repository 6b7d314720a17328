"""The settings among which each method may choose, for a search that gives every method the same number of trials.

`RANGES` has the ranges of all methods by class. Some settings are as large as the logits of the network, or as small:
`pull`, `strength` and `sharpness` that suit one network are wrong for another. Their ranges are in units of the spread
of its logits (`logit_spread`), and `per_spread` says how a value becomes a setting: 1, times the spread; -1, divided by
the spread; 0, as it is. Methods that adapt a network are among them if PyTorch is installed.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.adaptation.carry_over import CarryOver
from springback.adaptation.class_feedback import ClassFeedback
from springback.adaptation.entropy_minimisation import EntropyMinimisation
from springback.adaptation.feature_averaging import FeatureAveraging
from springback.adaptation.feature_cache import FeatureCache
from springback.adaptation.laplacian_adjustment import LaplacianAdjustment
from springback.adaptation.learned_transitions import LearnedTransitions
from springback.adaptation.markov_filter import MarkovFilter
from springback.adaptation.prior_correction import PriorCorrection
from springback.adaptation.prototype_adjustment import PrototypeAdjustment
from springback.adaptation.prototype_dynamics import PrototypeDynamics
from springback.adaptation.search import Choice, Range
from springback.adaptation.smoothing import Smoothing
from springback.extras import is_installed


def logit_spread(logits: NDArray[Any]) -> float:
    """How far the logits of a network lie apart: the standard deviation among the classes of a frame, on average.

    Examples
    --------
    >>> logit_spread(np.array([[1.0, -1.0], [3.0, -3.0]]))
    2.0
    """
    values = check.array("logits", np.asarray(logits, np.float64), shape=(None, None), dtype=np.float64)
    check.require(values.size > 0, "logits", "have at least one frame", values.shape)
    spread = float(values.std(axis=1).mean())
    check.require(spread > 0, "logits", "differ among the classes", "the same logit for every class")
    return spread


_MEMORY = Range(0.2, 50.0, log=True)
_STRENGTH = Range(0.03, 30.0, log=True, per_spread=1)
_SHARPNESS = Range(0.03, 10.0, log=True, per_spread=-1)
_KERNEL = Range(0.1, 100.0, log=True)
_RATE = Range(1e-6, 0.1, log=True)


def _ranges() -> dict[type, Mapping[str, Range | Choice]]:
    found: dict[type, Mapping[str, Range | Choice]] = {
        Smoothing: {"memory": _MEMORY, "average": Choice(("probabilities", "logits"))},
        MarkovFilter: {"switch_rate": Range(1e-6, 0.5, log=True), "sharpness": _SHARPNESS},
        LearnedTransitions: {
            "sharpness": _SHARPNESS,
            "memory": Range(10.0, 10_000.0, log=True),
            "prior_count": Range(0.01, 100.0, log=True),
            "gate_memory": Range(1.0, 100.0, log=True),
            "gate": Range(-10.0, 2.0),
        },
        ClassFeedback: {"pull": _STRENGTH, "memory": _MEMORY, "kappa": _SHARPNESS},
        PriorCorrection: {"memory": Range(0.2, 1000.0, log=True), "strength": _STRENGTH},
        CarryOver: {"strength": _STRENGTH, "sharpness": _KERNEL},
        EntropyMinimisation: {"learning_rate": _RATE, "momentum": Choice((0.0, 0.9))},
        PrototypeAdjustment: {"n_support": Range(1, 1000, log=True, whole=True)},
        LaplacianAdjustment: {
            "window": Range(2, 64, log=True, whole=True),
            "n_neighbours": Range(1, 10, log=True, whole=True),
            "strength": _STRENGTH,
        },
        PrototypeDynamics: {
            "kappa_transition": Range(1.0, 1e7, log=True),
            "kappa_emission": Range(1.0, 1e4, log=True),
            "window": Choice((1, 3, 5)),
            "shares": Choice(("uniform", "window")),
        },
        FeatureCache: {
            "strength": _STRENGTH,
            "sharpness": _KERNEL,
            "n_shots": Range(1, 30, log=True, whole=True),
            "negative_strength": Range(0.0, 3.0, per_spread=1),
            "negative_sharpness": _KERNEL,
        },
        FeatureAveraging: {"share": Range(0.0, 0.9)},
    }
    if is_installed("torch"):
        from springback.adaptation.networks import Note, Roid, Tent

        statistics = Choice(("stored", "seen"))
        found[Tent] = {"learning_rate": _RATE, "statistics": statistics}
        found[Note] = {
            "learning_rate": _RATE,
            "n_memory": Range(8, 64, log=True, whole=True),
            "tolerance": Range(1.0, 16.0, log=True),
            "momentum": Range(0.001, 0.3, log=True),
        }
        found[Roid] = {
            "learning_rate": _RATE,
            "window": Range(4, 64, log=True, whole=True),
            "keep": Choice((0.9, 0.99, 0.999, 1.0)),
            "correct_prior": Choice((True, False)),
            "statistics": statistics,
        }
    return found


RANGES: Mapping[type, Mapping[str, Range | Choice]] = MappingProxyType(_ranges())
"""The ranges of all methods, by class and by the name of the setting."""
