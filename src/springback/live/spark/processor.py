"""What Spark calls for the frames of a group of keys in a batch."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from springback.live.spark.group import KeyGroup
from springback.live.spark.packing import PACKED, bytes_of, table_of
from springback.live.spark.rule import Rule

if TYPE_CHECKING:
    import pandas as pd


class Processor:
    """What Spark calls for the frames of a group of keys in a batch, in the order of batches; a `StatefulProcessor`.

    It has the methods of that class of pyspark without being one, because the library does not import pyspark.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    def init(self, handle: Any) -> None:
        """Called once in every task of a batch."""
        self._kept = handle.getValueState("streams", "content binary")

    def handleInputRows(self, key: Any, rows: Iterator["pd.DataFrame"], timerValues: Any) -> Iterator["pd.DataFrame"]:  # noqa: ARG002, N802
        """Follow all frames of a group in a batch."""
        import pandas as pd
        import pyarrow as pa

        found = self._kept.get()
        group = KeyGroup(self._rule, None if found is None else found[0])
        pieces = [table_of(one) for piece in rows for one in piece[PACKED] if one]
        if pieces:
            yield pd.DataFrame({PACKED: [bytes_of(group.answers(pa.concat_tables(pieces)))]})
        self._kept.update((group.content(),))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator["pd.DataFrame"]:  # noqa: ARG002, N802
        """There are no timers: time is that of the streams."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""
