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
from springback.streaming.records import Followed

Key = TypeVar("Key", bound=Hashable)


class KeyedStreams(Generic[Key]):
    """Many streams that share one frozen model; each has only its own short-term state.

    A key that was never seen, or that was forgotten, starts at rest. Frames that are refused change nothing.
    Threads may share it; they take turns.

    Parameters
    ----------
    model : Any
        An `ElasticHead`, or another model with `track_response`, `get_state` and `set_state`. A copy is used; the
        weights of a head are shared with it.
    compact : bool
        Keep the inputs that a head with an `Observer` remembers with one byte per number instead of four; see the page
        on many streams for what this changes. Heads with `Springs` and other models are always kept exactly.
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

    def step(self, key: Key, x: Any, time: Any = None) -> NDArray[np.float64]:
        """Class probabilities (K,) of the next frame x (n,) of a stream, which moves.

        `time` is its time stamp; one step after the last frame of this stream if not given.
        """
        row = np.asarray(x)
        check.require(row.ndim == 1, "x", "be one row of numbers", row.shape)
        followed = self.follow(key, row[None], None if time is None else [time])
        return np.asarray(followed.posterior[0])

    @one_at_a_time
    def follow(self, key: Key, X: Any, times: Any = None) -> Followed:
        """The answers to the next rows X (T, n) of a stream in time order, which moves.

        Examples
        --------
        >>> from springback.heads import ElasticHead
        >>> streams = KeyedStreams(ElasticHead(5 * np.eye(2), np.zeros(2)))
        >>> streams.follow("door", np.eye(2), times=[0.0, 0.5]).posterior.shape
        (2, 2)
        """
        kept, _ = self._kept.get(key, (None, 0.0))
        followed, kept = self._states.follow(self._states.rest() if kept is None else kept, X, times)
        self._keep(key, kept)
        return followed

    @one_at_a_time
    def follow_mixed(self, keys: Sequence[Key], X: Any, times: Any = None) -> Followed:
        """The answers to rows X (T, n) of several streams; row t belongs to the stream `keys[t]`.

        The rows of each stream are in time order. If a row of a stream is refused, no stream moves.

        Examples
        --------
        >>> from springback.heads import ElasticHead
        >>> streams = KeyedStreams(ElasticHead(5 * np.eye(2), np.zeros(2)))
        >>> streams.follow_mixed(["door", "yard", "door"], np.eye(2)[[0, 1, 0]]).posterior.argmax(axis=1)
        array([0, 1, 0])
        """
        rows, stamps = np.asarray(X), None if times is None else np.asarray(times)
        check.require(rows.ndim == 2 and len(rows) == len(keys), "X", f"have {len(keys)} rows", rows.shape)
        check.require(stamps is None or len(stamps) == len(rows), "times", f"be {len(rows)}", np.shape(times))
        places: dict[Key, list[int]] = {}
        for number, key in enumerate(keys):
            places.setdefault(key, []).append(number)
        found: dict[Key, Any] = {}
        parts: list[Followed] = []
        for key, at in places.items():
            kept, _ = self._kept.get(key, (None, 0.0))
            before = self._states.rest() if kept is None else kept
            followed, found[key] = self._states.follow(before, rows[at], None if stamps is None else stamps[at])
            parts.append(followed)
        for key, kept in found.items():
            self._keep(key, kept)
        if not parts:
            return self._states.follow(self._states.rest(), rows, None)[0]
        order = np.argsort(np.concatenate([np.array(at) for at in places.values()]), kind="stable")
        return Followed.joined(parts).at(order)

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
