"""Presets as TOML text: written out whole, and read back whole or as changes to a named preset."""

import tomllib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from springback import check
from springback.check import DataError
from springback.files.regular import LARGEST_TEXT, read_bytes
from springback.spiking.params import IntrinsicPlasticity
from springback.spiking.presets import PRESETS, Preset

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
    shuffled = false
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
