"""The engine and Brian2 with its own integrators: how spike counts and times approach each other as the step falls.

Given the same integration step, the engine agrees with Brian2 spike for spike (tests/spiking/test_reference.py). Here,
Brian2 integrates the same equations by methods of its own, and input spikes come at the same times for every step.
Three networks: neurons without inhibition, whose errors stay with them; the winner-take-all circuit, in which a spike
that comes a little later can make another neuron win, so that single trials part for good; and the circuit with
short-term STDP, which adds a memory of who won.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.compiled import njit
from springback.spiking.recorded_runs import simulate_spikes
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import BLACK, BLUE, ORANGE, RED, SKY, house_style, legend_above, note
from springback_paper.figures.table import Column, Table, tidy
from springback_paper.inputs.brian2_runs import GRID_MS, NETWORKS, Brian2Runs, recorded_runs

Floats = NDArray[np.float64]

PAIRED_MS = 2.0
"""Spikes of one neuron that are at most this far apart are the same spike; refractory times of 5 ms leave no choice."""

OURS, RK4, EXPONENTIAL, FINEST = "springback", "rk4", "exponential_euler", "finest"
COMPARISONS = ((OURS, RK4), (OURS, EXPONENTIAL), (OURS, FINEST), (RK4, FINEST), (EXPONENTIAL, FINEST))
"""Who is compared with whom: at the same step, or with Brian2's rk4 at the finest step."""


class TrialSpikes(NamedTuple):
    """The output spikes of all trials: the trial, the neuron, and the time in ms, sorted in this order."""

    trial: NDArray[np.int64]
    neuron: NDArray[np.int64]
    time_ms: Floats


class Difference(NamedTuple):
    """How two runs differ.

    Parameters
    ----------
    counts : float
        The summed difference of the spike counts of every neuron in every trial, as a share of the second run's spikes.
    unpaired : float
        The share of spikes that have no partner within `PAIRED_MS`.
    first_ms : float
        The difference of the time of the first spike of a trial, mean over the trials in which both fire.
    """

    counts: float
    unpaired: float
    first_ms: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Convergence:
    """Differences at each step (networks, comparisons, steps); NaN where Brian2 was not run.

    Parameters
    ----------
    dt_ms : Floats
        The steps, longest first.
    n_spikes : Floats
        (networks, 3, steps) spikes of the engine, of rk4 and of exponential Euler.
    finest_ms : float
        The step of the finest run.
    """

    networks: tuple[str, ...]
    comparisons: tuple[tuple[str, str], ...]
    dt_ms: Floats
    counts: Floats
    unpaired: Floats
    first_ms: Floats
    n_spikes: Floats
    n_trials: tuple[int, ...]
    finest_ms: float
    version: str

    def of(self, measure: str, network: str, one: str, other: str) -> Floats:
        """One measure against the step."""
        values: Floats = getattr(self, measure)[self.networks.index(network), self.comparisons.index((one, other))]
        return values


def run() -> Convergence:
    """Run the engine at every step, and compare it with what Brian2 did."""
    runs = recorded_runs()
    steps = np.array(sorted(set(runs.dt_ms), reverse=True))
    shape = (len(NETWORKS), len(COMPARISONS), len(steps))
    found = {name: np.full(shape, np.nan) for name in Difference._fields}
    n_spikes = np.full((len(NETWORKS), 3, len(steps)), np.nan)
    for row, network in enumerate(NETWORKS):
        finest = brian2_spikes(runs, network, RK4, float(steps[-1]))
        for at, dt_ms in enumerate(steps):
            who = {OURS: engine_spikes(runs, network, float(dt_ms)), FINEST: finest}
            who |= {method: brian2_spikes(runs, network, method, float(dt_ms)) for method in (RK4, EXPONENTIAL)}
            for place, name in enumerate((OURS, RK4, EXPONENTIAL)):
                one = who[name]
                n_spikes[row, place, at] = np.nan if one is None else len(one.trial)
            for column, (first, second) in enumerate(COMPARISONS):
                one, other = who[first], who[second]
                if one is not None and other is not None:
                    for name, value in zip(Difference._fields, difference(one, other), strict=True):
                        found[name][row, column, at] = value
    return Convergence(
        networks=NETWORKS,
        comparisons=COMPARISONS,
        dt_ms=steps,
        **found,
        n_spikes=n_spikes,
        n_trials=tuple(len(runs.trials[network]) for network in NETWORKS),
        finest_ms=float(steps[-1]),
        version=runs.version,
    )


def engine_spikes(runs: Brian2Runs, network: str, dt_ms: float) -> TrialSpikes:
    """The output spikes of the engine, in double precision, driven by the recorded input spikes."""
    circuit, weights, per_grid = runs.circuit(network, dt_ms), runs.weights, round(GRID_MS / dt_ms)
    found = []
    for trial in runs.trials[network]:
        index, time = runs.inputs(trial)
        ran = simulate_spikes(
            weights,
            index,
            time * per_grid,
            round(runs.trial_ms[network] / dt_ms),
            circuit=circuit,
            short_term=runs.plasticity(network),
        )
        found.append((np.full(len(ran.out_index), trial), ran.out_index, ran.out_step * dt_ms))
    return _sorted(found)


def brian2_spikes(runs: Brian2Runs, network: str, method: str, dt_ms: float) -> TrialSpikes | None:
    """The recorded output spikes of Brian2; None if it was not run in this way."""
    number = runs.run_of(network, method, dt_ms)
    if number is None:
        return None
    found = []
    for trial in runs.trials[network]:
        index, step = runs.outputs(number, trial)
        found.append((np.full(len(index), trial), index, step * dt_ms))
    return _sorted(found)


def _sorted(found: list[tuple[Any, Any, Any]]) -> TrialSpikes:
    trial, neuron, time = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((time, neuron, trial))
    return TrialSpikes(trial[order].astype(np.int64), neuron[order].astype(np.int64), time[order].astype(np.float64))


def difference(one: TrialSpikes, other: TrialSpikes) -> Difference:
    """How far one run is from another.

    Examples
    --------
    >>> one = TrialSpikes(np.array([0, 0]), np.array([3, 4]), np.array([10.0, 20.0]))
    >>> other = TrialSpikes(np.array([0, 0]), np.array([3, 5]), np.array([10.5, 20.0]))
    >>> difference(one, other)
    Difference(counts=1.0, unpaired=0.5, first_ms=0.5)
    """
    size = 1 + max(int(part.max(initial=0)) for part in (one.trial, other.trial, one.neuron, other.neuron))
    key, key_of_other = (spikes.trial * size + spikes.neuron for spikes in (one, other))
    counts = np.bincount(key, minlength=size**2) - np.bincount(key_of_other, minlength=size**2)
    paired = int(_pairs(key, one.time_ms, key_of_other, other.time_ms, PAIRED_MS + 1e-9))
    both = np.intersect1d(one.trial, other.trial)
    gaps = [abs(one.time_ms[one.trial == t].min() - other.time_ms[other.trial == t].min()) for t in both]
    return Difference(
        counts=float(np.abs(counts).sum() / len(key_of_other)),
        unpaired=1 - 2 * paired / (len(key) + len(key_of_other)),
        first_ms=float(np.mean(gaps)),
    )


@njit(cache=True)
def _pairs(key: Any, time: Any, key_of_other: Any, time_of_other: Any, within: float) -> int:
    """How many spikes of equal keys are within reach of each other; both lists are sorted by key, then time."""
    n, i, j = 0, 0, 0
    while i < len(key) and j < len(key_of_other):
        late = time[i] - time_of_other[j]
        if key[i] == key_of_other[j] and abs(late) <= within:
            n += 1
            i += 1
            j += 1
        elif key[i] < key_of_other[j] or (key[i] == key_of_other[j] and late < 0):
            i += 1
        else:
            j += 1
    return n


_NAMES = {OURS: "springback", RK4: "Brian2 rk4", EXPONENTIAL: "Brian2 exponential Euler", FINEST: "finest Brian2"}
_LOOK: dict[tuple[str, str], dict[str, Any]] = {
    (OURS, RK4): {"color": BLUE, "marker": "o", "linewidth": 1.8},
    (OURS, EXPONENTIAL): {"color": RED, "marker": "s"},
    (OURS, FINEST): {"color": SKY, "marker": "o", "linestyle": "--"},
    (RK4, FINEST): {"color": BLACK, "marker": "D", "linestyle": "--"},
    (EXPONENTIAL, FINEST): {"color": ORANGE, "marker": "^", "linestyle": "--"},
}
_ROWS = {
    "counts": ("spike counts\n(share that differs)", 1e-4),
    "unpaired": (f"spikes without a partner\nwithin {PAIRED_MS:g} ms (share)", 1e-3),
    "first_ms": ("first spike of a trial\n(difference in ms)", 1e-2),
}


@house_style()
def draw(result: Convergence) -> Figure:
    """A column for each network; rows: counts, spikes without a partner, and the time of the first spike."""
    figure = Figure(figsize=(7.2, 6.4), layout="constrained")
    panels = figure.subplots(len(_ROWS), len(result.networks), sharex=True, sharey="row", squeeze=False)
    for column, network in enumerate(result.networks):
        panels[0, column].set_title(network)
        for row, (measure, (label, least)) in enumerate(_ROWS.items()):
            panel = panels[row, column]
            for one, other in result.comparisons:
                values = result.of(measure, network, one, other)
                drawn = (~np.isnan(values)) & ((other != FINEST) | (result.dt_ms > result.finest_ms))
                words = f"{_NAMES[one]} – {_NAMES[other]}"
                look = {"markersize": 3.5, "clip_on": False, **_LOOK[one, other]}
                panel.plot(result.dt_ms[drawn], values[drawn], label=words, **look)
            panel.set_xscale("log")
            panel.set_yscale("symlog", linthresh=least, linscale=0.4)
            panel.set_ylim(bottom=0)
            panel.set_xticks(result.dt_ms, [f"{value:g}" for value in result.dt_ms], fontsize=8)
            panel.minorticks_off()
            if column == 0:
                panel.set_ylabel(label)
        panels[-1, column].set_xlabel("time step (ms)")
    legend_above(figure, panels[0, 0], ncols=2, fontsize=8)
    note(figure, f"solid: both at the same step · dashed: against rk4 at {result.finest_ms:g} ms")
    return figure


def table(result: Convergence) -> Table:
    """The differences of each pair at each step."""
    axes: dict[str, Column] = {
        "network": result.networks,
        "compared": [f"{_NAMES[one]} - {_NAMES[other]}" for one, other in result.comparisons],
        "step_ms": result.dt_ms,
    }
    numbers = {"counts_that_differ": result.counts, "spikes_without_partner": result.unpaired}
    return tidy(axes, {**numbers, "first_spike_difference_ms": result.first_ms})


EXHIBIT = Exhibit(
    title="The engine and Brian2's own integrators",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows=(
        "How far the engine and Brian2 are apart as the time step falls, with Brian2's own integrators instead of our "
        "step: spike counts, single spikes, and the first spike of each trial. Exponential Euler holds a conductance "
        "over the step and so injects too much charge, by 27 % at 0.5 ms; the engine's step keeps the charge exact."
    ),
    ran=lambda r: (
        f"Brian2 {r.version}; {', '.join(str(n) for n in r.n_trials)} trials of the three networks, from rest, with "
        f"{', '.join(f'{n:,.0f}' for n in r.n_spikes[:, 1, -1])} output spikes at {r.finest_ms:g} ms."
    ),
    paper="nothing of this; it does not say how the equations were integrated.",
    run=run,
    seconds=30,
)
