"""`springback bench`: the speed of springback beside its peers, measured on the machine at hand."""

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
        str | None, typer.Option(help="Only these, separated by commas: brian2, annarchy, bindsnet, neurosush.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer peers and points; ends within five minutes.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Measure nothing; write the page again.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write results, page and plots below this folder.", file_okay=False)
    ] = None,
) -> None:
    """Measure speed beside peers, growth and the machine's limit; write benchmarks/results.json, docs/benchmarks.md.

    Needs the repository; the peers need its environment `.venv-bench`, which `make bench` makes.

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
    """The folder that holds `benchmarks`: that of an editable installation, or the present one."""
    for root in (Path(springback.__file__).parents[2], Path()):
        if (root / "benchmarks" / "suite.py").is_file():
            return root
    raise DataError("springback bench needs the repository: run it where the folder `benchmarks` is")
