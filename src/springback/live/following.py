"""The loop: frames in, answers out, in bounded memory, until the stream ends or the user ends it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError, FrameError
from springback.live.clock import LONGEST_GAP, Clock
from springback.live.follower import Follower
from springback.live.frames import Answers, Bad, Frames
from springback.live.labels import KnownLabels
from springback.live.position import Position, numbered_pieces
from springback.live.sources.source import Source
from springback.streaming.records import Followed

AT_ONCE = 1024
"""Most frames that the model answers in one call."""

_TOLD = 5
_MOST_KEYS = 100_000
"""Streams of which the last answer is known, so that flips can be counted."""


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
    labelled, correct, correct_frozen : int
        Frames with a label that the model can answer, and how many of them were answered with it, with memory and by
        the frozen model.
    groups : dict[str, tuple[int, int]]
        The same for each group of frames that the source tells apart: correct answers with memory, and labelled frames.
    strange : int
        Frames with a label that the model cannot answer; they are not among `labelled`.
    strange_labels : list[str]
        The first of these labels.
    flips, flips_frozen : int
        How often an answer differs from the one before it in the same stream, with memory and of the frozen model.
    new, judged : int
        Frames that are more likely to show a new object than an old one, of those for which the model can say it.
    changed, compared : int
        Frames for which the two answers differ, of those for which there are two.
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
    correct: int = 0
    correct_frozen: int = 0
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)
    strange: int = 0
    strange_labels: list[str] = field(default_factory=list)
    flips: int = 0
    flips_frozen: int = 0
    new: int = 0
    judged: int = 0
    changed: int = 0
    compared: int = 0
    lost: int = 0
    unanswered: int = 0
    unfinished: int = 0
    last: dict[str | None, tuple[Any, Any]] = field(default_factory=dict, repr=False)

    def count(self, some: Frames, followed: Followed, follower: Follower, known: KnownLabels, first: int) -> Answers:
        """The answers in words, counted: how often they flip, and which of them are correct."""
        frozen_labels: list[Any] = [None] * len(some)
        if not np.isnan(followed.frozen).any():
            frozen_labels = [follower.classes[one] for one in followed.frozen.argmax(axis=1)]
        labels = [follower.names.get(one, one) for one in follower.model.labels_of(followed).tolist()]
        if follower.rule is not None:
            labels = follower.refused(labels, some.values)
        first += self.frames
        given = Answers(frames=some, followed=followed, labels=labels, frozen_labels=frozen_labels, first=first)
        self.frames += len(given)
        pairs = [pair for pair in zip(given.labels, given.frozen_labels, strict=True) if pair[1] is not None]
        self.compared += len(pairs)
        self.changed += sum(answer != frozen for answer, frozen in pairs)
        known_novelty = given.followed.novelty[~np.isnan(given.followed.novelty)]
        self.judged += len(known_novelty)
        self.new += int((known_novelty > 0.5).sum())
        keys: Sequence[str | None] = given.frames.keys or [None] * len(given)
        for key, pair in zip(keys, zip(given.labels, given.frozen_labels, strict=True), strict=True):
            before = self.last.pop(key, pair)
            self.flips += pair[0] != before[0]
            self.flips_frozen += pair[1] != before[1]
            self.last[key] = pair
        while len(self.last) > _MOST_KEYS:
            del self.last[next(iter(self.last))]
        if given.frames.labels is None:
            return given
        groups: Sequence[str | None] = given.frames.groups or [None] * len(given)
        for label, answer, frozen, group in zip(
            given.frames.labels, given.labels, given.frozen_labels, groups, strict=True
        ):
            if known.is_missing(label):
                continue
            place = known.place(label)
            if place is None:
                self.strange += 1
                shown = check.shown(label)
                if len(self.strange_labels) < _TOLD and shown not in self.strange_labels:
                    self.strange_labels.append(shown)
                continue
            is_correct = place == known.place(answer)
            self.labelled += 1
            self.correct += is_correct
            self.correct_frozen += place == known.place(frozen)
            if group is not None:
                correct, labelled = self.groups.get(group, (0, 0))
                self.groups[group] = correct + is_correct, labelled + 1
        return given


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
        whatever their time stamps say, unless the memory of the model is in their unit.
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
        Also give None whenever nothing has come in for some time, so that a display can be kept up to date.
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
    unit = follower.unit_of_time(step_s)
    clock = None if unit is None else Clock(unit, longest_gap, since_s)
    loop = _Loop(follower, clock, counts, on_bad, 0 if position is None else position.frames)
    resumed = None if position is None or not position.frames else numbered_pieces(source, position)
    read = taken = 0
    try:
        while not is_stopped() and (limit is None or counts.frames < limit):
            found = source.read() if resumed is None else next(resumed, None)
            counts.lost = source.lost
            if found is None:
                break
            rest: Frames | None = found
            if resumed is None:
                simple = replace(found, numbers=np.arange(read, read + len(found)))
                rest = found.numbered(read) if found.bad else simple
                read += len(found) + len(found.bad)
            taken += len(found)
            while rest is not None and not (source.recorded and is_stopped()):
                at_once = 1 if follower.lag else AT_ONCE
                most = at_once if limit is None else min(at_once, limit - counts.frames)
                if not most:
                    return
                part, rest = (rest, None) if len(rest) <= most else _cut(rest, most)
                yield from loop.answered(part)
            if waits and not len(found):
                yield None
        if follower.lag:
            yield from loop.owed(None if limit is None else limit - counts.frames)
    finally:
        if not source.recorded:
            counts.unanswered, counts.unfinished = taken - loop.done + loop.n_waiting, source.unfinished


def _cut(piece: Frames, most: int) -> tuple[Frames, Frames]:
    """The first frames of a piece, and the others; what is bad stays before the frame that it was before."""
    early = tuple(one for one in piece.bad if one.before < most)
    late = tuple(Bad(one.before - most, one.why) for one in piece.bad if one.before >= most)
    return piece.select(slice(0, most), early), piece.select(slice(most, None), late)


class _Loop:
    """Answers parts of a stream, and counts what happens."""

    def __init__(self, follower: Follower, clock: Clock | None, counts: Tally, on_bad: str, first: int) -> None:
        self._follower, self._clock, self._counts, self._on_bad = follower, clock, counts, on_bad
        self._first = first
        self.done = 0
        self._held: deque[tuple[Frames, Followed]] = deque()
        self._known = KnownLabels(follower.answerable)

    def answered(self, part: Frames) -> Iterator[Answers]:
        """The answers to the frames that can be used; a bad one that ends the run raises after those before it."""
        frames = part if self._clock is None else self._clock.in_order(part)
        times = None if self._clock is None else self._clock.steps(frames)
        late, stops = len(part) - len(frames), self._on_bad == "stop" and bool(frames.bad)
        if not stops:
            self.done += late
            for one in frames.bad:
                yield from self._bad(one.why)
        end = frames.bad[0].before if stops else len(frames)
        # All frames at once; if the model refuses them, they are halved until the bad ones are found.
        waiting = [(0, end)] if end else []
        while waiting:
            start, stop = waiting.pop()
            if frames.keys is not None and self._follower.streams is not None:
                later = None if times is None else times[start:stop]
                together = self._follower.streams.at_once(frames.keys[start:stop], later)
                if together < stop - start:
                    waiting.append((start + together, stop))
                    stop = start + together
            some = frames if stop - start == len(frames) else frames.select(slice(start, stop))
            try:
                followed = self._follower.answer(some.values, None if times is None else times[start:stop], some.keys)
            except FrameError as error:
                if len(some) > 1:
                    middle = (start + stop) // 2
                    waiting += [(middle, stop), (start, middle)]
                    continue
                self.done += 1
                number = self._first + self._counts.frames + len(self._held)
                yield from self._bad(f"frame {number}: {' '.join(str(error).split())}")
                continue
            self.done += len(some)
            if not self._follower.lag:
                yield self._counts.count(some, followed, self._follower, self._known, self._first)
                continue
            self._held.append((some, followed))
            if not np.isnan(followed.posterior).any():
                yield self._late(followed.posterior)
        if stops:
            self.done += bool(late)
            yield from self._bad(frames.bad[0].why)

    @property
    def n_waiting(self) -> int:
        """How many answers still wait."""
        return len(self._held)

    def owed(self, most: int | None) -> Iterator[Answers]:
        """The answers that still wait when the stream ends."""
        patient: Any = self._follower.model
        for posterior in patient.waiting()[:most]:
            yield self._late(posterior[None])

    def _late(self, posterior: NDArray[np.float64]) -> Answers:
        some, followed = self._held.popleft()
        followed = followed._replace(posterior=posterior)
        return self._counts.count(some, followed, self._follower, self._known, self._first)

    def _bad(self, reason: str) -> Iterator[Answers]:
        """Count what cannot be used; if it ends the run, the answers that still wait come first."""
        counts = self._counts
        counts.bad += 1
        if len(counts.reasons) < _TOLD:
            counts.reasons.append(reason)
        if self._on_bad == "stop":
            if self._held:
                yield from self.owed(None)
            raise BadFrameError(reason)
