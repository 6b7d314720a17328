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
from springback.cli.file_checks import new_file, readable_file
from springback.cli.follow_keeping import Keeper
from springback.cli.follow_options import Step, StreamOptions, takes_stream_options
from springback.cli.follow_summary import summarise
from springback.cli.follow_view import AnswerView, is_terminal
from springback.cli.options import DataHome, Overwrite, PresetName, seed_option
from springback.files.locks import sole_writer
from springback.live.clock import LONGEST_GAP
from springback.live.follower import about_circuit, open_model
from springback.live.following import BadFrameError, Tally, answers
from springback.live.position import PositionError, source_name
from springback.live.sources.catalogue import open_source
from springback.live.stop_signals import StopSignals
from springback.live.tuning.recorded import read_all
from springback.live.writers import CsvWriter, JsonWriter


class OnBad(StrEnum):
    """What happens to lines and frames that cannot be used."""

    skip = "skip"
    stop = "stop"


_CIRCUITS = "Circuits of spiking neurons"
_TUNED_BYTES = 1_000_000


@takes_stream_options()
def follow(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="A saved model (.safetensors): an elastic model, or a circuit from `springback train`; or a network "
            "with an elastic head (.onnx). Not needed with --scores.",
            dir_okay=False,
        ),
    ] = None,
    source: Annotated[
        str,
        typer.Argument(
            help="Where frames come from: - (standard input), a file (.csv, .jsonl, .npy, .npz, .safetensors, .mp4, "
            ".wav, ...), camera, microphone, tcp://HOST:PORT, unix:PATH, mqtt://HOST/TOPIC, or the occluded video "
            "omnist or fashion-mnist (omnist:500 is made of 500 images)."
        ),
    ] = "-",
    *,
    stream: StreamOptions,
    scores: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Follow the class scores in this source instead of a model's input: one column for each class, named "
            "by --classes, or every column without another use. The scores need not be calibrated.",
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write the probability of every class.")
    ] = False,
    step: Step = None,
    longest_gap: Annotated[
        float,
        typer.Option(
            help="With --step: leave out a frame that comes more than this many steps after the one before, as its "
            "time stamp must be wrong.",
            min=0,
            show_default="1e9",
        ),
    ] = LONGEST_GAP,
    none_of_these: Annotated[
        str | None,
        typer.Option(
            metavar="KNOWN",
            help='Answer "none of these" where a frame is too strange to be one of the rows in KNOWN, a recording of '
            "known classes that the model was not fitted to. With --key, rows of one key count as one. Only elastic "
            "heads can tell.",
        ),
    ] = None,
    false_alarms: Annotated[
        float, typer.Option(help="With --none-of-these: the share of known frames that may be refused.", max=1)
    ] = 0.05,
    lag: Annotated[
        int,
        typer.Option(
            help="Answer each frame this many frames later: those that follow also tell what it showed. The time for a "
            "frame grows with this number and with the number of classes.",
            min=0,
        ),
    ] = 0,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV instead of JSON lines.")] = False,
    view: Annotated[
        bool | None,
        typer.Option(
            "--view/--no-view",
            help="Show both answers live, instead of lines. Default: if standard output is a terminal.",
        ),
    ] = None,
    on_bad: Annotated[
        OnBad,
        typer.Option(
            help="What to do with lines and frames that cannot be used: count and skip them, or stop at the first."
        ),
    ] = OnBad.skip,
    frames: Annotated[int | None, typer.Option(help="Stop after this many frames.", min=1)] = None,
    state: Annotated[
        Path | None, typer.Option(help="Continue from this state of an earlier run.", dir_okay=False)
    ] = None,
    save_state_to: Annotated[
        Path | None,
        typer.Option(
            "--save-state",
            help="Write the state and the position in the stream to this file, at regular intervals and at the end; "
            "it may be the file of --state.",
            dir_okay=False,
        ),
    ] = None,
    save_every: Annotated[float, typer.Option(help="How often the state is written, in seconds.", min=0)] = 10.0,
    from_start: Annotated[
        bool,
        typer.Option(
            "--from-start", help="Read a file from its beginning, even if --state was saved in the middle of it."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the answers to this file instead of standard output. With --state and --save-state, a run that "
            "was killed continues where it stopped: no answer is given twice, and none is missing.",
            dir_okay=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
    retry: Annotated[
        float,
        typer.Option(
            help="How many seconds to keep trying to restore a lost connection before the stream counts as ended.",
            min=0,
            rich_help_panel="Network connections",
        ),
    ] = 30.0,
    frozen: Annotated[
        bool,
        typer.Option(
            "--frozen",
            help="Without short-term STDP, with the intensity and thresholds that suit frozen weights.",
            rich_help_panel=_CIRCUITS,
        ),
    ] = False,
    preset: Annotated[
        PresetName | None,
        typer.Option(
            help="Parameters of the stream. Default: those the circuit was made with.", rich_help_panel=_CIRCUITS
        ),
    ] = None,
    tuned: Annotated[
        Path | None,
        typer.Option(
            help="Use the parameters that `springback tune spiking` found.", dir_okay=False, rich_help_panel=_CIRCUITS
        ),
    ] = None,
    seed: Annotated[
        int,
        seed_option("Random seed of the video and of the input spikes.", rich_help_panel=_CIRCUITS),
    ] = 0,
    data_home: DataHome = None,
) -> None:
    """Follow a stream with a model that adapts to it, and print an answer for every frame.

    Every line has the time of a frame, the class and its probability, the class that the same model gives without
    memory (`frozen_class`; a circuit follows with or without memory, not both), and how new the frame is (`novelty`).
    Each answer is written as soon as its frame arrives; a sender that is too fast has to wait. Ctrl-C stops cleanly. A
    summary is printed to standard error, with the accuracy if the source has labels.

    Examples:

    `springback follow model.safetensors sensor.csv --label activity`

    `tail -f -n +1 sensor.csv | springback follow model.safetensors`

    `springback follow network.onnx camera`

    `springback follow model.safetensors cameras.csv --key camera`

    `springback follow --scores detections.csv --key track --classes cat,dog --probabilities`

    `springback follow circuit.safetensors omnist:500`

    `springback follow model.safetensors log.csv --state log.state --save-state log.state --out answers.jsonl`

    `springback follow model.safetensors mqtt://localhost/hall/imu --state hall.state --save-state hall.state`
    """
    if scores is not None:
        if model is not None:
            raise check.DataError("with --scores there is no MODEL: the source of the scores is all that is read")
        source, follower = scores, stream.follower_of_scores(scores)
        identity = hashlib.sha256(repr(follower.classes).encode()).hexdigest()
    else:
        if model is None:
            raise check.DataError("name a MODEL, or with --scores a source of class scores")
        readable_file("MODEL", model)
        chosen = _preset_of(model, preset, tuned)
        follower = open_model(model, stream.model_options(frozen=frozen, seed=seed, preset=chosen))
        identity = _identity(model)
    if none_of_these is not None:
        with open_source(none_of_these, stream.source_options(follower, retry_s=0.0)) as known:
            if known.live:
                raise check.DataError(f"{none_of_these} has no end; record a part of it first")
            kept = read_all(known, follower, none_of_these)[0]
            follower.refuse_unknown(kept.rows, false_alarms, kept.keys)
    if lag:
        saved = next((name for name, path in (("--state", state), ("--save-state", save_state_to)) if path), None)
        check.require(saved is None, "--lag", "be 0 where a state is kept, which has no answers that wait", saved)
        follower.wait(lag)
    if step is not None:
        check.real("--step", step, above=0)
    check.real("--longest-gap", longest_gap, above=0)
    options = stream.source_options(follower, retry_s=retry, seed=seed, data_home=data_home)
    tally = Tally()
    shown = is_terminal(sys.stdout) if view is None else view
    begun = time.monotonic()
    with ExitStack() as stack:
        for option, path in (("--save-state", save_state_to), ("--out", out)):
            if path is not None:
                new_file(option, path, overwrite=True)
                stack.enter_context(sole_writer(path))
        keeper = stack.enter_context(Keeper(follower, identity, step, save_state_to, save_every))
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
        stop = stack.enter_context(StopSignals())
        stack.enter_context(compiling_noted())
        goes_on = out is not None and file.tell() > 0
        is_written = out is not None or not (shown and is_terminal(sys.stdout))
        kind, keyed = CsvWriter if csv else JsonWriter, follower.streams is not None
        named = follower.classes if probabilities else ()
        writer = kind(file, goes_on=goes_on, keyed=keyed, classes=named) if is_written else None
        display = stack.enter_context(AnswerView(follower, source, tally)) if shown else None
        given_answers = answers(
            opened,
            follower,
            step_s=step,
            longest_gap=longest_gap,
            on_bad=on_bad.value,
            limit=frames,
            is_stopped=stop.is_asked,
            tally=tally,
            waits=True,
            position=position,
            since_s=keeper.since_s,
        )
        try:
            for given in given_answers:
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
    for line in (*filter(None, [opened.title]), *about_circuit(follower)):
        note(line)
    if follower.streams is not None:
        note(f"streams with a memory of their own: {len(follower.streams.states):,}")
    summarise(tally, time.monotonic() - begun)
    keeper.say_where()
    if tally.bad and not tally.frames:
        raise check.DataError(f"none of {tally.bad:,} lines or frames could be used: {tally.reasons[0]}")


def _preset_of(model: Path, preset: PresetName | None, tuned: Path | None) -> Any:
    """The parameters of the stream that were asked for: those of a preset, or of a search; None: those of the model."""
    if tuned is not None:
        from springback.spiking.presets import Preset
        from springback_paper.tuning.tuned_file import load_tuned

        readable_file("--tuned", tuned, at_most=_TUNED_BYTES)
        found = load_tuned(tuned).preset()
        if not isinstance(found, Preset):
            raise check.DataError(f"{tuned} holds no parameters of a circuit; `springback tune spiking` finds them")
        return found
    if preset is None:
        return None
    from springback.spiking.model_file import load_spiking_model
    from springback.spiking.presets import PRESETS

    return PRESETS[preset](n_neurons=load_spiking_model(model).preset.circuit.n_neurons)


def _identity(model: Path) -> str:
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
