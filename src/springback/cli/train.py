"""`springback train`: train a spiking network on images, without labels."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from springback.atomic import previous_path
from springback.cli.data import ImageSet, Split, load_images
from springback.cli.display import say, spinner, training_progress
from springback.cli.machine import network_bytes, network_seconds, refuse_too_large, refuse_too_many
from springback.cli.options import NEURONS_MAX, SEED_MAX, DataHome, Overwrite
from springback.cli.places import new_file, writing
from springback.paper.words import percent
from springback.readout import refuse_overlap
from springback.spiking.fitting import train_model
from springback.spiking.model_file import save_model
from springback.spiking.presets import PRESETS
from springback.spiking.recognition import recognise_images

_MOST_IMAGES = 60_000


class PresetName(StrEnum):
    """The presets of `springback.spiking.presets`."""

    springback_2026 = "springback-2026"
    moraitis_2020 = "moraitis-2020"
    diehl_cook_2015 = "diehl-cook-2015"


def train(
    out: Annotated[Path, typer.Option(help="Write the model to this file (.safetensors).", dir_okay=False)],
    neurons: Annotated[int, typer.Option(help="Number of excitatory neurons.", min=1, max=NEURONS_MAX)] = 400,
    seed: Annotated[
        int,
        typer.Option(help="Random seed; runs are bit-identical for a given seed and machine.", min=0, max=SEED_MAX),
    ] = 0,
    preset: Annotated[PresetName, typer.Option(help="Which set of parameters to use.")] = PresetName.springback_2026,
    data: Annotated[ImageSet, typer.Option(help="Which images to learn from.")] = ImageSet.mnist,
    limit: Annotated[int | None, typer.Option(help="Use only this many training images.", min=1)] = None,
    workers: Annotated[
        int, typer.Option(help="Number of threads for labelling and testing; does not change the result.", min=1)
    ] = 2,
    overwrite: Overwrite = False,
    data_home: DataHome = None,
) -> None:
    """Train a winner-take-all circuit by long-term STDP, label its neurons, and test it on the test images.

    If interrupted, run the same command again to resume from its checkpoint, which is kept next to the model; the
    result is bit-identical. An existing model is replaced only with `--overwrite`.

    Example: `springback train --neurons 400 --seed 0 --out model.safetensors`
    """
    checkpoint = out.with_name(out.name + ".checkpoint")
    used = (previous_path(checkpoint), checkpoint)
    new_file(
        "--out",
        out,
        suffixes=(".safetensors",),
        overwrite=overwrite or any(one.exists() for one in used),
        beside=(".checkpoint.previous",),
        n_bytes=4 * 784 * 4 * neurons,
    )
    refuse_too_many("--workers", workers)
    expected = min(limit or _MOST_IMAGES, _MOST_IMAGES)
    chosen = PRESETS[preset](n_neurons=neurons)
    seconds = network_seconds(neurons, chosen.epochs * expected)
    refuse_too_large(f"--neurons {neurons}", network_bytes(neurons, 10_000), seconds)
    images = load_images(data, Split.train, data_home)[: limit or None]
    tests = load_images(data, Split.test, data_home)
    refuse_overlap(images, tests)
    with writing("--out", out), training_progress(chosen.epochs * len(images)) as advance:
        model = train_model(
            images,
            chosen,
            seed=seed,
            data=f"{data} train, first {len(images)}",
            checkpoint=checkpoint,
            on_progress=advance,
            workers=workers,
        )
    with writing("--out", out):
        save_model(model, out)
    for one in used:
        one.unlink(missing_ok=True)
    with spinner(f"testing on {len(tests):,} images"):
        score = recognise_images(model, tests, seed=seed, workers=workers)
    say(f"{out}: {neurons} neurons, {len(images):,} images of {data}, seed {seed}")
    say(f"accuracy on the {len(tests):,} test images: {percent(score.accuracy)} %")
