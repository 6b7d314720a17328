"""A parameter sweep on two local workers: how far to pull and how long to remember, in a world of your own.

    python examples/parameter_sweep.py --out picture.png

The world is the paper's random continuous environment. Every pair of pull and memory is scored by the mean
log-likelihood of the next observation, on streams with fixed seeds; the result is the same for any number of workers.
"""

import argparse
from itertools import product

import numpy as np
from matplotlib.figure import Figure

from springback.data import RandomContinuousEnvironment
from springback.elastic import Elasticity, Exponential, init, prepare, track
from springback_paper.figures.style import house_style
from springback_paper.runner.pools import LocalPool

PULLS = (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
MEMORIES = (0.3, 1.0, 3.0, 10.0, 30.0)  # in observations
MEANS = np.eye(4, 8)  # four classes in eight dimensions


def score(pull, memory, n_steps=400, seeds=(0, 1, 2, 3, 4)):
    """Return the mean log-likelihood of one pair in nats per observation, on one stream for each seed."""
    world = RandomContinuousEnvironment(means=MEANS, spreads=0.25, diffusion=0.1, beta=0.5, decay=5.0)
    model = prepare(Elasticity(kappa=16.0, pull=pull, kernel=Exponential(memory=memory)), MEANS)
    streams = [world.sample(n_steps, seed=seed).points for seed in seeds]
    return float(np.mean([track(model, init(model), points)[1].log_density.mean() for points in streams]))


def sweep(workers=2, **options):
    """Return the scores (pulls, memories) of all pairs."""
    pool = LocalPool(workers)
    try:
        asked = [pool.submit(0.0, _score_pair, pair, options) for pair in product(PULLS, MEMORIES)]
        return np.array([one.result() for one in asked]).reshape(len(PULLS), len(MEMORIES))
    finally:
        pool.close()


def _score_pair(pair, options):
    return score(*pair, **options)


def draw(scores):
    """Draw the scores as a map, with the best pair marked."""
    best = np.unravel_index(scores.argmax(), scores.shape)
    with house_style():
        figure = Figure(figsize=(5.4, 3.4), layout="constrained")
        axes = figure.subplots()
        drawn = axes.imshow(scores, cmap="cividis", origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(scores):
            bold = "bold" if (row, column) == best else "normal"
            light = value < (scores.min() + scores.max()) / 2
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, fontweight=bold,
                      color="white" if light else "black")  # fmt: skip
        axes.set_xticks(range(len(MEMORIES)), MEMORIES)
        axes.set_yticks(range(len(PULLS)), PULLS)
        axes.set(xlabel="memory (observations)", ylabel="pull")
        figure.colorbar(drawn, label="log-likelihood (nats per observation)")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="parameter_sweep.png")
    out = parser.parse_args().out
    scores = sweep()
    draw(scores).savefig(out)
    row, column = np.unravel_index(scores.argmax(), scores.shape)
    print(f"best: pull {PULLS[row]:g}, memory {MEMORIES[column]:g} observations: ", end="")
    print(f"{scores.max():.2f} nats per observation; at rest {scores[0, 0]:.2f}")
