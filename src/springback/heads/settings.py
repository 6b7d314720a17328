"""The settings of a head, of any memory."""

from springback.heads.observer import Observer
from springback.heads.springs import AnySprings, CentroidSprings, Springs, WindowSprings

Settings = Observer | AnySprings
"""How a head remembers."""

MEMORIES = (Observer, Springs, WindowSprings, CentroidSprings)
"""The kinds of settings."""


def require_settings(settings: Settings | None) -> Settings:
    """The settings, the default `Observer` if there are none; anything else is refused.

    Examples
    --------
    >>> require_settings(None) == Observer()
    True
    """
    if settings is not None and not isinstance(settings, MEMORIES):
        raise TypeError(f"settings must be Observer, Springs, WindowSprings or CentroidSprings; got {settings!r}")
    return Observer() if settings is None else settings
