"""The version of this software; part of every file it writes."""

__version__ = "0.2.0"
