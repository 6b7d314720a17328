"""The settings of a head, of any memory."""

from typing import get_args

from springback.heads.memories.centroids import CentroidSprings
from springback.heads.memories.learning_observer import LearningObserver
from springback.heads.memories.observer import Observer
from springback.heads.memories.springs import Springs
from springback.heads.memories.window import WindowSprings

Settings = Observer | LearningObserver | Springs | WindowSprings | CentroidSprings
"""How a head remembers. A new memory is named here, and nowhere else."""

MEMORIES = get_args(Settings)
"""The kinds of settings."""


def require_settings(settings: Settings | None) -> Settings:
    """The settings, the default `LearningObserver` if there are none; anything else is refused.

    Examples
    --------
    >>> require_settings(None) == LearningObserver()
    True
    """
    if settings is not None and not isinstance(settings, MEMORIES):
        *names, last = (one.__name__ for one in MEMORIES)
        raise TypeError(f"settings must be {', '.join(names)} or {last}; got {settings!r}")
    return LearningObserver() if settings is None else settings
