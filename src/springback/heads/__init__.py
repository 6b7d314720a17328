"""A frozen linear head that follows a stream: springs, class memory and the exact observer.

`ElasticHead` takes the weights of any linear layer and the features it receives; it needs no PyTorch. `Observer` and
`Springs` are its settings, and `tune_head` chooses them for a stream, with or without labels. `KeyedStreams` follows
many streams with one head: one small state for each camera, speaker or track.

Names are loaded when they are first used, because `springback.torch`, which shares the settings, needs no compiled
code.
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names

if TYPE_CHECKING:
    from springback.heads.elastic_head import ElasticHead, HeadState
    from springback.heads.keyed_streams import KeyedStreams
    from springback.heads.linear_classifier import ElasticLinearClassifier
    from springback.heads.memories.centroids import CentroidSprings
    from springback.heads.memories.learning_observer import LearningObserver
    from springback.heads.memories.observer import Observer
    from springback.heads.memories.springs import LayerSprings, Springs
    from springback.heads.memories.window import WindowSprings
    from springback.heads.none_of_these import NoneOfThese
    from springback.heads.reference import follow
    from springback.heads.scale import Scale, measure_scale
    from springback.heads.settings import Settings
    from springback.heads.several_memories import SeveralMemories
    from springback.heads.smoothing import Smoother
    from springback.heads.tuning import tune_head, tune_several
    from springback.heads.tuning_result import HeldOut, Trial, TuningResult

__all__ = [
    "CentroidSprings",
    "ElasticHead",
    "ElasticLinearClassifier",
    "HeadState",
    "HeldOut",
    "KeyedStreams",
    "LayerSprings",
    "LearningObserver",
    "NoneOfThese",
    "Observer",
    "Scale",
    "Settings",
    "SeveralMemories",
    "Smoother",
    "Springs",
    "Trial",
    "TuningResult",
    "WindowSprings",
    "follow",
    "measure_scale",
    "tune_head",
    "tune_several",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
