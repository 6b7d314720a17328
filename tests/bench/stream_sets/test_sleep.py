"""A night in the European Data Format as a stream."""

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets.sleep import night_of, powers_of, signals_in, stages_in


def recording(channels, records=2):
    """A file: name -> (digital values, lowest and highest physical value), digits from -100 to 100."""
    widths = {name: len(values) // records for name, (values, _, _) in channels.items()}
    columns = [
        *((list(channels), 16), ([""] * len(channels), 80), ([""] * len(channels), 8)),
        ([str(low) for _, low, _ in channels.values()], 8),
        ([str(high) for _, _, high in channels.values()], 8),
        *((["-100"] * len(channels), 8), (["100"] * len(channels), 8), ([""] * len(channels), 80)),
        *(([str(width) for width in widths.values()], 8), ([""] * len(channels), 32)),
    ]
    head = "0".ljust(236) + str(records).ljust(8) + "30".ljust(8) + str(len(channels)).ljust(4)
    text = head + "".join(one.ljust(width) for entries, width in columns for one in entries)
    body = b"".join(
        np.asarray(values[record * widths[name] : (record + 1) * widths[name]], "<i2").tobytes()
        for record in range(records)
        for name, (values, _, _) in channels.items()
    )
    return text.encode() + body


def test_digits_become_physical_values_channel_by_channel():
    found = signals_in(recording({"one": ([-100, 0, 100, 50], -1.0, 1.0), "two": ([0, 100], 0.0, 500.0)}) + b"\n")
    np.testing.assert_allclose(found["one"], [-1, 0, 1, 0.5])
    np.testing.assert_allclose(found["two"], [250, 500])


def test_a_damaged_recording_is_refused():
    whole = recording({"one": ([0, 1], -1.0, 1.0)})
    for content in (b"", whole[:-1], whole.replace(b"-100", b"100 ")):
        with pytest.raises(DataError, match="must be a recording in the European Data Format"):
            signals_in(content)


def test_stages_three_and_four_are_deep_sleep_and_movement_is_not_scored():
    content = (
        b"+0\x15300\x14Sleep stage W\x14\x00+300\x1530\x14Sleep stage 4\x14\x00+330\x1590\x14Sleep stage ?\x14\x00"
    )
    assert stages_in(content) == [(0, 300, 0), (300, 30, 3), (330, 90, -1)]
    with pytest.raises(DataError, match="must hold sleep stages"):
        stages_in(b"+0\x15300\x14Lights off\x14")


def test_power_is_found_in_its_band():
    seconds = np.arange(1000) / 100
    alpha = powers_of(np.sin(2 * np.pi * 10 * seconds).astype(np.float32))
    assert alpha.shape == (2, 5)
    assert (alpha.argmax(axis=1) == 2).all()


def test_the_night_begins_half_an_hour_before_sleep_and_ends_half_an_hour_after():
    rng = np.random.default_rng(0)
    seconds = 2400 + 60 + 2400
    signals = {
        name: rng.normal(size=100 * seconds).astype(np.float32)
        for name in ("EEG Fpz-Cz", "EEG Pz-Oz", "EOG horizontal")
    }
    night = night_of(
        {**signals, "EMG submental": np.ones(seconds, np.float32)}, [(0, 2400, 0), (2400, 60, 2), (2460, 2400, 0)]
    )
    assert night.features.shape == (2 * 360 + 12, 16)
    assert np.flatnonzero(night.stages).tolist() == list(range(360, 372))
    with pytest.raises(DataError, match="must hold the channels EMG submental"):
        night_of(signals, [])
