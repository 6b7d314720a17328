"""Fig. 3c: which neurons answer, frame by frame, while a digit is being hidden, with and without short-term STDP."""

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking.model import SpikingModel
from springback.spiking.plots import mosaic
from springback.streaming import readout
from springback.streaming.records import NOISE_LABEL, Video
from springback_paper.figures.example_digit import Example, choose_example, example_in_words, short_term_after_each
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import BLUE, RED, bare, house_style, thin_bar
from springback_paper.figures.table import Table, pictures, stacked, tidy

Floats = NDArray[np.float32]
Counts = NDArray[np.int32]
Labels = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ActiveNeurons(Example):
    """The m most active neurons in each of n frames; `static_`: without short-term STDP, `adapting_`: with it.

    Parameters
    ----------
    frame_ms : float
        How long each frame is shown.
    frames, labels, rows_hidden
        (n, height, width) uint8, (n,), (n,) with -1 on noise.
    telling : tuple[int, ...]
        The frames that are drawn.
    *_neurons, *_spikes
        (n, m) the most active first, and their output spikes in the frame.
    *_resting
        (n, m, height, width) their resting weights W.
    adapting_efficacy : Floats
        (n, m, height, width) their efficacies G = W + F at the end of the frame.
    *_answers
        (n,) the class answered, 10 for noise.
    """

    frame_ms: float
    frames: NDArray[np.uint8]
    labels: Labels
    rows_hidden: NDArray[np.int16]
    telling: tuple[int, ...]
    static_neurons: Labels
    static_spikes: Counts
    static_resting: Floats
    static_answers: Labels
    adapting_neurons: Labels
    adapting_spikes: Counts
    adapting_resting: Floats
    adapting_efficacy: Floats
    adapting_answers: Labels


def run(model: SpikingModel, video: Video, *, label: int = 0, seed: int = 0, n_most: int = 9) -> ActiveNeurons:
    """Show the example digit (see `choose_example`) with and without short-term STDP."""
    check.integer("n_most", n_most, low=1, high=model.preset.circuit.n_neurons)
    example = choose_example(model, video, label=label, seed=seed)
    shown, resting = example.shown, model.weights.resting
    short_term = short_term_after_each(model, shown.frames, seed=seed)
    static, adapting = (_most_active(counts, n_most) for counts in (example.static_counts, example.adapting_counts))
    grid = (len(shown), n_most, *shown.frame_shape)
    stretched = [resting[:, row] + now[:, row] for row, now in zip(adapting, short_term, strict=True)]
    return ActiveNeurons(
        **example.named(),
        frame_ms=model.preset.streaming.show_ms,
        frames=shown.frames,
        labels=shown.labels,
        rows_hidden=shown.rows_hidden,
        telling=example.telling_frames,
        static_neurons=static,
        static_spikes=np.take_along_axis(example.static_counts, static, axis=1),
        static_resting=resting.T[static].reshape(grid),
        static_answers=readout.classify(example.static_counts, model.neuron_labels),
        adapting_neurons=adapting,
        adapting_spikes=np.take_along_axis(example.adapting_counts, adapting, axis=1),
        adapting_resting=resting.T[adapting].reshape(grid),
        adapting_efficacy=np.stack([one.T for one in stretched]).reshape(grid),
        adapting_answers=readout.classify(example.adapting_counts, model.neuron_labels),
    )


def _most_active(counts: Counts, n_most: int) -> Labels:
    """The most active neurons of each frame, the first of equals first, (n, n_most)."""
    return np.argsort(-counts, axis=1, kind="stable")[:, :n_most].astype(np.int64)


EMPTY_GREY = 0.94


@house_style()
def draw(result: ActiveNeurons, *, of_efficacy: bool = False) -> Figure:
    """For each telling frame: what is seen, and which neurons answer without and with short-term STDP.

    The maps are resting weights W, as in the paper; with `of_efficacy` those of the third row are G = W + F. A neuron
    that did not fire leaves its place empty.
    """
    top = max(int(result.static_spikes.max()), int(result.adapting_spikes.max()), 1)
    scale = ScalarMappable(Normalize(0, top), _light_to_dark())
    adapting_maps = result.adapting_efficacy if of_efficacy else result.adapting_resting
    rows = (
        ("static", result.static_resting, result.static_spikes, result.static_answers),
        ("short-term\nSTDP", adapting_maps, result.adapting_spikes, result.adapting_answers),
    )
    n = len(result.telling)
    figure = Figure(figsize=(7.2, 2.35), layout="constrained")
    panels = figure.subplots(3, n, gridspec_kw={"height_ratios": [0.72, 1, 1]})
    bare(*panels.ravel())
    for column, frame in enumerate(result.telling):
        panels[0, column].imshow(result.frames[frame], cmap="gray_r", vmin=0, vmax=255)
        panels[0, column].set_title(f"{frame * result.frame_ms:.0f}", fontsize=7, pad=2)
        for row, (_, maps, spikes, answers) in enumerate(rows, start=1):
            panels[row, column].imshow(_mosaic(maps[frame], spikes[frame], scale), interpolation="nearest")
            right = answers[frame] == result.labels[frame]
            panels[row, column].set_xlabel(
                _name(answers[frame]), fontsize=7, labelpad=2, color=BLUE if right else RED,
                fontweight="normal" if right else "bold"
            )  # fmt: skip
    for panel, (name, *_) in zip(panels[1:, 0], rows, strict=True):
        panel.set_ylabel(name, fontsize=8)
    panels[0, 0].set_ylabel("from (ms)\nframe", fontsize=7)
    thin_bar(figure, scale, panels[1:, :], f"spikes in {result.frame_ms:g} ms", fraction=0.02, aspect=25)
    return figure


def _light_to_dark() -> LinearSegmentedColormap:
    """The darker part of viridis, turned round: few spikes green, many dark violet, all visible on white."""
    return LinearSegmentedColormap.from_list("spikes", mpl.colormaps["viridis"](np.linspace(0.8, 0.0, 64)))


def _mosaic(maps: NDArray[np.float32], spikes: NDArray[np.int32], scale: ScalarMappable) -> NDArray[np.float64]:
    """The maps of one frame in a square, each from white (no weight) to the colour of its spikes."""
    coloured = np.full((*maps.shape, 3), EMPTY_GREY)
    for place in np.flatnonzero(spikes):
        colour = np.array(scale.to_rgba(spikes[place])[:3])
        share = maps[place] / max(float(maps[place].max()), 1e-12)
        coloured[place] = 1 - share[..., None] * (1 - colour)
    return mosaic(coloured, empty=1.0)


def _name(answer: int) -> str:
    return "noise" if answer == NOISE_LABEL else str(answer)


def table(result: ActiveNeurons) -> Table:
    """The frames that are shown, the most active neurons in each, and the resting weights of all these neurons."""
    telling = list(result.telling)
    about = {"from_ms": np.array(telling) * result.frame_ms, "label": result.labels[telling]}
    panels: dict[str, Table] = {
        "frames": pictures(
            "brightness_of_255",
            result.frames[telling],
            {"frame": telling},
            **{name: values[:, None, None] for name, values in about.items()},
            rows_hidden=result.rows_hidden[telling][:, None, None],
        )
    }
    maps: dict[int, Floats] = {}
    for model in ("static", "adapting"):
        neurons, spikes, answers, resting = (
            getattr(result, f"{model}_{what}")[telling] for what in ("neurons", "spikes", "answers", "resting")
        )
        columns = {name: values[:, None] for name, values in {**about, "answer": answers}.items()}
        places = {"frame": telling, "place": range(neurons.shape[1])}
        panels[model] = tidy(places, {**columns, "neuron": neurons, "spikes": spikes})
        maps |= dict(zip(neurons.ravel().tolist(), resting.reshape(-1, *resting.shape[2:]), strict=True))
    panels["weights"] = pictures("weight", np.stack([maps[one] for one in sorted(maps)]), {"neuron": sorted(maps)})
    return stacked(panels)


EXHIBIT = Exhibit(
    title="Fig. 3c: which neurons answer while a digit is being hidden",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows=(
        "For each 350 ms the nine most active neurons without and with ST-STDP, as maps of their resting weights, "
        "coloured by their number of spikes."
    ),
    ran=example_in_words,
    paper="a zero that stays recognised, and noise that stays silent, only with ST-STDP.",
    run=run,
)
