"""One style for every figure, and the way from a Figure to a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from springback.atomic import atomic_file

# Okabe & Ito (2008): eight colours told apart with any colour vision and in print.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#000000",
)


@contextmanager
def house_style() -> Iterator[None]:
    """The look of all figures, for as long as the block lasts."""
    with mpl.rc_context(
        {
            "font.size": 9,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK]),
            "figure.dpi": 150,
            "savefig.bbox": "tight",
            "svg.fonttype": "none",
        }
    ):
        yield


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as the kind its name ends in: .png, .svg or .pdf."""
    with atomic_file(path) as file:
        figure.savefig(file, format=path.suffix.lstrip(".") or "png")
