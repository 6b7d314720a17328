"""`springback reproduce`: the results of the paper, as far as they are built."""

from springback.cli.data import ImageSet, Split, load_images
from springback.cli.display import console, spinner
from springback.datasets import make_omnist


def reproduce() -> None:
    """Fetch and verify MNIST, make both OMNIST videos, and say what is still to come."""
    for split in Split:
        images = load_images(ImageSet.mnist, split, None)
        with spinner(f"making OMNIST of the {split} digits"):
            video = make_omnist(images, seed=0)
            frames = sum(len(chunk.frames) for chunk in video.chunks())
        console.print(f"MNIST {split}: {len(images):,} digits verified; {video.name}: {frames:,} frames made")
    console.print("Still to come: training, streaming and the report with every table and figure of the paper.")
