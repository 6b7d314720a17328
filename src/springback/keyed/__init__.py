"""Many streams with one frozen model: one small state for each camera, speaker or track.

`KeyedStreams` keeps the states in memory. `springback.keyed.dataflow` has an operator for bytewax, which spreads keyed
streams over workers and machines and resumes after a crash (extra: dataflow).
"""

from springback.keyed.streams import KeyedStreams

__all__ = ["KeyedStreams"]
