"""A stream in, answers out: sources, models and the loop between them, as `springback follow` uses them.

    source = open_source("sensor.csv")
    model = open_model("model.safetensors")
    for given in answers(source, model): ...

Names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from springback.live.following import Tally, answers
    from springback.live.frames import Answers, Bad, FrameError, Frames, Signal
    from springback.live.models.catalogue import open_model
    from springback.live.models.follower import Follower, ModelOptions
    from springback.live.sources.catalogue import open_source
    from springback.live.sources.layout import RowLayout
    from springback.live.sources.source import Source, SourceOptions

_MODULES = {
    "Answers": "frames",
    "Bad": "frames",
    "Follower": "models.follower",
    "FrameError": "frames",
    "Frames": "frames",
    "ModelOptions": "models.follower",
    "RowLayout": "sources.layout",
    "Signal": "frames",
    "Source": "sources.source",
    "SourceOptions": "sources.source",
    "Tally": "following",
    "answers": "following",
    "open_model": "models.catalogue",
    "open_source": "sources.catalogue",
}

__all__ = [
    "Answers",
    "Bad",
    "Follower",
    "FrameError",
    "Frames",
    "ModelOptions",
    "RowLayout",
    "Signal",
    "Source",
    "SourceOptions",
    "Tally",
    "answers",
    "open_model",
    "open_source",
]


if not TYPE_CHECKING:  # type checkers would otherwise believe that every name exists

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(f"springback.live.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
