"""Named sets of parameters: the published ones, and those that we tuned; and presets as TOML text."""

import tomllib
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.regular import LARGEST_TEXT, read_bytes
from springback.spiking.params import (
    Circuit,
    InhibitoryNeuron,
    IntrinsicPlasticity,
    LongTermStdp,
    Presentation,
    ShortTermStdp,
    Streaming,
)

Shown = TypeVar("Shown", bound=Presentation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Preset:
    """All parameters of one way to train, test and stream a network.

    Parameters
    ----------
    name : str
        The name of the preset.
    shuffled : bool
        Whether training images are shown in a random order (given by the seed) or in that of the data set.
    epochs : int
        How often the training images are shown.
    rate_decay : float
        By what the rates of long-term STDP are multiplied after each epoch. The step of the thresholds is multiplied
        by it and their time constant divided, so that they settle at the same value, but more slowly.
    threshold_mv : float | None
        The thresholds of all neurons after training, above the offset; None: each keeps its own.
    streaming : Streaming
        How the frames of a stream are shown.
    static : Streaming
        The same for a network without short-term STDP, at the point where it does best; see `SpikingModel.static`.
    """

    name: str = "unnamed"
    circuit: Circuit = field(default_factory=Circuit)
    long_term: LongTermStdp = field(default_factory=LongTermStdp)
    training: Presentation = field(default_factory=Presentation)
    testing: Presentation = field(default_factory=Presentation)
    streaming: Streaming = field(default_factory=Streaming)
    static: Streaming = field(default_factory=Streaming)
    short_term: ShortTermStdp = field(default_factory=ShortTermStdp)
    shuffled: bool = False
    epochs: int = 1
    rate_decay: float = 1.0
    threshold_mv: float | None = None

    def __post_init__(self) -> None:
        check.integer("Preset.epochs", self.epochs, low=1, high=10**6)
        check.real("Preset.rate_decay", self.rate_decay, above=0, high=1)
        check.reals(self, "threshold_mv", low=-1000, high=1000, or_none=True)


_DIGIT_BRIGHTNESS = 784 * 33.318
"""The pixels of a training digit of MNIST added up, on average."""

_BRIGHTEST = 62.0
"""The largest intensity at which a white pixel fires less than once in a step of 0.5 ms."""


def _driven(preset: Preset, brightness: float | None) -> Preset:
    """The preset for images of another size and brightness, with the total drive that it has for digits.

    The sum of a neuron's weights grows with the total brightness of an image, so that as large a share of the pixels
    gets weight, and each pixel fires so much less. The pull shrinks as the traces of the inputs grow.
    """
    if brightness is None:
        return preset
    mean = check.real("brightness", brightness, above=0, high=255)
    share = preset.circuit.n_inputs * mean / _DIGIT_BRIGHTNESS

    def shown(one: Shown) -> Shown:
        intensity = one.intensity / share
        most = max(min(one.intensity_max / share, _BRIGHTEST), intensity)
        return replace(one, intensity=intensity, intensity_step=one.intensity_step / share, intensity_max=most)

    return replace(
        preset,
        long_term=replace(preset.long_term, weight_sum=preset.long_term.weight_sum * share),
        training=shown(preset.training),
        testing=shown(preset.testing),
        streaming=shown(preset.streaming),
        static=shown(preset.static),
        short_term=replace(preset.short_term, pull=preset.short_term.pull * share),
    )


def _as_published(n_inputs: int, n_neurons: int) -> Circuit:
    """The circuit with the latency of inhibition that it has in Diehl & Cook's code."""
    return Circuit(n_inputs=n_inputs, n_neurons=n_neurons, inhibitory=InhibitoryNeuron(exact_step=True))


def diehl_cook_2015(*, n_inputs: int = 784, n_neurons: int = 400, brightness: float | None = None) -> Preset:
    """Diehl & Cook (2015) as in their published code, without the random 0-10 ms delay of input spikes.

    Parameters
    ----------
    brightness : float | None
        The mean of your images, 0 ... 255, if they have another size or are brighter or darker than digits: the circuit
        gets the total drive that it has for these. None: the published values.

    Examples
    --------
    >>> diehl_cook_2015().long_term.rate_post
    0.01
    """
    found = Preset(
        name="diehl-cook-2015",
        circuit=_as_published(n_inputs, n_neurons),
        long_term=LongTermStdp(theta_decays_at_rest=True),
    )
    return _driven(found, brightness)


def moraitis_2020(*, n_inputs: int = 784, n_neurons: int = 400, brightness: float | None = None) -> Preset:
    """Moraitis, Sebastian & Eleftheriou (2020): Table 1 and Methods, and Diehl & Cook's code where they are silent.

    The paper gives neither the intensity of the stream nor c; both were found on training digits, by
    `springback tune paper` and `paper-static`. It speaks of a single epoch and of the last presentation of the training
    digits; we show them three times, as that code does, in a random order. Inhibition is as fast as in that code.

    Parameters
    ----------
    brightness : float | None
        The mean of your images, as in `diehl_cook_2015`.

    Examples
    --------
    >>> moraitis_2020().short_term.memory_ms
    300.0
    >>> round(moraitis_2020(n_inputs=64, brightness=78.0).streaming.intensity, 1)  # 8 x 8 pixels, on average 78
    15.7
    """
    found = Preset(
        name="moraitis-2020",
        circuit=_as_published(n_inputs, n_neurons),
        shuffled=True,
        epochs=3,
        streaming=Streaming(intensity=3.0),
        static=Streaming(intensity=3.47),
        short_term=ShortTermStdp(weight_dependence=-0.45),
    )
    return _driven(found, brightness)


def springback_2026(*, n_inputs: int = 784, n_neurons: int = 400) -> Preset:
    """The parameters that we tuned on training digits alone, for a circuit of any size; see docs/spiking.md.

    Weights have a common length and trained neurons a common threshold, as the centroids of the theory do, so that the
    neuron whose weights point in the direction of the image wins. Inhibition lasts long enough to bring the other
    neurons down to where the winner is reset, so that the last winner has no advantage.

    In a stream, only a neuron that has been active for longer than a frame is pulled. A neuron that wins one frame by
    chance, or the first frame of a new image, where the winner is least certain, has no advantage in the next.

    Three things depend on the number of neurons. With more of them, each wins fewer images, and the step and the time
    constant of the thresholds both grow with the square root of the number: thresholds settle at the same value, and a
    single image changes them little. The images are shown more often, 3 times to 400 neurons and 6 times to 6,400. The
    rates decay more slowly then, so that the last epoch always has a sixteenth of the first rate.

    Images of another size have another length; that of the weights is scaled for images that are as bright as digits.

    Examples
    --------
    >>> springback_2026().long_term.weight_length
    7.5
    >>> [springback_2026(n_neurons=n).epochs for n in (40, 400, 1600, 6400)]
    [3, 3, 4, 6]
    """
    share, area = n_neurons / 400, n_inputs / 784
    epochs = max(3, round(3 * share**0.25))
    return Preset(
        name="springback-2026",
        circuit=Circuit(n_inputs=n_inputs, n_neurons=n_neurons, tau_inhibitory_ms=5.0),
        long_term=LongTermStdp(
            rate_post=0.1,
            rate_pre=0.0,
            tau_pre_ms=17.0,
            tau_post_2_ms=120.0,
            theta_step_mv=0.064 * share**0.5,
            tau_theta_ms=1e7 * share**0.5,
            weight_length=7.5 / area**0.5,
            weight_max=4.0 / min(area, 1.0),
        ),
        training=Presentation(intensity=2.4),
        testing=Presentation(intensity=2.5),
        shuffled=True,
        epochs=epochs,
        rate_decay=0.0625 ** (1 / (epochs - 1)),
        threshold_mv=57.0,
        streaming=Streaming(intensity=3.35, threshold_shift_mv=-1.38),
        static=Streaming(intensity=4.64, threshold_shift_mv=-4.72),
        short_term=ShortTermStdp(
            pull=0.129,
            weight_dependence=-0.165,
            memory_ms=610.0,
            tau_trace_ms=145.0,
            efficacy_max=5.11,
            delay_ms=398.0,
            pause_ms=335.0,
        ),
    )


PRESETS = {
    "springback-2026": springback_2026,
    "moraitis-2020": moraitis_2020,
    "diehl-cook-2015": diehl_cook_2015,
}
"""Every preset by its name on the command line."""


def preset_for(name: str, pixels: NDArray[np.uint8], n_neurons: int = 400) -> Preset:
    """The preset of this name for such images, (n, ...), which get the total drive that digits have.

    Examples
    --------
    >>> preset_for("moraitis-2020", np.full((5, 8, 8), 78, np.uint8), 100).circuit.n_inputs
    64
    """
    make: Any = PRESETS[check.one_of("preset", name, tuple(PRESETS))]
    n_inputs = pixels[0].size
    adapted = n_inputs != Circuit().n_inputs and make is not springback_2026 and pixels.any()
    others = {"brightness": float(pixels.mean())} if adapted else {}
    preset: Preset = make(n_inputs=n_inputs, n_neurons=n_neurons, **others)
    return preset


BASE = "based_on"
NONE = "none"
_OPTIONAL = ("intrinsic", "delay_ms", "efficacy_max", "weight_length", "threshold_mv")

_OPENING = """\
# All parameters of a springback circuit. Units are in the names: _ms, _mv, _hz.
# Lines that you leave out keep the value of the preset that based_on names.
# Train with it:  springback train --params THIS_FILE --out model.safetensors
"""


def preset_text(preset: Preset, *, based_on: str = "diehl-cook-2015") -> str:
    """A preset as TOML; `load_preset` reads it back as the same parameters.

    Examples
    --------
    >>> print(preset_text(PRESETS["moraitis-2020"](n_neurons=100)))
    # All parameters ...
    based_on = "diehl-cook-2015"
    name = "moraitis-2020"
    shuffled = true
    epochs = 3
    rate_decay = 1.0
    threshold_mv = "none"
    <BLANKLINE>
    [circuit]
    n_inputs = 784
    n_neurons = 100
    ...
    """
    check.one_of(BASE, based_on, tuple(PRESETS))
    return f'{_OPENING}{BASE} = "{based_on}"\n{_table(preset, "")}'


def _table(record: Any, prefix: str) -> str:
    """The values of a record, then its records as tables."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    lines = [f"{name} = {_value(value)}\n" for name, value in values.items() if not is_dataclass(value)]
    tables = [
        f"\n[{prefix}{name}]\n{_table(value, f'{prefix}{name}.')}"
        for name, value in values.items()
        if is_dataclass(value)
    ]
    return "".join(lines + tables)


def _value(value: Any) -> str:
    if value is None:
        return f'"{NONE}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = check.line("name", value).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    return repr(value)


def load_preset(path: str | Path, *, n_inputs: int | None = None, n_neurons: int | None = None) -> Preset:
    """The preset of a TOML file: that of its `based_on`, with the values that the file gives.

    A name that no parameter has, or a value that a parameter cannot have, is refused.

    Parameters
    ----------
    n_inputs, n_neurons : int | None
        The size of the circuit, if the file does not give it; None: that of the preset.
    """
    path = Path(path)
    try:
        given = tomllib.loads(read_bytes(path, largest=LARGEST_TEXT).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path} is not a TOML file: {error}") from error
    try:
        return preset_from(given, n_inputs=n_inputs, n_neurons=n_neurons)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path} does not hold the parameters of a circuit: {error}") from error


def preset_from(given: dict[str, Any], *, n_inputs: int | None = None, n_neurons: int | None = None) -> Preset:
    """The preset that decoded TOML describes.

    Examples
    --------
    >>> preset_from({"based_on": "moraitis-2020", "short_term": {"memory_ms": 500}}).short_term.memory_ms
    500.0
    >>> preset_from({"based_on": "moraitis-2020", "short_term": {"memory": 500}})
    Traceback (most recent call last):
    ValueError: short_term must have only the names pull, weight_dependence, ...; got 'memory'
    """
    base = given.get(BASE)
    if base is None:
        raise ValueError(f"{BASE} must name a preset: {', '.join(PRESETS)}")
    make = PRESETS[check.one_of(BASE, base, tuple(PRESETS))]
    given = {name: value for name, value in given.items() if name != BASE}
    sizes = given.get("circuit", {})
    asked = {"n_inputs": n_inputs, "n_neurons": n_neurons}
    wanted = {name: size for name, size in asked.items() if size is not None}
    if isinstance(sizes, dict):
        wanted |= {name: sizes[name] for name in asked if name in sizes}
    preset = make(**{name: check.integer(f"circuit.{name}", size, low=1) for name, size in wanted.items()})
    changed = preset.name if "name" in given or not given else f"{preset.name}, changed"
    found: Preset = _changed(preset, given, "the file")
    return found if "name" in given else replace(found, name=changed)


def _changed(record: Any, given: Any, name: str) -> Any:
    """A record with the given values, each of the kind that it has there."""
    if not isinstance(given, dict):
        raise TypeError(f"{name} must be a table; got {check.shown(given)}")
    known = {field.name: getattr(record, field.name) for field in fields(record)}
    for one in given:
        check.require(one in known, name, f"have only the names {', '.join(known)}", one)
    return replace(record, **{one: _taken(f"{name}.{one}", known[one], value) for one, value in given.items()})


def _taken(name: str, before: Any, value: Any) -> Any:
    last = name.rsplit(".", 1)[-1]
    if value == NONE and last in _OPTIONAL:
        return None
    if is_dataclass(before) or last == "intrinsic":
        return _changed(IntrinsicPlasticity() if before is None else before, value, last)
    if last == "memory_ms" and isinstance(value, list):
        return _time_constants(value)
    if isinstance(before, bool) != isinstance(value, bool) or isinstance(before, str) != isinstance(value, str):
        kind = "true or false" if isinstance(before, bool) else "text" if isinstance(before, str) else "a number"
        raise TypeError(f"{last} must be {kind}; got {check.shown(value)}")
    return value if isinstance(before, int | str) else check.real(last, value)


def _time_constants(value: list[Any]) -> Any:
    try:
        found = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise TypeError("memory_ms must be a number, or lists of numbers of the same length") from None
    return found
