"""Other methods of test-time adaptation, as baselines for an elastic head.

Each follows one stream with a frozen network, frame after frame, at batch size one and without labels. All of them are
`StreamClassifier`s: `step` answers a frame and moves the model, `track` answers a recorded stream, `reset` returns to
rest, and `relax` lets time pass. `Smoothing`, `MarkovFilter` and `ClassFeedback` read logits; `CarryOver`,
`EntropyMinimisation` and `PrototypeAdjustment` read the features that the last layer receives.
"""

from springback.adaptation.carry_over import CarryOver
from springback.adaptation.class_feedback import ClassFeedback
from springback.adaptation.entropy_minimisation import EntropyMinimisation
from springback.adaptation.head import HeadClassifier
from springback.adaptation.markov_filter import MarkovFilter, count_transitions, sticky_transitions
from springback.adaptation.prototype_adjustment import PrototypeAdjustment
from springback.adaptation.smoothing import Smoothing
from springback.adaptation.stream_classifier import StreamClassifier, softmax

__all__ = [
    "CarryOver",
    "ClassFeedback",
    "EntropyMinimisation",
    "HeadClassifier",
    "MarkovFilter",
    "PrototypeAdjustment",
    "Smoothing",
    "StreamClassifier",
    "count_transitions",
    "softmax",
    "sticky_transitions",
]
