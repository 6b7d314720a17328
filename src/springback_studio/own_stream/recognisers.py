"""What recognises the frames that a browser sends: things that were taught, or the user's own network."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback_studio.own_stream.answers import FrameAnswer, remembered
from springback_studio.own_stream.features import (
    HOP,
    N_PICTURE_FEATURES,
    N_SOUND_FEATURES,
    PICTURE_SHAPE,
    RATE_HZ,
    WINDOW,
    picture_features,
    sound_features,
)
from springback_studio.own_stream.taught_things import Things

TALLEST = 384
"""The largest height of a picture that the browser is asked for; the width is four thirds of it."""

LARGEST_FRAME = TALLEST * (TALLEST * 4 // 3) * 3
"""The largest message with a frame, in bytes."""

SLOWEST_HOP, FASTEST_HOP = 0.02, 1.0
"""Bounds of the seconds from one window of sound to the next."""


class Recogniser(Protocol):
    """Takes frames as bytes, each of exactly `frame_bytes`, and answers.

    Parameters
    ----------
    frame_bytes : int
        Size of one message.
    asks_for : dict[str, Any]
        What the browser has to send, for the page.
    """

    frame_bytes: int
    asks_for: dict[str, Any]

    @property
    def things(self) -> Things | None:
        """What can be taught."""
        ...

    @property
    def names(self) -> list[str]:
        """Names of the classes."""
        ...

    def see(self, data: bytes, thing: int | None) -> FrameAnswer | None:
        """The answer to the next frame, which is first learned as `thing` if one is given; None: none yet."""
        ...

    def restart(self) -> None:
        """Forget the stream."""
        ...


class Ring:
    """The last samples of a sound, as a window that moves on with every hop; it begins with silence."""

    def __init__(self, window: int, hop: int) -> None:
        self._window, self.hop = np.zeros(window, np.int16), hop

    def push(self, data: bytes) -> NDArray[np.int16]:
        """Take the next samples, 16 bits each, little-endian; the window."""
        new = np.frombuffer(data, "<i2")[-len(self._window) :]
        self._window = np.concatenate([self._window[len(new) :], new]).astype(np.int16)
        return self._window

    def restart(self) -> None:
        """Return to silence."""
        self._window = np.zeros_like(self._window)


class TaughtRecogniser:
    """Things that were taught in this tab, by features of pictures or of sound that need no network.

    Examples
    --------
    >>> taught = TaughtRecogniser.by_pictures()
    >>> taught.see(bytes(taught.frame_bytes), 0) is None
    True
    """

    def __init__(
        self,
        things: Things,
        asks_for: dict[str, Any],
        frame_bytes: int,
        features: Callable[[bytes], NDArray[np.float32]],
    ) -> None:
        self.things = things
        self.asks_for, self.frame_bytes, self._features = asks_for, frame_bytes, features

    @classmethod
    def by_pictures(cls) -> "TaughtRecogniser":
        """Things that are shown to a camera."""
        height, width, depth = PICTURE_SHAPE
        return cls(
            Things(N_PICTURE_FEATURES, ("Background", "Thing 1", "Thing 2")),
            {"kind": "pictures", "height": height, "width": width},
            height * width * depth,
            lambda data: picture_features(np.frombuffer(data, np.uint8).reshape(PICTURE_SHAPE)),
        )

    @classmethod
    def by_sound(cls) -> "TaughtRecogniser":
        """Sounds that a microphone hears."""
        ring = Ring(WINDOW, HOP)
        return cls(
            Things(N_SOUND_FEATURES, ("Silence", "Sound 1", "Sound 2")),
            {"kind": "sound", "rate_hz": RATE_HZ, "hop": HOP},
            2 * HOP,
            lambda data: sound_features(ring.push(data)),
        )

    @property
    def names(self) -> list[str]:
        """Names of the things."""
        return [one.name for one in self.things.things]

    def see(self, data: bytes, thing: int | None) -> FrameAnswer | None:
        """Learn the frame, if a thing is given, and answer."""
        features = self._features(data)
        if thing is not None:
            self.things.teach(thing, features)
        return self.things.answer(features)

    def restart(self) -> None:
        """Forget the stream, but not the things."""
        self.things.reset()


class NetworkRecogniser:
    """A model from a file on what the browser sends.

    Parameters
    ----------
    follower : Any
        A `springback.live.Follower` that takes pictures or sound.
    kind : str
        "camera" or "microphone"; a model that takes something else is refused.
    """

    things: Things | None = None

    def __init__(self, follower: Any, kind: str) -> None:
        from springback.live.frames import Signal

        takes = follower.preparation
        if kind == "camera":
            takes.refuse(Signal(kind="pictures"), "a camera")
            height = min(takes.height, TALLEST)
            shape = (height, height * 4 // 3, 3)
            self.asks_for: dict[str, Any] = {"kind": "pictures", "height": shape[0], "width": shape[1]}
            self.frame_bytes = int(np.prod(shape))
            self._frame: Callable[[bytes], NDArray[Any]] = lambda data: np.frombuffer(data, np.uint8).reshape(1, *shape)
        else:
            if not hasattr(takes, "rate_hz"):
                raise DataError(f"{follower.name} does not take sound, so the microphone cannot be used with it")
            hop = int(check.real("hop of the network", takes.hop / takes.rate_hz, low=SLOWEST_HOP, high=FASTEST_HOP)
                      * takes.rate_hz)  # fmt: skip
            ring = Ring(takes.window, hop)
            self.asks_for = {"kind": "sound", "rate_hz": takes.rate_hz, "hop": hop}
            self.frame_bytes = 2 * hop
            self._frame = lambda data: ring.push(data)[None].astype(np.float32) / 2**15
        must = f"have at most {LARGEST_FRAME} bytes"
        check.require(self.frame_bytes <= LARGEST_FRAME, "a frame", must, self.frame_bytes)
        self._follower, self._rest = follower, follower.model.get_state()
        self.names = [str(one) for one in follower.classes]

    def see(self, data: bytes, thing: int | None) -> FrameAnswer | None:
        """Answer; nothing can be taught."""
        check.require(thing is None, "thing", "not be taught: this network was trained already", thing)
        followed = self._follower.answer(self._frame(data), None)
        return FrameAnswer(
            followed.posterior[0],
            followed.frozen[0],
            float(followed.novelty[0]),
            remembered(self._follower.model),
        )

    def restart(self) -> None:
        """Forget the stream."""
        self._follower.model.set_state(self._rest)
