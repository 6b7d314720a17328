"""How the accuracy of the circuit grows with the number of its neurons and with what it has seen.

One preset, `springback_2026`, for every size; it shows the digits more often to more neurons. A network is read and
tested several times while it trains, so that the points along the presentations are of one and the same network.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import make_omnist
from springback.spiking.fitting import partly_trained
from springback.spiking.presets import springback_2026
from springback.streaming.records import Images
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.style import BLUE, RED, house_style, legend_above, note
from springback_paper.figures.table import Column, Table, tidy
from springback_paper.figures.three_readouts import READOUTS, read_network
from springback_paper.run_scope import Scope

Floats = NDArray[np.float64]

TESTS = ("still digits", "video")


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What to run.

    Parameters
    ----------
    neurons : tuple[int, ...]
        Sizes of the networks.
    shares : tuple[float, ...]
        Shares of an epoch after which a network is tested, besides the first epoch, the second and its last.
    n_labelling : int
        Training digits that label the neurons; 6,400 neurons need many digits.
    n_test : int
        Test digits.

    Examples
    --------
    >>> Growth(shares=(0.5, 1.5))
    Traceback (most recent call last):
    ValueError: Growth.shares must be <= 1; got 1.5
    """

    neurons: tuple[int, ...] = (25, 100, 400, 1600, 6400)
    shares: tuple[float, ...] = (0.05, 0.2)
    n_train: int = 60_000
    n_labelling: int = 60_000
    n_test: int = 1000

    def __post_init__(self) -> None:
        check.sizes(self, n_train=1, n_labelling=1, n_test=1)
        check.require(len(self.neurons) > 0, "Growth.neurons", "have at least one size", self.neurons)
        for share in self.shares:
            check.real("Growth.shares", share, above=0, high=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class GrowthResult:
    """The accuracy of every network, (sizes, presentations, tests, readouts).

    It is NaN where a network of that size was not tested.
    """

    neurons: NDArray[np.int64]
    presentations: NDArray[np.int64]
    tests: tuple[str, ...]
    readouts: tuple[str, ...]
    accuracy: Floats
    n_train: int
    n_labelling: int
    n_test: int
    seed: int


def run(params: Growth, train: Images, test: Images, *, seed: int = 0) -> GrowthResult:
    """Train one network of each size, and test it at each number of presentations."""
    shown, labelling, tested = train[: params.n_train], train[: params.n_labelling], test[: params.n_test]
    video = make_omnist(tested, seed=seed)
    presets = [springback_2026(n_neurons=n_neurons) for n_neurons in params.neurons]
    tests = [{*params.shares, 1, 2, preset.epochs} for preset in presets]
    moments = [sorted({max(1, round(share * len(shown))) for share in own}) for own in tests]
    seen = sorted(set().union(*moments))
    found = np.full((len(presets), len(seen), len(TESTS), len(READOUTS)), np.nan)
    for row, (preset, own) in enumerate(zip(presets, moments, strict=True)):
        for n_shown, model in zip(own, partly_trained(shown, preset, own, seed=seed), strict=True):
            network = read_network(model, labelling)
            still, moving = network.recognise(tested, seed=seed), network.follow(video, seed=seed)
            found[row, seen.index(n_shown)] = [
                [still[name] for name in READOUTS],
                [moving[name].accuracy for name in READOUTS],
            ]
    return GrowthResult(
        neurons=np.array(params.neurons, np.int64),
        presentations=np.array(seen, np.int64),
        tests=TESTS,
        readouts=READOUTS,
        accuracy=found,
        n_train=len(shown),
        n_labelling=len(labelling),
        n_test=len(tested),
        seed=seed,
    )


_COLOURS = {"still digits": BLUE, "video": RED}
_LINES = {"hard labels": "-", "likeliest": "--"}


@house_style()
def draw(result: GrowthResult) -> Figure:
    """Left: against the number of neurons, after all presentations; right: against presentations, for every size."""
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    panels: list[Axes] = list(figure.subplots(1, 2, sharey=True))
    for test, colour in _COLOURS.items():
        for readout, line in _LINES.items():
            right = 100 * result.accuracy[:, :, result.tests.index(test), result.readouts.index(readout)]
            look: dict[str, Any] = {"color": colour, "linestyle": line, "marker": "o", "markersize": 3.5}
            panels[0].plot(result.neurons, [_shown(row)[-1] for row in right], label=f"{test}, {readout}", **look)
    hard = 100 * result.accuracy[..., result.readouts.index("hard labels")]
    ends = []
    for row, n_neurons in enumerate(result.neurons):
        strength = 0.3 + 0.7 * (row + 1) / len(result.neurons)
        for test, colour in _COLOURS.items():
            values = hard[row, :, result.tests.index(test)]
            shown = result.presentations[~np.isnan(values)]
            panels[1].plot(shown, _shown(values), "o-", color=colour, alpha=strength, markersize=3)
        ends.append((f"{n_neurons:,}", float(shown[-1]), max(_shown(one)[-1] for one in hard[row].T)))
    for names, place, height in _labels_at_ends(ends):
        panels[1].annotate(names, (place, height), (4, 4), textcoords="offset points", fontsize=7, ha="right")
    for panel, places, label in (
        (panels[0], result.neurons, "neurons"),
        (panels[1], result.presentations, "presentations, hard labels"),
    ):
        named = _far_apart(places)
        panel.set_xscale("log")
        panel.set_xticks(named, [f"{place:,}" for place in named], fontsize=7, rotation=30)
        panel.minorticks_off()
        panel.set_xlabel(label)
        panel.grid(axis="y", color="0.93")
    panels[0].set_ylabel("accuracy (%)")
    legend_above(figure, panels[0], ncols=4, fontsize=7)
    note(figure, f"{result.n_test:,} test digits and their video; numbers at the lines are neurons")
    return figure


def _shown(values: Floats) -> Floats:
    """Accuracies where a network was tested."""
    return values[~np.isnan(values)]


def _labels_at_ends(ends: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Names at the ends of lines, (name, x, y); those less than two points above the last share a label.

    Examples
    --------
    >>> _labels_at_ends([("25", 3.0, 78.0), ("400", 3.0, 93.9), ("1,600", 4.0, 94.3)])
    [('25', 3.0, 78.0), ('400, 1,600', 4.0, 94.3)]
    """
    labels = ends[:1]
    for name, place, height in ends[1:]:
        before, near, low = labels[-1]
        if height - low < 2:
            labels[-1] = (f"{before}, {name}", max(near, place), max(low, height))
        else:
            labels.append((name, place, height))
    return labels


def _far_apart(places: NDArray[np.int64]) -> list[int]:
    """Those of the places on a logarithmic axis whose names have room: each at least twice the one before.

    Examples
    --------
    >>> _far_apart(np.array([60, 120, 180, 240]))
    [60, 120, 240]
    """
    kept: list[int] = []
    for place in places.tolist():
        if not kept or place >= 2 * kept[-1]:
            kept.append(place)
    return kept


def table(result: GrowthResult) -> Table:
    """The accuracy of every size after every number of presentations, by readout; NaN where it was not tested."""
    axes: dict[str, Column] = {
        "neurons": result.neurons,
        "presentations": result.presentations,
        "test": result.tests,
        "readout": result.readouts,
    }
    return tidy(axes, {"accuracy": result.accuracy, "test_digits": result.n_test})


def given(scope: Scope) -> dict[str, Growth]:
    """Every size and digit in a full run; otherwise up to the usual size, on the first digits."""
    sizes = Growth().neurons
    if scope.full and scope.limit is None:
        return {"params": Growth()}
    small = tuple(size for size in sizes if size < scope.neurons)[:2]
    n_train = min(4000, scope.limit or 4000)
    few = Growth(
        neurons=(*small, scope.neurons), shares=(0.2,), n_train=n_train, n_labelling=n_train, n_test=scope.few_digits
    )
    return {"params": few}


EXHIBIT = Exhibit(
    title="Growth with neurons and with presentations",
    section=THEORY,
    draw=draw,
    table=table,
    shows="The circuit with one preset for every size, on still digits and on the video, with short-term STDP.",
    ran=lambda r: (
        f"networks of {', '.join(f'{n:,}' for n in r.neurons)} neurons, trained on {r.n_train:,} digits, labelled with "
        f"{r.n_labelling:,} of them, tested on {r.n_test:,} test digits, seed {r.seed}."
    ),
    paper="400 neurons, after one epoch.",
    run=run,
    given=given,
    seconds=25,
    full_seconds=3600,
)
