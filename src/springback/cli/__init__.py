"""The command line: argv -> parameters -> library -> output. The only place that prints, exits or picks a path."""

from springback.cli.app import main

__all__ = ["main"]
