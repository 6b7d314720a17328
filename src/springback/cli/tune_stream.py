"""`springback tune-stream`: choose how a model remembers, on a recorded stream."""

import csv
import warnings
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from springback import check
from springback.check import DataError
from springback.cli.display import console, note, say, training_progress
from springback.cli.file_checks import new_file, readable_file, writing
from springback.cli.follow_options import Step, StreamOptions, takes_stream_options
from springback.cli.options import Overwrite, seed_option
from springback.files.atomic import atomic_file
from springback.heads.stream_pipeline import StreamPipeline
from springback.heads.tuning_result import VARIANTS, Trial, TuningResult
from springback.live.follower import Follower, open_model
from springback.live.preparation import Rows
from springback.live.sources.catalogue import open_source
from springback.live.tuning.recorded import Recorded, read_all
from springback.streaming.wording import percent

_SHOWN = 10
_TRIALS_MAX = 100_000
_AS_USUAL = 1.1


@takes_stream_options(
    "key", "most_streams", "forget_after", "window", "hop", "rate", "every", "mean", "std", "channels", "fit"
)
def tune_stream(
    model: Annotated[Path, typer.Argument(help="A saved elastic model (.safetensors).", dir_okay=False)],
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="Recorded streams, each from rest: .csv, .jsonl, .npy, .safetensors."),
    ],
    *,
    stream: StreamOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the tuned model to this file. Default: MODEL-tuned.safetensors, next to the model.",
            dir_okay=False,
        ),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Replace the model itself; it is kept as MODEL.previous.")
    ] = False,
    step: Step = None,
    trials: Annotated[
        int, typer.Option(help="How many settings are tried for each kind of memory.", min=1, max=_TRIALS_MAX)
    ] = 45,
    seed: Annotated[int, seed_option("Random seed of the search.")] = 0,
    overwrite: Overwrite = False,
) -> None:
    """Choose how a model remembers, on a recorded stream, and write the settings into a new model.

    With a column of labels (`--label`), settings are judged by accuracy. Without, no labels are needed: a
    head is judged by its agreement with two observers that have hindsight, on the first half of the frames; on the
    second half, the frozen head, the untuned default and the best settings are then compared, and only what is clearly
    better replaces the frozen head. A classifier is judged by how well it predicts the next row. Where memory does not
    help, the model is written without it. Everything that was tried is written to a table next to the new model. With
    `--step`, gaps between time stamps count, as they do in `springback follow`. Choose settings on a stream that you do
    not report results on.

    Examples:

    `springback tune-stream model.safetensors practice.csv --ignore activity`

    `springback tune-stream model.safetensors practice.csv --label activity --out tuned.safetensors`
    """
    readable_file("MODEL", model)
    if in_place:
        check.require(out is None, "--out", "be left out with --in-place", str(out))
    path = model if in_place else out or model.with_name(f"{model.stem}-tuned{model.suffix}")
    log = path.with_suffix(".csv")
    new_file("--out", path, suffixes=(".safetensors",), overwrite=overwrite or in_place)
    new_file("--out", log, overwrite=True)
    follower = open_model(model, stream.model_options())
    if model.suffix.lower() == ".onnx":
        raise DataError(f"{model} is a network whose settings are part of its graph; tune it before it is exported")
    if not isinstance(follower.preparation, Rows):
        raise DataError(f"{model} is a circuit of spiking neurons; `springback tune spiking` chooses its parameters")
    if step is not None:
        check.real("--step", step, above=0)
    if follower.unit_of_time(step) is not None and step is None:
        raise DataError(f"{model} has a memory in the unit of time stamps, but settings are chosen in frames")
    streams = [_recorded(one, follower, stream, step) for one in sources]
    _refuse_another_step(step, streams)
    is_head = hasattr(follower.model, "settings")
    with training_progress(trials * (len(VARIANTS) if is_head else 1), "trials") as advance:
        best = -float("inf")

        def on_trial(tried: Trial) -> None:
            nonlocal best
            best = max(best, tried.score)
            advance(1, best if stream.label is not None else float("nan"))

        tuned, found = _tune(follower.model, streams, n_trials=trials, seed=seed, on_trial=on_trial)
    _show(found)
    with writing("--out", path):
        tuned.save(path)
        with atomic_file(log) as file:
            file.write(_table_of(found).encode())
    say(f"written to {path}, everything that was tried to {log}")


def _refuse_another_step(step: float | None, streams: list[Recorded]) -> None:
    """Settings are in usual steps of the streams, so a step must be one of these."""
    gaps = [np.diff(one.times) for one in streams if one.times is not None and len(one.times) > 1]
    usual = float(np.median(np.concatenate(gaps))) if gaps else 1.0
    if usual == 0:
        raise DataError("most frames have the time stamp of the one before, so time cannot be used: leave --step out")
    if not 1 / _AS_USUAL < usual < _AS_USUAL:
        raise DataError(
            f"--step must be about {(step or 1.0) * usual:.4g}, the usual time between two frames; got {step:g}"
        )


def _recorded(source: str, follower: Follower, stream: StreamOptions, step_s: float | None) -> Recorded:
    with open_source(source, stream.source_options(follower, retry_s=0.0)) as opened:
        if opened.live:
            raise DataError(f"{source} has no end; record a part of it first")
        found, bad = read_all(opened, follower, source, step_s=step_s)
    if bad:
        note(f"{source}: {len(bad):,} lines or frames could not be used; the first: {bad[0]}")
    return found


def _tune(model: Any, streams: list[Recorded], **how: Any) -> tuple[Any, TuningResult]:
    if isinstance(model, StreamPipeline):
        raise DataError("the model is a pipeline; choose the settings of its last step before the pipeline is saved")
    chosen: Any
    if hasattr(model, "settings"):
        from springback.live.tuning.head import tune_elastic_head, tune_linear_classifier

        chosen = tune_linear_classifier if hasattr(model, "head_") else tune_elastic_head
    else:
        from springback.live.tuning.classifier import tune_classifier as chosen
    with warnings.catch_warnings():  # the source has put the columns in the order of the names
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        found: tuple[Any, TuningResult] = chosen(model, streams, **how)
    return found


def _show(found: TuningResult) -> None:
    """The best of what was tried, and what was chosen."""
    where = "" if found.held_out is None else ", on the first half of the frames"
    table = Table(title=f"the best of {len(found.trials):,} settings{where}")
    table.add_column("memory")
    table.add_column("settings")
    table.add_column(found.criterion, justify="right")
    ranked = sorted(found.trials, key=lambda one: one.score, reverse=True)
    for one in ranked[:_SHOWN]:
        values = ", ".join(f"{name} {_short(value)}" for name, value in one.values.items())
        table.add_row(one.settings.variant, values, _score(found, one.score))
    table.add_row("none", "", _score(found, found.score_at_rest))
    console.print(table)
    if found.held_out is not None:
        for line in str(found.held_out).splitlines():
            say(line)
        say("If the tables have a column of labels, name it with --label.")
        return
    with_memory, without = _score(found, found.score), _score(found, found.score_at_rest)
    if found.settings is not None:
        say(f"{found.criterion}: {with_memory} with memory, {without} without")
    else:
        say(
            f"no memory is better than none on these streams ({found.criterion} {without}): the model is written "
            "without memory"
        )


def _score(found: TuningResult, score: float) -> str:
    return f"{score:.4f}" if found.criterion == "log-likelihood" else f"{percent(score)} %"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _table_of(found: TuningResult) -> str:
    """Everything that was tried, as CSV."""
    names = list(dict.fromkeys(name for one in found.trials for name in one.values))
    rows = csv.writer(text := StringIO(), lineterminator="\n")
    rows.writerow(["memory", *names, found.criterion])
    for one in found.trials:
        rows.writerow([one.settings.variant, *(one.values.get(name, "") for name in names), one.score])
    rows.writerow(["none", *("" for _ in names), found.score_at_rest])
    return text.getvalue()
