"""Fig. 2a: neural elastic clustering in the plane: centroids on springs, and a new input that pulls them.

Every neuron has two synapses, so its efficacies G = W + F are a point in the plane. All numbers come from
`springback.elastic`: the state after a few inputs, the posterior of a new one, and what it adds to F (Eqs. 1 to 3).
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.elastic import Elasticity, efficacy, init, prepare, relax, short_term, step
from springback_paper.figures.exhibit import ENVIRONMENT, Exhibit
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, house_style
from springback_paper.figures.table import Table, stacked, tidy

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SpringsInPlane:
    """What to run; directions are angles in the plane.

    Parameters
    ----------
    resting_deg : tuple[float, ...]
        Where the neurons rest, on the circle of length one.
    inputs_deg : tuple[float, ...]
        Recent inputs, one per step; the last is the new one.
    n_pause : int
        Steps without input after them.

    Examples
    --------
    >>> SpringsInPlane(inputs_deg=(30.0,))
    Traceback (most recent call last):
    ValueError: Springs.inputs_deg must have at least two inputs; got (30.0,)
    """

    resting_deg: tuple[float, ...] = (8.0, 45.0, 84.0)
    inputs_deg: tuple[float, ...] = (68.0, 66.0, 22.0, 25.0, 28.0, 35.0)
    kappa: float = 30.0
    pull: float = 0.35
    memory: float = 4.0
    n_pause: int = 14

    def __post_init__(self) -> None:
        check.require(len(self.inputs_deg) > 1, "Springs.inputs_deg", "have at least two inputs", self.inputs_deg)
        check.sizes(self, n_pause=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class SpringsResult:
    """K neurons before and after a new input; T steps in all.

    Parameters
    ----------
    resting, before, change : Floats
        (K, 2) W; G = W + F when the new input comes; and what it adds to F.
    inputs, remembered : Floats
        (n, 2) the earlier inputs, and (n,) f of the time since each.
    new_input : Floats
        (2,) the new one.
    posterior : Floats
        (K,) Q of the new input.
    pulled : Floats
        (T, K) length of F after each step.
    n_inputs : int
        How many of the steps have an input.
    kappa, pull, memory : float
        Concentration, gamma, and the time constant in steps.
    """

    resting: Floats
    before: Floats
    change: Floats
    inputs: Floats
    remembered: Floats
    new_input: Floats
    posterior: Floats
    pulled: Floats
    n_inputs: int
    kappa: float
    pull: float
    memory: float


def run(params: SpringsInPlane | None = None) -> SpringsResult:
    """Show the inputs one after the other, then nothing.

    Examples
    --------
    >>> result = run()
    >>> np.allclose(result.change, result.pull * result.posterior[:, None] * result.new_input)
    True
    """
    params = params or SpringsInPlane()
    inputs = _on_circle(params.inputs_deg)
    model = prepare(
        Elasticity(kappa=params.kappa, pull=params.pull, memory=params.memory), _on_circle(params.resting_deg)
    )
    state, pulled = init(model), []
    for x in inputs[:-1]:
        state, _ = step(model, state, x)
        pulled.append(short_term(model, state))
    waiting = relax(model, state, 1.0)
    state, response = step(model, state, inputs[-1])
    after = short_term(model, state)
    pulled.append(after)
    for _ in range(params.n_pause):
        state = relax(model, state, 1.0)
        pulled.append(short_term(model, state))
    age = np.arange(len(inputs) - 1, 0, -1, dtype=np.float64)
    return SpringsResult(
        resting=_on_circle(params.resting_deg),
        before=np.asarray(efficacy(model, waiting), np.float64),
        change=np.asarray(after - short_term(model, waiting), np.float64),
        inputs=inputs[:-1],
        remembered=np.asarray(model.params.decay_kernel(age), np.float64),
        new_input=inputs[-1],
        posterior=np.asarray(response.posterior[0], np.float64),
        pulled=np.linalg.norm(np.array(pulled, np.float64), axis=2),
        n_inputs=len(inputs),
        kappa=params.kappa,
        pull=params.pull,
        memory=params.memory,
    )


def _on_circle(degrees: tuple[float, ...]) -> Floats:
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


@house_style()
def draw(result: SpringsResult) -> Figure:
    """Left: the plane of the two synapses when the new input comes. Right: how far each neuron is from its rest."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    plane, time = figure.subplots(1, 2, width_ratios=[1.15, 1])
    _draw_field(plane, result)
    _draw_neurons(plane, result)
    plane.set(xlabel="first synapse", ylabel="second synapse", xlim=(-0.05, 2.35), ylim=(-0.05, 1.75), aspect="equal")
    styles = ("-", "--", ":")
    for one, lengths in enumerate(result.pulled.T):
        time.plot(lengths, color=ORANGE, linestyle=styles[one % len(styles)], label=f"neuron {one + 1}")
    time.axvspan(-0.5, result.n_inputs - 0.5, color="0.93", zorder=0)
    time.text(-0.3, 1.01, "inputs", fontsize=8, color="0.3", transform=time.get_xaxis_transform())
    time.set(xlabel="time (steps)", ylabel="length of F", ylim=(0, None))
    time.legend(frameon=False, fontsize=8)
    return figure


def _draw_field(axes: Axes, result: SpringsResult) -> None:
    """How close every direction is to the new input: exp(kappa (cos - 1)), in blue."""
    x, y = np.meshgrid(np.linspace(-0.05, 2.35, 300), np.linspace(-0.05, 1.75, 300))
    length = np.hypot(x, y)
    cosine = (x * result.new_input[0] + y * result.new_input[1]) / np.maximum(length, 1e-9)
    near = np.exp(result.kappa * (cosine - 1)) * (length > 0.12)
    axes.imshow(near, origin="lower", extent=(-0.05, 2.35, -0.05, 1.75), cmap="Blues", vmin=0, vmax=3.2)


def _draw_neurons(axes: Axes, result: SpringsResult) -> None:
    turn = np.linspace(0, np.pi / 2, 91)
    axes.plot(np.cos(turn), np.sin(turn), color="0.8", linewidth=0.8)
    for (x, y), remembered in zip(result.inputs, result.remembered, strict=True):
        axes.plot(x, y, "o", color="0.45", markersize=8, markeredgewidth=0, alpha=0.15 + 0.6 * float(remembered))
    x, y = result.new_input
    axes.plot(x, y, "o", color="0.25", markersize=9, zorder=4)
    axes.annotate("new input", (x, y), xytext=(-6, -12), textcoords="offset points", ha="right", fontsize=8)
    for one, (resting, before) in enumerate(zip(result.resting, result.before, strict=True)):
        axes.plot(*spring(resting, before).T, color=ORANGE, linewidth=1.2)
        axes.plot(*resting, "s", color=BLACK, markersize=5)
        axes.plot(*before, "o", color=GREEN, markersize=10, zorder=5)
        axes.quiver(
            *before, *result.change[one], color=BLUE, angles="xy", scale_units="xy", scale=1, width=0.009, zorder=6,
            headlength=3.5, headaxislength=3.5, minlength=0
        )  # fmt: skip
        name = f"neuron {one + 1}: Q = {result.posterior[one]:.2f}"
        axes.annotate(name, before, xytext=(10, -10), textcoords="offset points", fontsize=8, color=BLUE)
    looks = {
        "rest, W": ("s", BLACK), "F": ("-", ORANGE), "neuron, G = W + F": ("o", GREEN), "pull of the input": ("-", BLUE)
    }  # fmt: skip
    handles = [axes.plot([], [], look, color=colour, label=name)[0] for name, (look, colour) in looks.items()]
    axes.legend(handles=handles, frameon=False, fontsize=7.5, loc="upper right")


def spring(start: Floats, end: Floats, *, coils: int = 6, width: float = 0.025) -> Floats:
    """A zigzag from one point to another, (2 coils + 3, 2).

    Examples
    --------
    >>> spring(np.zeros(2), np.array([1.0, 0.0]), coils=1, width=0.5)[2]
    array([ 0.5, -0.5])
    """
    way = end - start
    across = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-12)
    along = np.linspace(0, 1, 2 * coils + 3)
    offset = np.where(np.arange(len(along)) % 2, width, -width)
    offset[[0, 1, -2, -1]] = 0
    return np.asarray(start + along[:, None] * way + offset[:, None] * across)


def table(result: SpringsResult) -> Table:
    """The neurons and the inputs in the plane, and the length of F over time."""

    def in_plane(points: Floats, name: str) -> dict[str, Floats]:
        return {f"{name}_{one}": points[:, at] for at, one in enumerate(("first", "second"))}

    neurons = range(1, len(result.resting) + 1)
    vectors = {"resting": result.resting, "efficacy": result.before, "change": result.change}
    columns = {name: values for one, points in vectors.items() for name, values in in_plane(points, one).items()}
    inputs = in_plane(np.vstack([result.inputs, result.new_input]), "input")
    remembered = np.append(result.remembered, 1.0)
    return stacked(
        {
            "neurons": {"neuron": neurons, **columns, "posterior": result.posterior},
            "inputs": {"time_steps": range(result.n_inputs), **inputs, "remembered": remembered},
            "length": tidy(
                {"time_steps": range(len(result.pulled)), "neuron": neurons}, {"length_of_short_term": result.pulled}
            ),
        }
    )


EXHIBIT = Exhibit(
    title="Fig. 2a: neural elastic clustering",
    section=ENVIRONMENT,
    draw=draw,
    table=table,
    shows=(
        "Neurons with two synapses as points in the plane. Recent inputs (grey) have pulled them from their rest by F "
        "(springs); a new input pulls each by its posterior Q, in the direction of the input. Blue: how close a "
        "direction is to the new input. Right: how far each is pulled, and how it springs back."
    ),
    ran=lambda r: (
        f"{len(r.resting)} neurons, {r.n_inputs} inputs, κ = {r.kappa:g}, pull γ = {r.pull:g}, relaxation in "
        f"{r.memory:g} steps; the new input has Q = {', '.join(f'{one:.2f}' for one in r.posterior.tolist())}."
    ),
    paper="the same as a drawing.",
    run=run,
    seconds=1,
)
