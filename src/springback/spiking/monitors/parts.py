"""Where a recording is kept: in memory, or in a folder of safetensors files of limited size."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.outside import from_json
from springback.spiking.monitors.buffers import Part
from springback.spiking.monitors.monitor import QUANTITIES, Monitor
from springback.spiking.params import Circuit
from springback.storage import DamagedError, TensorFile, open_tensors, save_tensors

KIND = "recording"
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
    """What all parts of a recording share; it is the metadata of each of them.

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

    def replace_began(self, began: int) -> "About":
        """The same, begun in another step."""
        return replace(self, began=began)


class Parts(NamedTuple):
    """Consecutive parts of a recording; each array is read when it is asked for."""

    sources: Sequence[Part | Path]

    def arrays(self, name: str) -> Iterator[NDArray[Any]]:
        """The array of that name in each part, one after the other."""
        for source in self.sources:
            if isinstance(source, Path):
                with open_tensors(source, kind=KIND) as file:
                    yield file.tensor(name)
            else:
                yield source[name]


class PartsInMemory:
    """Parts that stay in memory."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._n_bytes = 0

    def begin(self, about: About) -> None:
        """Nothing to do."""

    def add(self, part: Part, n_steps: int) -> None:  # noqa: ARG002
        """Keep a part."""
        self._n_bytes += _size(part)
        if self._n_bytes > MOST_IN_MEMORY:
            raise ValueError(
                f"a recording in memory must not exceed {MOST_IN_MEMORY:,} bytes: record less, or write it to a folder "
                "with Recorder(..., folder=...)"
            )
        self._parts.append(part)

    def close(self) -> None:
        """Nothing to do."""

    def parts(self) -> Parts:
        """The parts so far."""
        return Parts(tuple(self._parts))


class FolderOfParts:
    """Parts that are collected up to `PART_BYTES` and then written to a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{folder} exists already; a recording is written to a new folder")
        self._waiting: list[Part] = []
        self._written: list[Path] = []
        self._n_bytes = 0
        self._about = ""
        self._n_steps = 0

    def begin(self, about: About) -> None:
        """Create the folder."""
        from msgspec import to_builtins

        self._folder.mkdir(parents=True, exist_ok=True)
        self._about = json.dumps(to_builtins(about), sort_keys=True)

    def add(self, part: Part, n_steps: int) -> None:
        """Collect a part, and write if there is enough; `n_steps`: the length of the recording up to its end."""
        self._waiting.append(part)
        self._n_steps = n_steps
        self._n_bytes += _size(part)
        if self._n_bytes >= PART_BYTES:
            self.close()

    def close(self) -> None:
        """Write what is waiting."""
        if not self._waiting:
            return
        path = self._folder / f"part-{len(self._written):06d}{_SUFFIX}"
        whole = {name: np.concatenate([one[name] for one in self._waiting]) for name in self._waiting[0]}
        metadata = {"about": self._about, "part": str(len(self._written)), "steps": str(self._n_steps)}
        save_tensors(path, whole, kind=KIND, metadata=metadata)
        self._written.append(path)
        self._waiting, self._n_bytes = [], 0

    def parts(self) -> Parts:
        """The parts that are written."""
        return Parts(tuple(self._written))


def parts_of(folder: Path) -> tuple[About, int, Parts]:
    """The parts of a folder in order, and the steps recorded; refused if one is missing, damaged or of another run."""
    paths = sorted(folder.glob(f"part-*{_SUFFIX}")) if folder.is_dir() else []
    if not paths:
        raise DataError(f"{folder} is not a folder with a recording")
    found, n_steps = None, 0
    for number, path in enumerate(paths):
        with open_tensors(path, kind=KIND) as file:
            if file.metadata.get("part") != str(number):
                raise DataError(f"{folder} lacks part {number} of its recording")
            about = _about(path, file.metadata.get("about", ""))
            if found is not None and about != found:
                raise DataError(f"{path} is of another recording than the parts before it")
            found, n_steps = about, _n_steps(path, file.metadata.get("steps", ""), n_steps)
            _check_arrays(path, file, about)
            _check_values(path, file, about, n_steps)
    assert found is not None
    return found, n_steps, Parts(tuple(paths))


def _n_steps(path: Path, text: str, before: int) -> int:
    if not text.isascii() or not text.isdigit() or not before <= int(text[:20]) <= _MOST_STEPS:
        raise DamagedError(f"{path} is not a usable recording: it says that it ends in step {check.shown(text)}")
    return int(text)


def _about(path: Path, text: str) -> About:
    try:
        about = from_json(text, About)
        sizes = (about.n_inputs, about.n_neurons, about.dt_ms)
        check.require(min(sizes) > 0, "its circuit", "have a size and a time step", sizes)
        check.one_of("its dtype", about.dtype, ("float32", "float64"))
        return about
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a usable recording: {error}") from error


def _check_arrays(path: Path, file: TensorFile, about: About) -> None:
    """Refuse arrays of other names, shapes or dtypes than the record says."""
    wanted: dict[str, tuple[tuple[int, ...], str]] = {"shown": ((3,), "int64")}
    for kind in ("out", "partner", "in"):
        wanted |= {f"{kind}_index": ((), "int32"), f"{kind}_step": ((), "int64")}
    for name, one in about.monitors.items():
        if one.quantity not in QUANTITIES:
            raise DamagedError(f"{path} is not a usable recording: it has no quantity {one.quantity!r}")
        rest = tuple(len(getattr(one, axis)) for axis in QUANTITIES[one.quantity].axes)
        wanted |= {f"samples.{name}.values": (rest, about.dtype), f"samples.{name}.step": ((), "int64")}
    fits = set(file.names) == set(wanted) and all(
        file.shape(name)[1:] == rest and len(file.shape(name)) == 1 + len(rest) and file.dtype(name) == dtype
        for name, (rest, dtype) in wanted.items()
    )
    pairs = [(name, name.removesuffix("step") + "index") for name in wanted if name.endswith("_step")]
    pairs += [(name, name.removesuffix("step") + "values") for name in wanted if name.endswith(".step")]
    if not fits or any(file.shape(a)[0] != file.shape(b)[0] for a, b in pairs):
        raise DamagedError(f"{path} is not a usable recording: its arrays are not those that it announces")


def _check_values(path: Path, file: TensorFile, about: About, n_steps: int) -> None:
    """Refuse neurons and inputs that the circuit does not have, steps outside the recording, and NaN."""
    tops = {"out_index": about.n_neurons, "partner_index": about.n_neurons, "in_index": about.n_inputs}
    for name in file.names:
        values = file.tensor(name)
        if name in tops or name.endswith("step"):
            inside = bool(((values >= 0) & (values < tops.get(name, n_steps))).all())
        elif name == "shown":
            inside = bool((values >= 0).all() and (values[:, 2] < n_steps).all())
        else:
            inside = bool(np.isfinite(values).all())
        if not inside:
            raise DamagedError(f"{path} is not a usable recording: {name} has values that no recording has")


def _size(part: Part) -> int:
    return sum(array.nbytes for array in part.values())
