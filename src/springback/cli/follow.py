"""`springback follow`: a stream in, answers out."""

import hashlib
import sys
import time
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from springback import check
from springback.cli.display import compiling_noted, note
from springback.cli.follow_keeping import Keeper
from springback.cli.follow_options import (
    Classes,
    Columns,
    Every,
    Hop,
    Ignore,
    Label,
    Mean,
    PictureChannels,
    PictureFit,
    Rate,
    Retry,
    Std,
    Tensor,
    Time,
    Window,
    model_options,
    source_options,
)
from springback.cli.follow_summary import summarise
from springback.cli.follow_view import View, is_terminal
from springback.cli.options import Overwrite
from springback.cli.places import new_file, readable_file
from springback.live.clock import LONGEST_GAP
from springback.live.ending import Ending
from springback.live.following import BadFrameError, Tally, answers
from springback.live.models.catalogue import open_model
from springback.live.position import PositionError, source_name
from springback.live.sources.catalogue import open_source
from springback.live.writers import CsvWriter, JsonWriter
from springback.locks import sole_writer


class OnBad(StrEnum):
    """What happens to lines and frames that cannot be used."""

    skip = "skip"
    stop = "stop"


def follow(
    model: Annotated[
        Path,
        typer.Argument(
            help="A saved elastic model (.safetensors), or a network with an elastic head (.onnx).",
            dir_okay=False,
        ),
    ],
    source: Annotated[
        str,
        typer.Argument(
            help="Where frames come from: - (standard input), a file (.csv, .jsonl, .npy, .safetensors, .mp4, .wav, "
            "...), camera, microphone, tcp://HOST:PORT, unix:PATH, or mqtt://HOST/TOPIC."
        ),
    ] = "-",
    columns: Columns = None,
    ignore: Ignore = None,
    time_column: Time = None,
    label: Label = None,
    classes: Classes = None,
    step: Annotated[
        float | None,
        typer.Option(
            help="Use the time stamps: one step of the model's memory is this many seconds (or units of the stamps). "
            "Default: frames are one step apart, whatever their time stamps say.",
            min=0,
        ),
    ] = None,
    longest_gap: Annotated[
        float,
        typer.Option(
            help="With --step: a frame that is more steps than this after the one before it is left out, as its "
            "time stamp must be wrong.",
            min=0,
        ),
    ] = LONGEST_GAP,
    csv: Annotated[bool, typer.Option("--csv", help="Write a table with commas instead of JSON lines.")] = False,
    view: Annotated[
        bool | None,
        typer.Option(
            "--view/--no-view",
            help="Show both answers live. Default: if standard output is a terminal, instead of lines.",
        ),
    ] = None,
    on_bad: Annotated[
        OnBad, typer.Option(help="Lines and frames that cannot be used: count and skip them, or stop at the first.")
    ] = OnBad.skip,
    frames: Annotated[int | None, typer.Option(help="End after this number of frames.", min=1)] = None,
    state: Annotated[
        Path | None, typer.Option(help="Continue from this state of an earlier run.", dir_okay=False)
    ] = None,
    save_state_to: Annotated[
        Path | None,
        typer.Option(
            "--save-state",
            help="Write the state, and where the stream is, to this file now and then and at the end; it may be the "
            "file of --state.",
            dir_okay=False,
        ),
    ] = None,
    save_every: Annotated[
        float, typer.Option(help="Seconds from one time that the state is written to the next.", min=0)
    ] = 10.0,
    from_start: Annotated[
        bool,
        typer.Option(
            "--from-start", help="Read a file from its beginning, though --state stands somewhere in the middle of it."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the answers to this file instead of standard output. With --state and --save-state, a run that "
            "was killed goes on where it stood, with no answer twice and none missing.",
            dir_okay=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
    window: Window = None,
    hop: Hop = None,
    rate: Rate = None,
    every: Every = 1,
    retry: Retry = 30.0,
    tensor: Tensor = None,
    mean: Mean = None,
    std: Std = None,
    channels: PictureChannels = None,
    fit: PictureFit = None,
) -> None:
    """Follow a stream with a model that adapts to it, and print an answer for every frame.

    Every line has the time of a frame, the class and its probability, the class that the same model gives without
    memory (`static_class`), and how new the frame is (`novelty`). Answers come as soon as a frame is there; a sender
    that is too fast has to wait. Ctrl-C ends cleanly. A summary is printed to the error stream.

    Examples:

    `springback follow model.safetensors sensor.csv --label activity`

    `tail -f -n +1 sensor.csv | springback follow model.safetensors`

    `springback follow network.onnx camera`

    `springback follow model.safetensors log.csv --state log.state --save-state log.state --out answers.jsonl`

    `springback follow model.safetensors mqtt://localhost/hall/imu --state hall.state --save-state hall.state`
    """
    readable_file("MODEL", model)
    told = model_options(classes=classes, mean=mean, std=std, channels=channels, fit=fit, rate=rate, hop=hop)
    follower = open_model(model, told)
    if step is not None:
        check.real("--step", step, above=0)
    check.real("--longest-gap", longest_gap, above=0)
    options = source_options(
        follower,
        columns=columns,
        ignore=ignore,
        time=time_column,
        label=label,
        window=window,
        hop=hop,
        rate=rate,
        every=every,
        retry=retry,
        tensor=tensor,
        on_event=note,
    )
    tally = Tally()
    shown = is_terminal(sys.stdout) if view is None else view
    begun = time.monotonic()
    with ExitStack() as stack:
        for option, path in (("--save-state", save_state_to), ("--out", out)):
            if path is not None:
                new_file(option, path, overwrite=True)
                stack.enter_context(sole_writer(path))
        keeper = stack.enter_context(Keeper(follower, _identity(model), step, save_state_to, save_every))
        if state is not None:
            keeper.load(state)
        opened = stack.enter_context(open_source(source, options))
        follower.preparation.refuse(opened.signal, source)
        recorded = opened.recorded
        position = keeper.begin(source_name(source, opened), recorded=recorded, from_start=from_start)
        file = sys.stdout.buffer
        if out is not None:
            resumed = position is not None
            file = keeper.open_out(out, resumed=resumed, recorded=recorded, is_json=not csv, overwrite=overwrite)
        ending = stack.enter_context(Ending())
        stack.enter_context(compiling_noted())
        goes_on = out is not None and file.tell() > 0
        is_written = out is not None or not (shown and is_terminal(sys.stdout))
        writer = (CsvWriter if csv else JsonWriter)(file, goes_on=goes_on) if is_written else None
        display = stack.enter_context(View(follower, source, tally)) if shown else None
        stream = answers(
            opened,
            follower,
            step_s=step,
            longest_gap=longest_gap,
            on_bad=on_bad.value,
            limit=frames,
            is_stopped=ending.is_asked,
            tally=tally,
            waits=True,
            position=position,
            since_s=keeper.since_s,
        )
        try:
            for given in stream:
                if given is not None and writer is not None:
                    writer.write(given)
                if display is not None:
                    display.show(given)
                keeper.note_answers(given)
        except BadFrameError as error:
            keeper.save()
            summarise(tally, time.monotonic() - begun)
            raise check.DataError(f"{error} (--on-bad skip leaves such frames out)") from None
        except PositionError as error:
            raise check.DataError(f"{error}: add --from-start to read it from its beginning") from None
    summarise(tally, time.monotonic() - begun)
    keeper.say_where()
    if tally.bad and not tally.frames:
        raise check.DataError(f"none of {tally.bad:,} lines or frames could be used: {tally.reasons[0]}")


def _identity(model: Path) -> str:
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
