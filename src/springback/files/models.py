"""Models on disk without pickle: everything that a model consists of, and its short-term state, as one record."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.container import DamagedError, from_bytes, kind_of, read, to_bytes, write
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import MemoryIn
from springback.streaming.stream_model import StreamModel

Arrays = dict[str, NDArray[Any]]

MODELS = {
    "SavedClassifier": ("springback.elastic", "ElasticClassifier"),
    "SavedClustering": ("springback.elastic", "ElasticClustering"),
    "SavedHead": ("springback.heads", "ElasticHead"),
    "SavedLinearClassifier": ("springback.heads", "ElasticLinearClassifier"),
    "SavedPipeline": ("springback.heads.stream_pipeline", "StreamPipeline"),
    "SavedSeveral": ("springback.heads", "SeveralMemories"),
    "SavedSpikingModel": ("springback.spiking", "SpikingClassifier"),
}
"""Which class loads a file, by the record that the file says it holds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedRecord:
    """What all records of models have: the state of the stream."""

    state: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ModelState:
    """The state of a stream, and the class of the model that it is of."""

    model: str
    arrays: dict[str, NDArray[Any]]


class SavedModel(ABC):
    """A model that can be saved with its state, and loaded again, without pickle.

    A class says what it consists of (`RECORD`, `_record`, `_from_record`) and what its state is (`_state_arrays`,
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

    RECORD: ClassVar[type[SavedRecord]]
    """The class of what a file holds."""

    @abstractmethod
    def _record(self) -> Any:
        """All of the model but its state, as a `RECORD`."""

    @classmethod
    @abstractmethod
    def _from_record(cls, record: Any) -> Self:
        """The model at rest; a record that does not fit raises `TypeError` or `ValueError`."""

    @abstractmethod
    def _state_arrays(self) -> Arrays:
        """The state of the stream; names, dtypes and shapes are those of the state at rest."""

    @abstractmethod
    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from this state; one that is not of this model raises `TypeError` or `ValueError`."""

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the model and its state as one safetensors file; a file that it replaces is kept as `NAME.previous`."""
        write(Path(path), "model", replace(self._record(), state=self._state_arrays()), keep_previous=True)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The model in a file, in the state in which it was saved; everything is checked, and nothing is executed."""

        def with_state(record: Any) -> Any:
            model = cls._from_record(record)
            model._set_state_arrays(record.state)
            return model

        model: Self = read(Path(path), "model", cls.RECORD, with_state)
        return model

    @one_at_a_time
    def get_state(self) -> bytes:
        """The state of the stream as bytes, for a store or another process."""
        return pack_state(type(self).__name__, self._state_arrays())

    @one_at_a_time
    def set_state(self, state: bytes) -> Self:
        """Continue from a state that `get_state` returned, of this model or of one with the same sizes."""
        arrays = unpack_state(type(self).__name__, state, self._state_arrays())
        try:
            self._set_state_arrays(arrays)
        except ValueError as error:
            raise DataError(f"state cannot be used: {error}") from error
        return self


class AroundModel(SavedModel, StreamModel):
    """A model around another one, which remembers the stream: time, memory and state are those of the one inside."""

    @abstractmethod
    def _inner(self) -> Any:
        """The model inside; refused if there is none yet."""

    @property
    def memory_in_(self) -> MemoryIn:
        """The unit in which time is counted."""
        unit: MemoryIn = self._inner().memory_in_
        return unit

    @memory_in_.setter
    def memory_in_(self, unit: MemoryIn) -> None:
        self._inner().memory_in_ = unit

    @property
    def memory_(self) -> float | None:
        """Time constant of the memory; None if it has no single one."""
        memory: float | None = self._inner().memory_
        return memory

    @one_at_a_time
    def relax(self, elapsed: Any) -> Self:
        """Let time pass without a row: in the unit of the time stamps, if there were any, and in steps otherwise."""
        self._inner().relax(elapsed)
        return self

    @one_at_a_time
    def reset(self) -> Self:
        """Return to rest and forget the past; what was fitted stays."""
        self._inner().reset()
        return self

    def _savable(self) -> SavedModel:
        model = self._inner()
        if not isinstance(model, SavedModel):
            raise TypeError(f"a model that ends in {type(model).__name__} cannot be saved; save the one inside")
        return model

    def _state_arrays(self) -> Arrays:
        return self._savable()._state_arrays()

    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._savable()._set_state_arrays(arrays)


def load_model(path: str | Path) -> Any:
    """The model in a file that `save` of any estimator wrote, in the state in which it was saved.

    Only numbers and settings are read, and all of them are checked; nothing in the file is executed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from springback.heads import ElasticHead
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ElasticHead(np.eye(2), np.zeros(2)).save(f"{folder}/head.safetensors")
    ...     type(load_model(f"{folder}/head.safetensors")).__name__
    'ElasticHead'
    """
    kind, holds = kind_of(Path(path))
    if kind != "model" or holds not in MODELS:
        says = check.shown(" ".join(filter(None, (kind, holds))) or "no file of springback")
        names = ", ".join(name for _, name in MODELS.values())
        raise DataError(f"{path} must hold a saved model ({names}); it says it is {says}")
    return model_class(holds).load(path)


def model_class(record: str) -> Any:
    """The class of model that a record of that name belongs to."""
    package, name = MODELS[check.one_of("record", record, tuple(MODELS))]
    return getattr(import_module(package), name)


def require_names(arrays: Mapping[str, Any], *names: str) -> None:
    """Refuse arrays with other names."""
    check.require(set(arrays) == set(names), "it", f"hold {', '.join(sorted(names))}", sorted(arrays))


def set_feature_names(estimator: Any, names: tuple[str, ...] | None) -> None:
    """Give an estimator the names of its columns again."""
    if names is not None:
        width = estimator.n_features_in_
        check.require(len(names) == width, "feature_names", f"be {width}, one for each column", len(names))
        estimator.feature_names_in_ = np.array(names, object)


def sorted_labels(name: str, labels: NDArray[Any]) -> NDArray[Any]:
    """Classes that a file holds: at least one, sorted, each once."""
    ordered = labels.ndim == 1 and len(labels) > 0 and bool((labels[1:] > labels[:-1]).all())
    check.require(ordered, name, "be sorted, each once", labels.tolist())
    return labels


def pack_state(model: str, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The state of a stream as bytes, for a store or another process; `model` is the class of its model.

    Examples
    --------
    >>> type(pack_state("ElasticHead", {"clock": np.zeros(1)}))
    <class 'bytes'>
    """
    return to_bytes("state", ModelState(model, dict(arrays)))


def unpack_state(model: str, content: bytes, like: Mapping[str, NDArray[Any]]) -> Arrays:
    """The arrays in bytes from `pack_state`; they must have the names, dtypes and shapes of `like`.

    Examples
    --------
    >>> rest = {"clock": np.zeros(1)}
    >>> unpack_state("ElasticHead", pack_state("ElasticHead", {"clock": np.ones(1)}), rest)
    {'clock': array([1.])}
    """
    if not isinstance(content, bytes | bytearray | memoryview):
        raise TypeError(f"state must be bytes from get_state; got {type(content).__name__}")
    try:
        found = from_bytes("state", bytes(content), "state", ModelState)
    except DamagedError:
        raise DataError("state must be bytes from get_state; got other, incomplete or changed bytes") from None
    check.require(found.model == model, "state", f"be of an {model}", found.model)
    must, has = _layout(like), _layout(found.arrays)
    for name, wanted in must.items():
        check.require(has.get(name) == wanted, "state", f"fit this model, with {name} of {wanted}", has.get(name))
    require_names(found.arrays, *like)
    return {name: found.arrays[name] for name in like}


def _layout(arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    return {name: f"{array.dtype.name} {array.shape}" for name, array in arrays.items()}
