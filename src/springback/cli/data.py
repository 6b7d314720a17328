"""`springback data`: download and verify images, make occluded videos, and fetch streams."""

from pathlib import Path
from typing import Annotated

import typer

from springback.cli.display import progress, say
from springback.cli.file_checks import new_file, writing
from springback.cli.images import ImageSet, Split, load_images
from springback.cli.options import DataHome, Overwrite, seed_option
from springback.data import make_omnist, save_video

app = typer.Typer(
    help="Download and verify MNIST and Fashion-MNIST; make occluded videos (OMNIST); fetch recorded streams.",
    no_args_is_help=True,
)


_TRACK_BYTES = 22
"""Bytes of a frame in addition to its pixels: its label, digit, hidden rows and hidden ink."""


def _fetch(which: ImageSet, data_home: Path | None) -> None:
    for split in Split:
        images = load_images(which, split, data_home)
        say(f"{which} {split}: {len(images):,} images, verified")


def _add_streams() -> None:
    """Add the command of the benchmarks, which are an application of this library."""
    from springback_bench.cli.data_streams import streams, voices

    app.command()(streams)
    app.command()(voices)


_add_streams()


@app.command()
def mnist(data_home: DataHome = None) -> None:
    """Download MNIST and verify it, byte for byte."""
    _fetch(ImageSet.mnist, data_home)


@app.command()
def fashion_mnist(data_home: DataHome = None) -> None:
    """Download Fashion-MNIST and verify it, byte for byte."""
    _fetch(ImageSet.fashion_mnist, data_home)


@app.command()
def omnist(
    split: Annotated[Split, typer.Option(help="Which split to make the video from.")] = Split.test,
    seed: Annotated[int, seed_option("Random seed; a seed gives the same bytes on every machine.")] = 0,
    images: Annotated[ImageSet, typer.Option(help="Which image set to make the video from.")] = ImageSet.mnist,
    limit: Annotated[int | None, typer.Option(help="Use only this many images.", min=1)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the video to this file (.safetensors).", dir_okay=False)
    ] = None,
    preview: Annotated[
        Path | None, typer.Option(help="Draw the first frames into this file (.png or .svg).", dir_okay=False)
    ] = None,
    overwrite: Overwrite = False,
    data_home: DataHome = None,
) -> None:
    """Make the occluded video of the paper: each image slowly hidden from the top, then four frames of noise.

    Example: `springback data omnist --split test --seed 0 --out omnist.safetensors --preview omnist.png`
    """
    if out is not None:
        new_file("--out", out, suffixes=(".safetensors",), overwrite=overwrite)
    if preview is not None:
        new_file("--preview", preview, suffixes=(".png", ".svg"), overwrite=overwrite)
    video = make_omnist(load_images(images, split, data_home)[: limit or None], seed=seed)
    say(f"{video.name}: {len(video):,} frames")
    if out is not None:
        n_bytes = len(video) * (video.frame_shape[0] * video.frame_shape[1] + _TRACK_BYTES)
        new_file("--out", out, overwrite=overwrite, n_bytes=n_bytes)
        with writing("--out", out), progress("writing", len(video)) as advance:
            save_video(video, out, on_frames=advance)
        say(f"written to {out}")
    if preview is not None:
        from springback_paper.figures.fig_3a import draw as draw_frames
        from springback_paper.figures.style import save_figure

        with writing("--preview", preview):
            save_figure(draw_frames(video.stretch(0, min(36, len(video)))), preview)
        say(f"preview drawn to {preview}")
