"""The theory on its own ground: how well the next observation and its class are known as the world's dynamics vary.

Four observers of the random continuous environment (supplement, section 1), which differ in what they remember:

    static     nothing: a mixture at rest
    smoothed   which class was seen lately, not where: the elastic model without pull, so that only its biases move
    elastic    where each class was seen lately, too: Algorithm 1
    exact      every observation: Theorem S2.1, with the world's own parameters

The first three are von Mises-Fisher mixtures with their centroids at the class centres. What they may choose (kappa,
memory, beta) they choose for each world on streams of other seeds: once to foretell the next observation, by its
log-likelihood, and once to infer its class, by the distance of the posterior to the exact one. They see directions, the
exact observer sees positions. Two checks run along: what the exact observer expects to get wrong is what it gets wrong,
and the recursion of the elastic model is the sum over the whole history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data.environment import RandomContinuousEnvironment
from springback.elastic import Elasticity, Exponential, Model, Response, init, prepare, track
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.style import BLACK, BLUE, ORANGE, RED, house_style, legend_above, note, with_errors
from springback_paper.figures.table import Table, tidy
from springback_paper.inputs.exact_directions import Floats, exact_direction_score, unit
from springback_paper.run_scope import Scope

Settings = dict[str, float]

OBSERVERS = ("static", "smoothed", "elastic", "exact")
MIDDLE = {"beta": 0.5, "diffusion": 0.1, "memory": 5.0}
"""The world around which the dynamics vary."""

_GRID = {
    "memory": (0.3, 0.5, 1.0, 2.0, 5.0, 10.0),
    "beta": (0.03, 0.1, 0.5, 2.0, 10.0, 100.0),
    "kappa": (4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0),
}


@dataclass(frozen=True, kw_only=True)
class WorldDynamics:
    """What to run: values of one of the dynamics at a time, the others as in `MIDDLE`.

    Parameters
    ----------
    beta : tuple[float, ...]
        Odds of a novel object, against f(0) = 1.
    diffusion : tuple[float, ...]
        How far an object wanders per step and coordinate; class centres have length 1.
    memory : tuple[float, ...]
        Time constant of f, in steps.
    spread : float
        Standard deviation of novel objects around the centre of their class.

    Examples
    --------
    >>> WorldDynamics(n_streams=1)
    Traceback (most recent call last):
    ValueError: WorldDynamics.n_streams must be >= 2; got 1
    """

    beta: tuple[float, ...] = (0.05, 0.2, 0.5, 2.0, 10.0, 100.0)
    diffusion: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4)
    memory: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
    n_features: int = 8
    n_classes: int = 4
    spread: float = 0.3
    n_steps: int = 200
    n_training_streams: int = 8
    n_streams: int = 40

    def __post_init__(self) -> None:
        for name in MIDDLE:
            check.require(len(getattr(self, name)) > 0, f"WorldDynamics.{name}", "have at least one value", ())
        check.real("WorldDynamics.spread", self.spread, above=0)
        check.sizes(self, n_features=2, n_classes=2, n_steps=3, n_training_streams=1, n_streams=2)


@dataclass(frozen=True, kw_only=True, eq=False)
class WorldDynamicsResult:
    """Means over fresh streams, with standard errors; P worlds, columns as in `observers`.

    Parameters
    ----------
    varied, values
        Which of the dynamics a world changes, and to what, (P,).
    log_likelihood : Floats
        Of the next observation, nats, (P, 4).
    gain, gain_error : Floats
        The same, paired difference to the static observer.
    distance, distance_error : Floats
        Total variation distance of the posterior to the exact one, (P, 4).
    wrong, wrong_error : Floats
        Share of observations whose likeliest class is not the true one, (P, 4).
    expected_wrong : Floats
        The share that the exact observer expects to get wrong, (P,).
    recursion_error : float
        Largest difference of a posterior of the elastic recursion to the sum over the whole history.
    """

    varied: tuple[str, ...]
    values: Floats
    observers: tuple[str, ...]
    log_likelihood: Floats
    gain: Floats
    gain_error: Floats
    distance: Floats
    distance_error: Floats
    wrong: Floats
    wrong_error: Floats
    expected_wrong: Floats
    recursion_error: float
    at_middle: dict[str, float]
    n_streams: int
    n_steps: int


class WatchedWorld(NamedTuple):
    """A stream: its directions (T, n), the class centres (K, n), the true labels (T,), and the exact answers.

    The exact observer gives the log density of each direction (T,), and the posteriors (T, K).
    """

    x: Floats
    centres: Floats
    labels: NDArray[np.int64]
    exact_score: Floats
    exact: Floats


class Point(NamedTuple):
    """One world: log_likelihood, distance and wrong are (streams, observers)."""

    log_likelihood: Floats
    distance: Floats
    wrong: Floats
    expected_wrong: Floats
    recursion_error: float


def run(params: WorldDynamics, seed: int) -> WorldDynamicsResult:
    """Every observer in every world.

    Examples
    --------
    >>> few = {"beta": (0.5,), "diffusion": (0.1,), "memory": (5.0,)}
    >>> result = run(WorldDynamics(**few, n_steps=20, n_training_streams=1, n_streams=2), seed=0)
    >>> result.gain.shape, result.recursion_error < 1e-9
    ((3, 4), True)
    """
    worlds = [(name, float(value)) for name in MIDDLE for value in getattr(params, name)]
    dynamics = [tuple({**MIDDLE, name: value}.items()) for name, value in worlds]
    distinct = {one: point(params, dict(one), seed) for one in dict.fromkeys(dynamics)}
    points = [distinct[one] for one in dynamics]
    streams = {
        "gain": np.array([one.log_likelihood - one.log_likelihood[:, :1] for one in points]),
        "distance": np.array([one.distance for one in points]),
        "wrong": np.array([one.wrong for one in points]),
    }
    return WorldDynamicsResult(
        varied=tuple(name for name, _ in worlds),
        values=np.array([value for _, value in worlds]),
        observers=OBSERVERS,
        log_likelihood=np.array([one.log_likelihood.mean(axis=0) for one in points]),
        **{name: values.mean(axis=1) for name, values in streams.items()},
        **{f"{name}_error": _standard_error(values) for name, values in streams.items()},
        expected_wrong=np.array([one.expected_wrong.mean() for one in points]),
        recursion_error=max(one.recursion_error for one in points),
        at_middle=dict(MIDDLE),
        n_streams=params.n_streams,
        n_steps=params.n_steps,
    )


def point(params: WorldDynamics, world: Mapping[str, float], seed: int) -> Point:
    """One world, independent of every other: settings are chosen on some streams and scored on others.

    Worlds of the same seed share their random numbers, so that they differ by their dynamics alone.
    """
    watches = [
        watch(params, world, np.random.default_rng([seed, number]))
        for number in range(params.n_training_streams + params.n_streams)
    ]
    training, fresh = watches[: params.n_training_streams], watches[params.n_training_streams :]
    settings = {name: choose(name, training) for name in OBSERVERS if name != "exact"}
    log_likelihood, distance, wrong = (np.zeros((len(fresh), len(OBSERVERS))) for _ in range(3))
    for row, one in enumerate(fresh):
        for column, name in enumerate(OBSERVERS):
            posterior, score = one.exact, one.exact_score
            if name != "exact":
                foretelling, inferring = (observer(name, one.centres, chosen) for chosen in settings[name])
                score = follow(foretelling, one.x).log_density
                posterior = follow(inferring, one.x).posterior
            log_likelihood[row, column] = score.mean()
            distance[row, column] = distance_between(posterior, one.exact)
            wrong[row, column] = (posterior.argmax(axis=1) != one.labels).mean()
    first = fresh[0]
    model = observer("elastic", first.centres, settings["elastic"][0])
    difference = follow(model, first.x).posterior - whole_history_posterior(model, first.x)
    return Point(
        log_likelihood=log_likelihood,
        distance=distance,
        wrong=wrong,
        expected_wrong=np.array([(1 - one.exact.max(axis=1)).mean() for one in fresh]),
        recursion_error=float(np.abs(difference).max()),
    )


def watch(params: WorldDynamics, world: Mapping[str, float], rng: np.random.Generator) -> WatchedWorld:
    """A stream of a fresh world of this kind, with resting centroids at its class centres.

    Examples
    --------
    >>> watch(WorldDynamics(n_steps=5), MIDDLE, np.random.default_rng(0)).exact.shape
    (5, 4)
    """
    means = unit(rng.normal(size=(params.n_classes, params.n_features)))
    environment = RandomContinuousEnvironment(
        means=means, spreads=params.spread, diffusion=world["diffusion"], beta=world["beta"], decay=world["memory"]
    )
    seen = environment.sample(params.n_steps, rng)
    score = exact_direction_score(environment, seen.points, seen.times)
    return WatchedWorld(
        unit(seen.points), means, seen.labels, score, environment.exact_posterior(seen.points, seen.times)
    )


def observer(name: str, centres: Floats, settings: Settings) -> Model:
    """The static, the smoothed or the elastic observer as a model of `springback.elastic`."""
    if name == "static":
        params = Elasticity(kappa=settings["kappa"], pull=0.0)
    else:
        pull = 0.0 if name == "smoothed" else None
        kernel = Exponential(memory=settings["memory"])
        params = Elasticity(kappa=settings["kappa"], pull=pull, beta=settings["beta"], kernel=kernel)
    return prepare(params, centres, np.full(len(centres), 1 / len(centres)))


def choose(name: str, training: Sequence[WatchedWorld]) -> tuple[Settings, Settings]:
    """The settings of an observer that foretell best, and those that infer best, on the training streams.

    Examples
    --------
    >>> seen = [watch(WorldDynamics(n_steps=5), MIDDLE, np.random.default_rng(0))]
    >>> [list(settings) for settings in choose("static", seen)]
    [['kappa'], ['kappa']]
    """
    chosen = ["kappa"] if name == "static" else list(_GRID)
    every = [dict(zip(chosen, values, strict=True)) for values in product(*(_GRID[one] for one in chosen))]
    scores = np.zeros((len(every), 2))
    for row, settings in enumerate(every):
        for one in training:
            response = follow(observer(name, one.centres, settings), one.x)
            scores[row] += response.log_density.mean(), -distance_between(response.posterior, one.exact)
    foretelling, inferring = scores.argmax(axis=0)
    return every[foretelling], every[inferring]


def follow(model: Model, x: Floats) -> Response:
    """What an observer says of directions (T, n) in time order, from rest."""
    return track(model, init(model), x)[1]


def distance_between(posterior: Floats, other: Floats) -> float:
    """Mean total variation distance of posteriors (T, K): half the summed differences.

    Examples
    --------
    >>> distance_between(np.array([[1.0, 0.0]]), np.array([[0.75, 0.25]]))
    0.25
    """
    return float(np.abs(posterior - other).sum(axis=1).mean() / 2)


def whole_history_posterior(model: Model, x: Floats) -> Floats:
    """The posteriors of the elastic model (T, K) by the sum over all earlier observations (Eq. S24).

        G_k(t) = W_k + gain_k sum_i x_i Q_i(k) f(t - t_i)
        P_k(t) = [sum_i Q_i(k) f(t - t_i) + beta P_k] / [sum_i f(t - t_i) + beta]

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0, pull=None, beta=1.0), np.eye(2))
    >>> whole_history_posterior(model, np.eye(2))[0].round(3)
    array([0.993, 0.007])
    """
    constants = model.constants
    posterior = np.zeros((len(x), len(constants.prior)))
    for t in range(len(x)):
        odds = model.params.decay_kernel(np.arange(t, 0.0, -1.0))
        shares = posterior[:t] * odds[:, None]
        efficacy = constants.resting + constants.gain[:, None] * (shares.T @ x[:t])
        expected = (shares.sum(axis=0) + constants.beta * constants.prior) / (odds.sum() + constants.beta)
        joint = expected * np.exp(constants.kappa * (unit(efficacy) @ x[t]))
        posterior[t] = joint / joint.sum()
    return posterior


def _standard_error(values: Floats) -> Floats:
    """Of the mean over streams, (worlds, streams, observers) -> (worlds, observers)."""
    return np.asarray(values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]))


_AXIS = {"beta": "odds of a novel object, β", "diffusion": "movement per step", "memory": "time constant of f (steps)"}
_LOOK = {"static": (ORANGE, "^"), "smoothed": (RED, "s"), "elastic": (BLUE, "o"), "exact": (BLACK, "D")}
_NAMES = {
    "static": "static",
    "smoothed": "smoothed: remembers the class",
    "elastic": "elastic: and the place",
    "exact": "exact (Theorem S2.1)",
}


@house_style()
def draw(result: WorldDynamicsResult) -> Figure:
    """A column for each of the dynamics; rows: log-likelihood, distance to the exact posterior, wrong classes."""
    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    names = list(dict.fromkeys(result.varied))
    panels = figure.subplots(3, len(names), sharex="col", sharey="row", squeeze=False)
    for column, name in enumerate(names):
        rows = np.flatnonzero([one == name for one in result.varied])
        top, centre, bottom = panels[:, column]
        _draw(top, result, rows, result.gain, result.gain_error, ("smoothed", "elastic", "exact"))
        _draw(centre, result, rows, result.distance, result.distance_error, ("static", "smoothed", "elastic"))
        _draw(bottom, result, rows, 100 * result.wrong, 100 * result.wrong_error, result.observers)
        bottom.plot(result.values[rows], 100 * result.expected_wrong[rows], color=BLACK, linestyle=":", linewidth=1.2)
        top.axhline(0, color=ORANGE, linewidth=1.2)
        for panel in panels[:, column]:
            panel.axvline(result.at_middle[name], color="0.88", linewidth=6, zorder=0)
        bottom.set_xscale("log")
        bottom.set_xlabel(_AXIS.get(name, name))
        bottom.set_xticks(result.values[rows], [f"{value:g}" for value in result.values[rows]], fontsize=8)
        bottom.minorticks_off()
    panels[0, 0].set_ylabel("log-likelihood\nover static (nats)")
    panels[1, 0].set_ylabel("distance to the exact\nposterior")
    panels[2, 0].set_ylabel("wrong class (%)")
    panels[1, 0].set_ylim(0, None)
    panels[2, 0].set_ylim(0, None)
    legend_above(figure, panels[2, 0], ncols=4, columnspacing=1.0, fontsize=8)
    note(
        figure,
        f"grey: where the others stay · dotted: what the exact observer expects to get wrong\n"
        f"mean and standard error of {result.n_streams} streams of {result.n_steps} steps",
    )
    return figure


def _draw(
    panel: Axes, result: WorldDynamicsResult, rows: NDArray[np.intp], mean: Floats, error: Floats, names: Sequence[str]
) -> None:
    for name in names:
        column, (colour, marker) = result.observers.index(name), _LOOK[name]
        look = {"color": colour, "marker": marker, "linewidth": 1.8 if name == "elastic" else 1.2}
        with_errors(panel, result.values[rows], mean[rows, column], error[rows, column], label=_NAMES[name], **look)


def given(scope: Scope) -> dict[str, WorldDynamics]:
    """More streams to choose parameters by in a full run, fewer worlds in a quick look."""
    if scope.limit is None:
        return {"params": WorldDynamics(n_training_streams=8 if scope.full else 4)}
    return {"params": WorldDynamics(beta=(0.5,), diffusion=(0.1,), memory=(5.0,), n_steps=50, n_streams=4)}


def table(result: WorldDynamicsResult) -> Table:
    """Every observer in every world: three measures with standard errors over streams."""
    world = {"varied": np.array(result.varied)[:, None], "value": result.values[:, None]}
    measures = {"gain_nats": "gain", "distance_to_exact": "distance", "wrong": "wrong"}
    numbers = {
        column: array
        for name, field in measures.items()
        for column, array in (
            (f"{name}_mean", getattr(result, field)),
            (f"{name}_standard_error", getattr(result, f"{field}_error")),
        )
    }
    places = {"world": range(len(result.values)), "observer": result.observers}
    return tidy(places, {**world, **numbers, "wrong_expected_by_exact": result.expected_wrong[:, None]})


EXHIBIT = Exhibit(
    title="Theory: the random continuous environment",
    section=THEORY,
    draw=draw,
    table=table,
    shows=(
        "How well the next observation is predicted and its class inferred as the dynamics vary: a static, a "
        "smoothed and an elastic model against the exact posterior of Theorem S2.1."
    ),
    ran=lambda r: (
        f"{r.n_streams} fresh streams of {r.n_steps} observations in each of {len(r.varied)} worlds; the elastic "
        f"recursion differs from the sum over the whole history by {r.recursion_error:.0e} at most."
    ),
    paper="proved, not measured.",
    run=run,
    given=given,
    seconds=30,
    full_seconds=50,
)
