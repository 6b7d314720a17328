"""How well models predict the next observation as the dynamics of the world vary.

Every model is scored as a proper density of the same family, so that the numbers can be compared: before each
observation it states K directions and K weights, and the direction x of the observation scores `log sum_k w_k C(kappa)
exp(kappa c_k.x)`, a von Mises-Fisher mixture on the unit sphere. All models start from the same resting centroids and
see the same directions. What a model may choose (its kappa, its rate of forgetting) it chooses per world, by the same
score, on streams of other seeds. In the worlds of the paper the exact observer, who knows the world and all earlier
positions, gives the upper bound.
"""

from dataclasses import dataclass, field

import numpy as np

from springback import check
from springback.data.environment import RandomContinuousEnvironment
from springback.elastic import fit_von_mises_fisher
from springback_bench.speed.world_models import MODELS, Floats, WorldStream, choose, score
from springback_paper.inputs.exact_directions import exact_direction_score, unit


@dataclass(frozen=True, kw_only=True)
class World:
    """One kind of dynamics.

    Parameters
    ----------
    kind : str
        "random" (the paper's world) or "regular" (classes in turn, each circling at a fixed speed).
    beta : float
        Random: odds of a novel object, against f(0) = 1.
    diffusion : float
        Random: how far an object wanders per step and coordinate; regular: jitter around the circle.
    memory : float
        Random: time constant of f, in steps; regular: how many steps a class stays.
    """

    name: str
    kind: str = "random"
    beta: float = 0.5
    diffusion: float = 0.1
    memory: float = 5.0

    def __post_init__(self) -> None:
        check.one_of("World.kind", self.kind, ("random", "regular"))
        check.real("World.beta", self.beta, above=0)
        check.real("World.diffusion", self.diffusion, above=0)
        check.real("World.memory", self.memory, above=0)


def worlds_of_the_table() -> tuple[World, ...]:
    """The rows of the table: slow to fast switching, still to restless objects, and regular dynamics.

    Examples
    --------
    >>> len(worlds_of_the_table())
    9
    """
    return (
        World(name="slow switching", beta=0.1),
        World(name="middling", beta=0.5),
        World(name="fast switching", beta=5.0),
        World(name="very fast switching", beta=500.0),
        World(name="objects hardly move", diffusion=0.02),
        World(name="objects wander far", diffusion=0.3),
        World(name="short memory", memory=1.0),
        World(name="regular, slow circle", kind="regular", memory=20.0, diffusion=0.05),
        World(name="regular, fast turns", kind="regular", memory=1.0, diffusion=0.05),
    )


@dataclass(frozen=True, kw_only=True)
class RandomWorlds:
    """What to run: the worlds, their size, and how many streams to choose on and to score on."""

    worlds: tuple[World, ...] = field(default_factory=worlds_of_the_table)
    n_features: int = 8
    n_classes: int = 4
    spread: float = 0.25
    n_steps: int = 400
    n_training_streams: int = 6
    n_streams: int = 20
    with_river: bool = True

    def __post_init__(self) -> None:
        check.integer("RandomWorlds.n_features", self.n_features, low=2)
        check.integer("RandomWorlds.n_classes", self.n_classes, low=1)
        check.real("RandomWorlds.spread", self.spread, above=0)
        check.integer("RandomWorlds.n_streams", self.n_streams, low=2)
        check.integer("RandomWorlds.n_training_streams", self.n_training_streams, low=1)


@dataclass(frozen=True, kw_only=True)
class WorldRow:
    """One model in one world, over fresh streams, in nats per observation.

    Parameters
    ----------
    log_likelihood, spread : float
        Mean and standard deviation over streams.
    gain, gain_error : float
        Paired difference to the static mixture, and its standard error.
    lead, lead_error : float
        Paired difference of elastic clustering to this model, and its standard error.
    settings : dict[str, float]
        What the model chose on the training streams.
    """

    world: str
    model: str
    log_likelihood: float
    spread: float
    gain: float
    gain_error: float
    lead: float
    lead_error: float
    settings: dict[str, float]


def run(params: RandomWorlds, seed: int) -> list[WorldRow]:
    """The table: every model in every world.

    Examples
    --------
    >>> one = (World(name="one"),)
    >>> small = RandomWorlds(worlds=one, n_steps=20, n_training_streams=1, n_streams=2, with_river=False)
    >>> [row.model for row in run(small, seed=0)]
    ['static mixture', 'online k-means', 'moving averages', 'learned linear dynamics', 'elastic clustering', 'exact']
    """
    rows: list[WorldRow] = []
    models = dict(MODELS) if params.with_river else {name: m for name, m in MODELS.items() if name != "river KMeans"}
    for place, world in enumerate(params.worlds):
        streams = [
            make_stream(params, world, np.random.default_rng([seed, place, number]))
            for number in range(params.n_training_streams + params.n_streams)
        ]
        training, fresh = streams[: params.n_training_streams], streams[params.n_training_streams :]
        scores: dict[str, tuple[Floats, dict[str, float]]] = {}
        for name, model in models.items():
            settings, fixed = choose(model, training)
            scores[name] = np.array([score(model, stream, settings, fixed) for stream in fresh]), settings
        if fresh[0].exact is not None:
            scores["exact"] = np.array([np.mean(stream.exact) for stream in fresh if stream.exact is not None]), {}
        static, elastic = scores["static mixture"][0], scores["elastic clustering"][0]
        for name, (values, settings) in scores.items():
            (gain, gain_error), (lead, lead_error) = _mean_and_error(values - static), _mean_and_error(elastic - values)
            rows.append(
                WorldRow(
                    world=world.name,
                    model=name,
                    log_likelihood=float(values.mean()),
                    spread=float(values.std(ddof=1)),
                    gain=gain,
                    gain_error=gain_error,
                    lead=lead,
                    lead_error=lead_error,
                    settings=settings,
                )
            )
    return rows


def _mean_and_error(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def make_stream(params: RandomWorlds, world: World, rng: np.random.Generator) -> WorldStream:
    """A stream of a fresh world of this kind, and centroids learned from 2,000 still examples of it.

    Examples
    --------
    >>> make_stream(RandomWorlds(n_steps=5), World(name="any"), np.random.default_rng(0)).x.shape
    (5, 8)
    """
    means = unit(rng.normal(size=(params.n_classes, params.n_features)))
    centres = means[rng.integers(params.n_classes, size=2000)]
    still = unit(centres + params.spread * rng.normal(size=centres.shape))
    found = fit_von_mises_fisher(still, params.n_classes, seed=rng, start=means, tolerance=1e-6)
    if world.kind == "regular":
        return WorldStream(_regular(params, world, means, rng), found.centroids, found.prior, None)
    environment = RandomContinuousEnvironment(
        means=means, spreads=params.spread, diffusion=world.diffusion, beta=world.beta, decay=world.memory
    )
    seen = environment.sample(params.n_steps, rng)
    exact = exact_direction_score(environment, seen.points, seen.times)
    return WorldStream(unit(seen.points), found.centroids, found.prior, exact)


def _regular(params: RandomWorlds, world: World, means: Floats, rng: np.random.Generator) -> Floats:
    """Classes in a fixed order, each for `memory` steps; while seen, a class circles its centre once in 20 steps."""
    steps = np.arange(params.n_steps)
    label = (steps // max(1, round(world.memory))) % params.n_classes
    first, second = (rng.normal(size=means.shape) for _ in range(2))
    first, second = (0.7 * unit(d - (d * means).sum(axis=1, keepdims=True) * means) for d in (first, second))
    angle = (2 * np.pi * steps / 20)[:, None]
    path = means[label] + np.cos(angle) * first[label] + np.sin(angle) * second[label]
    return unit(path + world.diffusion * rng.normal(size=path.shape))
