"""The sliders of each model: what they change, their units and bounds, and a one-line description."""

from collections.abc import Mapping
from dataclasses import dataclass

from springback import check
from springback.spiking.presets import springback_2026
from springback_paper.inputs.elastic_omnist import ElasticOmnist

MODELS = ("spiking", "elastic", "cnn")
CONTROL_NAMES = ("pull", "memory", "weight_dependence", "intensity", "threshold")

Settings = dict[str, float]
"""The value of every slider that the model has, by name."""


@dataclass(frozen=True, kw_only=True)
class Control:
    """One slider.

    Parameters
    ----------
    name, title : str
        The name in messages, and the title on the page.
    symbol, unit : str
        Symbol in the paper, and unit; empty if there is none.
    low, high, step, default : float
    says : str
        One line: what it does.
    """

    name: str
    title: str
    symbol: str
    unit: str
    low: float
    high: float
    step: float
    default: float
    says: str

    def checked(self, value: object) -> float:
        """The value, if it is within the bounds.

        Examples
        --------
        >>> controls_of("spiking")["pull"].checked(9.0)
        Traceback (most recent call last):
        ValueError: pull must be <= 0.5; got 9.0
        """
        return check.real(self.name, value, low=self.low, high=self.high)


def controls_of(model: str) -> dict[str, Control]:
    """The sliders of a model by name, in the order in which they are shown.

    Examples
    --------
    >>> list(controls_of("elastic"))
    ['pull', 'memory', 'weight_dependence', 'threshold']
    """
    check.one_of("model", model, MODELS)
    return {one.name: one for one in _CONTROLS[model]}


def defaults_of(model: str) -> Settings:
    """The default settings of a model.

    Examples
    --------
    >>> defaults_of("spiking")["memory"]
    610.0
    """
    return {name: one.default for name, one in controls_of(model).items()}


def checked_settings(model: str, changed: Mapping[str, float]) -> Settings:
    """All settings of a model, some of them changed; a slider that it does not have is refused with the reason.

    Examples
    --------
    >>> checked_settings("elastic", {"intensity": 2.0})
    Traceback (most recent call last):
    ValueError: intensity must not be set for elastic clustering: its frames are scaled to length one; got 2.0
    """
    controls = controls_of(model)
    for name, value in changed.items():
        check.one_of("the control", name, CONTROL_NAMES)
        check.require(name in controls, name, f"not be set for {absence_of(model, name)}", value)
    return {**defaults_of(model), **{name: controls[name].checked(value) for name, value in changed.items()}}


def absence_of(model: str, name: str) -> str:
    """Why a model lacks a slider; empty if it has it.

    Examples
    --------
    >>> absence_of("cnn", "threshold")
    'the CNN: noise is a class of its own, learned from examples'
    """
    return _ABSENT.get((model, name), "")


_ABSENT = {
    ("elastic", "intensity"): "elastic clustering: its frames are scaled to length one",
    ("cnn", "threshold"): "the CNN: noise is a class of its own, learned from examples",
}

_SHORT_TERM = springback_2026().short_term
_STREAMING = springback_2026().streaming
_ELASTIC = ElasticOmnist()


_TITLES = {
    "pull": ("Pull", "γ"),
    "memory": ("Memory", "1/λ"),
    "weight_dependence": ("Weight dependence", "c"),
    "intensity": ("Intensity", ""),
}


def _slider(
    name: str,
    unit: str,
    bounds: tuple[float, float, float],
    default: float,
    says: str,
    title: tuple[str, str] = ("", ""),
) -> Control:
    """A slider with (low, high, step) as `bounds`, and with its title and symbol where they are not in `_TITLES`."""
    (shown, symbol), (low, high, step) = _TITLES.get(name, title), bounds
    return Control(
        name=name, title=shown, symbol=symbol, unit=unit, low=low, high=high, step=step, default=default, says=says
    )


_CONTROLS: dict[str, tuple[Control, ...]] = {
    "spiking": (
        _slider(
            "pull", "", (0.0, 0.5, 0.001), _SHORT_TERM.pull,
            "How far each output spike pulls the neuron's synapses towards the input.",
        ),
        _slider(
            "memory", "ms", (50.0, 3000.0, 10.0), float(_SHORT_TERM.memory_ms),
            "How slowly stretched synapses spring back to rest; one frame lasts 350 ms.",
        ),
        _slider(
            "weight_dependence", "", (-2.0, 1.0, 0.005), _SHORT_TERM.weight_dependence,
            "Below 0 only strong synapses are pulled; at 1 all are pulled equally.",
        ),
        _slider(
            "intensity", "× 32 Hz", (0.0, 8.0, 0.01), _STREAMING.intensity,
            "How fast white pixels spike; it drives both networks.",
        ),
        _slider(
            "threshold", "mV", (-16.0, 8.0, 0.01), _STREAMING.threshold_shift_mv,
            "Lower: neurons fire sooner, and on less input; it drives both networks.", ("Threshold shift", "Δθ"),
        ),
    ),
    "elastic": (
        _slider("pull", "", (0.0, 100.0, 1.0), _ELASTIC.pull, "How far a frame pulls the centroids it belongs to."),
        _slider(
            "memory", "frames", (0.2, 10.0, 0.1), _ELASTIC.memory, "How slowly stretched centroids spring back to rest."
        ),
        _slider(
            "weight_dependence", "", (-1.0, 1.0, 0.05), 1.0,
            "At 1 every pixel pulls equally; below, only where the centroid is bright.",
        ),
        _slider(
            "threshold", "cosine", (0.0, 1.0, 0.01), 0.52,
            "A frame less similar than this to every centroid is called noise.", ("Noise threshold", "u"),
        ),
    ),
    "cnn": (
        _slider(
            "pull", "", (0.0, 100.0, 1.0), 20.0, "How far a frame pulls the class it belongs to, in the last layer."
        ),
        _slider(
            "memory", "frames", (0.2, 10.0, 0.1), 5 / 3, "How slowly the stretched last layer springs back to rest."
        ),
        _slider(
            "weight_dependence", "", (-1.0, 1.0, 0.05), 1.0,
            "At 1 every feature pulls equally; below, only those with strong weights.",
        ),
        _slider(
            "intensity", "× brightness", (0.0, 3.0, 0.05), 1.0, "How bright the frames are; it drives both networks."
        ),
    ),
}  # fmt: skip
