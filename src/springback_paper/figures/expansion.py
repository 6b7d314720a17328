"""A neuron takes on a form of its digit that it never learned, for as long as it is shown.

Supplement, "ST-STDP temporarily reshapes the internal representation of neurons".

Only a synapse with `c + (1 - c) W > 0` can be pulled. With c < 0, as in the preset tuned for accuracy, weak synapses
never are: a neuron strengthens what it knows. Here c > 0, so that every synapse can be pulled.
"""

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking.model import SpikingModel
from springback.streaming import readout
from springback.streaming.records import NOISE_LABEL, Video
from springback.streaming.wording import percent
from springback_paper.figures.example_digit import digit_stretches, short_term_after_each, spikes_to
from springback_paper.figures.exhibit import SUPPLEMENT, Exhibit
from springback_paper.figures.style import BLACK, ORANGE, bare, house_style, thin_bar
from springback_paper.figures.table import Table, pictures, stacked


@dataclass(frozen=True, kw_only=True, eq=False)
class Expansion:
    """One digit that a neuron recognises to its last frame by ink that its weights hardly know.

    Parameters
    ----------
    label, digit : int
        Its class, and which source image of the video it is.
    video : str
        The name of the video.
    weight_dependence : float
        Weight dependence of the pull.
    neuron : int
        The neuron that fires most in the last frame.
    unfamiliar : float
        Share of the ink of the last frame on synapses weaker than the neuron's average.
    candidates : NDArray[np.float64]
        (m,) this share for every digit that was kept, in the order of the video.
    n_tried : int
        How many digits of the class were shown.
    frames : NDArray[np.uint8]
        (n, height, width) uint8, the frames of the digit, with the rows hidden (n,) int16.
    spikes : NDArray[np.int32]
        (n,) output spikes of the neuron in each frame.
    static_spikes : NDArray[np.int32]
        (n,) the same without short-term STDP.
    resting : NDArray[np.float32]
        (height, width) its weights W.
    efficacy : NDArray[np.float32]
        (height, width) its efficacies G = W + F at the end of the last frame.
    relaxed : NDArray[np.float32]
        (height, width) G at the end of the noise after the digit.
    resting_overlap, efficacy_overlap : float
        Cosine of the last frame with W and with G.
    """

    label: int
    digit: int
    video: str
    weight_dependence: float
    neuron: int
    unfamiliar: float
    candidates: NDArray[np.float64]
    n_tried: int
    frames: NDArray[np.uint8]
    rows_hidden: NDArray[np.int16]
    spikes: NDArray[np.int32]
    static_spikes: NDArray[np.int32]
    resting: NDArray[np.float32]
    efficacy: NDArray[np.float32]
    relaxed: NDArray[np.float32]
    resting_overlap: float
    efficacy_overlap: float


def run(
    model: SpikingModel,
    video: Video,
    *,
    label: int = 9,
    weight_dependence: float = 0.1,
    n_digits: int = 200,
    seed: int = 0,
) -> Expansion:
    """Of the first `n_digits` of a class, the one that is kept by the most unfamiliar ink.

    Kept: the last frame of the digit is answered correctly, the neuron that fires most in it is of the right class, and
    this neuron already fired in the first frame. Every digit is shown from rest.
    """
    check.integer("n_digits", n_digits, low=1)
    check.real("weight_dependence", weight_dependence, high=1)
    widened = model.streaming_as(short_term=replace(model.preset.short_term, weight_dependence=weight_dependence))
    tried = digit_stretches(video, label)[:n_digits]
    kept: list[tuple[float, Video, int]] = []
    for shown in tried:
        counts = spikes_to(widened, shown.frames, seed=seed)
        last = _n_shown(shown) - 1
        neuron = int(counts[last].argmax())
        right = readout.classify(counts[last : last + 1], model.neuron_labels)[0] == label
        if right and model.neuron_labels[neuron] == label and counts[0, neuron] > 0:
            kept.append((unfamiliar_ink(shown.frames[last], model.weights.resting[:, neuron]), shown, neuron))
    check.require(len(kept) > 0, "video", f"show a {label} that is recognised to its last frame", f"{len(tried)} lost")
    share, shown, neuron = max(kept, key=lambda one: one[0])
    n = _n_shown(shown)
    resting = model.weights.resting[:, neuron]
    short_term = [now[:, neuron] for now in short_term_after_each(widened, shown.frames, seed=seed)]
    efficacy, relaxed = resting + short_term[n - 1], resting + short_term[-1]
    return Expansion(
        label=label,
        digit=int(shown.digit[0]),
        video=video.name,
        weight_dependence=weight_dependence,
        neuron=neuron,
        unfamiliar=share,
        candidates=np.array([one for one, _, _ in kept]),
        n_tried=len(tried),
        frames=shown.frames[:n],
        rows_hidden=shown.rows_hidden[:n],
        spikes=spikes_to(widened, shown.frames, seed=seed)[:n, neuron],
        static_spikes=spikes_to(widened, shown.frames, adapts=False, seed=seed)[:n, neuron],
        resting=resting.reshape(shown.frame_shape),
        efficacy=efficacy.reshape(shown.frame_shape),
        relaxed=relaxed.reshape(shown.frame_shape),
        resting_overlap=_cosine(shown.frames[n - 1], resting),
        efficacy_overlap=_cosine(shown.frames[n - 1], efficacy),
    )


def unfamiliar_ink(frame: NDArray[np.uint8], resting: NDArray[np.float32]) -> float:
    """Share of a frame's ink on synapses that are weaker than the neuron's average; 0 if there is no ink.

    Examples
    --------
    >>> unfamiliar_ink(np.array([[100, 50], [50, 0]], np.uint8), np.array([0.9, 0.1, 0.8, 0.0], np.float32))
    0.25
    """
    ink = frame.astype(np.float64).ravel()
    return float(ink[resting < resting.mean()].sum() / max(ink.sum(), 1.0))


def _n_shown(video: Video) -> int:
    return int((video.labels != NOISE_LABEL).sum())


def _cosine(frame: NDArray[np.uint8], synapses: NDArray[np.float32]) -> float:
    ink = frame.astype(np.float64).ravel()
    lengths = float(np.linalg.norm(ink)) * float(np.linalg.norm(synapses))
    return float(ink @ synapses) / max(lengths, 1e-12)


@house_style()
def draw(result: Expansion) -> Figure:
    """a: the frames and the neuron's spikes; b: its weights; c: its efficacies in the last frame; d: after noise."""
    n = len(result.frames)
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=[0.42, 1])
    places = grid[0].subgridspec(1, n)
    strip = [figure.add_subplot(places[0, column]) for column in range(n)]
    for panel, frame, adapting, static in zip(strip, result.frames, result.spikes, result.static_spikes, strict=True):
        panel.imshow(frame, cmap="gray_r", vmin=0, vmax=255)
        bare(panel)
        for height, spikes, colour in ((-0.12, adapting, ORANGE), (-0.5, static, BLACK)):
            panel.text(0.5, height, spikes, transform=panel.transAxes, ha="center", va="top", fontsize=8, color=colour)
    strip[0].set_title("a", loc="left", fontweight="bold")
    for height, name, colour in ((-0.12, "short-term STDP", ORANGE), (-0.5, "static", BLACK)):
        strip[0].text(
            -0.15, height, f"{name}: spikes", transform=strip[0].transAxes, ha="right", va="top", fontsize=7,
            color=colour
        )  # fmt: skip
    places = grid[1].subgridspec(1, 3)
    maps = [figure.add_subplot(places[0, column]) for column in range(3)]
    titles = (
        ("b", "at rest: W", result.resting, f"cosine to last frame {result.resting_overlap:.2f}"),
        ("c", "last frame: G = W + F", result.efficacy, f"cosine to last frame {result.efficacy_overlap:.2f}"),
        ("d", "after the noise: springing back", result.relaxed, ""),
    )
    top = float(result.efficacy.max())
    for panel, (letter, title, picture, note) in zip(maps, titles, strict=True):
        drawn = panel.imshow(picture, cmap="cividis", norm=PowerNorm(0.5, 0, top), interpolation="nearest")
        panel.set_title(f"$\\bf{{{letter}}}$  {title}", loc="left", fontsize=8)
        panel.set_xlabel(note, fontsize=7, labelpad=3)
        bare(panel, framed=True)
    bar = thin_bar(figure, drawn, maps, "efficacy (square-root scale)", fraction=0.025)
    bar.set_ticks([0, 0.1, 0.5, 1, 2, 4], labels=["0", "0.1", "0.5", "1", "2", "4"])
    return figure


def table(result: Expansion) -> Table:
    """The frames with the neuron's spikes in each, and its synapses in the three states that are shown."""
    spikes = {"spikes": result.spikes, "spikes_without_st_stdp": result.static_spikes}
    synapses = np.stack([result.resting, result.efficacy, result.relaxed])
    return stacked(
        {
            "frames": pictures(
                "brightness_of_255",
                result.frames,
                {"frame": range(len(result.frames))},
                **{name: values[:, None, None] for name, values in spikes.items()},
            ),
            "synapses": pictures("efficacy", synapses, {"state": ("at rest", "last frame", "after the noise")}),
        }
    )


EXHIBIT = Exhibit(
    title="Supplement: a representation that expands temporarily",
    section=SUPPLEMENT,
    draw=draw,
    table=table,
    shows="A digit that a neuron recognises to its last frame by ink its weights hardly know.",
    ran=lambda r: (
        f"the first {r.n_tried} test digits of class {r.label}, c = {r.weight_dependence:g}; "
        f"of the {len(r.candidates)} that were kept, the one with most unfamiliar ink ({percent(r.unfamiliar, 0)} %)."
    ),
    paper="a nine with an unusual tail, its figure of temporary expansion.",
    run=run,
)
