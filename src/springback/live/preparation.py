"""How frames of a source become the input of a model: rows as they are, pictures and windows of sound as it says.

A network only works on pictures and sound that look like those it was trained on. So what it takes is part of its file,
or the user says it; nothing is guessed, and a source that does not fit is refused.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError, FrameError
from springback.files.records import from_plain
from springback.live.frames import Signal
from springback.live.resizing import resized

Channels = Literal["rgb", "bgr", "grey"]
Fit = Literal["crop", "stretch"]
_GREY = np.array([0.299, 0.587, 0.114], np.float32)
_LARGEST_SIDE = 8192


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of numbers, as they are.

    Parameters
    ----------
    shape : tuple[int, ...]
        Of one frame.
    """

    shape: tuple[int, ...]

    def refuse(self, signal: Signal, source: str) -> None:
        """Refuse a source whose frames do not fit."""
        size = " x ".join(map(str, self.shape))
        height_and_width = self.shape[1:] if len(self.shape) == 3 and self.shape[0] in (1, 3) else self.shape
        if signal.kind == "pictures" and len(height_and_width) == 2:
            colours = "grey" if self.shape[0] != 3 else "rgb"
            zeros, ones = (",".join(one * (3 if colours == "rgb" else 1)) for one in "01")
            raise DataError(
                f"{source} gives pictures, and the model, which takes {size} numbers, does not say how pictures become "
                "these: give the mean and the standard deviation of each channel, and the channels "
                f"(mean {zeros}, std {ones} and channels {colours} for pixels between 0 and 1)"
            )
        if signal.kind != "rows":
            raise DataError(
                f"the model takes frames of {size} numbers and {source} gives {signal.kind}: use a network that turns "
                f"{signal.kind} into features, or compute the features first"
            )
        if signal.shape is not None and signal.shape != self.shape:
            shown = " x ".join(map(str, signal.shape))
            raise DataError(f"the model takes frames of {size} numbers; those of {source} have {shown}")

    def prepare(self, values: NDArray[Any]) -> NDArray[Any]:
        """The frames."""
        return values


@dataclass(frozen=True, kw_only=True)
class Pixels:
    """Frames of pixels for a circuit of spiking neurons: brightness 0 ... 255, in any shape.

    Parameters
    ----------
    count : int
        Pixels of one frame.

    Examples
    --------
    >>> Pixels(count=2).prepare(np.array([[0.0, 255.0]]))
    array([[  0, 255]], dtype=uint8)
    """

    count: int

    def refuse(self, signal: Signal, source: str) -> None:
        """Refuse a source whose frames do not fit."""
        shown = "" if signal.shape is None else f" of {' x '.join(map(str, signal.shape))}"
        fits = signal.shape is None or int(np.prod(signal.shape)) == self.count
        if signal.kind != "rows" or not fits:
            raise DataError(f"the model takes frames of {self.count} pixels; {source} gives {signal.kind}{shown}")

    def prepare(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """The frames, uint8 (T, count); a brightness that is no whole number from 0 to 255 raises a `FrameError`."""
        rows = values.reshape(len(values), -1)
        if rows.dtype != np.uint8:
            fits = (rows >= 0) & (rows <= 255) & (rows == np.rint(rows))
            if not fits.all():
                odd = rows[~fits][0].item()
                raise FrameError(f"pixels must be whole numbers from 0 to 255, their brightness; got {odd}")
        return rows.astype(np.uint8, copy=False)


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """Pictures of one size: `(pixel / 255 - mean) / std`, channels first.

    Parameters
    ----------
    height, width : int
        In pixels.
    channels : Channels
        "rgb", "bgr", or "grey" for a single channel.
    mean, std : tuple[float, ...]
        One for each channel, for pixels between 0 and 1.
    fit : Fit
        "crop": the middle of the picture, as large as it can be in the shape of the network's; "stretch": all of it.

    Examples
    --------
    >>> small = Pictures(height=2, width=2, channels="grey", mean=(0.5,), std=(0.5,), fit="stretch")
    >>> small.prepare(np.full((1, 4, 4, 3), 255, np.uint8)).tolist()
    [[[[1.0, 1.0], [1.0, 1.0]]]]
    """

    height: int
    width: int
    channels: Channels
    mean: tuple[float, ...]
    std: tuple[float, ...]
    fit: Fit

    def __post_init__(self) -> None:
        check.integer("height", self.height, low=1, high=_LARGEST_SIDE)
        check.integer("width", self.width, low=1, high=_LARGEST_SIDE)
        check.one_of("channels", self.channels, ("rgb", "bgr", "grey"))
        check.one_of("fit", self.fit, ("crop", "stretch"))
        for name, given in (("mean", self.mean), ("std", self.std)):
            check.require(len(given) == self.depth, name, f"be {self.depth}, one for each channel", given)
            for one in given:
                check.real(name, one, **({"above": 0} if name == "std" else {}))

    @property
    def depth(self) -> int:
        """Number of channels."""
        return 1 if self.channels == "grey" else 3

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame of the network."""
        return (self.depth, self.height, self.width)

    def refuse(self, signal: Signal, source: str) -> None:
        """Refuse a source whose frames do not fit; frames that are prepared already do."""
        ready = signal.kind == "rows" and signal.shape == self.shape
        if signal.kind != "pictures" and not ready:
            raise DataError(f"the network takes pictures, and {source} gives {signal.kind}")

    def prepare(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Input of the network, float32 (T, channels, height, width)."""
        if values.shape[1:] == self.shape and values.dtype != np.uint8:
            return np.asarray(values, np.float32)
        pixels = values if self.fit == "stretch" else self._middle(values)
        sized = resized(pixels, self.height, self.width) / np.float32(255)
        if self.channels == "grey":
            sized = (sized @ _GREY)[..., None]
        elif self.channels == "bgr":
            sized = sized[..., ::-1]
        scaled = (sized - np.array(self.mean, np.float32)) / np.array(self.std, np.float32)
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))

    def _middle(self, values: NDArray[Any]) -> NDArray[Any]:
        high, wide = values.shape[1:3]
        scale = min(high / self.height, wide / self.width)
        rows, columns = (
            min(have, max(1, round(scale * one)))
            for have, one in zip((high, wide), (self.height, self.width), strict=True)
        )
        top, left = (high - rows) // 2, (wide - columns) // 2
        return values[:, top : top + rows, left : left + columns]


@dataclass(frozen=True, kw_only=True)
class Sound:
    """Windows of one channel of sound, between -1 and 1.

    Parameters
    ----------
    rate_hz : int
        Samples per second.
    window, hop : int
        Samples of a window, and from one to the next.
    """

    rate_hz: int
    window: int
    hop: int

    def __post_init__(self) -> None:
        check.integer("rate_hz", self.rate_hz, low=1)
        check.integer("window", self.window, low=1)
        check.integer("hop", self.hop, low=1, high=self.window)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return (self.window,)

    def refuse(self, signal: Signal, source: str) -> None:
        """Refuse a source whose frames do not fit; windows that are rows already do."""
        if signal.kind == "pictures" or signal.shape not in (None, self.shape):
            raise DataError(
                f"the network takes windows of {self.window:,} samples, and {source} gives {signal.kind}"
                + (f" of {' x '.join(map(str, signal.shape))}" if signal.shape else "")
            )
        if signal.kind == "sound" and signal.rate_hz != self.rate_hz:
            raise DataError(
                f"the network takes {self.rate_hz:,} samples per second; {source} has {signal.rate_hz or 0:,.0f}"
            )

    def prepare(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """The windows."""
        return np.asarray(values, np.float32)


Preparation = Rows | Pixels | Pictures | Sound
_KINDS: dict[str, type[Pictures] | type[Sound]] = {"pictures": Pictures, "sound": Sound}


def preparation_of(
    model: str, shape: tuple[int, ...], stored: dict[str, Any] | None, told: dict[str, Any]
) -> Preparation:
    """What a network with frames of this shape takes: as its file says, or else as the user says.

    Parameters
    ----------
    model : str
        For messages.
    shape : tuple[int, ...]
        Of one frame of the network.
    stored : dict[str, Any] | None
        From the file, with "kind"; None: the file does not say.
    told : dict[str, Any]
        From the user, without "kind". It must not contradict the file.

    Examples
    --------
    >>> preparation_of("net.onnx", (3, 224, 224), None, {})
    Rows(shape=(3, 224, 224))
    """
    if stored is not None:
        kind = check.one_of("kind", stored.get("kind"), tuple(_KINDS))
        known = {name: value for name, value in stored.items() if name != "kind"}
        for name, value in told.items():
            if name not in known or _plain(known[name]) != _plain(value):
                has = f"says {name} = {known[name]}" if name in known else f"takes {kind}, which has no {name}"
                raise DataError(f"{model} {has}; leave {name} = {value} out")
        found: Preparation = from_plain(known, _KINDS[kind])
    elif not told:
        return Rows(shape=shape)
    elif "rate_hz" in told:
        window = shape[-1]
        found = Sound(rate_hz=told["rate_hz"], window=window, hop=told.get("hop", window))
    else:
        found = _pictures(model, shape, told)
    assert not isinstance(found, Pixels)
    if _without_ones(found.shape) != _without_ones(shape):
        raise DataError(f"{model} takes frames of shape {shape}; pictures or sound prepared so have {found.shape}")
    return found


def _pictures(model: str, shape: tuple[int, ...], told: dict[str, Any]) -> Pictures:
    shape = (1, *shape) if len(shape) == 2 else shape
    if len(shape) != 3 or shape[0] not in (1, 3):
        raise DataError(f"{model} takes frames of shape {shape}, which are not pictures with 1 or 3 channels first")
    if "mean" not in told or "std" not in told:
        raise DataError(
            f"{model} does not say how pictures are scaled: give the mean and the standard deviation of each channel "
            "(for networks of torchvision 0.485,0.456,0.406 and 0.229,0.224,0.225)"
        )
    usual = "grey" if shape[0] == 1 else "rgb"
    return Pictures(
        height=shape[1],
        width=shape[2],
        channels=told.get("channels", usual),
        mean=tuple(told["mean"]),
        std=tuple(told["std"]),
        fit=told.get("fit", "crop"),
    )


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without axes of length one, such as that of a single channel."""
    return tuple(one for one in shape if one != 1)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value
