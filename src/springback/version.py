"""The version of springback, which is part of every file it writes."""

__version__ = "0.2.0"
