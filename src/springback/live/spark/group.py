"""The streams of a group of keys: what is kept of them between batches, and the answers to their frames."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.files.container import from_bytes, to_bytes
from springback.live.spark.frames import UsableRows, usable_frames
from springback.live.spark.packing import FRAME, KEY, TIME, bytes_of, table_of
from springback.live.spark.rule import Rule, loaded_model, states_of_model
from springback.live.spark.stretches import KeyStretch, Run
from springback.streaming.stream_model import StreamModel

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 2
"""Version of what is kept for a group of keys."""


@dataclass(frozen=True, eq=False)
class KeptGroup:
    """What Spark keeps of a group of keys: their names, the times of their last frames, and their states."""

    format: int
    model: str
    groups: int
    keys: NDArray[np.uint8]
    times: NDArray[Any]
    states: dict[str, NDArray[Any]]


class KeyGroup:
    """The streams of a group of keys, from what was kept of them."""

    def __init__(self, rule: Rule, content: bytes | None = None, model: StreamModel | None = None) -> None:
        self._rule, self._model = rule, loaded_model(rule.file) if model is None else model
        self._states = states_of_model(self._model, timed=rule.step is not None)
        self._keys: pa.Array | None = None
        self._times: NDArray[Any] = np.zeros(0)
        self._streams: list[Any] = []
        if content is None:
            return
        kept = from_bytes("the state of a group of keys", content, "state", KeptGroup)
        must = "start the query with a new checkpoint, or with"
        if kept.format != FORMAT:
            raise DataError(
                f"the checkpoint keeps states in format {kept.format}, which this version cannot read: {must} "
                f"the version of springback that wrote it"
            )
        if kept.groups != rule.groups:
            raise DataError(f"the checkpoint keeps keys in {kept.groups} groups: {must} groups={kept.groups}")
        if kept.model != rule.file and not rule.replace_model:
            raise DataError(f"the checkpoint keeps states of another model: {must} that model, or replace_model=True")
        if len(kept.times):
            self._keys, self._times = table_of(kept.keys).column(0).combine_chunks(), kept.times
            same = kept.model == rule.file
            self._streams = self._states.apart(kept.states) if same else [self._states.rest()] * len(kept.times)

    def __len__(self) -> int:
        return len(self._streams)

    def content(self) -> bytes:
        """What is to be kept of the streams now."""
        import pyarrow as pa

        keys, states = b"", {}
        if self._streams:
            keys, states = bytes_of(pa.table({KEY: self._keys})), self._states.joined(self._streams)
        numbers = np.frombuffer(keys, np.uint8)
        return to_bytes("state", KeptGroup(FORMAT, self._rule.file, self._rule.groups, numbers, self._times, states))

    def answers(self, table: "pa.Table") -> "pa.Table":
        """The answers to all frames of a batch, in the order in which they were given."""
        import pyarrow as pa

        keys, stamps = table.column(KEY).combine_chunks(), table.column(TIME)
        times = stamps.fill_null(0).to_numpy()
        known = 0 if self._keys is None else len(self._keys)
        every = (keys if self._keys is None else pa.concat_arrays([self._keys, keys])).dictionary_encode("encode")
        codes, n_keys = every.indices.to_numpy()[known:].astype(np.int64), len(every.dictionary)
        last = np.zeros(n_keys, times.dtype)
        last[:known] = self._times

        rows = usable_frames(table.column(FRAME), self._model)
        good = np.isfinite(times[rows.numbers]) & stamps.is_valid().to_numpy()[rows.numbers]
        rows = rows if good.all() else rows.only(good)
        while True:
            order = self._in_time(codes[rows.numbers], times[rows.numbers], rows, last, known)
            numbers = rows.numbers[order]
            run = Run(self._states, self._model, rows, order, self._steps(times[numbers]), len(times))
            after = self._after(run, codes[numbers], times[numbers], last, known)
            if not run.refused:
                break
            rows = rows.only(np.delete(np.arange(len(rows)), order[run.refused]))

        last[codes[numbers]] = times[numbers]  # in the order of time, so the last one stays
        kept = np.array([code for code in range(n_keys) if code in after or code < known], np.int64)
        if self._rule.forget_after is not None and len(kept):
            silence = self._since(last[kept].max(), last[kept])
            kept = kept[silence <= self._rule.forget_after + (self._rule.lateness or 0.0)]
        self._streams = [after[code] if code in after else self._streams[code] for code in kept.tolist()]
        self._keys, self._times = every.dictionary.take(pa.array(kept)), last[kept]

        late, ends = ~run.adapted, np.arange(len(times) + 1, dtype=np.int32) * run.posterior.shape[1]
        labels = [str(one) for one in run.labels] if self._rule.words else run.labels
        answers = {
            "label": pa.array(labels, pa.string() if self._rule.words else pa.int64(), mask=late),
            "probabilities": pa.ListArray.from_arrays(ends, run.posterior.ravel(), mask=pa.array(late)),
            "novelty": pa.array(run.novelty, from_pandas=True),
            "adapted": pa.array(run.adapted),
        }
        return pa.table({KEY: keys, TIME: stamps, **answers})

    def _steps(self, times: NDArray[Any]) -> NDArray[np.float64] | None:
        """Times in steps of the memory, if they count."""
        return None if self._rule.step is None else times / self._rule.per_unit / self._rule.step

    def _since(self, latest: Any, times: NDArray[Any]) -> NDArray[np.float64]:
        """How long before another time these are, in the unit of time."""
        return np.asarray(np.subtract(latest, times).astype(np.float64) / self._rule.per_unit)

    def _in_time(
        self, codes: NDArray[np.int64], times: NDArray[Any], rows: UsableRows, last: NDArray[Any], known: int
    ) -> NDArray[np.int64]:
        """Frames that can be followed: key by key, each after the one before it.

        Of frames of the same time, one is taken that does not depend on how Spark delivers them.
        """
        order = np.lexsort((times, codes))
        tied = (np.diff(codes[order]) == 0) & (np.diff(times[order]) == 0)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], tied, [False]]).astype(np.int8)))
        for start, stop in edges.reshape(-1, 2):
            order[start : stop + 1] = sorted(order[start : stop + 1], key=lambda at: rows[[at]].tobytes())
        is_first = np.ones(len(order), bool)
        is_first[1:] = ~tied
        here = order[is_first]
        good = (codes[here] >= known) | (times[here] > last[codes[here]])
        if self._rule.lateness is not None and known:
            good &= self._since(last[:known].max(), times[here]) <= self._rule.lateness
        return np.asarray(here[good])

    def _after(
        self, run: Run, codes: NDArray[np.int64], times: NDArray[Any], last: NDArray[Any], known: int
    ) -> dict[int, Any]:
        """The states of keys after the frames of a run, which are those of `_in_time`."""
        starts_key = np.diff(codes, prepend=-1) != 0
        before, at_rest = np.where(starts_key, last[codes], np.roll(times, 1)), starts_key & (codes >= known)
        if self._rule.forget_after is not None:
            at_rest |= self._since(times, before) > self._rule.forget_after
        starts = np.flatnonzero(starts_key | at_rest).tolist()
        ends = run.all(
            KeyStretch(start, stop, self._states.rest() if at_rest[start] else self._streams[codes[start]])
            for start, stop in zip(starts, [*starts[1:], len(codes)], strict=False)
        )
        return {int(codes[end]): state for end, state in sorted(ends, key=lambda one: one[0])}
