"""Fig. S1: the type of problem: training on still examples that are easily told apart, testing on a world that moves.

a and b are pictures of the data; c and d are sampled from `springback.data.RandomContinuousEnvironment`, and the
share of correct answers is measured with and without the continuity of objects in time.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import Observations, RandomContinuousEnvironment
from springback.streaming.records import Images, Video
from springback.streaming.wording import percent
from springback_paper.figures.exhibit import SUPPLEMENT, Exhibit
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, bare, house_style
from springback_paper.figures.table import Table, pictures, stacked, tidy

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What to run: three classes in the plane, with centres on the circle of length one.

    Parameters
    ----------
    n_pictures : int
        Still digits in panel a, and frames in panel b.
    n_examples : int
        Training examples in panel c, and observations in panel d.
    n_streams : int
        How many streams of this length are classified; the first is drawn.
    spread, diffusion, beta, memory : float
        Deviation of novel objects from the centre of their class, movement per step, odds of a novel object, and time
        constant of the odds of the others.

    Examples
    --------
    >>> Problem(n_streams=1)
    Traceback (most recent call last):
    ValueError: Problem.n_streams must be >= 2; got 1
    """

    n_pictures: int = 6
    n_examples: int = 120
    n_streams: int = 20
    spread: float = 0.22
    diffusion: float = 0.25
    beta: float = 0.03
    memory: float = 0.7

    def __post_init__(self) -> None:
        check.sizes(self, n_pictures=1, n_examples=2, n_streams=2)

    def world(self) -> RandomContinuousEnvironment:
        """The environment; an object is continued from where it was last seen."""
        angle = np.radians([90.0, 210.0, 330.0])
        return RandomContinuousEnvironment(
            means=np.stack([np.cos(angle), np.sin(angle)], axis=1),
            spreads=self.spread,
            diffusion=self.diffusion,
            beta=self.beta,
            decay=self.memory,
            identity="object",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ProblemResult:
    """Training and testing, as pictures and in the plane; s streams.

    Parameters
    ----------
    still, moving : NDArray[np.uint8]
        (p, height, width) training digits, and frames of the test video.
    means : Floats
        (K, 2) the centres of the classes.
    examples, labels
        (n, 2), (n,) training examples and their classes.
    points, point_labels, parents
        (n, 2), (n,), (n,) observations of a moving world, their classes, and which observation each one continues (-1:
        none).
    training_right, testing_right, continuous_right : Floats
        (s,) share of correct answers by the nearest centre, in training and in testing, and in testing by the posterior
        given all earlier observations (Theorem S2.1).
    """

    still: NDArray[np.uint8]
    moving: NDArray[np.uint8]
    means: Floats
    examples: Floats
    labels: Integers
    points: Floats
    point_labels: Integers
    parents: Integers
    training_right: Floats
    testing_right: Floats
    continuous_right: Floats


def run(train: Images, video: Video, params: Problem | None = None, *, seed: int = 0) -> ProblemResult:
    """Take pictures of the data, and sample and classify training examples and streams."""
    params = params or Problem()
    world = params.world()
    rng = np.random.default_rng([seed, 1])
    training = [[world.sample(1, rng) for _ in range(params.n_examples)] for _ in range(params.n_streams)]
    testing = [world.sample(params.n_examples, rng) for _ in range(params.n_streams)]
    examples = [(np.concatenate([one.points for one in some]), _labels(some)) for some in training]
    own = np.flatnonzero(video.digit == video.digit[0])
    chosen = own[np.linspace(0, len(own) - 1, min(params.n_pictures, len(own))).round().astype(int)]
    exact = [world.exact_posterior(one.points, one.times).argmax(axis=1) for one in testing]
    return ProblemResult(
        still=train.pixels[: params.n_pictures],
        moving=video.frames[chosen],
        means=np.array(world.means),
        examples=examples[0][0],
        labels=examples[0][1],
        points=testing[0].points,
        point_labels=testing[0].labels,
        parents=testing[0].parents,
        training_right=np.array([(nearest(points, world.means) == labels).mean() for points, labels in examples]),
        testing_right=np.array([(nearest(one.points, world.means) == one.labels).mean() for one in testing]),
        continuous_right=np.array([(said == one.labels).mean() for said, one in zip(exact, testing, strict=True)]),
    )


def _labels(some: list[Observations]) -> Integers:
    return np.concatenate([one.labels for one in some])


def nearest(points: Floats, means: Floats) -> Integers:
    """Which of the centres (K, 2) is nearest to each point (n, 2).

    Examples
    --------
    >>> nearest(np.array([[0.9, 0.0], [0.1, 2.0]]), np.eye(2))
    array([0, 1])
    """
    return np.asarray(np.linalg.norm(points[:, None] - means, axis=2).argmin(axis=1), np.int64)


_COLOURS = (BLUE, ORANGE, GREEN)


@house_style()
def draw(result: ProblemResult) -> Figure:
    """a: still training digits; b: frames of the video; c: training examples; d: observations, joined in time."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[0.42, 2])
    for column, (shown, title) in enumerate(
        ((result.still, "$\\bf{a}$  training: typical, still"), (result.moving, "$\\bf{b}$  testing: it changes"))
    ):
        inner = grid[0, column].subgridspec(1, len(shown))
        panels = [figure.add_subplot(inner[0, place]) for place in range(len(shown))]
        bare(*panels)
        for panel, picture in zip(panels, shown, strict=True):
            panel.imshow(picture, cmap="gray_r", vmin=0, vmax=255)
        panels[0].set_title(title, loc="left")
    left = figure.add_subplot(grid[1, 0])
    right = figure.add_subplot(grid[1, 1], sharex=left, sharey=left)
    _draw_plane(left, result.examples, result.labels, result.means)
    _draw_plane(right, result.points, result.point_labels, result.means)
    for at, parent in enumerate(result.parents):
        if parent >= 0:
            right.plot(*result.points[[parent, at]].T, color=BLACK, linewidth=0.6, alpha=0.7, zorder=1)
    left.set_title(f"$\\bf{{c}}$  nearest centre: {_right(result.training_right)} % right", loc="left")
    right.set_title(
        f"$\\bf{{d}}$  nearest centre: {_right(result.testing_right)} % right\n"
        f"     with continuity in time: {_right(result.continuous_right)} %",
        loc="left",
    )
    left.set_ylabel("second feature")
    return figure


def _right(shares: Floats) -> str:
    return f"{percent(float(shares.mean()), 1)} ± {percent(float(shares.std(ddof=1)), 1)}"


def _draw_plane(axes: Axes, points: Floats, labels: Integers, means: Floats) -> None:
    for label, colour in enumerate(_COLOURS):
        axes.plot(*points[labels == label].T, "o", markersize=3.5, color=colour, zorder=2)
        axes.plot(*means[label], "+", color=BLACK, markersize=11, markeredgewidth=1.8, zorder=3)
    axes.set(xlabel="first feature", aspect="equal")


def table(result: ProblemResult) -> Table:
    """The pictures, the points in the plane, and the share of correct answers in every stream."""
    right = {
        "training, nearest centre": result.training_right,
        "testing, nearest centre": result.testing_right,
        "testing, with continuity": result.continuous_right,
    }
    shares = np.stack(list(right.values()))
    return stacked(
        {
            "a": pictures("brightness_of_255", result.still, {"picture": range(len(result.still))}),
            "b": pictures("brightness_of_255", result.moving, {"picture": range(len(result.moving))}),
            "c": _points(result.examples, result.labels),
            "d": {**_points(result.points, result.point_labels), "continues": result.parents},
            "right": tidy({"answers": list(right), "stream": range(shares.shape[1])}, {"share_right": shares}),
        }
    )


def _points(points: Floats, labels: Integers) -> Table:
    place = {"first_feature": points[:, 0], "second_feature": points[:, 1]}
    return {"observation": range(len(points)), "class": labels + 1, **place}


EXHIBIT = Exhibit(
    title="Fig. S1: the type of problem",
    section=SUPPLEMENT,
    draw=draw,
    table=table,
    shows=(
        "a: training digits. b: frames of a test video. c: training examples of three classes in the plane (crosses: "
        "their centres). d: observations of objects that move; lines join each to the one that it continues. Which "
        "class it is can be told from its place in c, and in d from where it came from."
    ),
    ran=lambda r: (
        f"{len(r.training_right)} samples of {len(r.examples)} examples and as many streams of {len(r.points)} "
        f"observations; correct answers in percent, mean and standard deviation over them: {_right(r.training_right)} "
        f"in training and {_right(r.testing_right)} in testing by the nearest centre, {_right(r.continuous_right)} "
        "given all earlier observations (Theorem S2.1)."
    ),
    paper="the same as a drawing, of animals.",
    run=run,
    seconds=3,
)
