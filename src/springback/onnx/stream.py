"""Following a stream with a network in an ONNX file that `springback.layers.export_onnx` wrote; without PyTorch."""

import copy
import hashlib
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.adaptation.stream_classifier import StreamClassifier
from springback.check import DataError
from springback.extras import require_extra
from springback.heads.state_check import require_reachable
from springback.one_at_a_time import one_at_a_time
from springback.onnx.layout import METADATA_KEY, OUTPUT, PROBABILITY, STATIC, Layout
from springback.onnx.session import one_line, open_session
from springback.outside import read_bytes
from springback.state_bytes import pack_state, unpack_state
from springback.time_stamps import times_of_frames

_LARGEST_FILE = _LARGEST_STATE = 2**31
_WAITED, _CLOCK = "waited", "clock"


class OnnxResponse(NamedTuple):
    """Answers to the frames of a stream, each computed before the frame is remembered.

    Parameters
    ----------
    posterior : NDArray[np.float64]
        The elastic answer: probabilities (T, K), or (T, positions ..., K).
    at_rest : NDArray[np.float64]
        The answer of the same network without memory.
    output : NDArray[Any]
        What the network returns, with its elastic head.

    Examples
    --------
    >>> OnnxResponse(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]]), np.array([[2.2, 0.0]])).posterior.argmax()
    np.int64(0)
    """

    posterior: NDArray[np.float64]
    at_rest: NDArray[np.float64]
    output: NDArray[Any]


class OnnxStream(StreamClassifier):
    """A network with an elastic head in an ONNX file, which follows one stream.

    `step` answers a frame and moves the state; `track` answers a recorded stream on a copy of it; `reset` returns to
    rest; `relax` lets time pass. Frames with NaN or infinity, and frames of another shape, are refused, and nothing has
    changed then. Needs the extra `onnx`, but not PyTorch.

    Parameters
    ----------
    path : str | Path
        A file that `springback.layers.export_onnx` wrote.
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
    >>> from springback.layers import elasticize, export_onnx
    >>> network = torch.nn.Linear(2, 2, bias=False)
    >>> network.weight.data = 5 * torch.eye(2)
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = export_onnx(elasticize(network), f"{folder}/model.onnx", classes=["right", "up"])
    ...     stream = OnnxStream(f"{folder}/model.onnx")
    >>> stream.track_labels(turning).tolist()
    ['right', 'right', 'right', 'right']
    >>> stream.track_response(turning).at_rest.argmax(axis=1).tolist()
    [0, 0, 0, 1]
    """

    KIND = "exported network"

    def __init__(self, path: str | Path, *, threads: int = 0) -> None:
        require_extra("springback.onnx", "onnxruntime")
        self.path = Path(path)
        self.threads = check.integer("threads", threads, low=0)
        content = read_bytes(self.path, largest=_LARGEST_FILE)
        self._digest = hashlib.sha256(content).hexdigest()
        self._open(content)
        self.dtype = np.dtype(self.layout.frame_dtype)  # type: ignore[misc]
        super().__init__(self.layout.answer_shape[-1], max(1, int(np.prod(self.layout.frame_shape))))
        names = np.arange(self.n_classes) if self.layout.classes is None else np.array(self.layout.classes)
        self.classes_: NDArray[Any] = names

    def _open(self, content: bytes) -> None:
        session = open_session(content, str(self.path), threads=self.threads)
        metadata = session.get_modelmeta().custom_metadata_map
        if METADATA_KEY not in metadata:
            raise DataError(f"{self.path} has no elastic head; write it with springback.layers.export_onnx")
        try:
            self.layout = Layout.from_json(metadata[METADATA_KEY])
        except (ValueError, TypeError) as error:
            raise DataError(f"{self.path} has metadata that cannot be used: {error}") from error
        self._check_graph(session)
        self._session: Any = session

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
        self._inputs = frozenset(inputs)

    def _shapes(self) -> dict[str, tuple[int | None, ...]]:
        """The shape of each tensor of the graph as the metadata has it; None for any number of streams."""
        streams, shapes = self.layout.n_streams, dict[str, tuple[int | None, ...]]()
        shapes["frame"] = (streams, *self.layout.frame_shape)
        for name in (PROBABILITY, STATIC):
            shapes[name] = (streams, *self.layout.answer_shape)
        for part in self.layout.state:
            shape = (streams, *part.shape) if part.per_stream else part.shape
            shapes[f"state.{part.name}"] = shapes[f"next.{part.name}"] = shape
        return shapes

    @property
    def _row_shape(self) -> tuple[int, ...]:
        return self.layout.frame_shape

    @property
    def _n_streams(self) -> int:
        return self.layout.n_streams or 1

    def _init(self) -> tuple[NDArray[Any], ...]:
        """The parts of the state, and how long the stream has waited since its last frame."""
        return (*(part.at_rest(self._n_streams) for part in self.layout.state), np.zeros(1))

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        *parts, waited = state
        answers: list[list[NDArray[Any]]] = []
        names = [f"state.{part.name}" for part in self.layout.state]
        wanted = [OUTPUT, PROBABILITY, STATIC, *(f"next.{part.name}" for part in self.layout.state)]
        moving = parts
        for row, gap in zip(rows, gaps, strict=True):
            elapsed = np.full(self._n_streams, gap + waited[0], self.layout.elapsed_dtype)
            frame = np.broadcast_to(row, (self._n_streams, *row.shape))
            given = {"frame": frame, "elapsed": elapsed, **dict(zip(names, moving, strict=True))}
            try:
                found = self._session.run(wanted, {name: one for name, one in given.items() if name in self._inputs})
            except Exception as error:  # the library raises many kinds of its own
                raise DataError(f"{self.path} cannot answer a frame: {one_line(error)}") from error
            if found[1].shape[1:] != self.layout.answer_shape:
                raise DataError(f"{self.path} has answers of another shape than its metadata says")
            answers.append([one[0] for one in found[:3]])
            moving, waited[0] = found[3:], 0.0
        for part, new in zip(parts, moving, strict=True):
            part[...] = new
        empty = np.empty((0, *self.layout.answer_shape))
        output, posterior, at_rest = map(np.array, zip(*answers, strict=True)) if answers else (empty, empty, empty)
        self._last = OnnxResponse(np.asarray(posterior, np.float64), np.asarray(at_rest, np.float64), output)
        return self._last.posterior

    def _relax(self, state: Any, elapsed: float) -> None:
        state[-1][0] += elapsed

    @one_at_a_time
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> OnnxResponse:
        """Answers with and without memory to a recorded stream, on a copy of the present state.

        Parameters
        ----------
        X : Any
            Frames in time order, (T, ...).
        times : Any
            Their time stamps, (T,); one step apart if not given. Dates and durations become seconds.
        in_place : bool
            Move the stream itself, so that the next call continues it.
        """
        rows = self._rows("X", X, (None, *self._row_shape))
        stamps = times_of_frames(self._clock, len(rows), times)
        _, state = self._follow(rows, None if times is None else self._gaps("times", stamps))
        if in_place and len(rows):
            self._state, self._clock = state, float(stamps[-1])
        return self._last

    def track_labels(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The most probable class of every frame of a recorded stream, by name, on a copy of the present state."""
        return np.asarray(self.classes_[self.track(X, times).argmax(axis=-1)])

    @one_at_a_time
    def get_state(self) -> bytes:
        """The state of the stream as bytes, for a store or another process."""
        return pack_state(self.KIND, self._state_arrays(self._state, self._clock))

    @one_at_a_time
    def set_state(self, state: bytes) -> Self:
        """Continue from a state that `get_state` returned, of this file or of one with the same sizes."""
        found = unpack_state(self.KIND, state, self._state_arrays(self._init(), np.nan))
        for name, part in found.items():
            if name != _CLOCK:
                self._require_reachable(name, part)
        *parts, clock = found.values()
        if np.isinf(clock[0]):
            raise DataError("state cannot be used: clock must be a time, or NaN before the first frame; got infinity")
        self._state, self._clock = tuple(parts), float(clock[0])
        return self

    def _require_reachable(self, name: str, part: NDArray[Any]) -> None:
        try:
            require_reachable(name, part)
            if name == _WAITED:
                check.require(bool((part >= 0).all()), name, "be >= 0", float(part.min()))
            if name.rpartition(".")[2] == "position":
                lengths = [one.shape[-1] for one in self.layout.state if one.name in _lists_of(name) and one.shape]
                check.require(all(bool((part < one).all()) for one in lengths), name, "lie in its list", part.max())
        except ValueError as error:
            raise DataError(f"state cannot be used: {error}") from error

    def _state_arrays(self, state: Any, clock: float) -> dict[str, NDArray[Any]]:
        names = [*(part.name for part in self.layout.state), _WAITED]
        return {**dict(zip(names, state, strict=True)), _CLOCK: np.array([clock])}

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
        content = read_bytes(self.path, largest=_LARGEST_FILE)
        if hashlib.sha256(content).hexdigest() != self._digest:
            raise DataError(f"{self.path} is not the file that this stream was made from")
        self._open(content)

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = self.__copy__()
        other._state = self._copy()
        return other


def _lists_of(position: str) -> tuple[str, str]:
    """The parts of the same layer whose last axis a position counts."""
    layer = position.removesuffix("position")
    return f"{layer}odds", f"{layer}weights"


def _fits(found: tuple[Any, ...], said: tuple[int | None, ...]) -> bool:
    """Whether a shape in the graph is the one in the metadata; the graph has a name where any number is allowed."""
    pairs = zip(found, said, strict=False)
    return len(found) == len(said) and all(
        one == number if isinstance(one, int) else number is None for one, number in pairs
    )
