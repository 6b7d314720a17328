"""Networks with an elastic head in ONNX files (extra: onnx)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.live.frames import FrameError
from springback.live.models.follower import Follower, ModelKind, ModelOptions
from springback.live.preparation import Rows, preparation_of
from springback.onnx import OnnxStream
from springback.records import Followed


class OnnxFollower(Follower):
    """A network with an elastic head, which follows one stream of rows, pictures or windows of sound.

    Parameters
    ----------
    stream : OnnxStream
        The network and the state of its stream.
    options : ModelOptions
        Names of the classes, and what the file does not say about its input.
    """

    def __init__(self, stream: OnnxStream, options: ModelOptions) -> None:
        self.stream, self.name = stream, str(stream.path)
        layout = stream.layout
        if len(layout.answer_shape) != 1:
            where = " x ".join(map(str, layout.answer_shape[:-1]))
            raise DataError(
                f"{self.name} answers at {where} positions of a frame; only one answer can be followed here"
            )
        self.classes = tuple(np.asarray(stream.classes_).tolist())
        if options.classes is not None:
            if len(options.classes) != len(self.classes):
                wanted = len(self.classes)
                raise DataError(f"--classes must name the {wanted} classes of {self.name}; got {len(options.classes)}")
            self.classes = options.classes
        shape = layout.frame_shape
        try:
            self.preparation = preparation_of(self.name, shape, layout.preparation, options.preparation)
        except (TypeError, ValueError) as error:
            raise DataError(f"{self.name} cannot be given pictures or sound: {error}") from error
        self.memory = layout.memory
        if isinstance(self.preparation, Rows) and len(shape) == 1:
            self.n_features = shape[0]

    def answer(self, inputs: NDArray[Any], times: NDArray[np.float64] | None) -> Followed:
        """The answers to the next frames."""
        frames = inputs.reshape(len(inputs), *self.stream.layout.frame_shape)
        try:
            found = self.stream.track_response(frames, times, in_place=True)
        except ValueError as error:
            raise FrameError(str(error)) from error
        return Followed(found.posterior, found.at_rest, np.full(len(inputs), np.nan))

    def get_state(self) -> bytes:
        """What the head remembers of its stream."""
        return self.stream.get_state()

    def set_state(self, content: bytes) -> None:
        """Continue from a state."""
        self.stream.set_state(content)


def open_onnx(path: Path, options: ModelOptions) -> OnnxFollower:
    """The network in a file that `springback.layers.export_onnx` wrote."""
    return OnnxFollower(OnnxStream(path), options)


MODEL = ModelKind(name="ONNX network with an elastic head", suffixes=(".onnx",), open=open_onnx)
