"""A view as a record: everything that a command line needs to show it again."""

import base64
import binascii
import shlex
import zlib
from dataclasses import dataclass, field, replace

import numpy as np

from springback import check
from springback.data.pretrained import DIGITS_PER_CLASS
from springback_studio.controls import MODELS, Settings, checked_settings, controls_of, defaults_of
from springback_studio.pair import Frame

SOURCES = ("stream", "digit", "drawing")
SPEED_MAX = 60
FRAMES_MAX = 2000
_N_PIXELS = 784


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """A model, what it is shown, and its settings.

    Parameters
    ----------
    model : str
        "spiking", "elastic" or "cnn".
    source : str
        "stream" (an endless OMNIST), "digit" or "drawing".
    digit, example : int
        Which shipped test digit: class 0 ... 9, and example 0 ... 9 of it.
    drawing : Frame | None
        Uint8 (28, 28), or None.
    occlude : int
        Rows hidden from the top, 0 ... 28; not for the stream, which has its own occluder.
    settings : Settings
        Every slider of the model.
    seed : int
        Seed of the input spikes, the video and the noise.
    speed : int
        Frames per second.
    frames : int
        How many frames are played before anything is shown.

    Examples
    --------
    >>> View(model="spiking", digit=12)
    Traceback (most recent call last):
    ValueError: digit must be <= 9; got 12
    """

    model: str = "spiking"
    source: str = "stream"
    digit: int = 7
    example: int = 0
    drawing: Frame | None = None
    occlude: int = 0
    settings: Settings = field(default_factory=dict)
    seed: int = 0
    speed: int = 10
    frames: int = 0

    def __post_init__(self) -> None:
        check.one_of("model", self.model, MODELS)
        check.one_of("source", self.source, SOURCES)
        check.integer("digit", self.digit, low=0, high=9)
        check.integer("example", self.example, low=0, high=DIGITS_PER_CLASS - 1)
        check.integer("occlude", self.occlude, low=0, high=28)
        check.integer("seed", self.seed, low=0, high=2**31 - 1)
        check.integer("speed", self.speed, low=1, high=SPEED_MAX)
        check.integer("frames", self.frames, low=0, high=FRAMES_MAX)
        if self.drawing is not None:
            check.array("drawing", self.drawing, shape=(28, 28), dtype=np.uint8)
        check.require(self.source != "drawing" or self.drawing is not None, "drawing", "be given", None)
        object.__setattr__(self, "settings", checked_settings(self.model, self.settings))

    def of_model(self, model: str) -> "View":
        """The same view of another model, with that model's own settings.

        Examples
        --------
        >>> View(occlude=9).of_model("elastic").settings["pull"]
        30.0
        """
        return self if model == self.model else replace(self, model=model, settings={})


def command_of(view: View) -> str:
    """The command line that shows this view.

    Examples
    --------
    >>> command_of(View(model="elastic", source="digit", digit=3, occlude=12, settings={"pull": 10.0}))
    'springback studio --model elastic --digit 3 --example 0 --occlude 12 --pull 10 --speed 10 --seed 0'
    """
    words = ["springback", "studio", "--model", view.model]
    if view.source == "drawing" and view.drawing is not None:
        words += [f"--drawing={packed_drawing(view.drawing)}"]
    if view.source == "digit":
        words += ["--digit", str(view.digit), "--example", str(view.example)]
    if view.source != "stream":
        words += ["--occlude", str(view.occlude)]
    defaults = defaults_of(view.model)
    for name in controls_of(view.model):
        if view.settings[name] != defaults[name]:
            words += [f"--{name.replace('_', '-')}", f"{view.settings[name]:g}"]
    words += ["--speed", str(view.speed), "--seed", str(view.seed)]
    if view.frames:
        words += ["--frames", str(view.frames)]
    return shlex.join(words)


def packed_drawing(frame: Frame) -> str:
    """A frame (28, 28) as a code for the command line.

    Examples
    --------
    >>> unpacked_drawing(packed_drawing(np.eye(28, dtype=np.uint8))).sum()
    np.uint64(28)
    """
    return base64.urlsafe_b64encode(zlib.compress(np.ascontiguousarray(frame).tobytes(), 9)).decode()


def unpacked_drawing(word: str) -> Frame:
    """The frame (28, 28) of a code from `packed_drawing`; anything else is refused.

    Examples
    --------
    >>> unpacked_drawing("no drawing")
    Traceback (most recent call last):
    ValueError: drawing must be a code that the studio exported; got 'no drawing'
    """
    try:
        pixels = zlib.decompressobj().decompress(base64.b64decode(word, b"-_", validate=True), _N_PIXELS + 1)
    except (binascii.Error, ValueError, zlib.error):
        pixels = b""
    check.require(len(pixels) == _N_PIXELS, "drawing", "be a code that the studio exported", word)
    return np.frombuffer(pixels, np.uint8).reshape(28, 28).copy()
