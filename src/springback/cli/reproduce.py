"""`springback reproduce`: the results of the paper, as far as they are built."""

from typing import Annotated

import typer
from rich.table import Table

from springback.cli.data import DataHome, ImageSet, Split, load_images
from springback.cli.display import console, spinner, training_progress
from springback.datasets import make_omnist
from springback.experiments import elastic_omnist
from springback.experiments.spiking_omnist import recognise_images, stream_video, train_model
from springback.readout import refuse_overlap
from springback.spiking.presets import springback_2026


def reproduce(
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.", min=0)] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Use only the first images of each set, for a quick look.", min=10)
    ] = None,
    neurons: Annotated[int, typer.Option(help="Neurons of the circuit, and centroids.", min=10)] = 400,
    workers: Annotated[int, typer.Option(help="Threads.", min=1)] = 2,
    data_home: DataHome = None,
) -> None:
    """Train on MNIST without labels, follow the OMNIST test video, and print the accuracies beside the paper's.

    Takes about four minutes on two cores.
    """
    train, tests = (load_images(ImageSet.mnist, split, data_home)[: limit or None] for split in Split)
    refuse_overlap(train, tests)
    video = make_omnist(tests, seed=seed)
    preset = springback_2026(n_neurons=neurons)
    with training_progress(len(train), "spiking network: training") as advance:
        model = train_model(train, preset, seed=seed, data="mnist train", on_progress=advance, workers=workers)
    with spinner("spiking network: still digits"):
        still = recognise_images(model, tests, preset.testing, seed=seed, workers=workers).accuracy
    spiking = []
    for name, short_term in (("static", None), ("short-term STDP", preset.short_term)):
        with training_progress(len(video), f"spiking network: video, {name}") as advance:
            score = stream_video(model, video, preset.streaming, short_term, seed=seed, on_progress=advance)
        spiking.append(score.accuracy)
    with spinner("elastic clustering: resting centroids, then the video"):
        params = elastic_omnist.ElasticOmnist(n_clusters=neurons)
        elastic = elastic_omnist.evaluate(params, train, tests, seed)
    table = Table(
        "accuracy, %", "still digits", "video, static", "video, elastic", title=f"{video.name}: {len(video):,} frames"
    )
    table.add_row("paper: spiking, 400", "88.49", "61.10", "87.90")
    table.add_row(f"spiking, {neurons} neurons", *(f"{value:.2f}" for value in (still, *spiking)))
    shares = (elastic.still_accuracy, elastic.static.accuracy, elastic.elastic.accuracy)
    table.add_row(f"elastic, {neurons} centroids", *(f"{100 * value:.2f}" for value in shares))
    console.print(table)
    console.print("Still to come: elastic layers for PyTorch, the paper's baselines, and the report with every figure.")
