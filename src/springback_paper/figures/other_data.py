"""Other data with the same settings: clothes instead of digits, and events of a camera instead of frames.

Nothing is tuned for them: the preset is that of the digits, and events go into the network that was trained on still
digits. An event camera reports changes alone, so a digit that stands still gives no spikes, and the last answer holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import change_events, make_omnist
from springback.spiking import RunState
from springback.spiking.exchange import simulate
from springback.spiking.fitting import train_model
from springback.spiking.model import SpikingModel
from springback.spiking.presets import springback_2026
from springback.streaming.metrics import accuracy
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.style import BLUE, ORANGE, house_style, legend_above
from springback_paper.figures.table import Table, tidy
from springback_paper.figures.three_readouts import READOUTS, ReadNetwork, read_network
from springback_paper.inputs.digits import Digits
from springback_paper.run_scope import Scope

Floats = NDArray[np.float64]

DIGITS, ON, BOTH, CLOTHES = "digits, frames", "digits, on events", "digits, on and off events", "clothes, frames"
SOURCES = (DIGITS, ON, BOTH, CLOTHES)
WAYS = ("static, at its own best", "short-term STDP")

_FRAMES_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class OtherData:
    """What to run.

    Parameters
    ----------
    n_test : int
        Test images of each video.
    n_labelling : int
        Training images that label the neurons.
    neurons : int
        Neurons of the network that is trained on clothes.
    levels_per_event : float
        See `change_events`; with 8, a pixel that lights up gives about as many spikes as in a frame.
    """

    n_test: int = 1000
    n_labelling: int = 60_000
    neurons: int = 400
    levels_per_event: float = 8.0

    def __post_init__(self) -> None:
        check.sizes(self, n_test=1, n_labelling=1, neurons=1)
        check.real("OtherData.levels_per_event", self.levels_per_event, above=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherDataResult:
    """The accuracy on every source.

    Parameters
    ----------
    accuracy : Floats
        On the frames of a video that show an object, (sources, ways, readouts).
    still : Floats
        On still images, by hard labels, (sources,); NaN for events, which still images do not have.
    """

    sources: tuple[str, ...]
    ways: tuple[str, ...]
    readouts: tuple[str, ...]
    accuracy: Floats
    still: Floats
    n_test: int
    n_labelling: int
    seed: int


def run(
    params: OtherData,
    model: SpikingModel,
    train: Images,
    test: Images,
    clothes_train: Images,
    clothes_test: Images,
    *,
    seed: int = 0,
) -> OtherDataResult:
    """The network of the digits on frames and events, and one that is trained on clothes on frames."""
    digits = read_network(model, train[: params.n_labelling])
    preset = springback_2026(n_neurons=params.neurons)
    worn = train_model(clothes_train, preset, seed=seed, data="fashion-mnist train")
    clothes = read_network(worn, clothes_train[: params.n_labelling])
    tested, worn_tested = test[: params.n_test], clothes_test[: params.n_test]
    video, worn_video = make_omnist(tested, seed=seed), make_omnist(worn_tested, seed=seed)
    found = {
        DIGITS: _on_frames(digits, video, seed),
        ON: _on_events(digits, video, params, "on", seed),
        BOTH: _on_events(digits, video, params, "merged", seed),
        CLOTHES: _on_frames(clothes, worn_video, seed),
    }
    still = {
        DIGITS: digits.recognise(tested, seed=seed)["hard labels"],
        CLOTHES: clothes.recognise(worn_tested, seed=seed)["hard labels"],
    }
    return OtherDataResult(
        sources=SOURCES,
        ways=WAYS,
        readouts=READOUTS,
        accuracy=np.array([found[source] for source in SOURCES]),
        still=np.array([still.get(source, np.nan) for source in SOURCES]),
        n_test=len(tested),
        n_labelling=min(params.n_labelling, len(train)),
        seed=seed,
    )


def _ways(network: ReadNetwork) -> dict[bool, ReadNetwork]:
    """The network without short-term STDP at its own best, and with it, by whether it adapts."""
    return {False: network._replace(model=network.model.static()), True: network}


def _on_frames(network: ReadNetwork, video: Video, seed: int) -> list[list[float]]:
    scores = [one.follow(video, adapts=adapts, seed=seed) for adapts, one in _ways(network).items()]
    return [[_of_objects(score[name].predicted, video) for name in READOUTS] for score in scores]


def _on_events(network: ReadNetwork, video: Video, params: OtherData, polarity: str, seed: int) -> list[list[float]]:
    found = []
    for adapts, one in _ways(network).items():
        answers = event_answers(one, video, params, polarity, adapts=adapts, seed=seed)
        found.append([_of_objects(answers[name], video) for name in READOUTS])
    return found


def event_answers(
    network: ReadNetwork, video: Video, params: OtherData, polarity: str, *, adapts: bool, seed: int
) -> Mapping[str, NDArray[np.int64]]:
    """The answer to each frame of the events of a video, by readout; without a spike, the last answer holds."""
    circuit, shown_ms = network.model.preset.circuit, network.model.preset.streaming.show_ms
    per_frame = round(shown_ms / circuit.dt_ms)
    state: RunState | None = None
    before: NDArray[np.uint8] | None = None
    counts = []
    for number, part in enumerate(video.chunks(_FRAMES_AT_ONCE)):
        frames = part.frames
        events = change_events(
            frames,
            before=before,
            levels_per_event=params.levels_per_event,
            frame_ms=shown_ms,
            seed=[seed, number],
        )
        form: dict[str, Any] = {"unit": "us", "shape": frames.shape[1:], "polarity": polarity}
        lasts = len(frames) * shown_ms * 1e-3
        ran = simulate(network.model, events, adapts=adapts, state=state, duration_s=lasts, **form)
        fired = np.zeros((len(frames), circuit.n_neurons), np.int32)
        np.add.at(fired, (ran.out_step // per_frame, ran.out_index), 1)
        counts.append(fired)
        before, state = frames[-1], ran.state
    every = np.concatenate(counts)
    last = np.maximum.accumulate(np.where(every.sum(axis=1) > 0, np.arange(len(every)), -1))
    found = network.answers(every)
    return {name: np.where(last < 0, NOISE_LABEL, answers[last]) for name, answers in found.items()}


def _of_objects(answers: NDArray[np.int64], video: Video) -> float:
    """The accuracy on the frames that show an object, not noise."""
    shown = video.labels != NOISE_LABEL
    return accuracy(answers[shown], video.labels[shown])


@house_style()
def draw(result: OtherDataResult) -> Figure:
    """A row for each source; without short-term STDP and with it, by hard labels."""
    figure = Figure(figsize=(5.4, 2.2), layout="constrained")
    panel = figure.subplots()
    places, hard = np.arange(len(result.sources)), result.readouts.index("hard labels")
    for column, (way, colour) in enumerate(zip(result.ways, (ORANGE, BLUE), strict=True)):
        panel.scatter(100 * result.accuracy[:, column, hard], places, color=colour, s=22, label=way, zorder=3)
    panel.scatter(100 * result.still, places, marker="|", color="0.4", s=60, label="still images")
    panel.set_yticks(places, result.sources)
    panel.invert_yaxis()
    panel.grid(axis="x", color="0.93")
    panel.set_axisbelow(True)
    panel.set_xlabel("accuracy (%) on the frames of a video that show an object")
    legend_above(figure, panel, ncols=3, fontsize=8)
    return figure


def table(result: OtherDataResult) -> Table:
    """The accuracy on every source, without and with short-term STDP, by readout."""
    still = result.still[:, None, None]
    axes = {"source": result.sources, "way": result.ways, "readout": result.readouts}
    return tidy(axes, {"accuracy": result.accuracy, "still_accuracy": still, "test_images": result.n_test})


def given(scope: Scope) -> dict[str, Any]:
    """The images of clothes, and fewer of everything in a quick look."""
    few = {} if scope.limit is None else {"n_test": scope.few_digits}
    clothes = {f"clothes_{split}": Digits(split, scope.limit, "fashion-mnist") for split in ("train", "test")}
    return {"params": OtherData(neurons=scope.neurons, **few), **clothes}


EXHIBIT = Exhibit(
    title="Other data, same settings",
    section=THEORY,
    draw=draw,
    table=table,
    shows=(
        "The preset of the digits on clothes (Fashion-MNIST), and the network of the digits on the events of a camera: "
        "pixels that become brighter, or change at all."
    ),
    ran=lambda r: (
        f"videos of {r.n_test:,} test images, labels from {r.n_labelling:,} training images, seed {r.seed}; where no "
        "neuron fires in a frame of events, the last answer holds."
    ),
    paper="digits and frames only.",
    run=run,
    given=given,
    seconds=300,
    only_full=True,
)
