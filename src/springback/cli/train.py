"""`springback train`: train a spiking network on images, without labels."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from springback.check import DataError
from springback.cli.display import say, spinner, training_progress
from springback.cli.file_checks import new_file, readable_file, writing
from springback.cli.images import ImageSet, Split, load_images
from springback.cli.machine import network_bytes, network_seconds, refuse_too_large, refuse_too_many
from springback.cli.options import NEURONS_MAX, DataHome, Overwrite, PresetName, seed_option
from springback.data.own_file import load_images_file
from springback.files.atomic import previous_path
from springback.files.locks import sole_writer
from springback.spiking.evaluation import recognise_images
from springback.spiking.fitting import train_model
from springback.spiking.model_file import save_spiking_model
from springback.spiking.presets import Preset, load_preset, preset_for
from springback.streaming.readout import DIGITS, class_indices, classes_in, refuse_overlap
from springback.streaming.records import Images
from springback.streaming.wording import percent

_MOST_IMAGES = 60_000


def train(
    out: Annotated[Path, typer.Option(help="Write the model to this file (.safetensors).", dir_okay=False)],
    neurons: Annotated[
        int | None,
        typer.Option(help="Number of excitatory neurons. Default: 400, or as in --params.", min=1, max=NEURONS_MAX),
    ] = None,
    seed: Annotated[
        int,
        seed_option("Random seed; runs are bit-identical for a given seed and machine."),
    ] = 0,
    preset: Annotated[
        PresetName | None, typer.Option(help="Which set of parameters to use. Default: springback-2026.")
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(
            help="Your own parameters: a TOML file, see `springback params`; not with --preset.", dir_okay=False
        ),
    ] = None,
    data: Annotated[ImageSet, typer.Option(help="Which images to learn from.")] = ImageSet.mnist,
    images: Annotated[
        Path | None,
        typer.Option(
            help="Learn from your own images instead: an .npz file with `images`, uint8 (n, ...), and `labels`, "
            "numbers or text.",
            dir_okay=False,
        ),
    ] = None,
    tests: Annotated[
        Path | None,
        typer.Option(help="Your own test images, in the same form; only together with --images.", dir_okay=False),
    ] = None,
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

    Example: `springback train --images mine.npz --tests new.npz --params my.toml --out mine.safetensors`
    """
    checkpoint = out.with_name(out.name + ".checkpoint")
    used = (previous_path(checkpoint), checkpoint)
    if tests is not None and images is None:
        raise ValueError("--tests must be given together with --images")
    if params is not None and preset is not None:
        raise ValueError("--params must not be given together with --preset; the file says which preset it is based on")
    for option, given in (("--params", params), ("--images", images), ("--tests", tests)):
        if given is not None:
            readable_file(option, given)
    shown, name = (None, f"{data} train") if images is None else _own(images)
    n_inputs = 784 if shown is None else shown.pixels[0].size
    chosen = _preset(preset, params, neurons, shown)
    n_neurons = chosen.circuit.n_neurons
    usable = partial(
        new_file,
        "--out",
        out,
        suffixes=(".safetensors",),
        beside=(".checkpoint.previous",),
        n_bytes=4 * n_inputs * 4 * n_neurons,
    )
    usable(overwrite=overwrite or any(one.exists() for one in used))
    refuse_too_many("--workers", workers)
    expected = min(limit or _MOST_IMAGES, _MOST_IMAGES if shown is None else len(shown))
    seconds = network_seconds(n_neurons, chosen.epochs * expected)
    refuse_too_large(f"{n_neurons} neurons", network_bytes(n_neurons, 10_000, n_inputs), seconds)
    learned = (load_images(data, Split.train, data_home) if shown is None else shown)[: limit or None]
    classes = DIGITS if shown is None else classes_in(learned.labels)
    tested = _tests(data, tests, data_home) if shown is None or tests is not None else None
    if tested is not None:
        if tested.pixels[0].size != n_inputs:
            raise DataError(f"--tests must have images of {n_inputs} pixels, as --images; got {tested.pixels[0].size}")
        class_indices("the labels of the test images", tested.labels, classes)
        refuse_overlap(learned, tested)
    with sole_writer(out):
        usable(overwrite=overwrite or any(one.exists() for one in used))
        with writing("--out", out), training_progress(chosen.epochs * len(learned)) as advance:
            model = train_model(
                learned,
                chosen,
                classes=classes,
                seed=seed,
                data=f"{name}, first {len(learned)}",
                checkpoint=checkpoint,
                on_progress=advance,
                workers=workers,
            )
        with writing("--out", out):
            save_spiking_model(model, out)
        for one in used:
            one.unlink(missing_ok=True)
    kinds = f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}"
    say(f"{out}: {n_neurons} neurons, {len(learned):,} images of {name.removesuffix(' train')}, {kinds}, seed {seed}")
    if tested is None:
        say(f"{model.headline}; to measure the accuracy, give new images with --tests")
        return
    with spinner(f"testing on {len(tested):,} images"):
        score = recognise_images(model, tested, seed=seed, workers=workers)
    say(f"accuracy on the {len(tested):,} test images: {percent(score.accuracy)} %")


def _preset(preset: PresetName | None, params: Path | None, neurons: int | None, shown: Images | None) -> Preset:
    """The parameters for these images; None: for digits."""
    pixels = np.zeros((1, 784), np.uint8) if shown is None else shown.pixels
    if params is None:
        return preset_for(preset or PresetName.springback_2026, pixels, neurons or 400)
    n_inputs = pixels[0].size
    found = load_preset(params, n_inputs=n_inputs, n_neurons=neurons)
    circuit = found.circuit
    if neurons not in (None, circuit.n_neurons):
        raise ValueError(f"--neurons must be left out, since {params} has {circuit.n_neurons}; got {neurons}")
    if circuit.n_inputs != n_inputs:
        raise DataError(f"{params} has {circuit.n_inputs} inputs; the images have {n_inputs} pixels")
    return found


def _own(path: Path) -> tuple[Images, str]:
    """Your own images, and a name by which a checkpoint of other images can be told from one of these."""
    found = load_images_file(path)
    digest = hashlib.sha256(np.ascontiguousarray(found.pixels).data)
    digest.update(np.ascontiguousarray(found.labels).data)
    return found, f"{path.name} ({digest.hexdigest()[:12]})"


def _tests(data: ImageSet, tests: Path | None, data_home: Path | None) -> Images:
    return load_images(data, Split.test, data_home) if tests is None else load_images_file(tests)
