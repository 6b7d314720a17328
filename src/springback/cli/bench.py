"""`springback bench`: the speed of springback and of other simulators, measured on this machine."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

import springback
from springback.check import DataError
from springback.cli.places import writable_folder


def bench(
    peers: Annotated[
        str | None,
        typer.Option(help="Measure only these simulators, separated by commas: brian2, annarchy, bindsnet, neurosush."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Measure fewer simulators and points; takes at most five minutes.")
    ] = False,
    page: Annotated[bool, typer.Option("--page", help="Do not measure; only write the page again.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write results, page and plots to this folder.", file_okay=False)
    ] = None,
) -> None:
    """Compare speed with other simulators, scaling, and the machine's limit.

    Writes benchmarks/results.json and docs/benchmarks.md. Needs the repository; the other simulators need its
    environment `.venv-bench`, which `make bench` creates.

    Example: `springback bench --quick --peers brian2`
    """
    if out is not None:
        writable_folder("--out", out)
    command = [sys.executable, "-m", "benchmarks"]
    command += [f"--peers={peers}"] if peers is not None else []
    command += [f"--out={out.resolve()}"] if out is not None else []
    command += [name for name, wanted in (("--quick", quick), ("--page", page)) if wanted]
    done = subprocess.run(command, cwd=_repository(), check=False)
    raise typer.Exit(done.returncode)


def _repository() -> Path:
    """The folder that contains `benchmarks`: that of an editable installation, or the current one."""
    for root in (Path(springback.__file__).parents[2], Path()):
        if (root / "benchmarks" / "suite.py").is_file():
            return root
    raise DataError("springback bench needs the repository: run it in the folder that contains `benchmarks`")
