"""Several streams, of which those that are silent for long, or that are too many, are forgotten."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.keyed_streams import KeyedStreams
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel

_STALE = 1000
"""Keys of forgotten streams that may be remembered beside as many as there are streams."""


class BoundedStreams:
    """The states of streams by their keys; a key that was forgotten starts at rest.

    A stream is forgotten when the latest frame of all streams comes `forget_after` or more after its own last one, or
    when it is the one that came least recently of more than `most`. The answers do not depend on how many frames come
    together, as long as no call of `follow` gets more than `at_once` says.

    Parameters
    ----------
    model : StreamModel
        Its own state is not used.
    most : int | None
        The largest number of streams; None: no limit.
    forget_after : float | None
        In the unit of the times, or in frames of all streams; None: never.

    Examples
    --------
    >>> from springback.heads import ElasticHead
    >>> streams = BoundedStreams(ElasticHead(np.eye(2), np.zeros(2)), forget_after=10.0)
    >>> streams.at_once(["door", "yard", "door"], np.array([0.0, 1.0, 30.0]))
    2
    """

    def __init__(self, model: StreamModel, most: int | None = None, forget_after: float | None = None) -> None:
        self.states: KeyedStreams[str] = KeyedStreams(model, compact=False, limit=most)
        self._most = most
        self._silence = None if forget_after is None else check.real("forget_after", forget_after, low=0)
        self._now = -math.inf
        self._last: dict[str, float] = {}

    def at_once(self, keys: Sequence[str], times: NDArray[np.float64] | None) -> int:
        """How many of these frames can be followed in one call: none of their streams starts at rest within it."""
        if self._silence is None and self._most is None:
            return len(keys)
        here: dict[str, float] = {}
        gone: set[str] = set()
        leaving: Any = None
        now, n_new = self._now, 0
        for number, (key, moment) in enumerate(zip(keys, self._moments(len(keys), times), strict=True)):
            now = max(now, moment)
            if key in gone or (key in here and self._is_over(now - here[key])):
                return number
            if self._most is not None and key not in here and key not in self.states:
                n_new += 1
                if len(self.states) + n_new - len(gone) > self._most:
                    leaving = iter(self.states) if leaving is None else leaving
                    oldest = next((one for one in leaving if one not in here), None)
                    if oldest is None:
                        return number
                    gone.add(oldest)
            here[key] = moment
        return len(keys)

    def follow(self, keys: Sequence[str], frames: Any, times: NDArray[np.float64] | None) -> Followed:
        """The answers to frames (T, ...), which move the streams; if they are refused, none has moved."""
        moments = self._moments(len(keys), times)
        now, last, over = self._now, dict[str, float](), dict[str, bytes]()
        for key, moment in zip(keys, moments, strict=True):
            now = max(now, moment)
            if key not in last and key in self.states and self._is_over(now - self._last.get(key, self._now)):
                over[key] = self.states.snapshot(key)
            last.pop(key, None)
            last[key] = moment
        for key in over:
            self.states.forget(key)
        try:
            followed = self.states.follow_mixed(keys, frames, times)
        except ValueError:
            for key, state in over.items():
                self.states.restore(key, state)
            raise
        self._now = now
        if self._silence is not None:
            self._note(last)
        return followed

    def _note(self, last: dict[str, float]) -> None:
        """Take note of the last frame of each stream, and forget those that have been silent for too long."""
        for key, moment in last.items():
            self._last.pop(key, None)
            self._last[key] = moment
        if len(self._last) > 2 * len(self.states) + _STALE:
            self._last = {key: moment for key, moment in self._last.items() if key in self.states}
        silent = []
        for key, moment in self._last.items():
            if not self._is_over(self._now - moment):
                break
            silent.append(key)
        for key in silent:
            del self._last[key]
            if key in self.states:
                self.states.forget(key)

    def _is_over(self, silence: float) -> bool:
        return self._silence is not None and silence >= self._silence

    def _moments(self, count: int, times: NDArray[np.float64] | None) -> Iterable[float]:
        """When each frame comes."""
        if times is not None:
            return [float(one) for one in times]
        first = max(self._now, 0.0)
        return [first + number for number in range(1, count + 1)]

    @property
    def clock(self) -> float | None:
        """The latest time, or how many frames there were; None before the first."""
        return self._now if math.isfinite(self._now) else None

    def last_of(self, key: str) -> float:
        """When the last frame of a stream came, as far as it is known."""
        return self._last.get(key, self.clock or 0.0)

    def restore(self, clock: float | None, states: Iterable[tuple[str, bytes, float]]) -> None:
        """Continue from a clock, and from the key, the state and the last frame of each stream, the latest at last."""
        for key, state, moment in states:
            self.states.restore(key, state)
            self._last[key] = moment
        self._now = -math.inf if clock is None else clock
