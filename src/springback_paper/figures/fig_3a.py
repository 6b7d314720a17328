"""Fig. 3a: a strip of consecutive frames of an occluded video."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.streaming.records import NOISE_LABEL, Video
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import house_style
from springback_paper.figures.table import Table, pictures


@dataclass(frozen=True, kw_only=True, eq=False)
class OmnistFrames:
    """The first frames of the test video: frames uint8 (n, height, width), what each shows, and the rows hidden."""

    frames: NDArray[np.uint8]
    labels: NDArray[np.int64]
    rows_hidden: NDArray[np.int16]
    video: str


def run(video: Video) -> OmnistFrames:
    """The beginning of the test video."""
    shown = video.stretch(0, min(36, len(video)))
    return OmnistFrames(frames=shown.frames, labels=shown.labels, rows_hidden=shown.rows_hidden, video=video.name)


@house_style()
def draw(shown: OmnistFrames | Video, *, frames_per_row: int = 12) -> Figure:
    """The frames of a (short) video in reading order, each with what it shows and how much is hidden."""
    n_rows = -(-len(shown.frames) // frames_per_row)
    figure = Figure(figsize=(0.75 * frames_per_row, 1.0 * n_rows), layout="constrained")
    panels = np.atleast_1d(figure.subplots(n_rows, frames_per_row, squeeze=False)).ravel()
    for panel in panels:
        panel.set_axis_off()
    for panel, frame, label, rows in zip(panels, shown.frames, shown.labels, shown.rows_hidden, strict=False):
        panel.imshow(frame, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        panel.set_title("noise" if label == NOISE_LABEL else f"{label}, {rows} rows", fontsize=6, pad=2)
    return figure


def table(result: OmnistFrames) -> Table:
    """Every pixel of every frame, with what the frame shows."""
    labels, hidden = result.labels[:, None, None], result.rows_hidden[:, None, None]
    of = {"frame": range(len(result.frames))}
    return pictures("brightness_of_255", result.frames, of, label=labels, rows_hidden=hidden)


EXHIBIT = Exhibit(
    title="Fig. 3a: frames of OMNIST",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows="The beginning of the test video: each digit is hidden from the top, then come four frames of noise.",
    ran=lambda result: f"{result.video}.",
    paper="a sequence of the same kind; lengths are random.",
    run=run,
    seconds=1,
)
