"""Models on disk without pickle: all their numbers in one safetensors file, the short-term state included."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import msgspec
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.one_at_a_time import one_at_a_time
from springback.outside import from_json
from springback.plain_values import as_json
from springback.state_bytes import pack_state, unpack_state
from springback.storage import DamagedError, read_tensors, save_tensors
from springback.version import __version__

FORMAT = 1
"""Version of what model files hold."""

Arrays = dict[str, NDArray[Any]]
_STATE = "state."


class Parts(NamedTuple):
    """What a model consists of: arrays by name, and values that JSON can hold."""

    arrays: Arrays
    values: dict[str, Any]


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    values: dict[str, Any]


class SavedModel(ABC):
    """A model that can be saved with its state, and loaded again, without pickle.

    A class says what it consists of (`_parts`, `_from_parts`) and what its state is (`_state_arrays`,
    `_set_state_arrays`, which refuses a state that the model cannot have).

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from springback.heads import ElasticHead
    >>> head = ElasticHead(5 * np.eye(2), np.zeros(2))
    >>> answer = head.step([1.0, 0.2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     head.save(f"{folder}/head.safetensors")
    ...     again = ElasticHead.load(f"{folder}/head.safetensors")
    >>> again.get_state() == head.get_state()
    True
    """

    KIND: ClassVar[str]
    """What a file says it is."""

    @abstractmethod
    def _parts(self) -> Parts:
        """All of the model but its state."""

    @classmethod
    @abstractmethod
    def _from_parts(cls, parts: Parts) -> Self:
        """The model at rest; parts that do not fit raise `TypeError` or `ValueError`."""

    @abstractmethod
    def _state_arrays(self) -> Arrays:
        """The state of the stream; names, dtypes and shapes are those of the state at rest."""

    @abstractmethod
    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from this state; one that is not of this model raises `TypeError` or `ValueError`."""

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the model and its state as one safetensors file; a file that it replaces is kept as `NAME.previous`."""
        arrays, values = self._parts()
        arrays = arrays | {f"{_STATE}{name}": array for name, array in self._state_arrays().items()}
        stored = {"format": FORMAT, "values": values}
        about = {"params": as_json(stored), "springback_version": __version__}
        save_tensors(Path(path), arrays, kind=self.KIND, metadata=about, keep_previous=True)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The model in a file, in the state in which it was saved; everything is checked, and nothing is executed."""
        arrays, metadata = read_tensors(Path(path), kind=cls.KIND)
        try:
            stored = from_json(metadata.get("params", ""), _Stored)
            check.require(stored.format == FORMAT, "its format", f"be {FORMAT}", stored.format)
            own = {name: array for name, array in arrays.items() if not name.startswith(_STATE)}
            model = cls._from_parts(Parts(own, stored.values))
            model._set_state_arrays(
                {name.removeprefix(_STATE): array for name, array in arrays.items() if name.startswith(_STATE)}
            )
        except DataError:
            raise
        except (TypeError, ValueError, OverflowError, KeyError) as error:
            raise DamagedError(f"{path} is not a usable {cls.KIND}: {error}") from error
        return model

    @one_at_a_time
    def get_state(self) -> bytes:
        """The state of the stream as bytes, for a store or another process."""
        return pack_state(self.KIND, self._state_arrays())

    @one_at_a_time
    def set_state(self, state: bytes) -> Self:
        """Continue from a state that `get_state` returned, of this model or of one with the same sizes."""
        arrays = unpack_state(self.KIND, state, self._state_arrays())
        try:
            self._set_state_arrays(arrays)
        except ValueError as error:
            raise DataError(f"state cannot be used: {error}") from error
        return self


def require_names(arrays: Mapping[str, Any], *names: str) -> None:
    """Refuse arrays with other names."""
    check.require(set(arrays) == set(names), "it", f"hold {', '.join(sorted(names))}", sorted(arrays))
