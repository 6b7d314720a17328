"""Fig. 1a to 1c: an environment that is observed one object at a time, the Gaussian that grows, the odds that decay.

All is sampled from `springback.data.RandomContinuousEnvironment` (supplement, Section S1): objects move by a Wiener
process, an object that was seen is seen again with odds f that decay, and a novel one appears with odds beta. Objects
are continued from where they were last seen (`identity="object"`), for which Theorem S2.1 is an approximation.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import RandomContinuousEnvironment
from springback_paper.figures.exhibit import ENVIRONMENT, Exhibit
from springback_paper.figures.style import BLUE, ORANGE, house_style
from springback_paper.figures.table import Table, stacked, tidy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FINE = 8


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What to run: two classes on a line.

    Parameters
    ----------
    mean : float
        The centre of one class; that of the other is its negative.
    spread : float
        Standard deviation of novel objects around the centre of their class.
    diffusion : float
        Standard deviation of an object's move in one unit of time.
    beta : float
        Odds of a novel object, against f(0) = 1.
    memory : float
        Time constant of f.
    n_steps : int
        How many times the environment is observed in panel a, one unit of time apart.
    since : tuple[float, ...]
        Times since an object was seen, in panel b.
    n_pairs : int
        How many pairs of observations are drawn for each time since the first of them.

    Examples
    --------
    >>> Environment(memory=0.0)
    Traceback (most recent call last):
    ValueError: Environment.memory must be > 0; got 0.0
    """

    mean: float = 1.0
    spread: float = 0.25
    diffusion: float = 0.12
    beta: float = 0.3
    memory: float = 3.0
    n_steps: int = 40
    since: tuple[float, ...] = (0.5, 2.0, 6.0)
    n_pairs: int = 2000

    def __post_init__(self) -> None:
        for name in ("spread", "diffusion", "beta", "memory"):
            check.real(f"Environment.{name}", getattr(self, name), above=0)
        check.sizes(self, n_steps=2, n_pairs=1)

    def world(self) -> RandomContinuousEnvironment:
        """The environment; an object is continued from where it was last seen."""
        return RandomContinuousEnvironment(
            means=np.array([[-self.mean], [self.mean]]),
            spreads=self.spread,
            diffusion=self.diffusion,
            beta=self.beta,
            decay=self.memory,
            identity="object",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class EnvironmentResult:
    """A stretch of an environment, and what follows an observation; T observations, m objects, times in steps.

    Parameters
    ----------
    times, points : Floats
        (T,) when, and where on the line, an object was seen.
    objects, labels : Integers
        (T,) which object it was, and its class.
    path_times : Floats
        (p,) a finer grid of times, up to the next observation.
    paths : Floats
        (m, p) where every object is; NaN before it was seen first. Between two observations the path is drawn from the
        Wiener process that passes through both.
    odds : Floats
        (m, p) f of the time since each object was last seen.
    next_points, next_density : Floats
        (x,), (x, 2) the density of the next observation (Theorem S2.1), by class.
    since : Floats
        (b,) times since an object was seen, in panel b.
    moves : Floats
        (bins,) middles of the bins of the moves since then.
    move_density, gaussian : Floats
        (b, bins) measured on the pairs in which the object was seen again, and the Gaussian of Eq. S12 at the middle.
    n_moves : Integers
        (b,) how many pairs these are.
    odds_since, again : Floats
        (c,) times since an object was seen, and the odds to see it again, from the share of pairs in which it was.
    again_std : Floats
        (c,) the standard deviation of this measurement.
    expected_again : Floats
        (c,) f.
    beta, diffusion, memory : float
        Of the environment.
    n_pairs : int
        Pairs of observations at each time.
    """

    times: Floats
    points: Floats
    objects: Integers
    labels: Integers
    path_times: Floats
    paths: Floats
    odds: Floats
    next_points: Floats
    next_density: Floats
    since: Floats
    moves: Floats
    move_density: Floats
    gaussian: Floats
    n_moves: Integers
    odds_since: Floats
    again: Floats
    again_std: Floats
    expected_again: Floats
    beta: float
    diffusion: float
    memory: float
    n_pairs: int


def run(params: Environment | None = None, *, seed: int = 0) -> EnvironmentResult:
    """Observe the environment once for some time, and many times for two observations.

    Examples
    --------
    >>> result = run(Environment(n_steps=5, n_pairs=20))
    >>> result.times, result.paths.shape[1] == len(result.path_times)
    (array([0., 1., 2., 3., 4.]), True)
    """
    params = params or Environment()
    world = params.world()
    seen = world.sample(params.n_steps, seed=seed)
    x = seen.points[:, 0]
    path_times = np.linspace(0.0, params.n_steps, _FINE * params.n_steps + 1)
    rng = np.random.default_rng([seed, 1])
    own = [np.flatnonzero(seen.objects == one) for one in range(seen.objects.max() + 1)]
    paths = np.stack([wiener_path(seen.times[at], x[at], path_times, params.diffusion, rng) for at in own])
    age = np.stack([_since_last(seen.times[at], path_times) for at in own])
    next_points = np.linspace(-2 * params.mean, 2 * params.mean, 161)
    moved = [_pairs(params, time, seed) for time in params.since]
    reach = 3.5 * params.diffusion * np.sqrt(max(params.since))
    edges = np.linspace(-reach, reach, 61)
    middles = (edges[:-1] + edges[1:]) / 2
    odds_since = np.linspace(0.5, 3.5 * params.memory, 7)
    share = np.array([len(_pairs(params, time, seed)) for time in odds_since]) / params.n_pairs
    return EnvironmentResult(
        times=seen.times,
        points=x,
        objects=seen.objects,
        labels=seen.labels,
        path_times=path_times,
        paths=paths,
        odds=np.where(np.isnan(age), np.nan, world.odds(np.nan_to_num(age))),
        next_points=next_points,
        next_density=_next_density(world, seen.points, seen.times, next_points),
        since=np.array(params.since),
        moves=middles,
        move_density=np.stack([np.histogram(one, edges)[0] / (max(len(one), 1) * np.diff(edges)) for one in moved]),
        gaussian=np.stack([_gaussian(middles, params.diffusion**2 * time) for time in params.since]),
        n_moves=np.array([len(one) for one in moved]),
        odds_since=odds_since,
        again=params.beta * share / np.maximum(1 - share, 1 / params.n_pairs),
        again_std=params.beta * np.sqrt(share / np.maximum(1 - share, 1 / params.n_pairs) ** 3 / params.n_pairs),
        expected_again=world.odds(odds_since),
        beta=params.beta,
        diffusion=params.diffusion,
        memory=params.memory,
        n_pairs=params.n_pairs,
    )


def wiener_path(seen_at: Floats, seen: Floats, times: Floats, diffusion: float, rng: np.random.Generator) -> Floats:
    """A Wiener process at the given times that passes through what was seen; NaN before the first time it was seen.

    Between two of them it is a Brownian bridge, after the last a free path.

    Examples
    --------
    >>> wiener_path(np.array([1.0, 2.0]), np.array([5.0, 7.0]), np.arange(4.0), 0.1, np.random.default_rng(0)).round(2)
    array([ nan, 5.  , 7.  , 7.01])
    """
    steps = np.diff(times, prepend=times[0])
    free = diffusion * np.cumsum(np.sqrt(steps) * rng.standard_normal(len(times)))
    error = seen - np.interp(seen_at, times, free)
    return np.where(times < seen_at[0], np.nan, free + np.interp(times, seen_at, error))


def _since_last(seen_at: Floats, times: Floats) -> Floats:
    """The time since the last of some observations, (p,); NaN before the first."""
    last = np.searchsorted(seen_at, times, side="right") - 1
    return np.where(last < 0, np.nan, times - seen_at[np.maximum(last, 0)])


def _pairs(params: Environment, since: float, seed: int) -> Floats:
    """The moves of the objects that were seen again, of `n_pairs` that are observed once and then after some time."""
    world, times = params.world(), np.array([0.0, since])
    rng = np.random.default_rng([seed, 2, round(1000 * since)])
    pairs = [world.sample(times, rng) for _ in range(params.n_pairs)]
    return np.array([seen.points[1, 0] - seen.points[0, 0] for seen in pairs if not seen.novel[1]])


def _next_density(world: RandomContinuousEnvironment, points: Floats, times: Floats, at: Floats) -> Floats:
    """The density of the next observation at each of some places, by class, (x, K)."""
    later = np.append(times, times[-1] + 1)
    found = [world.infer(np.append(points, [[one]], axis=0), later) for one in at]
    return np.stack([np.exp(one.log_likelihood[-1]) * one.posterior[-1] for one in found])


def _gaussian(x: Floats, variance: float) -> Floats:
    return np.asarray(np.exp(-(x**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance))


_COLOURS = (BLUE, ORANGE)


@house_style()
def draw(result: EnvironmentResult) -> Figure:
    """a: objects, and which is observed; beside it the next observation. c: the odds of each; below: b, c measured."""
    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    grid = figure.add_gridspec(3, 6, height_ratios=[1.5, 0.8, 1.2], width_ratios=[1, 1, 1, 1, 1, 1.1])
    world = figure.add_subplot(grid[0, :5])
    coming = figure.add_subplot(grid[0, 5], sharey=world)
    odds = figure.add_subplot(grid[1, :5], sharex=world)
    moves, again = figure.add_subplot(grid[2, :3]), figure.add_subplot(grid[2, 3:])
    _draw_world(world, result)
    _draw_next(coming, result)
    _draw_odds(odds, result)
    _draw_moves(moves, result)
    _draw_again(again, result)
    for panel, letter in ((world, "a"), (odds, "c"), (moves, "b"), (again, "c")):
        panel.set_title(f"$\\bf{{{letter}}}$  {panel.get_title(loc='left')}", loc="left")
    return figure


def _class_of(result: EnvironmentResult, one: int) -> int:
    return int(result.labels[np.argmax(result.objects == one)])


def _draw_world(axes: Axes, result: EnvironmentResult) -> None:
    for one, path in enumerate(result.paths):
        axes.plot(result.path_times, path, color=_COLOURS[_class_of(result, one)], linewidth=0.8, alpha=0.45)
    axes.plot(result.times, result.points, color="0.75", linewidth=0.7, zorder=1)
    for label, colour in enumerate(_COLOURS):
        mine = result.labels == label
        axes.plot(result.times[mine], result.points[mine], "o", color=colour, markersize=4, label=f"class {label + 1}")
    axes.axvline(result.path_times[-1], color="0.8", linewidth=0.8, linestyle="--")
    axes.tick_params(labelbottom=False)
    axes.set_ylabel("state of an object")
    axes.set_title("objects wander; one is observed at a time (dots)", loc="left")
    axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left", handletextpad=0.1)


def _draw_next(axes: Axes, result: EnvironmentResult) -> None:
    total = result.next_density.sum(axis=1)
    axes.plot(total, result.next_points, color="0.3", linewidth=1)
    below = np.zeros(len(total))
    for label, colour in enumerate(_COLOURS):
        above = below + result.next_density[:, label]
        axes.fill_betweenx(result.next_points, below, above, color=colour, alpha=0.5, linewidth=0)
        below = above
    axes.set_title("next?", loc="left")
    axes.tick_params(labelleft=False)


def _draw_odds(axes: Axes, result: EnvironmentResult) -> None:
    for one, odds in enumerate(result.odds):
        axes.plot(result.path_times, odds, color=_COLOURS[_class_of(result, one)], linewidth=1)
    axes.axhline(result.beta, color="0.4", linewidth=0.8, linestyle="--")
    on_white = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    axes.text(0, result.beta, "a novel object: β", fontsize=8, va="center", color="0.3", bbox=on_white)
    axes.set(xlabel="time (steps)", ylabel="odds", ylim=(0, 1.05), xlim=(-0.5, result.path_times[-1]))
    axes.set_title("odds of each object to be observed", loc="left")


def _draw_moves(axes: Axes, result: EnvironmentResult) -> None:
    width = result.moves[1] - result.moves[0]
    edges = np.append(result.moves - width / 2, result.moves[-1] + width / 2)
    shades = np.linspace(1.0, 0.35, len(result.since))
    for since, measured, exact, shade in zip(
        result.since, result.move_density, result.gaussian, shades, strict=True
    ):  # fmt: skip
        axes.stairs(measured, edges, color=BLUE, alpha=0.5 * shade, fill=True, linewidth=0)
        axes.plot(result.moves, exact, color=BLUE, alpha=shade, linewidth=1.4, label=f"after {since:g}")
    axes.set(xlabel="move since it was observed", ylabel="density")
    axes.set_title("the Gaussian grows with time", loc="left")
    axes.legend(frameon=False, fontsize=8)


def _draw_again(axes: Axes, result: EnvironmentResult) -> None:
    fine = np.linspace(0.0, result.odds_since[-1], 100)
    axes.plot(fine, np.exp(-fine / result.memory), color=ORANGE, linewidth=1.4, label="f(t)")
    axes.errorbar(
        result.odds_since, result.again, result.again_std, fmt="o", color="0.25", markersize=3.5, elinewidth=0.8,
        label="measured"
    )  # fmt: skip
    axes.set(xlabel="time since it was observed (steps)", ylabel="odds", ylim=(0, None))
    axes.set_title("the odds decay", loc="left")
    axes.legend(frameon=False, fontsize=8)


def table(result: EnvironmentResult) -> Table:
    """All panels: the observations, the paths and odds of the objects, the next observation, the moves and the odds."""
    objects = range(len(result.paths))
    classes = np.array([_class_of(result, one) + 1 for one in objects])
    seen = {"class": result.labels + 1, "object": result.objects, "state": result.points}
    paths = {"class": classes[:, None], "state": result.paths, "odds": result.odds}
    measured = {"density": result.move_density, "density_in_closed_form": result.gaussian}
    odds = {"odds": result.again, "odds_std": result.again_std, "odds_in_closed_form": result.expected_again}
    return stacked(
        {
            "a observed": tidy({"time_steps": result.times}, seen),
            "a and c objects": tidy({"object": objects, "time_steps": result.path_times}, paths),
            "a next": tidy({"state": result.next_points, "class": (1, 2)}, {"density": result.next_density}),
            "b": tidy({"since_steps": result.since, "move": result.moves}, measured),
            "c measured": tidy({"since_steps": result.odds_since}, odds),
        }
    )


EXHIBIT = Exhibit(
    title="Fig. 1a to 1c: an environment, the Gaussian that grows, the odds that decay",
    section=ENVIRONMENT,
    draw=draw,
    table=table,
    shows=(
        "a: objects of two classes change at random but continuously, one is observed at a time (dots), and on the "
        "right the density of the next observation by class (Theorem S2.1). b: how far an object has moved since it "
        "was observed; bars are measured, lines the Gaussian of Eq. S12. c: the odds of each object of a to be "
        "observed, and those measured against f."
    ),
    ran=lambda r: (
        f"{len(r.times)} observations of {len(r.paths)} objects; {r.n_pairs:,} pairs of observations for each time "
        f"between them (b: the object was seen again in {', '.join(f'{n:,}' for n in r.n_moves.tolist())} of them); "
        f"movement {r.diffusion:g} per step, β = {r.beta:g}, time constant of f {r.memory:g} steps."
    ),
    paper="the same as drawings, of a cat and a gibbon; its panels d to h, a synapse, are drawings of chemistry.",
    run=run,
    given=lambda scope: {"params": Environment(n_pairs=2000 if scope.limit is None else 50)},
    seconds=5,
)
