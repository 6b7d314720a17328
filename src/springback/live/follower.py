"""What follows a stream, or several: a model from a file, what it must be given, and the names of its classes."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError, FrameError
from springback.files.models import load_model
from springback.heads.elastic_head import ElasticHead
from springback.heads.memories.observer import Observer
from springback.heads.none_of_these import NoneOfThese
from springback.live.bounded_streams import BoundedStreams
from springback.live.preparation import Pixels, Preparation, Rows, preparation_of
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel

NONE_OF_THESE = "none of these"
"""The answer to a frame that shows no known class, if such frames are refused."""

MODEL_SUFFIXES = (".safetensors", ".onnx")
"""Endings of the files that hold a model."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What a model may be told besides its file.

    Parameters
    ----------
    classes : tuple[str, ...] | None
        Names of the classes, if the file has none or others are wanted.
    preparation : dict[str, Any]
        How pictures or sound become the input of a network, where the file does not say it; see
        `springback.live.preparation`.
    frozen : bool
        Circuits of spiking neurons: without short-term STDP, shown frames as such a circuit needs it.
    seed : int
        Circuits: seed of the input spikes.
    preset : Any
        Circuits: a `Preset` with the parameters of the stream; None: those that it was made with.
    keyed : bool
        Frames belong to several streams, each with a state of its own.
    most_streams, forget_after : int | None, float | None
        When such a stream is forgotten; see `BoundedStreams`. None: never.

    Examples
    --------
    >>> ModelOptions(classes=("cat", "dog")).preparation
    {}
    """

    classes: tuple[str, ...] | None = None
    preparation: dict[str, Any] = field(default_factory=dict)
    frozen: bool = False
    seed: int = 0
    preset: Any = None
    keyed: bool = False
    most_streams: int | None = None
    forget_after: float | None = None


class Follower:
    """A model that follows a stream of rows, pictures, windows of sound, or frames of pixels, or several of them.

    Parameters
    ----------
    model : StreamModel
        It moves.
    name : str
        For messages.
    options : ModelOptions | None
        Names of the classes, and what the model does not say about its input; None: nothing.

    Attributes
    ----------
    streams : BoundedStreams | None
        The states of several streams; None: there is one.

    Examples
    --------
    >>> from springback.heads import ElasticHead
    >>> follower = Follower(ElasticHead(np.eye(2), np.zeros(2)), "head", ModelOptions(classes=("right", "up")))
    >>> follower.classes, follower.answer(np.eye(2), None).posterior.argmax(axis=1)
    (('right', 'up'), array([0, 1]))
    """

    def __init__(self, model: StreamModel, name: str, options: ModelOptions | None = None) -> None:
        self.model, self.name, self._takes_time = model, name, model.memory_in_ == "time"
        options = options or ModelOptions()
        own = tuple(np.asarray(model.classes_).tolist())
        self.classes: tuple[Any, ...] = own if options.classes is None else options.classes
        if len(self.classes) != len(own):
            must = f"there must be a name for each of the {len(own)} classes of {name}"
            raise DataError(f"{must}; got {len(self.classes)}")
        if len(set(self.classes)) < len(own):
            twice = next(one for number, one in enumerate(self.classes) if one in self.classes[:number])
            raise DataError(f"the names of classes must differ; got {twice!r} twice")
        self.names = {} if options.classes is None else dict(zip(own, self.classes, strict=True))
        self.preparation = _preparation(model, name, options)
        self._shape = model.frame_shape_
        self.streams: BoundedStreams | None = None
        if options.keyed:
            self.streams = BoundedStreams(model, options.most_streams, options.forget_after)
        self.lag = 0
        self.rule: NoneOfThese | None = None
        self._false_alarms = 0.0

    def refuse_unknown(self, rows: NDArray[Any], false_alarms: float, keys: Sequence[str] | None = None) -> None:
        """Answer "none of these" to frames that are stranger than these rows of known classes; see `NoneOfThese`.

        Rows with the same key show the same object, or come from the same recording.
        """
        head = getattr(self.model, "head_", self.model)
        if not isinstance(head, ElasticHead):
            raise DataError(f"{self.name} has no logits, by which unknown classes are told; an elastic head has")
        logits = self._logits(rows)
        usable = np.asarray(np.isfinite(logits).all(axis=1))
        objects = None if keys is None else [key for key, can in zip(keys, usable.tolist(), strict=True) if can]
        self.rule = NoneOfThese(logits[usable], objects)
        self.rule.refuses(self.rule.logits[:1], false_alarms=false_alarms)
        self._false_alarms = false_alarms

    def _logits(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        model: Any = self.model
        head = getattr(model, "head_", model)
        features = head.rows(model.transforms_(rows) if head is not model else rows)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(features @ head.weight.T + head.bias, np.float64)

    def refused(self, labels: list[Any], values: NDArray[Any]) -> list[Any]:
        """Answers in words, with "none of these" for the frames, `values`, that are too strange."""
        if self.rule is None:
            return labels
        strange = self.rule.refuses(self._logits(values), false_alarms=self._false_alarms).tolist()
        return [NONE_OF_THESE if none else one for one, none in zip(labels, strange, strict=True)]

    def wait(self, lag: int) -> None:
        """Let every answer wait for `lag` frames after its own, where the model can; `step` and `waiting` give them."""
        head = getattr(self.model, "head_", self.model)
        if self.streams is not None or not isinstance(head, ElasticHead) or type(head.settings) is not Observer:
            raise DataError(
                f"{self.name} must answer at once: only one stream through an elastic head with an Observer can wait"
            )
        self.lag = lag

    @property
    def answerable(self) -> tuple[Any, ...]:
        """What its answers can be: the classes, and what it calls a frame that shows none of them."""
        return tuple(self.names.get(one, one) for one in self.model.possible_labels_)

    @property
    def n_features(self) -> int | None:
        """Width of a row, if it takes rows."""
        takes_rows = isinstance(self.preparation, Rows | Pixels) and len(self._shape) == 1
        return self.model.n_features_in_ if takes_rows else None

    def unit_of_time(self, step_s: float | None) -> float | None:
        """What time stamps are divided by before the model gets them; None: it gets none.

        Parameters
        ----------
        step_s : float | None
            Length of one frame in the unit of the time stamps, which the model then counts in frames of this length;
            None: only a model whose memory is in the unit of time stamps gets them.
        """
        if self._takes_time:
            if step_s is not None:
                raise DataError(f"{self.name} has a memory in the unit of time stamps, so a step cannot be given")
            return 1.0
        timed = self.model if self.streams is None else self.streams.states
        timed.memory_in_ = "frames" if step_s is None else "time"
        return step_s

    def answer(
        self, values: NDArray[Any], times: NDArray[np.float64] | None, keys: Sequence[str] | None = None
    ) -> Followed:
        """The answers to the next frames, which move the model; refused frames raise a `FrameError` and move nothing.

        Parameters
        ----------
        values : NDArray[Any]
            Frames as the source gives them, (T, ...).
        times : NDArray[np.float64] | None
            Their times in the unit of the model's memory, (T,); None: one step apart.
        keys : Sequence[str] | None
            To which of several streams each of them belongs.

        If answers wait, one frame is given at a time, and the posterior is that of the one `lag` before, or NaN.
        """
        if (keys is None) != (self.streams is None):
            raise DataError("the source does not say to which stream a frame belongs: only rows with a key do")
        inputs = values if isinstance(self.preparation, Rows) else self.preparation.prepare(values)
        inputs = inputs.reshape(len(inputs), *self._shape)
        with warnings.catch_warnings():  # the source has put the columns in the order of the names
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            try:
                if self.streams is not None:
                    return self.streams.follow(keys or (), inputs, times)
                if self.lag:
                    followed = self.model.track_response(inputs, times)
                    patient: Any = self.model
                    late = patient.step(inputs[0], None if times is None else times[0], lag=self.lag)
                    nothing = np.full_like(followed.posterior, np.nan)
                    return followed._replace(posterior=nothing if late is None else late[None])
                return self.model.track_response(inputs, times, in_place=True)
            except FrameError:
                raise
            except ValueError as error:
                if isinstance(error, DataError) or not np.isfinite(inputs).all():
                    raise FrameError(str(error)) from error
                raise RuntimeError(f"{type(error).__name__} in the model: {error}") from error


def _preparation(model: StreamModel, name: str, options: ModelOptions) -> Preparation:
    from springback.heads.onnx import OnnxStream

    if isinstance(model, OnnxStream):
        try:
            return preparation_of(name, model.frame_shape_, model.layout.preparation, options.preparation)
        except (TypeError, ValueError) as error:
            raise DataError(f"{name} cannot be given pictures or sound: {error}") from error
    if options.preparation:
        raise DataError(f"{name} takes rows of features, so {', '.join(options.preparation)} cannot be used")
    is_circuit = model.frame_dtype_ == np.uint8
    return Pixels(count=model.n_features_in_) if is_circuit else Rows(shape=model.frame_shape_)


def open_model(path: str | os.PathLike[str], options: ModelOptions | None = None) -> Follower:
    """The model in a file, ready to follow a stream.

    Examples
    --------
    >>> open_model("model.pickle")
    Traceback (most recent call last):
    springback.check.DataError: a model must be a file ending in .safetensors or .onnx; got 'model.pickle'
    """
    place, options = Path(path), options or ModelOptions()
    if place.suffix.lower() not in MODEL_SUFFIXES:
        raise DataError(f"a model must be a file ending in {' or '.join(MODEL_SUFFIXES)}; got {place.name!r}")
    return Follower(_circuit(_loaded(place), place, options), str(path), options)


def _loaded(path: Path) -> StreamModel:
    if path.suffix.lower() != ".onnx":
        found: StreamModel = load_model(path)
        return found
    from springback.heads.onnx import OnnxStream

    network = OnnxStream(path)
    positions = network.layout.answer_shape[:-1]
    if positions:
        where = " x ".join(map(str, positions))
        raise DataError(f"{path} answers at {where} positions of a frame; only one answer can be followed here")
    return network


def _circuit(model: StreamModel, path: Path, options: ModelOptions) -> StreamModel:
    """A circuit with the parameters of the stream that were asked for; any other model as it is."""
    if path.suffix.lower() == ".onnx" or model.frame_dtype_ != np.uint8:
        if options.frozen or options.preset is not None:
            raise DataError(f"{path} is not a circuit of spiking neurons, so it has no other parameters of the stream")
        return model
    from springback.spiking import SpikingClassifier

    assert isinstance(model, SpikingClassifier)
    network, chosen = model.model_, options.preset
    if chosen is not None:
        network = replace(network, preset=replace(network.preset, name=chosen.name, static=chosen.static))
        network = network.streaming_as(chosen.streaming, chosen.short_term)
    if chosen is not None or options.frozen:
        model = SpikingClassifier.of(network.static() if options.frozen else network, adapts=not options.frozen)
    model.random_state = options.seed
    return model


def about_circuit(follower: Follower) -> list[str]:
    """What a circuit follows its stream with, a line each; nothing for any other model."""
    if not isinstance(follower.preparation, Pixels):
        return []
    circuit: Any = follower.model
    network, shown = circuit.model_, circuit.model_.preset.streaming
    kind = "short-term STDP" if circuit.adapts else "frozen"
    return [
        f"preset {network.preset.name}, {kind}; the model was trained on {network.data}",
        f"intensity {shown.intensity:g}, thresholds shifted by {shown.threshold_shift_mv:g} mV",
    ]
