"""Many streams with one frozen model: one small state for each camera, speaker or track.

`KeyedStreams` keeps the states in memory; a state can be stored as bytes and restored in another process.
"""

from springback.keyed.streams import KeyedStreams

__all__ = ["KeyedStreams"]
