"""Following a stream with a network in an ONNX file that `springback.torch.export_onnx` wrote; without PyTorch."""

import base64
import binascii
import copy
import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback.files.models import pack_state, unpack_state
from springback.files.regular import read_bytes
from springback.heads.memories.memory import Part, sums
from springback.heads.onnx.layout import FROZEN, METADATA_KEY, NOVELTY, OUTPUT, PROBABILITY, Layout
from springback.heads.onnx.session import one_line, open_session
from springback.heads.settings import MEMORIES
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import AT_REST, require_pace
from springback.streaming.records import Followed
from springback.streaming.stream_classifier import StreamClassifier, refuse_overflow
from springback.streaming.stream_model import StreamModel

_LARGEST_FILE = _LARGEST_STATE = 2**31
_WAITED, _CLOCK, _PACE = "waited", "clock", "pace"
_STATE_KEY = "springback.state"


class OnnxStream(StreamClassifier, StreamModel):
    """A network with an elastic head in an ONNX file, which follows one stream.

    `step` answers a frame and moves the state; `track` answers a recorded stream on a copy of it; `reset` returns to
    rest; `relax` lets time pass. Frames with NaN or infinity, and frames of another shape, are refused, and nothing has
    changed then. Needs the extra `onnx`, but not PyTorch.

    Parameters
    ----------
    path : str | Path
        A file that `springback.torch.export_onnx` wrote.
    threads : int
        Threads of the network; 0: onnxruntime decides.

    Attributes
    ----------
    layout : Layout
        What the file says about itself: the shape of a frame, the classes, the settings of the head, its memory.
    classes_ : NDArray[Any]
        Names of the classes; their numbers if the file has no names.

    Examples
    --------
    >>> import tempfile, torch
    >>> from springback.heads import Observer
    >>> from springback.torch import elasticize, export_onnx
    >>> network = torch.nn.Linear(2, 2, bias=False)
    >>> network.weight.data = 5 * torch.eye(2)
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = export_onnx(elasticize(network, Observer()), f"{folder}/model.onnx", classes=["right", "up"])
    ...     stream = OnnxStream(f"{folder}/model.onnx")
    >>> stream.track_labels(turning).tolist()
    ['right', 'right', 'right', 'right']
    >>> stream.track_response(turning).frozen.argmax(axis=1).tolist()
    [0, 0, 0, 1]
    """

    def __init__(self, path: str | Path, *, threads: int = 0) -> None:
        require_extra("springback.heads.onnx", "onnxruntime")
        self.path = Path(path)
        self.threads = check.integer("threads", threads, low=0)
        content = read_bytes(self.path, largest=_LARGEST_FILE)
        saved = self._open(content)
        self._network_bytes = len(content) - len(saved)
        self._digest = hashlib.sha256(content[: self._network_bytes]).hexdigest()
        self.dtype = np.dtype(self.layout.frame_dtype)  # type: ignore[misc]
        if any(layer.settings.get("memory_in") == "time" for layer in self.layout.layers):
            self.memory_in_ = "time"
        super().__init__(self.layout.answer_shape[-1], max(1, int(np.prod(self.layout.frame_shape))))
        if self.layout.classes is not None:
            self.classes_ = np.array(self.layout.classes)
        if saved:
            self.set_state(self._state_in_file)

    def _open(self, content: bytes) -> bytes:
        """Make the network ready; returns what `save` appended to the file, if it did."""
        session = open_session(content, str(self.path), threads=self.threads)
        metadata = session.get_modelmeta().custom_metadata_map
        if METADATA_KEY not in metadata:
            raise DataError(f"{self.path} has no elastic head; write it with springback.torch.export_onnx")
        try:
            self.layout = Layout.from_json(metadata[METADATA_KEY])
            self._known = self._parts()
        except (ValueError, TypeError) as error:
            raise DataError(f"{self.path} has metadata that cannot be used: {error}") from error
        self._check_graph(session)
        self._session: Any = session
        return self._saved_state(content, metadata.get(_STATE_KEY, ""))

    def _saved_state(self, content: bytes, text: str) -> bytes:
        try:
            self._state_in_file = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise DataError(f"{self.path} has a saved state that cannot be used") from None
        saved = _metadata_entry(_STATE_KEY, text) if text else b""
        if not content.endswith(saved):
            raise DataError(f"{self.path} has a saved state that cannot be used")
        return saved

    def _check_graph(self, session: Any) -> None:
        """Refuse a graph whose inputs and outputs are not those that the layout names."""
        inputs = {one.name: one for one in session.get_inputs()}
        outputs = {one.name: one for one in session.get_outputs()}
        if not set(inputs) <= set(self.layout.inputs) or not set(self.layout.outputs) <= set(outputs):
            raise DataError(f"{self.path} has other inputs or outputs than its metadata says")
        for name, shape in self._shapes().items():
            tensor = inputs.get(name) or outputs.get(name)
            if tensor is not None and not _fits(tuple(tensor.shape), shape):
                raise DataError(f"{self.path} has a tensor {name} of another shape than its metadata says")
        size = self.layout.state_bytes
        if size > _LARGEST_STATE:
            raise DataError(f"{self.path} must have a state of at most {_LARGEST_STATE:,} bytes; it has {size:,}")
        self._inputs, self._tells_novelty = frozenset(inputs), NOVELTY in outputs

    def _shapes(self) -> dict[str, tuple[int | None, ...]]:
        """The shape of each tensor of the graph as the metadata has it; None for any number of streams."""
        streams, shapes = self.layout.n_streams, dict[str, tuple[int | None, ...]]()
        shapes["frame"] = (streams, *self.layout.frame_shape)
        for name in (PROBABILITY, FROZEN):
            shapes[name] = (streams, *self.layout.answer_shape)
        shapes[NOVELTY] = (streams, *self.layout.answer_shape[:-1])
        for part in self.layout.state:
            shapes[f"state.{part.name}"] = shapes[f"next.{part.name}"] = (streams, *part.shape)
        return shapes

    @property
    def _row_shape(self) -> tuple[int, ...]:
        return self.layout.frame_shape

    @property
    def frame_shape_(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return self.layout.frame_shape

    @property
    def frame_dtype_(self) -> np.dtype[Any]:
        """Dtype of one frame."""
        found: np.dtype[Any] = np.dtype(self.dtype)
        return found

    @property
    def memory_(self) -> float | None:
        """Time constant of the memory of its elastic heads, if they have the same."""
        return self.layout.memory

    @property
    def _n_streams(self) -> int:
        return self.layout.n_streams or 1

    def _init(self) -> tuple[NDArray[Any], ...]:
        """The parts of the state, and how long the stream has waited since its last frame."""
        return (*(part.at_rest(self._n_streams) for part in self.layout.state), np.zeros(1))

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        *parts, waited = state
        moving, answers = list(parts), []
        for row, gap in zip(rows, gaps, strict=True):
            frame = np.broadcast_to(row, (self._n_streams, *row.shape))
            followed, moving = self.follow_streams(moving, frame, np.full(self._n_streams, gap + waited[0]))
            answers.append(followed.at(np.zeros(1, np.int64)))
            waited[0] = 0.0
        for part, new in zip(parts, moving, strict=True):
            part[...] = new
        empty = np.empty((0, *self.layout.answer_shape))
        self._last = Followed.joined(answers) if answers else Followed(empty, empty, np.empty(0), empty)
        return self._last.posterior

    def frames(self, X: Any) -> NDArray[Any]:
        """Frames (T, ...) as the network takes them; refused if they are something else."""
        return self._rows("X", X, (None, *self._row_shape))

    def follow_streams(
        self, state: list[NDArray[Any]], frame: NDArray[Any], elapsed: NDArray[np.float64]
    ) -> tuple[Followed, list[NDArray[Any]]]:
        """The answers to one frame (B, ...) of B streams, and their states afterwards; the stream itself does not move.

        Parameters
        ----------
        state : list[NDArray[Any]]
            The parts of the states in the order of the layout, the first axis of each counting the streams.
        elapsed : NDArray[np.float64]
            Time since the last frame of each stream in the unit of the memory, (B,).
        """
        parts = [part.name for part in self.layout.state]
        given = {"frame": frame, "elapsed": elapsed.astype(self.layout.elapsed_dtype)}
        given |= {f"state.{name}": part for name, part in zip(parts, state, strict=True)}
        wanted = [OUTPUT, PROBABILITY, FROZEN, *(f"next.{name}" for name in parts)]
        wanted += [NOVELTY] * self._tells_novelty
        try:
            found = self._session.run(wanted, {name: one for name, one in given.items() if name in self._inputs})
        except Exception as error:  # the library raises many kinds of its own
            raise DataError(f"{self.path} cannot answer a frame: {one_line(error)}") from error
        output, posterior, frozen, *after = found
        new = after.pop() if self._tells_novelty else np.full(len(frame), np.nan)
        new = new if new.ndim == 1 else np.full(len(frame), np.nan)  # of each position: none for the whole frame
        if posterior.shape[1:] != self.layout.answer_shape:
            raise DataError(f"{self.path} has answers of another shape than its metadata says")
        refuse_overflow(posterior)
        answers = posterior.astype(np.float64), frozen.astype(np.float64)
        return Followed(*answers, new.astype(np.float64), output), after

    def _relax(self, state: Any, elapsed: float) -> None:
        state[-1][0] += elapsed

    @one_at_a_time
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """Answers with and without memory to a recorded stream, on a copy of the present state.

        Parameters
        ----------
        X : Any
            Frames in time order, (T, ...).
        times : Any
            Their time stamps in any unit, (T,); one step apart if not given. Dates and durations become seconds.
        in_place : bool
            Move the stream itself, so that the next call continues it.
        """
        rows = self.frames(X)
        stamps, gaps, pace = self._times("times", len(rows), times)
        _, state = self._follow(rows, gaps)
        if in_place and len(rows):
            self._state, self._clock, self._pace = state, float(stamps[-1]), pace
        return self._last

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the network and the state of its stream as one ONNX file."""
        whole = self._network() + _metadata_entry(_STATE_KEY, base64.b64encode(self.get_state()).decode())
        with atomic_file(Path(path)) as file:
            file.write(whole)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The network in a file, in the state in which it was saved."""
        return cls(path)

    def _network(self) -> bytes:
        """The file without a state; it must still be there."""
        content = read_bytes(self.path, largest=_LARGEST_FILE)[: self._network_bytes]
        if hashlib.sha256(content).hexdigest() != self._digest:
            raise DataError(f"{self.path} is not the file that this stream was made from")
        return content

    @one_at_a_time
    def get_state(self) -> bytes:
        """The state of the stream as bytes, for a store or another process."""
        return pack_state(type(self).__name__, self._state_arrays(self._state, self._clock, self._pace))

    @one_at_a_time
    def set_state(self, state: bytes) -> Self:
        """Continue from a state that `get_state` returned, of this file or of one with the same sizes."""
        found = unpack_state(type(self).__name__, state, self._state_arrays(self._init(), np.nan, AT_REST))
        *parts, clock, pace = found.values()
        try:
            self.require_reachable({name: part for name, part in found.items() if name not in (_CLOCK, _PACE)})
            check.require(not np.isinf(clock[0]), "clock", "be a time, or NaN before the first frame", "infinity")
            require_pace("pace", pace)
        except ValueError as error:
            raise DataError(f"state cannot be used: {error}") from error
        self._state, self._clock, self._pace = tuple(parts), float(clock[0]), pace
        return self

    def require_reachable(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Refuse parts of a state, by name, that no stream can lead to."""
        for name, part in state.items():
            self._known.get(name, Part(())).require(name, part)
            if name.rpartition(".")[2] == "position":
                odds = name.removesuffix("position") + "odds"
                longest = min((one.shape[-1] for one in self.layout.state if one.name == odds), default=math.inf)
                check.require(bool((part < longest).all()), name, "lie in its list", part.max())

    def _parts(self) -> dict[str, Part]:
        """The parts of the state whose range is known, by name; their shapes are not those of this network."""
        parts = {_WAITED: sums(1)}
        for layer in self.layout.layers:
            for kind in MEMORIES:
                if kind.__name__ == layer.kind:
                    own = kind(**layer.settings).parts(1, 1)
                    parts |= {f"{layer.name}.{name}" if layer.name else name: part for name, part in own.items()}
        return parts

    def _state_arrays(self, state: Any, clock: float, pace: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        names = [*(part.name for part in self.layout.state), _WAITED]
        return {**dict(zip(names, state, strict=True)), _CLOCK: np.array([clock]), _PACE: pace}

    def another(self) -> Self:
        """Another stream at rest, which shares the network with this one; its memory is its own."""
        return copy.copy(self).reset()

    def _rows(self, name: str, given: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        if self.dtype.kind in "iu":
            whole = np.asarray(given)
            fits = whole.dtype.kind in "iu" and (whole.size == 0 or np.array_equal(whole.astype(self.dtype), whole))
            check.require(bool(fits), name, f"hold whole numbers in the range of {self.dtype}", str(whole.dtype))
        return super()._rows(name, given, shape)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open(self._network())

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = self.__copy__()
        other._state = self._copy()
        return other


def _metadata_entry(key: str, value: str) -> bytes:
    """A further entry of the metadata of an ONNX file, which is a protocol buffer: it can stand at the end."""
    entry = _field(1, key.encode()) + _field(2, value.encode())
    return _field(14, entry)  # ModelProto.metadata_props, a list of StringStringEntryProto


def _field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer: its number and kind, its length in groups of seven bits, and its bytes."""
    head, size = [number << 3 | 2], len(content)
    while size >= 128:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes([*head, size]) + content


def _fits(found: tuple[Any, ...], said: tuple[int | None, ...]) -> bool:
    """Whether a shape in the graph is the one in the metadata; the graph has a name where any number is allowed."""
    pairs = zip(found, said, strict=False)
    return len(found) == len(said) and all(
        one == number if isinstance(one, int) else number is None for one, number in pairs
    )
