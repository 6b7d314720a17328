"""The benchmarks are a folder of the repository, not a part of the installed package: find it, and run them there."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import typer

import springback
from springback.check import DataError


def run_benchmark(module: str, arguments: Sequence[str]) -> NoReturn:
    """Run a module of the benchmarks in a process of its own, and exit with its code."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=find_repository(), check=False)
    raise typer.Exit(done.returncode)


def find_repository() -> Path:
    """The folder that contains `benchmarks`: that of an editable installation, or the current one."""
    for root in (Path(springback.__file__).parents[2], Path()):
        if (root / "benchmarks" / "suite.py").is_file():
            return root
    raise DataError("springback bench needs the repository: run it in the folder that contains `benchmarks`")
