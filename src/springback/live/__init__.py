"""A stream in, answers out: sources, models and the loop between them, as `springback follow` uses them.

    source = open_source("sensor.csv")
    model = open_model("model.safetensors")
    for given in answers(source, model): ...

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names

if TYPE_CHECKING:
    from springback.check import FrameError
    from springback.live import spark as spark
    from springback.live.follower import Follower, ModelOptions, open_model
    from springback.live.following import Tally, answers
    from springback.live.frames import Answers, Bad, Frames, Signal
    from springback.live.sources.catalogue import open_source
    from springback.live.sources.layout import RowLayout
    from springback.live.sources.source import Source, SourceOptions

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
