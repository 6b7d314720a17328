"""The loop: frames in, answers out, in bounded memory, until the stream ends or the user ends it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.live.clock import LONGEST_GAP, Clock
from springback.live.frames import Answers, Bad, FrameError, Frames
from springback.live.labels import KnownLabels
from springback.live.models.follower import Follower
from springback.live.position import Position, numbered_pieces
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
        Frames with a label that the model can answer, and how many of them were answered with it, with and without
        memory.
    strange : int
        Frames with a label that the model cannot answer; they are not among `labelled`.
    strange_labels : list[str]
        The first of these labels.
    changed : int
        Frames for which the two answers differ.
    lost : int
        Connections that were lost, and frames that a device dropped.
    unanswered : int
        Frames that were taken from a source that cannot be read again, and not answered.
    unfinished : int
        Bytes of an incomplete frame that were taken from such a source.

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
    strange: int = 0
    strange_labels: list[str] = field(default_factory=list)
    changed: int = 0
    lost: int = 0
    unanswered: int = 0
    unfinished: int = 0


def answers(
    source: Source,
    follower: Follower,
    *,
    step_s: float | None = None,
    longest_gap: float = LONGEST_GAP,
    on_bad: str = "skip",
    limit: int | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
    tally: Tally | None = None,
    waits: bool = False,
    position: Position | None = None,
    since_s: float | None = None,
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
    longest_gap : float
        Steps that may lie between two frames if time stamps are used; a frame that is further ahead is bad.
    on_bad : str
        "skip": frames that cannot be used are counted and left out; "stop": the first one raises a `BadFrameError`,
        after those before it were answered.
    limit : int | None
        End after this number of frames.
    is_stopped : Callable[[], bool]
        Asked again and again whether the user wants to end. What has been taken from a source that cannot be read
        again is answered first.
    tally : Tally | None
        Counts what happens.
    waits : bool
        Also give None whenever nothing has come in for a while, so that a display can be kept up to date.
    position : Position | None
        Pass over the frames of a recorded source up to there; a source that does not have them is refused.
    since_s : float | None
        Time stamp of the last frame that the model has seen before, as a number.

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
    clock = Clock(step_s, longest_gap, since_s)
    loop = _Loop(follower, clock, counts, on_bad, 0 if position is None else position.frames)
    pieces = numbered_pieces(source, position)
    taken = 0
    try:
        while not is_stopped() and (limit is None or counts.frames < limit):
            found = next(pieces, None)
            counts.lost = source.lost
            if found is None:
                return
            taken += len(found)
            for part in _parts(found, on_bad):
                if source.recorded and is_stopped():
                    return
                yield from loop.answered(part, limit)
            if waits and not len(found):
                yield None
    finally:
        if not source.recorded:
            counts.unanswered, counts.unfinished = taken - loop.done, source.unfinished


def _parts(found: Frames, on_bad: str) -> Iterator[Frames]:
    """A piece in parts of at most `AT_ONCE` frames; a bad frame that ends the run is at the end of its part."""
    end = found.bad[0].before if found.bad and on_bad == "stop" else len(found)
    if end == len(found) <= AT_ONCE:
        yield found
        return
    for start in range(0, max(end, 1), AT_ONCE):
        stop = min(start + AT_ONCE, end)
        bad = tuple(Bad(one.before - start, one.why) for one in found.bad) if stop == end else ()
        yield found.select(slice(start, stop), bad)


class _Loop:
    """Answers parts of a stream, and counts what happens."""

    def __init__(self, follower: Follower, clock: Clock, counts: Tally, on_bad: str, first: int) -> None:
        self._follower, self._clock, self._counts, self._on_bad = follower, clock, counts, on_bad
        self._first = first
        self.done = 0
        self._known = KnownLabels(follower.answerable)

    def answered(self, part: Frames, limit: int | None) -> Iterator[Answers]:
        """The answers to the frames that can be used, as long as there are fewer than `limit`."""
        while limit is not None and self._counts.frames + len(part) > limit:
            left = limit - self._counts.frames
            if not left:
                return
            yield from self._answered(part.select(slice(0, left)))
            part = part.select(slice(left, None), tuple(Bad(one.before - left, one.why) for one in part.bad))
        yield from self._answered(part)

    def _answered(self, part: Frames) -> Iterator[Answers]:
        """The answers to the frames that can be used; a bad one that ends the run raises after those before it."""
        frames = self._clock.in_order(part)
        late = len(part) - len(frames)
        if self._on_bad == "stop" and frames.bad:
            yield from self._usable(frames.select(slice(0, frames.bad[0].before)))
            self.done += bool(late)
            self._note_bad(frames.bad[0].why)
        for one in frames.bad:
            self._note_bad(one.why)
        self.done += late
        yield from self._usable(frames)

    def _usable(self, frames: Frames) -> Iterator[Answers]:
        if not len(frames):
            return
        follower = self._follower
        inputs = follower.preparation.prepare(frames.values)
        for rows, followed in self._followed(inputs, self._clock.steps(frames), 0):
            part = frames if rows == slice(0, len(frames)) else frames.select(rows)
            given = Answers(
                frames=part,
                followed=followed,
                labels=list(follower.labels(followed)),
                static_labels=[follower.classes[one] for one in followed.at_rest.argmax(axis=1)],
                first=self._first + self._counts.frames,
            )
            self._count(given)
            yield given

    def _followed(
        self, inputs: NDArray[Any], times: NDArray[np.float64] | None, first: int
    ) -> Iterator[tuple[slice, Followed]]:
        """Answer all frames at once; if the model refuses them, halve them until the bad ones are found."""
        try:
            found = self._follower.answer(inputs, times)
        except FrameError as error:
            refusal = " ".join(str(error).split())
        else:
            yield slice(first, first + len(inputs)), found
            return
        if len(inputs) == 1:
            self.done += 1
            self._note_bad(f"frame {self._first + self._counts.frames}: {refusal}")
            return
        middle = len(inputs) // 2
        for part in (slice(0, middle), slice(middle, len(inputs))):
            stamps = None if times is None else times[part]
            yield from self._followed(inputs[part], stamps, first + part.start)

    def _note_bad(self, reason: str) -> None:
        counts = self._counts
        counts.bad += 1
        if len(counts.reasons) < _TOLD:
            counts.reasons.append(reason)
        if self._on_bad == "stop":
            raise BadFrameError(reason)

    def _count(self, given: Answers) -> None:
        counts, known = self._counts, self._known
        counts.frames += len(given)
        self.done += len(given)
        counts.changed += sum(a != b for a, b in zip(given.labels, given.static_labels, strict=True))
        if given.frames.labels is None:
            return
        for label, answer, static in zip(given.frames.labels, given.labels, given.static_labels, strict=True):
            if known.is_missing(label):
                continue
            place = known.place(label)
            if place is None:
                counts.strange += 1
                shown = check.shown(label)
                if len(counts.strange_labels) < _TOLD and shown not in counts.strange_labels:
                    counts.strange_labels.append(shown)
                continue
            counts.labelled += 1
            counts.right += place == known.place(answer)
            counts.right_at_rest += place == known.place(static)
