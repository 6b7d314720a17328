"""A frozen linear head that follows a stream: springs, class memory and the exact observer.

`ElasticHead` takes the weights of any linear layer and the features it receives; it needs no PyTorch. `Observer` and
`Springs` are its settings, and `tune_head` chooses them for a stream, with or without labels.

Names are loaded when they are first used, because `springback.layers`, which shares the settings, needs no compiled
code.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from springback.heads.elastic_head import ElasticHead, HeadState
    from springback.heads.found import Found, Trial
    from springback.heads.held_out import HeldOut
    from springback.heads.hindsight import Hindsight
    from springback.heads.linear_classifier import ElasticLinearClassifier
    from springback.heads.observer import Observer
    from springback.heads.reference import follow
    from springback.heads.scale import Scale, measure_scale
    from springback.heads.settings import Settings
    from springback.heads.springs import Springs
    from springback.heads.tuning import TunedHead, tune_head

_MODULES = {
    "ElasticHead": "elastic_head",
    "ElasticLinearClassifier": "linear_classifier",
    "Found": "found",
    "HeadState": "elastic_head",
    "HeldOut": "held_out",
    "Hindsight": "hindsight",
    "Observer": "observer",
    "Scale": "scale",
    "Settings": "settings",
    "Springs": "springs",
    "Trial": "found",
    "TunedHead": "tuning",
    "follow": "reference",
    "measure_scale": "scale",
    "tune_head": "tuning",
}

__all__ = [
    "ElasticHead",
    "ElasticLinearClassifier",
    "Found",
    "HeadState",
    "HeldOut",
    "Hindsight",
    "Observer",
    "Scale",
    "Settings",
    "Springs",
    "Trial",
    "TunedHead",
    "follow",
    "measure_scale",
    "tune_head",
]


if not TYPE_CHECKING:  # type checkers would otherwise believe that every name exists

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(f"springback.heads.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
