"""The loop: frames in, answers out, in bounded memory, until the stream ends or the user ends it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.live.frames import Frames
from springback.live.models.follower import Follower
from springback.live.sources.source import Source
from springback.records import Followed

AT_ONCE = 1024
"""Most frames that the model answers in one call."""

_TOLD = 5


class BadFrameError(DataError):
    """A frame cannot be used, and the user asked to end there."""


@dataclass(kw_only=True)
class Tally:
    """What has happened so far.

    Parameters
    ----------
    frames : int
        Frames that were answered.
    bad : int
        Lines and frames that could not be used.
    reasons : list[str]
        Why, for the first of them.
    labelled, right, right_at_rest : int
        Frames with a label that the model knows, and how many of them were answered correctly, with and without memory.
    changed : int
        Frames for which the two answers differ.
    lost : int
        Connections that were lost, and frames that a device dropped.

    Examples
    --------
    >>> Tally(frames=3).bad
    0
    """

    frames: int = 0
    bad: int = 0
    reasons: list[str] = field(default_factory=list)
    labelled: int = 0
    right: int = 0
    right_at_rest: int = 0
    changed: int = 0
    lost: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """The answers to some frames.

    Parameters
    ----------
    frames : Frames
        What was answered.
    followed : Followed
        Probabilities with and without memory, and how new each frame is.
    labels, static_labels : list[Any]
        The answers in words, with and without memory.
    first : int
        Number of the first of these frames, counted from 0 over the whole run.

    Examples
    --------
    >>> both = np.eye(2)
    >>> followed = Followed(both, both, np.zeros(2))
    >>> frames = Frames(values=both)
    >>> len(Answers(frames=frames, followed=followed, labels=["a", "b"], static_labels=["a", "b"], first=0))
    2
    """

    frames: Frames
    followed: Followed
    labels: list[Any]
    static_labels: list[Any]
    first: int

    def __len__(self) -> int:
        return len(self.labels)


def answers(
    source: Source,
    follower: Follower,
    *,
    step_s: float | None = None,
    on_bad: str = "skip",
    limit: int | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
    tally: Tally | None = None,
    waits: bool = False,
) -> Iterator[Answers | None]:
    """Follow a stream to its end, and give the answers as soon as they are known.

    Parameters
    ----------
    source : Source
        Where frames come from.
    follower : Follower
        The model, which moves.
    step_s : float | None
        Seconds (or units of the time stamps) of one step of the model's memory; None: frames are one step apart,
        whatever their time stamps say.
    on_bad : str
        "skip": frames that cannot be used are counted and left out; "stop": the first one raises a `BadFrameError`.
    limit : int | None
        End after this number of frames.
    is_stopped : Callable[[], bool]
        Asked after every piece whether the user wants to end.
    tally : Tally | None
        Counts what happens.
    waits : bool
        Also give None whenever nothing has come in for a while, so that a display can be kept up to date.

    Examples
    --------
    >>> import tempfile
    >>> from springback.heads import ElasticHead
    >>> from springback.live import open_model, open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", np.eye(2))
    ...     ElasticHead(5 * np.eye(2), np.zeros(2)).save(f"{folder}/head.safetensors")
    ...     with open_source(f"{folder}/rows.npy") as source:
    ...         [some.labels for some in answers(source, open_model(f"{folder}/head.safetensors"))]
    [[0, 1]]
    """
    follower.preparation.refuse(source.signal, "the source")
    counts = Tally() if tally is None else tally
    clock = _Clock(step_s)
    while not is_stopped() and (limit is None or counts.frames < limit):
        found = source.read()
        counts.lost = source.lost
        if found is None:
            return
        _note_bad(counts, found.bad, on_bad)
        if not len(found):
            if waits:
                yield None
            continue
        for start in range(0, len(found), AT_ONCE):
            if is_stopped():
                return
            piece = found.select(slice(start, start + AT_ONCE)) if len(found) > AT_ONCE else found
            if limit is not None:
                piece = piece.select(slice(0, limit - counts.frames))
            yield from _usable(piece, follower, clock, counts, on_bad)


def _usable(frames: Frames, follower: Follower, clock: "_Clock", counts: Tally, on_bad: str) -> Iterator[Answers]:
    """The answers to the frames of a piece that can be used."""
    frames, late = clock.in_order(frames)
    _note_bad(counts, late, on_bad)
    if not len(frames):
        return
    inputs = follower.preparation.prepare(frames.values)
    for rows, followed in _followed(follower, inputs, clock.steps(frames), 0, counts, on_bad):
        part = frames if rows == slice(0, len(frames)) else frames.select(rows)
        given = Answers(
            frames=part,
            followed=followed,
            labels=list(follower.labels(followed)),
            static_labels=[follower.classes[one] for one in followed.at_rest.argmax(axis=1)],
            first=counts.frames,
        )
        _count(counts, given)
        yield given


def _followed(
    follower: Follower,
    inputs: NDArray[Any],
    times: NDArray[np.float64] | None,
    first: int,
    counts: Tally,
    on_bad: str,
) -> Iterator[tuple[slice, Followed]]:
    """Answer all frames at once; if the model refuses them, halve them until the bad ones are found."""
    try:
        yield slice(first, first + len(inputs)), follower.answer(inputs, times)
        return
    except (ValueError, TypeError) as error:
        refusal = " ".join(str(error).split())
    if len(inputs) == 1:
        _note_bad(counts, (f"frame {counts.frames}: {refusal}",), on_bad)
        return
    middle = len(inputs) // 2
    for part in (slice(0, middle), slice(middle, len(inputs))):
        stamps = None if times is None else times[part]
        yield from _followed(follower, inputs[part], stamps, first + part.start, counts, on_bad)


class _Clock:
    """Time stamps as steps of the model's memory; frames must not run backwards."""

    def __init__(self, step_s: float | None) -> None:
        self._step_s, self._last = step_s, -np.inf

    def in_order(self, frames: Frames) -> tuple[Frames, tuple[str, ...]]:
        """The frames that do not run backwards in time, and sentences about the others."""
        if self._step_s is None:
            return frames, ()
        if frames.seconds is None:
            raise DataError("the source has no time stamps, so --step cannot be used: leave it out")
        before = np.maximum.accumulate(np.concatenate([[self._last], frames.seconds]))
        good = frames.seconds >= before[:-1]
        self._last = float(before[-1])
        if good.all():
            return frames, ()
        late = np.flatnonzero(~good)
        said = tuple(
            f"time {_shown(frames, one)} runs backwards: the frame before it was at {before[one]:g}"
            for one in late.tolist()
        )
        return frames.select(good), said

    def steps(self, frames: Frames) -> NDArray[np.float64] | None:
        return None if self._step_s is None or frames.seconds is None else frames.seconds / self._step_s


def _shown(frames: Frames, number: int) -> Any:
    return frames.stamps[number] if frames.stamps is not None else number


def _note_bad(counts: Tally, reasons: tuple[str, ...], on_bad: str) -> None:
    for reason in reasons:
        counts.bad += 1
        if len(counts.reasons) < _TOLD:
            counts.reasons.append(reason)
        if on_bad == "stop":
            raise BadFrameError(f"{reason} (--on-bad skip leaves such frames out)")


def _count(counts: Tally, given: Answers) -> None:
    counts.frames += len(given)
    counts.changed += sum(a != b for a, b in zip(given.labels, given.static_labels, strict=True))
    if given.frames.labels is None:
        return
    for truth, answer, static in zip(given.frames.labels, given.labels, given.static_labels, strict=True):
        if truth is None or truth == "":
            continue
        counts.labelled += 1
        counts.right += same_label(truth, answer)
        counts.right_at_rest += same_label(truth, static)


def same_label(truth: Any, answer: Any) -> bool:
    """Whether a label as a source gives it is the class of an answer; 3.0 and "3" are the class 3.

    Examples
    --------
    >>> same_label("3", 3), same_label(3.0, 3), same_label("cat", "dog")
    (True, True, False)
    """
    if truth == answer:
        return True
    plain = int(truth) if isinstance(truth, float) and truth.is_integer() else truth
    return str(plain) == str(answer)
