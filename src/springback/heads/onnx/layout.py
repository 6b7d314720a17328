"""What is in the ONNX file of a network with an elastic head: its inputs, its outputs, and the state at rest.

The graph is one frame of one or more streams. It keeps nothing: the state goes in and comes out.

| tensor | direction | shape | meaning |
| --- | --- | --- | --- |
| `frame` | in | (streams, ...) | the next frame of every stream |
| `elapsed` | in | (streams,) | time since the last frame of each stream, in the unit of `memory`; 1 is one frame |
| `state.NAME` | in | first axis: streams | what the streams remember; at the start, each number is `rest` |
| `output` | out | as of the network | what the network returns, with its elastic head |
| `probability` | out | (streams, K) | the elastic answer, before this frame is remembered |
| `frozen` | out | (streams, K) | the answer of the same network without memory |
| `next.NAME` | out | as `state.NAME` | what the streams remember afterwards: `state.NAME` of the next call |
| `novelty` | out | (streams,) | the probability that the frame shows something new; with an observer alone |

If the head answers at several positions of a frame (tokens, boxes, pixels), these come after `streams`, and K is last.
`memory` is in frames, and `springback.streaming.pace` has the rule that turns time stamps into frames; or in the unit
of the time stamps, if the settings of the layers have `memory_in` "time". The layout is stored as JSON in the metadata
of the file, under the key `springback`.
"""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.records import from_json

METADATA_KEY = "springback"
FORMAT = 2
FRAME, ELAPSED = "frame", "elapsed"
OUTPUT, PROBABILITY, FROZEN, NOVELTY = "output", "probability", "frozen", "novelty"
_LARGEST_STATE = 2**31
_DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")


Preparation = dict[str, float | int | str | bool | list[float] | None]
"""How a frame is made from what a camera or a microphone gives."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One tensor of the state.

    Parameters
    ----------
    name : str
        Without the prefixes `state.` and `next.`.
    shape : tuple[int, ...]
        Without the axis of the streams.
    dtype : str
        As in NumPy.
    rest : float
        What every number of it is at rest.

    Examples
    --------
    >>> Part(name="odds", shape=(3,), dtype="float32", rest=0.0).at_rest(1)
    array([[0., 0., 0.]], dtype=float32)
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    rest: float

    def __post_init__(self) -> None:
        check.one_of(f"dtype of state {self.name}", self.dtype, _DTYPES)
        sizes = [check.integer(f"shape of state {self.name}", size, low=0, high=_LARGEST_STATE) for size in self.shape]
        total = float(np.prod(sizes, dtype=np.float64))
        check.require(total <= _LARGEST_STATE, f"state {self.name}", f"have at most {_LARGEST_STATE:,} numbers", total)
        with np.errstate(over="ignore"):
            fits = abs(self.rest) < 2**63 and float(np.float64(self.rest).astype(self.dtype)) == self.rest
        check.require(fits, f"rest of state {self.name}", f"be a number of the type {self.dtype}", self.rest)

    def at_rest(self, n_streams: int) -> NDArray[Any]:
        """A part of the state of streams without a past.

        Examples
        --------
        >>> Part(name="odds", shape=(3,), dtype="float32", rest=0.0).at_rest(2).shape
        (2, 3)
        """
        return np.full((n_streams, *self.shape), self.rest, self.dtype)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One elastic layer of the network: its name, the kind of its memory, and its settings.

    Examples
    --------
    >>> Layer(name="fc", kind="Springs", settings={"pull": 20.0, "memory": 1.1}).settings["memory"]
    1.1
    """

    name: str
    kind: str
    settings: dict[str, float | int | str | bool | None]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a runner has to know about a file.

    Parameters
    ----------
    format : int
        Version of this layout.
    springback : str
        Version of the package that wrote the file.
    frame_shape : tuple[int, ...]
        Shape of one frame of one stream.
    frame_dtype : str
        As in NumPy.
    elapsed_dtype : str
        Of the input `elapsed`.
    n_streams : int | None
        How many streams every call must have; None: any number.
    answer_shape : tuple[int, ...]
        Shape of the answer to one frame: (K,), or (positions ..., K).
    memory : float
        Time constant of the memory of the head, in the unit of `elapsed`.
    classes : tuple[str | int, ...] | None
        Names of the K classes, if they were given.
    preparation : Preparation | None
        How a frame is made from a picture or a sound, if it was given; `springback follow` reads it.
    layers : tuple[Layer, ...]
        The elastic layers; the last one gives the answer.
    state : tuple[Part, ...]
        What the streams remember, in the order of inputs and outputs.

    Examples
    --------
    >>> about = {"format": 2, "springback": "0.2.0", "frame_dtype": "float32", "elapsed_dtype": "float32"}
    >>> sizes = {"frame_shape": (4,), "n_streams": None, "answer_shape": (2,), "memory": 3.0}
    >>> layout = Layout(**about, **sizes, classes=("a", "b"), preparation=None, layers=(), state=())
    >>> layout.inputs, Layout.from_json(layout.to_json()) == layout
    (('frame', 'elapsed'), True)
    """

    format: int
    springback: str
    frame_shape: tuple[int, ...]
    frame_dtype: str
    elapsed_dtype: str
    n_streams: int | None
    answer_shape: tuple[int, ...]
    memory: float
    classes: tuple[str | int, ...] | None
    preparation: Preparation | None
    layers: tuple[Layer, ...]
    state: tuple[Part, ...]

    def __post_init__(self) -> None:
        check.require(
            self.format == FORMAT, "format", f"be {FORMAT}, which this version of springback reads", self.format
        )
        check.one_of("frame_dtype", self.frame_dtype, _DTYPES)
        check.one_of("elapsed_dtype", self.elapsed_dtype, ("float32", "float64"))
        for size in (*self.frame_shape, *self.answer_shape):
            check.integer("frame_shape and answer_shape", size, low=1)
        check.require(len(self.answer_shape) > 0, "answer_shape", "name the number of classes", self.answer_shape)
        check.real("memory", self.memory, above=0)
        if self.n_streams is not None:
            check.integer("n_streams", self.n_streams, low=1)
        if self.classes is not None:
            k = self.answer_shape[-1]
            check.require(len(self.classes) == k, "classes", f"name each of the {k} classes", len(self.classes))

    @property
    def state_bytes(self) -> int:
        """Bytes of the whole state."""
        streams = self.n_streams or 1
        return sum(math.prod(part.shape) * streams * np.dtype(part.dtype).itemsize for part in self.state)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of the graph."""
        return (FRAME, ELAPSED, *(f"state.{part.name}" for part in self.state))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs that every graph has; `novelty` may come after them."""
        return (OUTPUT, PROBABILITY, FROZEN, *(f"next.{part.name}" for part in self.state))

    def to_json(self) -> str:
        """The layout as text, for the metadata of the file."""
        return json.dumps(asdict(self), allow_nan=False)

    @staticmethod
    def from_json(text: str) -> "Layout":
        """The layout that `to_json` wrote; anything else is a one-line `ValueError`."""
        return from_json(text, Layout)
