"""Where a recording is kept: in memory, or in a folder of safetensors files of limited size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.container import opened, read, write
from springback.spiking.monitors.buffers import Part
from springback.spiking.monitors.monitor import QUANTITIES, Monitor
from springback.spiking.params import Circuit

PART_BYTES = 32 * 2**20
MOST_IN_MEMORY = 4 * 2**30
"""Bytes; a longer recording must be written to a folder."""

_SUFFIX = ".safetensors"
_MOST_STEPS = 2**61


@dataclass(frozen=True)
class Watched:
    """A monitor of a recording: its quantity, neurons and inputs."""

    quantity: str
    neurons: tuple[int, ...]
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class About:
    """What all parts of a recording share; it is in the file of each of them.

    Parameters
    ----------
    dt_ms : float
        The time step.
    began : int
        The step of the circuit in which the recording began.
    """

    n_inputs: int
    n_neurons: int
    dt_ms: float
    dtype: str
    began: int
    monitors: dict[str, Watched]

    @classmethod
    def of(cls, circuit: Circuit, dtype: str, began: int, monitors: Mapping[str, Monitor]) -> "About":
        """The record of a recorder."""
        watched = {
            name: Watched(one.quantity, *(tuple(one.indices(axis, circuit).tolist()) for axis in ("neurons", "inputs")))
            for name, one in monitors.items()
        }
        return cls(circuit.n_inputs, circuit.n_neurons, float(circuit.dt_ms), dtype, began, watched)

    def __post_init__(self) -> None:
        sizes = (self.n_inputs, self.n_neurons, self.dt_ms)
        check.require(min(sizes) > 0, "the circuit", "have a size and a time step", sizes)
        check.one_of("the dtype", self.dtype, ("float32", "float64"))


@dataclass(frozen=True, eq=False)
class SavedPart:
    """A part of a recording in its file: its number, and the steps from the beginning of the recording to its end."""

    about: About
    number: int
    n_steps: int
    arrays: dict[str, NDArray[Any]]


class RecordedParts(NamedTuple):
    """Consecutive parts of a recording; each array is read when it is asked for."""

    sources: Sequence[Part | Path]

    def arrays(self, name: str) -> Iterator[NDArray[Any]]:
        """The array of that name in each part, one after the other."""
        for source in self.sources:
            if isinstance(source, Path):
                with opened(source, "recording") as file:
                    yield file.array(f"arrays.{name}")
            else:
                yield source[name]


class PartsKept:
    """The parts of a recorder: in memory, or collected up to `PART_BYTES` and then written to a folder of their own."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{folder} exists already; a recording is written to a new folder")
        self._waiting: list[Part] = []
        self._written: list[Path] = []
        self._n_bytes = self._n_steps = 0
        self._about: About | None = None

    def begin(self, about: About) -> None:
        """Create the folder, if there is one."""
        self._about = about
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    def add(self, part: Part, n_steps: int) -> None:
        """Keep a part, and write if there is enough; `n_steps`: the length of the recording up to its end."""
        self._waiting.append(part)
        self._n_steps = n_steps
        self._n_bytes += sum(array.nbytes for array in part.values())
        if self._folder is None and self._n_bytes > MOST_IN_MEMORY:
            raise ValueError(
                f"a recording in memory must not exceed {MOST_IN_MEMORY:,} bytes: record less, or write it to a folder "
                "with Recorder(..., folder=...)"
            )
        if self._n_bytes >= PART_BYTES:
            self.close()

    def close(self) -> None:
        """Write what is waiting; in memory there is nothing to do."""
        if self._folder is None or not self._waiting or self._about is None:
            return
        path = self._folder / f"part-{len(self._written):06d}{_SUFFIX}"
        whole = {name: np.concatenate([one[name] for one in self._waiting]) for name in self._waiting[0]}
        write(path, "recording", SavedPart(self._about, len(self._written), self._n_steps, whole))
        self._written.append(path)
        self._waiting, self._n_bytes = [], 0

    def parts(self) -> RecordedParts:
        """The parts so far; of a folder, those that are written."""
        return RecordedParts(tuple(self._waiting if self._folder is None else self._written))


def parts_of(folder: Path) -> tuple[About, int, RecordedParts]:
    """The parts of a folder in order, and the steps recorded; refused if one is missing, damaged or of another run."""
    paths = sorted(folder.glob(f"part-*{_SUFFIX}")) if folder.is_dir() else []
    if not paths:
        raise DataError(f"{folder} is not a folder with a recording")
    found, n_steps = None, 0
    for number, path in enumerate(paths):
        part = read(path, "recording", SavedPart, partial(_checked, n_steps=n_steps))
        if part.number != number:
            raise DataError(f"{folder} lacks part {number} of its recording")
        if found is not None and part.about != found:
            raise DataError(f"{path} is of another recording than the parts before it")
        found, n_steps = part.about, part.n_steps
    assert found is not None
    return found, n_steps, RecordedParts(tuple(paths))


def _checked(part: SavedPart, n_steps: int) -> SavedPart:
    """A part of a recording, if it ends no earlier than the parts before it and fits them."""
    check.integer("the step in which it ends", part.n_steps, low=n_steps, high=_MOST_STEPS)
    _check_arrays(part.about, part.arrays)
    _check_values(part.about, part.arrays, part.n_steps)
    return part


def _check_arrays(about: About, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays of other names, shapes or dtypes than the record says."""
    wanted: dict[str, tuple[tuple[int, ...], str]] = {"shown": ((3,), "int64")}
    for kind in ("out", "partner", "in"):
        wanted |= {f"{kind}_index": ((), "int32"), f"{kind}_step": ((), "int64")}
    for name, one in about.monitors.items():
        check.one_of("a quantity", one.quantity, tuple(QUANTITIES))
        rest = tuple(len(getattr(one, axis)) for axis in QUANTITIES[one.quantity].axes)
        wanted |= {f"samples.{name}.values": (rest, about.dtype), f"samples.{name}.step": ((), "int64")}
    check.require(arrays.keys() == wanted.keys(), "its arrays", "be those that it announces", sorted(arrays))
    for name, (rest, dtype) in wanted.items():
        check.array(name, arrays[name], shape=(None, *rest), dtype=np.dtype(dtype), finite=False)
    pairs = [(name, name.removesuffix("step") + "index") for name in wanted if name.endswith("_step")]
    pairs += [(name, name.removesuffix("step") + "values") for name in wanted if name.endswith(".step")]
    for step, other in pairs:
        check.require(len(arrays[step]) == len(arrays[other]), step, f"be as long as {other}", len(arrays[step]))


def _check_values(about: About, arrays: Mapping[str, NDArray[Any]], n_steps: int) -> None:
    """Refuse neurons and inputs that the circuit does not have, steps outside the recording, and NaN."""
    tops = {"out_index": about.n_neurons, "partner_index": about.n_neurons, "in_index": about.n_inputs}
    for name, values in arrays.items():
        if name in tops or name.endswith("step"):
            inside = bool(((values >= 0) & (values < tops.get(name, n_steps))).all())
        elif name == "shown":
            inside = bool((values >= 0).all() and (values[:, 2] < n_steps).all())
        else:
            inside = bool(np.isfinite(values).all())
        check.require(inside, name, "have values that a recording can have", "others")
