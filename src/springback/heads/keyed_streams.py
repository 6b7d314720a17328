"""A registry of streams: one model, and the state of each stream by its key."""

import sys
import time as clocks
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.keyed_states import held_bytes, states_of
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import MemoryIn
from springback.streaming.records import Followed
from springback.streaming.time_stamps import as_times

Key = TypeVar("Key", bound=Hashable)


class _Nobody:
    """The key of a frame without one."""


def _batches(rows: dict[Any, list[int]], at_once: int) -> Iterator[list[Any]]:
    """Keys of streams that have the same number of frames, at most `at_once` together."""
    by_length: dict[int, list[Any]] = {}
    for key, numbers in rows.items():
        by_length.setdefault(len(numbers), []).append(key)
    for keys in by_length.values():
        for start in range(0, len(keys), at_once):
            yield keys[start : start + at_once]


class KeyedStreams(Generic[Key]):
    """Many streams that share one frozen model; each has only its own short-term state.

    A key that was never seen, or that was forgotten, starts at rest. Frames that are refused change nothing.
    Threads may share it; they take turns.

    Parameters
    ----------
    model : Any
        An `ElasticHead`, an elastic model of PyTorch in evaluation mode, an `OnnxStream` or any other `StreamModel`.
        Its own state is not used and does not change; the weights are shared. All but the last kind run many streams
        in one call.
    compact : bool
        Keep the inputs that a head with an `Observer` or with `WindowSprings` remembers with one byte per number
        instead of four; see the page on many streams for what this changes. Everything else is kept exactly, also a
        window of inputs that do not have unit length.
    limit : int | None
        The largest number of streams; beyond it, the one that was used least recently is forgotten. None: no limit.
    now : Callable[[], float]
        A clock in seconds, for `forget_idle`.

    Examples
    --------
    >>> from springback.heads import ElasticHead
    >>> cameras = KeyedStreams(ElasticHead(5 * np.eye(2), np.zeros(2)))
    >>> cameras.step("door", [1.0, 0.1]).argmax(), cameras.step("yard", [0.2, 1.0]).argmax()
    (np.int64(0), np.int64(1))
    >>> saved = cameras.snapshot("door")
    >>> cameras.forget("door")
    >>> cameras.restore("door", saved)
    >>> sorted(cameras)
    ['door', 'yard']
    """

    def __init__(
        self,
        model: Any,
        *,
        compact: bool = True,
        limit: int | None = None,
        now: Callable[[], float] = clocks.monotonic,
    ) -> None:
        self._states = states_of(model, compact=compact)
        self._limit = None if limit is None else check.integer("limit", limit, low=1)
        self._now = now
        self._kept: dict[Key, tuple[Any, float]] = {}

    @property
    def memory_in_(self) -> MemoryIn:
        """The unit in which time is counted; see `springback.streaming.pace`."""
        return self._states.memory_in_

    @memory_in_.setter
    def memory_in_(self, unit: MemoryIn) -> None:
        self._states.memory_in_ = unit

    def step(self, key: Key, x: Any, time: Any = None) -> NDArray[np.float64]:
        """Class probabilities (K,) of the next frame x of a stream, which moves.

        `time` is its time stamp; one step after the last frame of this stream if not given.
        """
        return np.asarray(self.follow(key, x[None] if hasattr(x, "ndim") else [x], time).posterior[0])

    def follow(self, key: Key, X: Any, times: Any = None) -> Followed:
        """The answers to the next frames X (T, ...) of a stream in time order, which moves.

        Examples
        --------
        >>> from springback.heads import ElasticHead
        >>> streams = KeyedStreams(ElasticHead(5 * np.eye(2), np.zeros(2)))
        >>> streams.follow("door", np.eye(2), times=[0.0, 0.5]).posterior.shape
        (2, 2)
        """
        return self.follow_mixed([key] * len(X), X, times)

    @one_at_a_time
    def follow_mixed(self, keys: Sequence[Key | None], X: Any, times: Any = None) -> Followed:
        """The answers to frames X (T, ...) of several streams; frame t belongs to the stream `keys[t]`.

        The frames of each stream are in time order. Models that can do so run many streams in one call. If a frame of
        a stream is refused, no stream moves.

        A network of PyTorch may give its elastic layers several rows for one image, such as the boxes of a detector.
        Then there is one key for each of these rows, each at most once, and one answer.

        Parameters
        ----------
        keys : Sequence[Key | None]
            A frame without a key (None) is answered without a past and not remembered.
        times : Any
            Time stamps of the frames, (T,), or one of all of them; one step after the frame before it in the same
            stream if not given.

        Examples
        --------
        >>> from springback.heads import ElasticHead
        >>> streams = KeyedStreams(ElasticHead(5 * np.eye(2), np.zeros(2)))
        >>> streams.follow_mixed(["door", "yard", "door"], np.eye(2)[[0, 1, 0]]).posterior.argmax(axis=1)
        array([0, 1, 0])
        """
        frames, stamps = self._states.frames(X), None if times is None else as_times("times", times)
        if not keys:
            return self._states.follow([self._states.rest()], frames[:0, None], None)[0]
        if stamps is not None:
            must = f"be {len(keys)}, one for each key, or one for all of them"
            check.require(len(stamps) in (1, len(keys)), "times", must, len(stamps))
            stamps = np.broadcast_to(stamps, len(keys))
        rows: dict[Any, list[int]] = {}
        for number, key in enumerate(keys):
            rows.setdefault(_Nobody() if key is None else key, []).append(number)
        whole = len(frames) != len(keys)
        if whole:
            must = f"have {len(keys)} rows, one for each key"
            check.require(self._states.rows_in_frames, "X", must, tuple(frames.shape))
            check.require(len(rows) == len(keys), "keys", "name each stream of a frame at most once", keys)
        after: dict[Any, Any] = {}
        parts, order = [], []
        for some in [list(rows)] if whole else _batches(rows, self._states.streams_at_once):
            at = np.array([rows[key] for key in some]).T
            before = [self._kept[key][0] if key in self._kept else self._states.rest() for key in some]
            together = frames[None] if whole else frames[at]
            followed, moved = self._states.follow(before, together, None if stamps is None else stamps[at])
            after |= zip(some, moved, strict=True)
            parts.append(followed)
            order.append(at.ravel())
        for key in sorted(rows, key=lambda one: rows[one][-1]):
            if not isinstance(key, _Nobody):
                self._keep(key, after[key])
        return Followed.joined(parts).at(np.argsort(np.concatenate(order), kind="stable"))

    @one_at_a_time
    def snapshot(self, key: Key) -> bytes:
        """The state of a stream as bytes, for a store or another process."""
        return self._states.pack(self._of(key))

    @one_at_a_time
    def restore(self, key: Key, state: bytes) -> None:
        """Continue a stream from the bytes of `snapshot`; bytes of another model, or changed ones, are refused."""
        self._keep(key, self._states.unpack(state))

    @one_at_a_time
    def forget(self, key: Key) -> None:
        """Forget a stream; if it comes again, it starts at rest."""
        self._of(key)
        del self._kept[key]

    @one_at_a_time
    def forget_idle(self, seconds: float) -> list[Key]:
        """Forget all streams without a frame for this number of seconds; their keys.

        Examples
        --------
        >>> from springback.heads import ElasticHead
        >>> moments = iter([0.0, 50.0, 100.0])
        >>> streams = KeyedStreams(ElasticHead(np.eye(2), np.zeros(2)), now=lambda: next(moments))
        >>> _ = streams.step("door", [1.0, 0.0]), streams.step("yard", [1.0, 0.0])
        >>> streams.forget_idle(60.0)
        ['door']
        """
        before = self._now() - check.real("seconds", seconds, low=0)
        idle = []
        for key, (_, used) in self._kept.items():
            if used > before:
                break
            idle.append(key)
        for key in idle:
            del self._kept[key]
        return idle

    @property
    @one_at_a_time
    def nbytes(self) -> int:
        """Bytes of all states together as they are held in memory, with their keys; without the model."""
        entries = sum(sys.getsizeof(key) + held_bytes(entry) for key, entry in self._kept.items())
        return sys.getsizeof(self._kept) + entries

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[Key]:
        """The keys, those used least recently first."""
        return iter(tuple(self._kept))

    def _of(self, key: Key) -> Any:
        if key not in self._kept:
            raise KeyError(f"no stream has the key {check.shown(key)}")
        return self._kept[key][0]

    def _keep(self, key: Key, kept: Any) -> None:
        """Make a stream the one that was used last."""
        self._kept.pop(key, None)
        self._kept[key] = (kept, self._now())
        while self._limit is not None and len(self._kept) > self._limit:
            del self._kept[next(iter(self._kept))]
