"""`springback bench`: the speed of springback and of other simulators, measured on this machine; heads on streams."""

from pathlib import Path
from typing import Annotated

import typer

from springback.cli.file_checks import writable_folder
from springback.extras import require_extra
from springback_bench.cli.bench_streams import streams
from springback_bench.cli.running import run_benchmark

app = typer.Typer(
    help="Measure speed: compared with other simulators, as circuits grow, and as a share of the machine's limit.",
    epilog="Without a command, it writes docs/data/speed.json and docs/benchmarks.md. Outside of the repository, it "
    "writes below the folder `springback-bench`. A run that was stopped continues on the same day. The other "
    "simulators need the environment `.venv-bench`, which `make bench` creates. "
    "Example: `springback bench --quick --peers brian2`",
    invoke_without_command=True,
)
app.command()(streams)


@app.callback()
def speed(
    context: typer.Context,
    peers: Annotated[
        str | None,
        typer.Option(
            help="Measure only these simulators, separated by commas: brian2, annarchy, bindsnet, neurosush, nest, "
            "pymonntorch, superneuromat, spyx."
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            help="Measure only these parts now, separated by commas: spiking, presets, elastic, start, growth, "
            "roofline, guard. The page is written when none is missing."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Measure fewer simulators and points; takes at most five minutes.")
    ] = False,
    page: Annotated[bool, typer.Option("--page", help="Do not measure; only write the page again.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write results, page and plots to this folder.", file_okay=False)
    ] = None,
) -> None:
    """Measure the speed, unless another command follows."""
    given = {
        "--peers": peers is not None,
        "--parts": parts is not None,
        "--quick": quick,
        "--page": page,
        "--out": out is not None,
    }
    if context.invoked_subcommand is not None:
        for name, wanted in given.items():
            if wanted:
                raise ValueError(f"{name} must come after {context.invoked_subcommand}, not before it")
        return
    if out is not None:
        writable_folder("--out", out)
    arguments = [f"--peers={peers}"] if peers is not None else []
    arguments += [f"--parts={parts}"] if parts is not None else []
    arguments += [f"--out={out.resolve()}"] if out is not None else []
    if not page:
        require_extra("springback bench", "psutil")
    run_benchmark("springback_bench.speed", arguments + [name for name in ("--quick", "--page") if given[name]])
