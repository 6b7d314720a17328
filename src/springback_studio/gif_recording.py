"""A recording of what was shown, as an animated GIF."""

import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from springback.streaming.records import NOISE_LABEL
from springback_studio.pair import PairAnswer
from springback_studio.session import Snapshot

FRAMES_MAX = 240
FRAME_MS = 100
SIZE = (560, 300)

_PAPER, _INK, _FAINT = (250, 250, 248), (28, 30, 34), (120, 124, 130)
_BLUE, _ORANGE = (0, 114, 178), (213, 94, 0)
_CELL = 6
_INPUT_AT = (16, 44)
_MAP_SIDE = 72
_N_MAPS = 4


class GifRecording:
    """Up to 240 frames; each is drawn when it is added, so the memory of a recording is bounded.

    Examples
    --------
    >>> from springback_studio.session import Session
    >>> from springback_studio.view import View
    >>> recording = GifRecording()
    >>> recording.add(Session(View(model="elastic")).advance())
    >>> recording.gif()[:6]
    b'GIF89a'
    """

    def __init__(self) -> None:
        self._images: list[Image.Image] = []

    @property
    def n_frames(self) -> int:
        """How many frames it has."""
        return len(self._images)

    @property
    def full(self) -> bool:
        """Whether no more frames can be added."""
        return self.n_frames >= FRAMES_MAX

    def add(self, picture: Snapshot) -> None:
        """Append a frame, unless the recording is full."""
        if not self.full:
            self._images.append(drawn(picture).quantize(palette=_palette(), dither=Image.Dither.NONE))

    def gif(self) -> bytes:
        """The recording as a GIF that loops forever, with ten frames per second."""
        file = io.BytesIO()
        first, *others = self._images
        first.save(file, "GIF", save_all=True, append_images=others, duration=FRAME_MS, loop=0, disposal=1)
        return file.getvalue()


def drawn(picture: Snapshot) -> Image.Image:
    """One frame: the input, the answers with and without short-term plasticity, and the stretched units."""
    image = Image.new("RGB", SIZE, _PAPER)
    draw = ImageDraw.Draw(image)
    small, large = _font(13), _font(54)
    draw.text((16, 16), f"input, frame {picture.frame}", _FAINT, small)
    image.paste(_enlarged(picture.shown.pixels, 28 * _CELL), _INPUT_AT)
    columns = (("with short-term plasticity", _BLUE), ("without", _ORANGE))
    for which, ((title, colour), answer) in enumerate(zip(columns, picture.answers, strict=True)):
        left = 204 + 180 * which
        draw.text((left, 16), title, colour, small)
        draw.text((left, 36), "noise" if answer.predicted == NOISE_LABEL else str(answer.predicted), _INK, large)
        if picture.shown.label is not None:
            correct = answer.predicted == picture.shown.label
            draw.text((left, 104), "correct" if correct else "wrong", _INK if correct else colour, small)
        if picture.counted:
            share = 100 * picture.correct[which] / picture.counted
            draw.text((left + 56, 104), f"{share:.1f} % so far", _FAINT, small)
        _bars(draw, answer, (left, 126), colour)
    draw.text((204, 292 - _MAP_SIDE), "G = W + F", _FAINT, small, anchor="ls")
    efficacy = picture.resting + picture.short_term
    side = int(np.sqrt(efficacy.shape[1]))
    top = max(float(efficacy.max(initial=0.0)), 1e-9)
    for place, unit in enumerate(efficacy[:_N_MAPS]):
        pixels = (255 * np.sqrt(np.clip(unit / top, 0, 1))).astype(np.uint8).reshape(side, side)
        image.paste(_enlarged(pixels, _MAP_SIDE), (204 + (_MAP_SIDE + 8) * place, 296 - _MAP_SIDE))
    return image


@lru_cache(maxsize=1)
def _palette() -> Image.Image:
    """All greys of the pictures in steps of two, and from the paper to each of the colours of letters and bars."""
    shares = np.linspace(0, 1, 32)[:, None]
    ramps = [
        np.array(_PAPER) + shares * (np.array(colour) - np.array(_PAPER)) for colour in (_INK, _FAINT, _BLUE, _ORANGE)
    ]
    greys = np.repeat(np.arange(0, 256, 2)[:, None], 3, axis=1)
    holder = Image.new("P", (1, 1))
    holder.putpalette(np.concatenate([greys, *ramps]).round().astype(np.uint8).tobytes())
    return holder


@lru_cache(maxsize=3)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _enlarged(pixels: NDArray[np.uint8], side: int) -> Image.Image:
    return Image.fromarray(pixels).resize((side, side), Image.Resampling.NEAREST).convert("RGB")


def _bars(draw: ImageDraw.ImageDraw, answer: PairAnswer, corner: tuple[int, int], colour: tuple[int, int, int]) -> None:
    left, top = corner
    for one, share in enumerate(answer.posterior):
        at = left + 14 * one
        draw.rectangle((at, top + 40 - round(40 * share), at + 10, top + 40), fill=colour)
        draw.text((at + 5, top + 54), "n" if one == NOISE_LABEL else str(one), _FAINT, _font(11), "ms")
