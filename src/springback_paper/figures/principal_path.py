"""A neuron follows its input and springs back, seen on a plane (supplement, "ST-STDP realizes elastic clustering")."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking.constants import steps
from springback.spiking.model import SpikingModel
from springback.streaming.records import Video
from springback.streaming.wording import percent
from springback_paper.figures.example_digit import Example, choose_example, example_in_words, record_neuron
from springback_paper.figures.exhibit import SUPPLEMENT, Exhibit
from springback_paper.figures.style import BLACK, GREEN, ORANGE, SKY, house_style
from springback_paper.figures.table import Table, stacked
from springback_paper.inputs.principal_plane import principal_plane

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PrincipalPath(Example):
    """The way of an input and of a neuron on the plane of the first two principal components of the input's frames.

    Both are directions, vectors scaled to length one: what counts in elastic clustering is the cosine between them. The
    frames of the digit are followed by noise, and by a pause without input.

    Parameters
    ----------
    neuron : int
        The neuron that fires most while the digit is shown.
    explained : float
        Share of the variance of the digit's frames in this plane.
    input_path : Floats
        (n, 2) the frames of the digit.
    resting : Floats
        (2,) W.
    time_ms, neuron_path : Floats
        (samples,), (samples, 2) G = W + F.
    snapshots : tuple[int, ...]
        Which samples are the last of a frame.
    n_digit, n_noise : int
        How many frames show the digit and the noise; the others are the pause.
    spikes : int
        Output spikes of the neuron in all.
    pulled_towards_input : float
        Mean cosine, in the space of all pixels, between the neuron's move while it fires and the way from it to the
        input; 0 would be by chance.
    relaxed_towards_rest : float
        The same between a move while it does not fire and the way to W.
    """

    neuron: int
    explained: float
    input_path: Floats
    resting: Floats
    time_ms: Floats
    neuron_path: Floats
    snapshots: tuple[int, ...]
    n_digit: int
    n_noise: int
    spikes: int
    pulled_towards_input: float
    relaxed_towards_rest: float


def run(
    model: SpikingModel, video: Video, *, label: int = 0, seed: int = 0, every_ms: float = 1.0, n_pause: int = 6
) -> PrincipalPath:
    """Record the most active neuron of the example digit, and go on without input for `n_pause` frames."""
    check.integer("n_pause", n_pause, low=0)
    example = choose_example(model, video, label=label, seed=seed)
    shown, neuron, dt_ms = example.shown, example.neuron, model.preset.circuit.dt_ms
    every = max(steps(check.real("every_ms", every_ms, above=0), dt_ms), 1)
    pause = np.zeros((n_pause, *shown.frame_shape), np.uint8)
    recording = record_neuron(model, np.concatenate([shown.frames, pause]), neuron, seed=seed, every_steps=every)
    resting = model.weights.resting[:, neuron].astype(np.float64)
    frames = _directions(shown.frames[: example.n_shown].reshape(example.n_shown, -1).astype(np.float64))
    efficacy = _directions(resting + recording.short_term[:, :, 0])
    centre, plane, explained = principal_plane(frames)
    steps_per_frame = steps(model.preset.streaming.show_ms, dt_ms)
    fired = recording.out_step[recording.out_index == neuron]
    samples_fired = np.bincount(-(-fired // every), minlength=len(efficacy) + 1)[: len(efficacy)] > 0
    seen = np.minimum(recording.sample_step // steps_per_frame, len(shown) + n_pause - 1)
    to_input = frames[np.minimum(seen, example.n_shown - 1)][1:] - efficacy[:-1]
    moves = np.diff(efficacy, axis=0)
    pulled = samples_fired[1:] & (seen[1:] < example.n_shown)
    relaxing = ~samples_fired[1:] & (np.abs(moves).max(axis=1) > 0)
    last_samples = [int(np.flatnonzero(seen == frame)[-1]) for frame in range(len(shown) + n_pause)]
    return PrincipalPath(
        **example.named(),
        neuron=neuron,
        explained=explained,
        input_path=(frames - centre) @ plane,
        resting=(_directions(resting) - centre) @ plane,
        time_ms=recording.sample_step.astype(np.float64) * dt_ms,
        neuron_path=(efficacy - centre) @ plane,
        snapshots=tuple(last_samples),
        n_digit=example.n_shown,
        n_noise=len(shown) - example.n_shown,
        spikes=len(fired),
        pulled_towards_input=_mean_cosine(moves[pulled], to_input[pulled]),
        relaxed_towards_rest=_mean_cosine(moves[relaxing], (_directions(resting) - efficacy[:-1])[relaxing]),
    )


def _directions(vectors: Floats) -> Floats:
    """Vectors scaled to length one; zero stays zero."""
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit


def _mean_cosine(one: Floats, other: Floats) -> float:
    cosines = (_directions(one) * _directions(other)).sum(axis=1)
    return float(cosines.mean()) if len(cosines) else float("nan")


ARROW_SHARE = 0.4
"""How much of the way to the input, and to rest, the arrows go."""


@house_style()
def draw(result: PrincipalPath) -> Figure:
    """The frames of the digit in green, the neuron's path in grey, then orange once noise has replaced the digit.

    Circles: the neuron at the end of each frame. The two arrows start where the neuron is half-way through the
    digit's new frames: blue towards its input, orange towards rest.
    """
    n_digit, n_video = result.n_digit, result.n_digit + result.n_noise
    path, ends = result.neuron_path, list(result.snapshots)
    pulled, after = path[: ends[n_digit - 1] + 1], path[ends[n_digit - 1] :]
    middle = min(5, n_digit - 1)
    here, there = path[ends[middle]], result.input_path[middle]
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(*result.input_path.T, "o-", color=GREEN, linewidth=1, markersize=5)
    axes.plot(*pulled.T, color="0.5", linewidth=1)
    axes.plot(*after.T, color=ORANGE, linewidth=1.5)
    axes.plot(*path[ends[:n_video]].T, "o", markerfacecolor="white", markeredgecolor=GREEN, markersize=5)
    axes.plot(*result.resting, "o", color=ORANGE, markersize=9)
    _draw_arrow(axes, here, here + ARROW_SHARE * (there - here), SKY)
    _draw_arrow(axes, here, here + ARROW_SHARE * (result.resting - here), ORANGE)
    _write(axes, "input", (result.input_path[-1] + there) / 2, (8, -8), GREEN)
    _write(axes, "neuron", path[ends[min(middle + 2, n_digit - 1)]], (8, -10), BLACK)
    _write(axes, "springs back", after[len(after) // 12], (-30, 8), ORANGE)
    _write(axes, "rest", result.resting, (6, 8), ORANGE)
    explained = percent(result.explained, 0)
    axes.set_xlabel(f"first principal component of the frames (both: {explained} % of their variance)")
    axes.set_ylabel("second principal component")
    axes.set_aspect("equal")
    axes.margins(0.06)
    return figure


def _write(axes: Axes, text: str, point: NDArray[Any], offset: tuple[int, int], colour: str) -> None:
    axes.annotate(text, (point[0], point[1]), xytext=offset, textcoords="offset points", color=colour)


def _draw_arrow(axes: Axes, start: NDArray[Any], end: NDArray[Any], colour: str) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (end[0], end[1]), xytext=(start[0], start[1]), arrowprops=look)


def table(result: PrincipalPath) -> Table:
    """Where the frames, the neuron over time, and its rest are on the plane."""

    def on_plane(points: Floats) -> dict[str, Floats]:
        return {"first_component": points[:, 0], "second_component": points[:, 1]}

    ends = np.zeros(len(result.time_ms), np.int64)
    ends[list(result.snapshots)] = 1
    return stacked(
        {
            "input": {"frame": range(len(result.input_path)), **on_plane(result.input_path)},
            "neuron": {"time_ms": result.time_ms, **on_plane(result.neuron_path), "is_the_end_of_a_frame": ends},
            "rest": on_plane(result.resting[None]),
        }
    )


EXHIBIT = Exhibit(
    title="Supplement: a neuron follows its input and springs back",
    section=SUPPLEMENT,
    draw=draw,
    table=table,
    shows="Input and efficacies on the first two principal components of the frames of a digit.",
    ran=example_in_words,
    paper='its figure in "ST-STDP realizes elastic clustering".',
    run=run,
)
