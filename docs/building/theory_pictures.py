"""Draw the pictures of the theory page and of the page on circuits.

python docs/building/theory_pictures.py      writes docs/theory/*.png
"""

import contextlib
import doctest
import os
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from springback.data import RandomContinuousEnvironment
from springback.elastic import (
    Elasticity,
    Exponential,
    expected,
    init,
    measurement_kernel,
    prepare,
    read,
    relax,
    short_term,
    step,
)
from springback.spiking import Circuit, ShortTermStdp, Weights, simulate_spikes
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, house_style
from springback_paper.sampling import SamplingCircuit, posterior, respond, sampling_weights

DOCS = Path(__file__).parents[1]
COLOURS = (BLUE, ORANGE, GREEN)
SLIGHTLY_UP = [0.8, 0.6]


def world() -> Figure:
    """Draw observations in the plane, each joined to the one it continues."""
    means = np.array([[0.0, 1.0], [1.0, -0.6], [-1.0, -0.6]])
    made = RandomContinuousEnvironment(means=means, spreads=0.15, diffusion=0.1, beta=0.3, decay=4.0)
    seen = made.sample(60, seed=1)
    figure = Figure(figsize=(4, 3.2), layout="constrained")
    axes = figure.subplots()
    for t, parent in enumerate(seen.parents):
        if parent >= 0:
            axes.plot(*seen.points[[parent, t]].T, color="0.8", lw=0.8, zorder=1)
    for kind, colour in enumerate(COLOURS):
        mine = seen.labels == kind
        axes.scatter(*seen.points[mine].T, s=14, color=colour, zorder=2)
        axes.plot(*means[kind], "+", color=colour, ms=14, mew=2)
    axes.scatter(*seen.points[seen.novel].T, s=60, facecolor="none", edgecolor=BLACK, label="new object")
    axes.set(aspect="equal", xlabel="feature 1", ylabel="feature 2")
    axes.legend(frameon=False, fontsize=7)
    return figure


def posteriors() -> Figure:
    """Draw Q of the first of two neurons against the angle of the input."""
    angles = np.linspace(0, 90, 91)
    inputs = np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))], axis=1)
    figure = Figure(figsize=(5, 2.6), layout="constrained")
    axes = figure.subplots()
    for kappa, colour in zip((1.0, 10.0, 50.0), COLOURS, strict=True):
        model = prepare(Elasticity(kappa=kappa, pull=1.0), np.eye(2))
        axes.plot(angles, read(model, init(model), inputs).posterior[:, 0], color=colour, label=f"kappa {kappa:g}")
    linear = prepare(Elasticity(likelihood="linear", pull=1.0, bias_rule="zero"), np.eye(2))
    axes.plot(angles, read(linear, init(linear), inputs).posterior[:, 0], "--", color=BLACK, label="linear model")
    axes.set(xlabel="angle of the input (degrees); neurons at 0 and 90", ylabel="Q of the neuron at 0")
    axes.legend(frameon=False, fontsize=8)
    return figure


def best_vectors() -> Figure:
    """Draw the means of the three kinds at rest and one step after the last of 60 observations."""
    means, beta_p = np.array([[0.0, 1.0], [1.0, -0.6], [-1.0, -0.6]]), 0.3 / 3
    made = RandomContinuousEnvironment(means=means, spreads=0.15, diffusion=0.1, beta=0.3, decay=4.0)
    seen = made.sample(60, seed=1)
    left = made.odds(60.0 - seen.times)
    weight = made.exact_posterior(seen.points, seen.times) * left[:, None]
    now = (weight.T @ seen.points + beta_p * means) / (weight.sum(axis=0)[:, None] + beta_p)
    figure = Figure(figsize=(4.6, 3.4), layout="constrained")
    axes = figure.subplots()
    for kind, colour in enumerate(COLOURS):
        mine = seen.labels == kind
        axes.scatter(*seen.points[mine].T, s=2 + 60 * left[mine], color=colour, alpha=0.5, lw=0)
        axes.plot(*means[kind], "+", color=colour, ms=14, mew=2)
        axes.plot(*now[kind], "*", color=colour, mec=BLACK, mew=0.6, ms=13, zorder=3)
        axes.plot(*np.stack([np.zeros(2), 1.5 * now[kind]]).T, color=colour, lw=0.8, ls="--", zorder=0)
    axes.plot([], [], "+", color=BLACK, ms=9, mew=2, label="W: the mean at rest")
    axes.plot([], [], "*", color="white", mec=BLACK, ms=9, label="the mean now")
    axes.plot([], [], "--", color=BLACK, lw=0.8, label="direction of G = W + F")
    axes.set(aspect="equal", xlabel="feature 1", ylabel="feature 2")
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=7)
    return figure


def linear() -> Figure:
    """Draw Q of the first of two rectified neurons against the angle of the input, for each bias rule."""
    angles = np.linspace(0, 90, 91)
    inputs = np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))], axis=1)
    figure = Figure(figsize=(5, 2.6), layout="constrained")
    axes = figure.subplots()
    rules = (("zero", "no biases"), ("circle", "exact biases"), ("line", "the paper's line, G0 = P - 1"))
    for (rule, name), colour in zip(rules, (BLACK, BLUE, ORANGE), strict=True):
        model = prepare(Elasticity(likelihood="linear", pull=1.0, bias_rule=rule), np.eye(2))
        axes.plot(angles, read(model, init(model), inputs).posterior[:, 0], color=colour, label=name)
    axes.set(xlabel="angle of the input (degrees); neurons at 0 and 90", ylabel="Q of the neuron at 0")
    axes.legend(frameon=False, fontsize=8)
    return figure


def springs() -> Figure:
    """Draw |F| of two centroids: ten inputs that belong to the first, silence, then five for the second."""
    model = prepare(Elasticity(kappa=10.0, pull=0.5, kernel=Exponential(memory=3.0)), np.eye(2))
    state, lengths = init(model), []
    inputs = [SLIGHTLY_UP] * 10 + [[0.0, 0.0]] * 12 + [[0.3, 0.95]] * 5 + [[0.0, 0.0]] * 13
    for x in inputs:
        state, _ = step(model, state, x)
        lengths.append(np.linalg.norm(short_term(model, state), axis=1))
    figure = Figure(figsize=(6, 2.4), layout="constrained")
    axes = figure.subplots()
    for values, colour, name in zip(np.array(lengths).T, COLOURS, ("first", "second"), strict=False):
        axes.plot(values, ".-", color=colour, label=f"{name} centroid")
    for start, stop in ((0, 9), (22, 26)):
        axes.axvspan(start - 0.5, stop + 0.5, color="0.92", zorder=0)
    axes.set(xlabel="observations (grey: input, white: silence)", ylabel="length of F")
    axes.legend(frameon=False, fontsize=8)
    return figure


def biases() -> Figure:
    """Draw the expected probability of the first kind while it is seen and afterwards."""
    figure = Figure(figsize=(6, 2.4), layout="constrained")
    axes = figure.subplots()
    for beta, colour in zip((0.1, 1.0, 10.0), COLOURS, strict=True):
        model = prepare(Elasticity(kappa=10.0, pull=0.5, beta=beta, kernel=Exponential(memory=3.0)), np.eye(2))
        state, values = init(model), []
        for t in range(30):
            state = step(model, state, SLIGHTLY_UP)[0] if t < 8 else relax(model, state, 1.0)
            values.append(expected(model, state)[0])
        axes.plot(values, ".-", color=colour, label=f"beta {beta:g}")
    axes.axvspan(-0.5, 7.5, color="0.92", zorder=0)
    axes.set(xlabel="observations (grey: input, white: silence)", ylabel="expected of kind 1", ylim=(0.45, 1.02))
    axes.legend(frameon=False, fontsize=8)
    return figure


def kernel() -> Figure:
    """Draw v(tau), and the exponential trace of the simulations."""
    lags = np.linspace(0.5, 100, 400)
    derived = measurement_kernel(lags, switch_rate=0.02)
    figure = Figure(figsize=(5, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(lags, derived, color=BLUE, label="derived: v(tau), alpha = 1 / 50 ms")
    axes.plot(lags, np.exp(-lags / 20), color=ORANGE, label="simulated: trace of 20 ms")
    axes.set(xlabel="output spike after input spike by tau (ms)", ylabel="growth (a.u.)", ylim=(0, None))
    axes.legend(frameon=False, fontsize=8)
    return figure


def sampling() -> Figure:
    """Draw the share of one neuron among the output spikes so far."""
    circuit, neurons = SamplingCircuit(kappa=3.0), sampling_weights(np.eye(2))
    frames = np.tile(np.array([[160, 120]], np.uint8), (300, 1))
    counts = respond(neurons, frames, circuit=circuit).counts.cumsum(axis=0)
    figure = Figure(figsize=(5, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(counts.sum(axis=1), counts[:, 0] / counts.sum(axis=1), color=ORANGE, label="share of neuron 1")
    target = posterior(neurons, np.array(SLIGHTLY_UP), circuit=circuit)[0]
    axes.axhline(target, color=BLACK, lw=0.8, ls="--", label="posterior Q")
    axes.set(xlabel="output spikes so far", ylabel="share", xscale="log")
    axes.legend(frameon=False, fontsize=8)
    return figure


def weight_dependence() -> Figure:
    """Draw theta against W."""
    weights = np.linspace(0, 1, 101)
    figure = Figure(figsize=(4.4, 2.4), layout="constrained")
    axes = figure.subplots()
    for c, colour in zip((1.0, 0.5, 0.0, -0.4), (BLACK, GREEN, BLUE, ORANGE), strict=True):
        axes.plot(weights, np.maximum(0, c + (1 - c) * weights), color=colour, label=f"c = {c:g}")
    axes.set(xlabel="resting weight W", ylabel="share of the pull")
    axes.legend(frameon=False, fontsize=8)
    return figure


def synapse() -> Figure:
    """Draw the spikes and F of one synapse of a single neuron."""
    circuit = Circuit(n_inputs=1, n_neurons=1)
    stdp = ShortTermStdp(pull=0.1, weight_dependence=1.0, memory_ms=300.0, tau_trace_ms=20.0)
    drive = np.arange(100, 300, 2)
    run = simulate_spikes(
        Weights(np.full((1, 1), 1.0), np.full(1, 20.0)),
        np.zeros(100, np.int64),
        drive,
        2000,
        circuit=circuit,
        short_term=stdp,
        neurons=[0],
        every_steps=1,
    )
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 2])
    top.eventplot([run.out_step * 0.5, drive * 0.5], colors=[BLACK, BLUE], linelengths=0.7, linewidths=0.7)
    top.set_yticks([0, 1], ["output", "input"])
    bottom.plot(run.sample_step * 0.5, run.short_term[:, 0, 0], color=ORANGE)
    bottom.set(xlabel="time (ms)", ylabel="F")
    return figure


def circuit_page(folder: Path) -> None:
    """Make the picture that the code of circuit.md draws."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        failed, _ = doctest.testfile(str(DOCS / "circuit.md"), module_relative=False, optionflags=flags)
        if failed:
            raise SystemExit("circuit.md does not do what it says")
        _small(Path("circuit.png"), folder / "circuit.png")


def _small(drawn: Path, kept: Path) -> None:
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(kept, optimize=True)
    os.unlink(drawn)


PICTURES = {
    "world": world,
    "posterior": posteriors,
    "best_vectors": best_vectors,
    "springs": springs,
    "biases": biases,
    "linear": linear,
    "kernel": kernel,
    "sampling": sampling,
    "weight_dependence": weight_dependence,
    "synapse": synapse,
}

if __name__ == "__main__":
    folder = DOCS / "theory"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, house_style():
        for name, draw in PICTURES.items():
            draw().savefig(Path(place) / f"{name}.png")
            _small(Path(place) / f"{name}.png", folder / f"{name}.png")
    circuit_page(folder)
