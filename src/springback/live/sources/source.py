"""What every source is: something that is read again and again until it ends."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from springback.live.frames import Frames, Signal
from springback.live.sources.layout import RowLayout

PATIENCE_S = 0.2
"""How long a source waits for input before it says that there is none yet."""


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """What a source may be told besides its address; each source uses what concerns it.

    Parameters
    ----------
    layout : RowLayout
        Which numbers of a row are features, and which are time and label.
    window_s, hop_s : float | None
        Length of a window of sound and the time from one to the next, in seconds.
    rate_hz : int | None
        Samples per second at which a microphone records; a file must have this rate.
    every : int
        Use only every N-th picture of a video.
    retry_s : float
        How long a lost connection is tried again before the stream counts as ended.
    tensor : str | None
        The array to read from a file with several.
    seed : int
        Of a video that is made of a data set.
    data_home : Path | None
        Folder for data sets; None: the usual one.
    on_event : Callable[[str], None]
        Receives a line when a connection is lost or back.

    Examples
    --------
    >>> SourceOptions(window_s=1.0, hop_s=0.25).retry_s
    30.0
    """

    layout: RowLayout = field(default_factory=RowLayout)
    window_s: float | None = None
    hop_s: float | None = None
    rate_hz: int | None = None
    every: int = 1
    retry_s: float = 30.0
    tensor: str | None = None
    seed: int = 0
    data_home: Path | None = None
    on_event: Callable[[str], None] = lambda _: None


class Source(ABC):
    """A stream that is read piece by piece.

    Reading is the only way in which anything is taken from the stream, so a sender that is faster than the model has to
    wait, and memory stays bounded.

    Examples
    --------
    >>> class Silence(Source):
    ...     signal = Signal(kind="rows")
    ...
    ...     def read(self):
    ...         return None
    >>> with Silence() as silence:
    ...     silence.read() is None
    True
    """

    live: bool = False
    """Whether frames are lost if nobody reads them."""

    signal: Signal
    title: str = ""
    """What is in it, if it is data of which that is known."""

    lost = 0
    """How often a connection was lost, or frames of a device."""

    recorded: bool = False
    """Whether it can be opened again and then gives the same frames from the beginning."""

    @property
    def unfinished(self) -> int:
        """Bytes that were taken from the stream and are not yet part of a frame."""
        return 0

    @abstractmethod
    def read(self) -> Frames | None:
        """The next frames. None: the stream has ended. No frames: nothing has come in for `PATIENCE_S`."""

    def skip(self, count: int) -> int:
        """Pass over at most `count` frames (and bad ones) quickly; returns how many. A source need not be able to."""
        del count
        return 0

    def close(self) -> None:  # noqa: B027
        """Release the file, the connection or the device."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, kw_only=True)
class SourceKind:
    """A kind of source, with the addresses that it answers to.

    Parameters
    ----------
    name : str
        Of the kind, in messages.
    addresses : str
        How an address looks, for the help.
    schemes : tuple[str, ...]
        Words before the first colon of its addresses, or whole addresses.
    suffixes : tuple[str, ...]
        Endings of file names.
    open : Callable[[str, SourceOptions], Source]
        Opens an address.
    """

    name: str
    addresses: str
    schemes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    open: Callable[[str, SourceOptions], Source]
