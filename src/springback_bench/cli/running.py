"""A benchmark runs in a process of its own, in which nothing else has been loaded or compiled."""

import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer


def run_benchmark(module: str, arguments: Sequence[str]) -> NoReturn:
    """Run a module of the benchmarks in a new process, and exit with its code."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=False)
    raise typer.Exit(done.returncode)
