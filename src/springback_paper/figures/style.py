"""One style for every figure, and the way from a Figure to a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure

from springback.files.atomic import atomic_file
from springback.spiking.plots.panel import BLACK, BLUE, CYCLE, GREEN, ORANGE, PURPLE, RED, SKY, YELLOW

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "ORANGE",
    "PURPLE",
    "RED",
    "SKY",
    "YELLOW",
    "bare",
    "figure_bytes",
    "house_style",
    "legend_above",
    "note",
    "save_figure",
    "thin_bar",
    "with_errors",
]


@contextmanager
def house_style() -> Iterator[None]:
    """The look of all figures, for as long as the block lasts."""
    with mpl.rc_context(
        {
            "font.size": 9,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(color=CYCLE),
            "figure.dpi": 150,
            "savefig.bbox": "tight",
            "svg.fonttype": "none",
        }
    ):
        yield


def bare(*panels: Axes, framed: bool = False) -> None:
    """Panels of pictures: no ticks and, unless `framed`, no frame."""
    for panel in panels:
        panel.set(xticks=[], yticks=[])
        if not framed:
            panel.spines[:].set_visible(False)


def thin_bar(figure: Figure, drawn: ScalarMappable, panels: Any, label: str, *, size: int = 7, **at: Any) -> Colorbar:
    """A colour bar beside panels, in small print and without a frame."""
    bar = figure.colorbar(drawn, ax=panels, pad=0.01, **at)
    bar.set_label(label, fontsize=min(size + 1, 8))
    bar.ax.tick_params(labelsize=size)
    bar.outline.set_visible(False)
    return bar


def note(figure: Figure, text: str, size: int = 8) -> None:
    """Small grey print below a figure."""
    figure.supxlabel(text, fontsize=size, color="0.35")


def legend_above(figure: Figure, panel: Axes, **look: Any) -> None:
    """The legend of a panel above the whole figure."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", frameon=False, **look)


def with_errors(panel: Axes, x: Any, mean: Any, error: Any, **look: Any) -> None:
    """A line with thin error bars and small markers."""
    panel.errorbar(x, mean, error, **{"markersize": 3.5, "elinewidth": 0.8, **look})


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """A figure as the content of a file of a kind: "png", "svg" or "pdf"."""
    content = BytesIO()
    figure.savefig(content, format=kind)
    return content.getvalue()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as the kind its name ends in: .png, .svg or .pdf."""
    with atomic_file(path) as file:
        file.write(figure_bytes(figure, path.suffix.lstrip(".") or "png"))
