"""The `springback` command: its sub-commands, and what happens to every error."""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console

import springback
from springback.check import DataError
from springback.cli import bench, data, reproduce, stream, studio, train, tune

_INTERRUPTED = 130

app = typer.Typer(
    name="springback",
    help="Neural elastic clustering and short-term STDP: synapses that are pulled by what they see and spring back.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.add_typer(data.app, name="data")
app.command("train")(train.train)
app.command("stream")(stream.stream)
app.command("reproduce")(reproduce.reproduce)
app.command("bench")(bench.bench)
app.command("studio")(studio.studio)
app.command("tune")(tune.tune)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"springback {springback.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Neural elastic clustering and short-term STDP: synapses that are pulled by what they see and spring back."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command. A wrong option or value is one sentence and exit code 2; unusable data is exit code 1."""
    command = typer.main.get_command(app)
    sys.exit(_run(command, sys.argv[1:] if arguments is None else arguments))


def _run(command: Any, arguments: list[str]) -> int:
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        code = command.main(arguments, prog_name="springback", standalone_mode=False)
    except DataError as error:
        errors.print(f"springback: {error}", markup=False)
        return 1
    except (ValueError, TypeError) as error:
        errors.print(f"springback: {error}", markup=False)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        errors.print("springback: interrupted")
        return _INTERRUPTED
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        if message():
            errors.print(f"springback: {message()}", markup=False)
        return int(getattr(error, "exit_code", 2))
    if code == _INTERRUPTED:
        errors.print("springback: interrupted")
    return code if isinstance(code, int) else 0
