"""Centroids on springs: a two-dimensional stream pulls them, and they spring back (the paper's Fig. 2a as animation).

    python examples/springs_2d.py --out picture.gif

Cells are marked with `# %%`, as notebooks are in most editors.
"""

# %% A world of three kinds of objects, which appear as points in the plane
import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from springback.elastic import Elasticity, Exponential, efficacy, init, prepare, read, step

COLOURS = np.array(["#c8553d", "#2d7dd2", "#3a9d5d"])
INK, PAPER = "#2b2b2b", "#fbfaf7"


def on_circle(degrees, radius=1.0):
    """Return points at the given angles."""
    angle = np.radians(degrees)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


RESTING = on_circle(np.array([95.0, 215.0, 335.0]), 1.3)

# %% The stream: two objects drift out of their own territory into the next one, with silence in between
ONE = on_circle(np.linspace(100, 5, 30), 1.9)
TWO = on_circle(np.linspace(205, 305, 30), 1.9)
SILENCE = np.zeros((12, 2))
STREAM = np.concatenate([ONE, SILENCE, TWO, SILENCE])

# %% The observer: each input pulls the centroid it belongs to, and over time the centroid springs back
MEMORY = 4.0
PARAMS = Elasticity(kappa=80.0, pull=0.8, kernel=Exponential(memory=MEMORY), unit_inputs=False)


def watch(stream=STREAM):
    """Return the centroids (T, 3, 2) after each frame, and the answers of the elastic and a frozen observer (T,).

    An answer of -1 means silence. G = W + F is a sum; the mean in the theory, which is drawn here, is
    G / (1 + the weight of all pulls).
    """
    model = prepare(PARAMS, RESTING)
    state, pulls = init(model), np.zeros(len(RESTING))
    centroids, elastic, frozen = [], [], []
    for x in stream:
        state, response = step(model, state, x)
        seen = bool(x.any())
        pulls = pulls * np.exp(-1 / MEMORY) + seen * PARAMS.pull * response.posterior[0]
        centroids.append(efficacy(model, state) / (1 + pulls[:, None]))
        elastic.append(int(response.posterior[0].argmax()) if seen else -1)
        frozen.append(int(read(model, init(model), x).posterior[0].argmax()) if seen else -1)
    return np.array(centroids), np.array(elastic), np.array(frozen)


# %% Drawing
def spring(start, end, coils=7, width=0.055):
    """Return a zigzag from start to end."""
    along = np.linspace(0, 1, 2 * coils + 3)
    way = end - start
    length = np.linalg.norm(way)
    if length < 1e-9:
        return np.stack([start, end])
    across = np.array([-way[1], way[0]]) / length
    offset = np.where(np.arange(along.size) % 2, 1.0, -1.0) * width
    offset[[0, 1, -2, -1]] = 0
    return start + along[:, None] * way + offset[:, None] * across


def animate(path, stream=STREAM):
    """Draw the whole stream as an animated GIF."""
    centroids, elastic, frozen = watch(stream)
    figure, axes = plt.subplots(figsize=(3.6, 3.6), dpi=90)
    figure.subplots_adjust(0, 0, 1, 1)
    figure.set_facecolor(PAPER)

    def draw(t):
        axes.clear()
        axes.set(xlim=(-2.5, 2.5), ylim=(-2.5, 2.5), aspect="equal")
        axes.axis("off")
        for border in on_circle(np.array([35.0, 155.0, 275.0]), 2.4):
            axes.plot([0, border[0]], [0, border[1]], color=INK, lw=0.6, alpha=0.25, ls=(0, (4, 4)))
        for k, colour in enumerate(COLOURS):
            axes.plot(*spring(RESTING[k], centroids[t, k]).T, color=colour, lw=1.1, solid_joinstyle="round")
            axes.plot(*RESTING[k], "o", ms=9, mfc=PAPER, mec=colour, mew=1.3)
            axes.plot(*centroids[t, k], "o", ms=13, color=colour)
        for back in range(6, -1, -1):
            if t - back >= 0 and elastic[t - back] >= 0:
                shade = COLOURS[elastic[t - back]]
                axes.plot(*stream[t - back], "o", ms=4 if back else 9, color=shade, alpha=1 - back / 8, mec="none")
        if elastic[t] >= 0:
            axes.plot(*stream[t], "o", ms=16, mfc="none", mec=COLOURS[frozen[t]], mew=1.6)
        says = "silence: the centroids spring back" if elastic[t] < 0 else "dot: elastic    ring: frozen"
        axes.text(0, -2.38, says, ha="center", va="bottom", color=INK, fontsize=8)

    animation = FuncAnimation(figure, draw, frames=len(stream))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    animation.save(path, writer=PillowWriter(fps=10))
    plt.close(figure)


# %% The result: the elastic observer recognises an object far beyond the border where the frozen one loses it
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="springs_2d.gif")
    animate(parser.parse_args().out)
    _, ours, frozen = watch()
    seen = ours >= 0
    truth = np.where(np.arange(len(STREAM)) < len(ONE), 0, 1)
    shares = [(one == truth)[seen].mean() for one in (ours, frozen)]
    print("answered correctly: elastic {:.0%}, frozen {:.0%}".format(*shares))
