"""An operator for bytewax: keyed streams on many workers, whose snapshots are the states of the streams.

bytewax sends all frames of a key to one worker, stores a snapshot of each key's state now and then, and continues from
the snapshots after a crash. Its own store uses pickle; what we put there is bytes with a checksum.
"""

import copy
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.extras import missing_extra

try:
    import bytewax.operators as op
    from bytewax.operators import KeyedStream, StatefulBatchLogic
except ImportError:
    raise missing_extra("springback.keyed.dataflow", "bytewax") from None

from springback.keyed.states import States, states_of
from springback.records import Followed

OnRefused = Literal["stop", "emit"]


class Answer(NamedTuple):
    """The answer to one item of a stream.

    Parameters
    ----------
    item : Any
        The item, as it came.
    label, static_label : Any
        The most probable class, with and without memory.
    posterior : NDArray[np.float64]
        Probability of each class with memory, (K,).
    novelty : float
        How new the frame is; NaN if the model has no measure of it.
    """

    item: Any
    label: Any
    static_label: Any
    posterior: NDArray[np.float64]
    novelty: float


class Refused(NamedTuple):
    """An item that could not be used, and why, in one sentence; the state of its stream has not changed."""

    item: Any
    why: str


def follow_keyed(
    step_id: str,
    up: "KeyedStream[Any]",
    model: Any,
    *,
    features: Callable[[Any], Any] = lambda item: item,
    time: Callable[[Any], Any] | None = None,
    compact: bool = True,
    idle_after: timedelta | None = None,
    on_refused: OnRefused = "stop",
) -> "KeyedStream[Answer | Refused]":
    """Follow each key's stream with its own state of one model; every item becomes an `Answer`.

    Parameters
    ----------
    step_id : str
        Name of the step in the dataflow.
    up : KeyedStream[Any]
        Items by key, those of a key in time order.
    model : Any
        As for `KeyedStreams`. Each worker uses a copy; the weights of a head are shared by all workers of a process.
    features : Callable[[Any], Any]
        The row of features (n,) of an item.
    time : Callable[[Any], Any] | None
        The time stamp of an item; None: items of a key are one step apart.
    compact : bool
        As for `KeyedStreams`.
    idle_after : timedelta | None
        Forget a key without items for so long; None: never.
    on_refused : OnRefused
        An item that cannot be used ends the dataflow with an error ("stop"), or goes on as `Refused` ("emit").

    Examples
    --------
    >>> import bytewax.operators as op
    >>> from bytewax.dataflow import Dataflow
    >>> from bytewax.testing import TestingSink, TestingSource, run_main
    >>> from springback.heads import ElasticHead
    >>> items = [("door", [1.0, 0.1]), ("yard", [0.1, 1.0]), ("door", [1.0, 0.9])]
    >>> flow, answers = Dataflow("cameras"), []
    >>> frames = op.input("frames", flow, TestingSource(items))
    >>> followed = follow_keyed("follow", frames, ElasticHead(5 * np.eye(2), np.zeros(2)))
    >>> op.output("answers", followed, TestingSink(answers))
    >>> run_main(flow)
    >>> [(key, int(answer.label)) for key, answer in answers]
    [('door', 0), ('yard', 1), ('door', 0)]
    """
    check.one_of("on_refused", on_refused, ("stop", "emit"))
    states_of(model, compact=compact)
    own = copy.deepcopy(model)
    labels = getattr(own, "classes_", None)
    of_thread = threading.local()

    def states() -> States[Any]:
        if not hasattr(of_thread, "states"):
            of_thread.states = states_of(own, compact=compact)
        found: States[Any] = of_thread.states
        return found

    def build(resumed: bytes | None) -> "KeyLogic":
        kept = states().rest() if resumed is None else states().unpack(resumed)
        return KeyLogic(states, kept, features, time, labels, idle_after, on_refused)

    return op.stateful_batch(step_id, up, build)


class KeyLogic(StatefulBatchLogic[Any, Answer | Refused, bytes]):
    """The stream of one key, as bytewax runs it."""

    def __init__(
        self,
        states: Callable[[], States[Any]],
        kept: Any,
        features: Callable[[Any], Any],
        time: Callable[[Any], Any] | None,
        labels: Any,
        idle_after: timedelta | None,
        on_refused: OnRefused,
    ) -> None:
        self._states, self._kept = states, kept
        self._features, self._time, self._labels = features, time, labels
        self._idle_after, self._on_refused = idle_after, on_refused
        self._used = datetime.now(UTC)

    def on_batch(self, values: list[Any]) -> tuple[Iterable[Answer | Refused], bool]:
        """Answer the items that are there; one that is refused is found by answering them one by one."""
        self._used = datetime.now(UTC)
        try:
            return self._answers(values), StatefulBatchLogic.RETAIN
        except (ValueError, TypeError):
            found: list[Answer | Refused] = []
        for item in values:
            try:
                found += self._answers([item])
            except (ValueError, TypeError) as error:
                if self._on_refused == "stop":
                    raise
                found.append(Refused(item, " ".join(str(error).split())))
        return found, StatefulBatchLogic.RETAIN

    def on_notify(self) -> tuple[Iterable[Answer | Refused], bool]:
        """Forget the key if it has been idle for long enough."""
        idle = self._idle_after is not None and datetime.now(UTC) >= self._used + self._idle_after
        return (), StatefulBatchLogic.DISCARD if idle else StatefulBatchLogic.RETAIN

    def notify_at(self) -> datetime | None:
        """When the key may have been idle for long enough."""
        return None if self._idle_after is None else self._used + self._idle_after

    def snapshot(self) -> bytes:
        """The state of the stream."""
        return self._states().pack(self._kept)

    def _answers(self, items: list[Any]) -> list[Answer]:
        rows = np.array([np.asarray(self._features(item)) for item in items])
        times = None if self._time is None else [self._time(item) for item in items]
        followed: Followed
        followed, self._kept = self._states().follow(self._kept, rows, times)
        with_memory, without = (part.argmax(axis=1) for part in (followed.posterior, followed.at_rest))
        if self._labels is not None:
            with_memory, without = self._labels[with_memory], self._labels[without]
        parts = (items, with_memory.tolist(), without.tolist(), followed.posterior, followed.novelty.tolist())
        return [Answer(*one) for one in zip(*parts, strict=True)]
