"""What every memory says about itself; everything else asks it, and knows no memory by name."""

import math
from importlib import import_module
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.continuity import FORGETTING
from springback.heads.scale import Scale
from springback.streaming.pace import MemoryIn

PosteriorFrom = Literal["layer", "output"]

State = Any
"""What many streams remember: a `State` of their memory."""

LARGEST, LAST = 1e30, 2.0**53
_ROUNDING = 2e-3


class Part(NamedTuple):
    """One part of the state of a stream: its shape, and which numbers a stream can lead to. At rest, all are zero.

    Parameters
    ----------
    shape : tuple[int, ...]
        Of one stream.
    low, high : float | tuple[float, ...]
        The smallest and the largest number, or those of each number along the last axis.
    whole : bool
        Whether they are whole numbers.
    dtype : str
        In a compiled head: large parts are kept in single precision, and everything else in double. In torch, all
        parts but int64 have the precision of the layer.

    Examples
    --------
    >>> Part((1,), 0.0, LAST, whole=True).require("seen", np.array([-1.0]))
    Traceback (most recent call last):
    ValueError: seen must lie in 0 ... 9.0072e+15; got (-1.0, -1.0)
    """

    shape: tuple[int, ...]
    low: float | tuple[float, ...] = -LARGEST
    high: float | tuple[float, ...] = LARGEST
    whole: bool = False
    dtype: str = "float64"

    def require(self, name: str, given: NDArray[Any]) -> None:
        """Refuse numbers that no stream can lead to."""
        check.array(name, given, shape=given.shape, dtype=given.dtype)
        if given.size:
            fits = bool((given >= np.array(self.low)).all() and (given <= np.array(self.high)).all())
            must = f"lie in {_shown(self.low)} ... {_shown(self.high)}"
            check.require(fits, name, must, (float(given.min()), float(given.max())))
        if self.whole:
            check.require(
                bool((given == np.floor(given)).all()), name, "hold whole numbers", given.ravel()[:1].tolist()
            )


def _shown(bound: float | tuple[float, ...]) -> str:
    return ", ".join(f"{round(float(one)):g}" for one in np.atleast_1d(bound))


def shares(*shape: int) -> Part:
    """Numbers from 0 to 1, up to rounding."""
    return Part(shape, -_ROUNDING, 1 + _ROUNDING)


def cosines(*shape: int) -> Part:
    """Numbers from -1 to 1, up to rounding."""
    return Part(shape, -1 - _ROUNDING, 1 + _ROUNDING)


def sums(*shape: int) -> Part:
    """Numbers that are not negative."""
    return Part(shape, 0.0)


def count() -> Part:
    """How often something was seen."""
    return Part((1,), 0.0, LAST, whole=True)


def place(length: int) -> Part:
    """Where the next input is written in a list of this length."""
    return Part((1,), 0.0, length - 1, whole=True, dtype="int64")


class Gate(NamedTuple):
    """What the gate remembers of the answers of the frozen head; B streams, K classes.

    The state of every memory ends with these parts.

    Parameters
    ----------
    answered : Any
        The last answer, counted from 1, (B, 1).
    shares : Any
        Running share of each class among the answers, (B, K).
    agreement : Any
        The number of frames and the sums S and V of `springback.heads.continuity`, all with forgetting, (B, 3).
    """

    answered: Any
    shares: Any
    agreement: Any


def gate_parts(n_classes: int) -> dict[str, Part]:
    """The parts of a `Gate`."""
    answered = Part((1,), 0.0, LAST, whole=True, dtype="int64")
    agreement = Part((3,), (0.0, -LARGEST, 0.0), (LAST, LARGEST, LAST))
    return {"answered": answered, "shares": shares(n_classes), "agreement": agreement}


class Memory:
    """How a head remembers. The settings of each memory derive from this, and say what differs.

    Examples
    --------
    >>> from springback.heads import Observer
    >>> Observer(memory=2.0).decay, Observer().form("springback.heads.reference").__name__
    (0.6065306597126334, 'springback.heads.reference.observer')
    """

    State: ClassVar[Any]
    """The class of a state: a NamedTuple of arrays or tensors whose first axis counts the streams."""

    fading: ClassVar[tuple[str, ...]]
    """The parts of a state that fade with the time constant of the memory."""

    shown: ClassVar[str] = "pull"
    """The setting by which a layer is recognised when it is printed."""

    searched: ClassVar[tuple[str, ...]]
    """The settings that a search chooses, in the order in which it shows them."""

    answers_with: ClassVar[Literal["logits", "logarithms"]] = "logits"
    """What a layer returns: logits, or logarithms of probabilities."""

    measures_novelty: ClassVar[bool] = False
    """Whether it says how new each frame is."""

    memory: float
    """Time constant, in the unit that `memory_in` names."""

    memory_in: MemoryIn = "frames"

    continuity: float = 0.0
    unit_inputs: bool = True
    centred: bool = True
    constant: float = 0.0
    posterior_from: PosteriorFrom = "layer"

    def parts(self, n_classes: int, n_features: int) -> dict[str, Part]:
        """The parts of the state of one stream, in the order of `State`."""
        raise NotImplementedError

    def numbers(self, scale: Scale | None) -> tuple[float, ...]:
        """The settings as the compiled kernel takes them; a scale of zeros is measured."""
        raise NotImplementedError

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled kernel knows these settings; the PyTorch layer knows all of them."""
        return True

    @property
    def reads_weights(self) -> bool:
        """Whether the kernel reads weights and biases; otherwise the output at rest is enough."""
        return False

    @property
    def never_moves(self) -> bool:
        """Whether the layer is frozen and stays so."""
        return False

    @property
    def variant(self) -> str:
        """The kind of memory in words: "springs", "classes", "observer" or "learning"."""
        return "classes" if self.constant == 1 else "springs"

    @property
    def unit(self) -> float:
        """The time in which the memory fades by `decay`: one frame, or the time constant of a memory in time."""
        return 1.0 if self.memory_in == "frames" else self.memory

    @property
    def decay(self) -> float:
        """What is left of the memory after one `unit`."""
        return math.exp(-self.unit / self.memory)

    @property
    def lasting(self) -> dict[str, float]:
        """What is left after one `unit` of the parts that fade, but not with the time constant of the memory."""
        return {}

    @property
    def counting(self) -> dict[str, float]:
        """What is left after one frame of the parts that count frames, whatever the unit of the memory."""
        return {"agreement": FORGETTING}

    def frames_of(self, gap: Any) -> Any:
        """How many frames a gap between two frames is, for parts that count frames: at least one, in time always one.

        Examples
        --------
        >>> from springback.heads import Observer
        >>> Observer().frames_of(33.0), Observer(memory=100.0, memory_in="time").frames_of(33.0)
        (33.0, 1.0)
        """
        return gap + (gap < 1) * (1 - gap) if self.memory_in == "frames" else (gap >= 0) * 1.0

    def left_after_silence(self, elapsed: float) -> dict[str, float]:
        """What a silence leaves of the parts that fade, but not with the time constant of the memory."""
        left = {name: kept ** (elapsed / self.unit) for name, kept in self.lasting.items()}
        counted = elapsed if self.memory_in == "frames" else 0.0
        return left | {name: kept**counted for name, kept in self.counting.items()}

    def form(self, package: str) -> Any:
        """The module that has the arithmetic of this memory in a package: the one with the name of its own file."""
        return import_module(f"{package}.{type(self).__module__.rpartition('.')[2]}")


def floats(*values: float) -> tuple[float, ...]:
    """The values as one type, so that a kernel is compiled once."""
    return tuple(float(one) for one in values)
