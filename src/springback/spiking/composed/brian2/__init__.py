"""A circuit as a Brian2 script, with its weights in a file beside it."""

from springback.spiking.composed.brian2.script import Brian2Files, to_brian2

__all__ = ["Brian2Files", "to_brian2"]
