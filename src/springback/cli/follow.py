"""`springback follow`: a stream in, answers out."""

import hashlib
import sys
import time
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from springback import check
from springback.cli.display import compiling_noted, note
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
from springback.cli.follow_view import View, is_terminal
from springback.cli.places import new_file, readable_file
from springback.live.ending import Ending
from springback.live.following import BadFrameError, Tally, answers
from springback.live.models.catalogue import open_model
from springback.live.models.follower import Follower
from springback.live.sources.catalogue import open_source
from springback.live.state_file import load_state, save_state
from springback.live.writers import CsvWriter, JsonWriter, Writer
from springback.paper.words import duration, percent

_KEEP_EVERY_S = 60.0


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
            help="Write the state to this file at the end, and every minute; it may be the file of --state.",
            dir_okay=False,
        ),
    ] = None,
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

    `springback follow model.safetensors mqtt://localhost/hall/imu --state hall.state --save-state hall.state`
    """
    readable_file("MODEL", model)
    told = model_options(classes=classes, mean=mean, std=std, channels=channels, fit=fit, rate=rate, hop=hop)
    follower = open_model(model, told)
    if step is not None:
        check.real("--step", step, above=0)
    identity = _identity(model)
    if save_state_to is not None:
        new_file("--save-state", save_state_to, overwrite=True)
    if state is not None:
        _continue(state, save_state_to, follower, identity, step)
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
        opened = stack.enter_context(open_source(source, options))
        follower.preparation.refuse(opened.signal, source)
        ending = stack.enter_context(Ending())
        stack.enter_context(compiling_noted())
        keeper = stack.enter_context(_Keeper(save_state_to, follower, identity, step))
        writer = None if shown and is_terminal(sys.stdout) else _writer(csv)
        display = stack.enter_context(View(follower, source, tally)) if shown else None
        stream = answers(
            opened,
            follower,
            step_s=step,
            on_bad=on_bad.value,
            limit=frames,
            is_stopped=ending.is_asked,
            tally=tally,
            waits=True,
        )
        try:
            for given in stream:
                if given is not None and writer is not None:
                    writer.write(given)
                if display is not None:
                    display.show(given)
                keeper.keep_now_and_then()
        except BadFrameError as error:
            keeper.close()
            _summarise(tally, time.monotonic() - begun)
            raise check.DataError(str(error)) from None
    _summarise(tally, time.monotonic() - begun)
    if tally.bad and not tally.frames:
        raise check.DataError(f"none of {tally.bad:,} lines or frames could be used: {tally.reasons[0]}")


def _writer(csv: bool) -> Writer:
    return (CsvWriter if csv else JsonWriter)(sys.stdout.buffer)


def _identity(model: Path) -> str:
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _continue(state: Path, kept_in: Path | None, follower: Follower, identity: str, step: float | None) -> None:
    if state == kept_in and not state.exists():
        note(f"{state} does not exist yet: starting from rest")
        return
    readable_file("--state", state)
    load_state(state, follower, model=identity, step_s=step)


class _Keeper:
    """Writes the state now and then, and at the end."""

    def __init__(self, path: Path | None, follower: Follower, identity: str, step: float | None) -> None:
        self._path, self._follower, self._identity, self._step = path, follower, identity, step
        self._last = time.monotonic()

    def keep_now_and_then(self) -> None:
        if self._path is not None and time.monotonic() - self._last > _KEEP_EVERY_S:
            self.close()

    def close(self) -> None:
        if self._path is not None:
            save_state(self._path, self._follower, model=self._identity, step_s=self._step)
            self._last = time.monotonic()

    def __enter__(self) -> "_Keeper":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _summarise(tally: Tally, seconds: float) -> None:
    """What happened, on the error stream."""
    per_second = f", {tally.frames / seconds:,.0f} per second" if seconds > 0 and tally.frames else ""
    note(f"{_counted(tally.frames, 'frame')} in {duration(seconds)}{per_second}")
    if tally.frames:
        share = percent(tally.changed / tally.frames, 1)
        note(f"memory changed the answer to {_counted(tally.changed, 'frame')} ({share} %)")
    if tally.labelled:
        with_memory, without = (percent(one / tally.labelled) for one in (tally.right, tally.right_at_rest))
        note(
            f"right: {with_memory} % with memory, {without} % without, of {_counted(tally.labelled, 'labelled frame')}"
        )
    if tally.lost:
        note(f"interruptions of the source: {tally.lost:,}")
    if tally.bad:
        note(f"{_counted(tally.bad, 'line or frame', 'lines or frames')} could not be used:")
        for reason in tally.reasons:
            note(f"  {reason}")
        if tally.bad > len(tally.reasons):
            note(f"  and {tally.bad - len(tally.reasons):,} more")


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
