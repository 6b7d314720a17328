"""`springback stream`: let a trained network follow an occluded video."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from springback import check
from springback.check import DataError
from springback.cli.data import ImageSet, Split, load_images
from springback.cli.display import console, say, training_progress
from springback.cli.machine import refuse_too_many
from springback.cli.names import PresetName
from springback.cli.options import SEED_MAX, DataHome, Overwrite
from springback.cli.places import new_file, readable_file
from springback.cli.stream_own import stream_own
from springback.datasets import load_video, make_omnist
from springback.paper.words import percent
from springback.readout import DIGITS
from springback.records import Video
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_model
from springback.spiking.presets import PRESETS, Preset
from springback.spiking.recognition import follow_video

_TUNED_BYTES = 1_000_000
_SETS = {"omnist": ImageSet.mnist, "fashion-mnist": ImageSet.fashion_mnist}


def stream(
    model: Annotated[Path, typer.Argument(help="A model written by `springback train`.", dir_okay=False)],
    data: Annotated[
        str,
        typer.Option(
            help="The video: `omnist`, `fashion-mnist` (occluded clothing), or a file from `springback data omnist`."
        ),
    ] = "omnist",
    frames: Annotated[
        Path | None,
        typer.Option(
            help="Follow your own frames instead: an .npz file with `frames`, uint8 (n, ...) in the order of time, and "
            "perhaps `labels`.",
            dir_okay=False,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Write the class of each of your frames to this file (.csv).", dir_okay=False),
    ] = None,
    no_short_term: Annotated[
        bool,
        typer.Option(
            "--no-short-term",
            help="Keep the weights static, and show frames with the intensity and thresholds that suit such weights.",
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="Use only this many images (or frames, if the video is a file).", min=1)
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Random seed of the video and of the input spikes.", min=0, max=SEED_MAX)
    ] = 0,
    preset: Annotated[
        PresetName | None, typer.Option(help="Parameters of the stream. Default: those the model was made with.")
    ] = None,
    tuned: Annotated[
        Path | None, typer.Option(help="Use the parameters that `springback tune spiking` found.", dir_okay=False)
    ] = None,
    shards: Annotated[
        int, typer.Option(help="Cut the video into this many streams that run in parallel, each from rest.", min=1)
    ] = 1,
    workers: Annotated[int, typer.Option(help="Number of threads; does not change the result.", min=1)] = 2,
    overwrite: Overwrite = False,
    data_home: DataHome = None,
) -> None:
    """Stream a video through a trained network; print accuracy overall and by occlusion.

    Example: `springback stream model.safetensors --limit 500`

    Example: `springback stream mine.safetensors --frames stream.npz --answers answers.csv`
    """
    readable_file("MODEL", model)
    refuse_too_many("--workers", workers)
    network = load_model(model)
    network = _with_settings(network, tuned, preset)
    network = network.static() if no_short_term else network
    if frames is not None:
        readable_file("--frames", frames)
        if shards > 1:
            raise ValueError(f"--shards must be 1 with --frames, which are one stream; got {shards}")
        if answers is not None:
            new_file("--answers", answers, suffixes=(".csv",), overwrite=overwrite)
        stream_own(network, frames, adapts=not no_short_term, seed=seed, limit=limit, answers=answers)
        return
    if answers is not None:
        raise ValueError("--answers must be given together with --frames")
    if not np.array_equal(network.classes, DIGITS):
        raise DataError(f"{model} does not know the ten digits of {data}; give your own frames with --frames")
    video = _video(data, seed, limit, data_home)
    if video.frame_shape[0] * video.frame_shape[1] != network.preset.circuit.n_inputs:
        raise DataError(
            f"{model} takes {network.preset.circuit.n_inputs} pixels; the frames of {data} are {video.frame_shape}"
        )
    check.require(shards <= len(video), "--shards", f"be <= {len(video)}, the number of frames", shards)
    with training_progress(len(video), "streaming") as advance:
        score = follow_video(
            network,
            video,
            adapts=not no_short_term,
            seed=seed,
            shards=shards,
            workers=workers,
            on_progress=advance,
        )
    say(f"{video.name}: {len(video):,} frames, {'static weights' if no_short_term else 'short-term STDP'}")
    say(f"preset {network.preset.name}; the model was trained on {network.data}")
    shown = network.preset.streaming
    say(f"intensity {shown.intensity:g}, thresholds shifted by {shown.threshold_shift_mv:g} mV")
    say(f"accuracy: {percent(score.accuracy)} %")
    table = Table("rows hidden", "accuracy, %")
    for rows, right in score.by_rows_hidden.items():
        table.add_row(rows, percent(right, 1))
    console.print(table)


def _with_settings(model: SpikingModel, tuned: Path | None, preset: PresetName | None) -> SpikingModel:
    """The model with the streaming settings of a preset or of a search, if one was named; else with its own."""
    if tuned is not None:
        chosen = _tuned(tuned)
    elif preset is not None:
        chosen = PRESETS[preset](n_neurons=model.preset.circuit.n_neurons)
    else:
        return model
    renamed = replace(model, preset=replace(model.preset, name=chosen.name, static=chosen.static))
    return renamed.streaming_as(chosen.streaming, chosen.short_term)


def _tuned(path: Path) -> Preset:
    from springback.paper.tuning.tuned_file import load_tuned

    readable_file("--tuned", path, at_most=_TUNED_BYTES)
    found = load_tuned(path).preset()
    if not isinstance(found, Preset):
        raise DataError(f"{path} holds no parameters of a spiking network; `springback tune spiking` finds them")
    return found


def _video(data: str, seed: int, limit: int | None, data_home: Path | None) -> Video:
    if data in _SETS:
        return make_omnist(load_images(_SETS[data], Split.test, data_home)[: limit or None], seed=seed)
    readable_file("--data", Path(data))
    video = load_video(Path(data))
    return video if limit is None else video.stretch(0, min(limit, len(video)))
