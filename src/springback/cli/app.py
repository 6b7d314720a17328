"""The `springback` command: its sub-commands, and the handling of errors."""

import os
import sys
import traceback
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.console import Console

import springback
from springback.cli.errors import INTERRUPTED, TRACEBACK, refusal_of, refuse_vanished_folder

COMMANDS = {
    "data": "Download and verify MNIST and Fashion-MNIST; make occluded videos (OMNIST); fetch recorded streams.",
    "train": "Train a winner-take-all circuit by long-term STDP, label its neurons, and test it on the test images.",
    "follow": "Follow a stream with a model that adapts to it, and print an answer for every frame.",
    "tune-stream": "Choose how a model remembers, on a recorded stream, and write the settings into a new model.",
    "simulate": "Run a trained network on your own spike trains, and write its output spikes.",
    "params": "Print all parameters of a preset as TOML, to change them and to train with `springback train --params`.",
    "reproduce": "Reproduce the paper: train every model, follow the video, draw the figures, and write one report.",
    "bench": "Measure speed: compared with other simulators, as circuits grow, and as a share of the machine's limit.",
    "studio": "Open a local web page: see what short-term plasticity does to digits, to your camera, or to your "
    "own stream.",
    "tune": "Search the free parameters of a model, scored on a video of training digits it was not trained on.",
}
"""Every sub-command (in the module of the same name, with _ for -), and its line in `springback --help`."""

APPLICATIONS = {
    "reproduce": "springback_paper",
    "tune": "springback_paper",
    "studio": "springback_studio",
    "bench": "springback_bench",
}
"""The applications that have commands of their own, in their package `cli`; all others are those of the library."""


def app_of(called: str | None) -> typer.Typer:
    """The command line. Only the sub-command that is called is imported; the others are placeholders with a help line.

    `springback --help` is therefore fast, and no command waits for the libraries of another.
    """
    app = typer.Typer(
        name="springback",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        callback=root,
    )
    for name, summary in COMMANDS.items():
        if name != called:
            app.command(name, help=summary)(_not_called)
            continue
        word = name.replace("-", "_")
        module = import_module(f"{APPLICATIONS.get(name, 'springback')}.cli.{word}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, word))
    return app


def _not_called() -> None:
    raise AssertionError("only the sub-command that is called is run")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"springback {springback.__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Neural elastic clustering and short-term STDP: synapses that are pulled by what they see and spring back."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command. An error becomes one sentence and an exit code; see `springback.cli.errors`."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(given))


def _run(arguments: list[str]) -> int:
    called = next((one for one in arguments if not one.startswith("-")), None)
    try:
        if called is not None:
            refuse_vanished_folder()
        command: Any = typer.main.get_command(app_of(called))
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _say(str(message))
            code = command.main(arguments, prog_name="springback", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        sentence, code = refusal_of(error)
        _say(sentence)
        if isinstance(error, BrokenPipeError):
            _forget_output()
        return code
    if code == INTERRUPTED:
        _say("interrupted")
    return code if isinstance(code, int) else 0


def _say(sentence: str) -> None:
    if sentence:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"springback: {sentence}", markup=False)


def _forget_output() -> None:
    """Discard further output: nobody reads it any more, and Python would fail again when it flushes it at exit."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
