"""The position of a run in its stream and the state of its model there, so that a later run can continue."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.container import read, write
from springback.live.follower import Follower
from springback.live.frames import Answers, Bad, Frames
from springback.live.sources.source import Source


class PositionError(DataError):
    """A source is not the one that the run was reading."""


@dataclass(frozen=True, kw_only=True)
class Position:
    """The last frame that was answered, if there is one.

    Parameters
    ----------
    source : str
        What was followed; see `source_name`.
    frames : int
        Frames that were answered.
    taken : int
        Frames that were taken from the source up to there, with those that could not be used.
    stamp : str | float | int | None
        Time stamp of the last frame, as the source gave it.
    seconds : float | None
        The same as a number.
    digest : str
        Identifies the last frame.
    out : str | None
        The file of answers, if there is one.
    out_bytes : int
        Its size after the last answer.

    Examples
    --------
    >>> Position(source="rows.csv", frames=-1, taken=0, digest="")
    Traceback (most recent call last):
    ValueError: Position.frames must be >= 0; got -1
    """

    source: str
    frames: int
    taken: int
    digest: str
    stamp: str | float | int | None = None
    seconds: float | None = None
    out: str | None = None
    out_bytes: int = 0

    def __post_init__(self) -> None:
        check.sizes(self, frames=0, out_bytes=0)
        check.sizes(self, taken=self.frames)
        check.reals(self, "seconds", or_none=True)


def source_name(address: str, source: Source) -> str:
    """What identifies a source: the whole path of a file that can be read again, any other address as it stands."""
    is_file = source.recorded and Path(address).exists()
    return str(Path(address).resolve()) if is_file else address


def position_of(given: Answers, source: str, *, out: str | None = None, out_bytes: int = 0) -> Position:
    """Where a run stands after some answers."""
    frames = given.frames
    assert frames.numbers is not None, "answers to a stream have numbers"
    stamp: Any = None if frames.stamps is None else frames.stamps[-1]
    return Position(
        source=source,
        frames=given.first + len(given),
        taken=int(frames.numbers[-1]) + 1,
        digest=_digest(frames, -1),
        stamp=stamp if isinstance(stamp, str | int | float) else None,
        seconds=None if frames.seconds is None else float(frames.seconds[-1]),
        out=out,
        out_bytes=out_bytes,
    )


def numbered_pieces(source: Source, position: Position | None) -> Iterator[Frames]:
    """The pieces of a source with the numbers of their frames; those up to a position are passed over.

    The last frame of the position must be there and must be the same; else a `PositionError` is raised.
    """
    position = None if position is None or not position.frames else position
    taken = 0 if position is None else source.skip(position.taken - 1)
    is_there = position is None
    while (found := source.read()) is not None:
        piece = found.numbered(taken)
        begin, taken = taken, taken + len(found) + len(found.bad)
        if position is not None and begin < position.taken:
            is_there = is_there or _ends_there(piece, position)
            if taken >= position.taken and not is_there:
                break
            piece = _after(piece, begin, position.taken)
        yield piece
    if not is_there and position is not None:
        raise PositionError(
            f"{position.source} is not the file that the state belongs to, or has changed since: frame "
            f"{position.frames - 1:,} of it is different"
        )


def _ends_there(piece: Frames, position: Position) -> bool:
    assert piece.numbers is not None
    place = int(piece.numbers.searchsorted(position.taken - 1))
    is_found = place < len(piece) and int(piece.numbers[place]) == position.taken - 1
    return is_found and _digest(piece, place) == position.digest


def _after(piece: Frames, begin: int, taken: int) -> Frames:
    """What of a piece comes after a number of frames, those that are bad included."""
    assert piece.numbers is not None
    first = int(piece.numbers.searchsorted(taken))
    bad = tuple(Bad(one.before - first, one.why) for k, one in enumerate(piece.bad) if begin + one.before + k >= taken)
    return piece.select(slice(first, None), bad)


def _digest(frames: Frames, place: int) -> str:
    stamp = None if frames.stamps is None else frames.stamps[place]
    return hashlib.sha256(frames.values[place].tobytes() + repr(stamp).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class SavedStream:
    """The state of a follower, after which frame it is the state, and what it was followed with.

    Parameters
    ----------
    model : str
        Identifies the file of the model.
    step_s : float | None
        The length of a step.
    """

    model: str
    step_s: float | None
    position: Position | None
    state: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class SavedStreams(SavedStream):
    """The states of several streams, one after the other.

    Parameters
    ----------
    keys : tuple[str, ...]
        To which streams they belong.
    ends : NDArray[np.int64]
        Where each of them ends.
    last : NDArray[np.float64]
        When the last frame of each of them came.
    clock : float | None
        When the last frame of all came.
    """

    keys: tuple[str, ...]
    ends: NDArray[np.int64]
    last: NDArray[np.float64]
    clock: float | None


def save_state(
    path: Path, follower: Follower, *, model: str, step_s: float | None, position: Position | None = None
) -> None:
    """Write the state, and the frame after which it is the state; `model` identifies the file of the model."""
    streams = follower.streams
    if streams is None:
        content = np.frombuffer(follower.model.get_state(), np.uint8)
        write(path, "state", SavedStream(model, step_s, position, content))
        return
    keys = tuple(streams.states)
    states = [streams.states.snapshot(key) for key in keys]
    content, ends = np.frombuffer(b"".join(states), np.uint8), np.cumsum([len(one) for one in states], dtype=np.int64)
    last = np.array([streams.last_of(key) for key in keys], np.float64)
    write(path, "state", SavedStreams(model, step_s, position, content, keys, ends, last, streams.clock))


def load_state(path: Path, follower: Follower, *, model: str, step_s: float | None) -> Position | None:
    """Continue from a state of the same model in the same unit of time; any other is refused.

    Returns where the stream was; None: the file does not say it.
    """
    either: Any = SavedStream | SavedStreams
    saved: SavedStream = read(path, "state", either)
    if isinstance(saved, SavedStreams) != (follower.streams is not None):
        told = "the states of several streams" if isinstance(saved, SavedStreams) else "the state of one stream"
        raise DataError(f"{path} holds {told}; name a key if, and only if, it was written with one")
    if saved.model != model:
        raise DataError(f"{path} is the state of another model, or of a model that has changed since; start without it")
    if saved.step_s != step_s:
        told = "without the length of a step" if saved.step_s is None else f"with a step of {saved.step_s}"
        raise DataError(f"{path} was written {told}; use time in the same way")
    try:
        if isinstance(saved, SavedStreams) and follower.streams is not None:
            last = check.array("last", saved.last, shape=(len(saved.keys),), dtype=np.float64).tolist()
            states = [one.tobytes() for one in np.split(saved.state, saved.ends)[:-1]]
            clock = None if saved.clock is None else check.real("clock", saved.clock)
            follower.streams.restore(clock, zip(saved.keys, states, last, strict=True))
        else:
            follower.model.set_state(saved.state.tobytes())
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} does not fit the model: {error}") from error
    return saved.position
