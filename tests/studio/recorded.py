"""What a fake camera shows and a fake microphone hears: files that Chromium plays in a loop."""

import wave
from pathlib import Path

import numpy as np

RATE_HZ = 48_000
SIDES = (120, 160)
"""Height and width of the camera's pictures."""


def scene(number: int, shift: int = 0) -> np.ndarray:
    """A picture uint8 (height, width, 3): coloured stripes of another direction for each number, moved by `shift`."""
    down, across = np.mgrid[: SIDES[0], : SIDES[1]]
    angle = number * np.pi / 3
    wave_ = np.sin((down * np.sin(angle) + across * np.cos(angle) + shift) / 6)
    colour = np.array([(220, 60, 50), (50, 90, 220), (60, 190, 80)][number % 3])
    return np.clip(colour * (0.6 + 0.4 * wave_[:, :, None]), 0, 255).astype(np.uint8)


def write_camera(path: Path, scenes: list[np.ndarray], repeats: int, rate_hz: int = 20) -> Path:
    """A film of scenes in the format Y4M, each shown a given number of times."""
    height, width, _ = scenes[0].shape
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{rate_hz}:1 Ip A1:1 C420jpeg\n".encode())
        for one in scenes:
            red, green, blue = np.moveaxis(one.astype(np.float64), 2, 0)
            luma = 0.299 * red + 0.587 * green + 0.114 * blue
            parts = [luma]
            for colour, factor in ((blue, 0.564), (red, 0.713)):
                half = (128 + factor * (colour - luma)).reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))
                parts.append(half)
            planes = b"".join(np.clip(np.rint(part), 0, 255).astype(np.uint8).tobytes() for part in parts)
            file.write((b"FRAME\n" + planes) * repeats)
    return path


def tone(hertz: float, seconds: float, loudness: float = 0.4) -> np.ndarray:
    """A tone; the loudest has the loudness 1."""
    time = np.arange(round(RATE_HZ * seconds)) / RATE_HZ
    return (32_000 * loudness * np.sin(2 * np.pi * hertz * time)).astype("<i2")


def write_microphone(path: Path, parts: list[np.ndarray]) -> Path:
    """A recording in the format WAV."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(np.concatenate(parts).tobytes())
    return path
