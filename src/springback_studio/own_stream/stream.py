"""The user's own stream, as the command line gives it: a model, and perhaps a source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from springback.check import DataError
from springback.extras import MissingExtraError

if TYPE_CHECKING:
    from springback.live.follower import Follower
    from springback.live.sources.source import Source

SLOWEST, FASTEST = 1, 60
"""Bounds of the speed at which a recorded source is played, in frames per second."""


@dataclass(frozen=True, kw_only=True)
class OwnStream:
    """What `springback studio --model FILE --source ADDRESS` shows; both are opened when a page asks for them.

    Parameters
    ----------
    model_name : str
        For the page.
    open_model : Callable[[], Follower]
        Opens a copy of the model at rest, or in the state of its file.
    source_name : str | None
        For the page; None: frames come from the browser.
    open_source : Callable[[Follower], Source] | None
        Opens the source for a model.
    step_s : float | None
        Seconds (or units of the time stamps) of one step of the model's memory; None: frames are one step apart.
    speed : int
        Frames per second at which a recorded source is played.
    """

    model_name: str
    open_model: "Callable[[], Follower]"
    source_name: str | None = None
    open_source: "Callable[[Follower], Source] | None" = None
    step_s: float | None = None
    speed: int = 10

    def opened(self) -> "Follower":
        """The model; if it cannot start, a `DataError` says why and what helps."""
        try:
            return self.open_model()
        except MissingExtraError as error:
            raise DataError(str(error)) from error
        except ImportError as error:
            raise DataError(
                f"{self.model_name} needs {error.name}, which cannot be imported ({error}); reinstall it"
            ) from error
