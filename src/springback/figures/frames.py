"""Fig. 3a: a strip of consecutive frames of an occluded video."""

import numpy as np
from matplotlib.figure import Figure

from springback.figures.style import house_style
from springback.records import NOISE_LABEL, Video


def draw_frames(video: Video, *, frames_per_row: int = 12) -> Figure:
    """The frames of a (short) video in reading order, each with what it shows and how much is hidden."""
    n_rows = -(-len(video) // frames_per_row)
    with house_style():
        figure = Figure(figsize=(0.75 * frames_per_row, 1.0 * n_rows), layout="constrained")
        panels = np.atleast_1d(figure.subplots(n_rows, frames_per_row, squeeze=False)).ravel()
        for panel in panels:
            panel.set_axis_off()
        for panel, frame, label, rows in zip(panels, video.frames, video.labels, video.rows_hidden, strict=False):
            panel.imshow(frame, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            panel.set_title("noise" if label == NOISE_LABEL else f"{label}, {rows} rows", fontsize=6, pad=2)
    return figure
