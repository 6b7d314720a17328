"""What an elastic head has to be measured against: other ways to use time, or to adapt, without labels.

All take the outputs of a frozen network, or the features its last layer receives, frame after frame, one stream, batch
size one. Two only look at outputs (`smooth`, `filter_classes`); two adapt parameters (`minimise_entropy`,
`adjust_prototypes`).
"""

from springback.adaptation.entropy import minimise_entropy
from springback.adaptation.markov import count_transitions, filter_classes, sticky_transitions
from springback.adaptation.prototypes import adjust_prototypes
from springback.adaptation.smoothing import smooth, softmax

__all__ = [
    "adjust_prototypes",
    "count_transitions",
    "filter_classes",
    "minimise_entropy",
    "smooth",
    "softmax",
    "sticky_transitions",
]
