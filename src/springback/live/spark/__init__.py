"""Thousands of keyed streams on Apache Spark, with one model: streaming and static DataFrames (extra: spark).

Every key has its own short-term state, and its answers are those of `track`, bit for bit, however its frames are split
into batches. Spark itself handles only groups of keys: the frames of a group travel as one value, Spark keeps and
checkpoints the states of a group as one, and one call of the model follows many keys.
"""

from springback.live.spark.query import GROUPS, follow

__all__ = ["GROUPS", "follow"]
