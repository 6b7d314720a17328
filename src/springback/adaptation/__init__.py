"""Other methods of test-time adaptation, as baselines for an elastic head.

Each follows one stream with a frozen network, frame after frame, at batch size one and without labels. All of them are
`StreamClassifier`s: `step` answers a frame and moves the model, `track` answers a recorded stream, `reset` returns to
rest, and `relax` lets time pass. `Smoothing`, `MarkovFilter`, `LearnedTransitions`, `ClassFeedback` and
`PriorCorrection` read logits; the others read the features that the last layer receives. Methods that adapt the inside
of a PyTorch network read frames, and are in `networks`. `ranges` has the settings among which each method may choose.
"""

from springback.adaptation.carry_over import CarryOver
from springback.adaptation.class_feedback import ClassFeedback
from springback.adaptation.entropy_minimisation import EntropyMinimisation
from springback.adaptation.feature_averaging import FeatureAveraging
from springback.adaptation.feature_cache import FeatureCache
from springback.adaptation.head import HeadClassifier
from springback.adaptation.laplacian_adjustment import LaplacianAdjustment
from springback.adaptation.learned_transitions import LearnedTransitions
from springback.adaptation.markov_filter import MarkovFilter, count_transitions, sticky_transitions
from springback.adaptation.prior_correction import PriorCorrection
from springback.adaptation.prototype_adjustment import PrototypeAdjustment
from springback.adaptation.prototype_dynamics import PrototypeDynamics
from springback.adaptation.smoothing import Smoothing
from springback.adaptation.stream_classifier import StreamClassifier, softmax

__all__ = [
    "CarryOver",
    "ClassFeedback",
    "EntropyMinimisation",
    "FeatureAveraging",
    "FeatureCache",
    "HeadClassifier",
    "LaplacianAdjustment",
    "LearnedTransitions",
    "MarkovFilter",
    "PriorCorrection",
    "PrototypeAdjustment",
    "PrototypeDynamics",
    "Smoothing",
    "StreamClassifier",
    "count_transitions",
    "softmax",
    "sticky_transitions",
]
