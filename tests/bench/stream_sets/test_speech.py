"""Sound as speech networks receive it."""

import io
import wave

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets import _speech as speech


def recording(samples, *, rate=16_000, channels=1):
    """A sound file with these 16-bit samples."""
    content = io.BytesIO()
    with wave.open(content, "wb") as opened:
        opened.setnchannels(channels)
        opened.setsampwidth(2)
        opened.setframerate(rate)
        opened.writeframes(np.asarray(samples, "<i2").tobytes())
    return content.getvalue()


def test_slaney_filters_have_the_values_of_librosa():
    filters = speech.slaney_filters(40)
    assert filters.shape == (40, 201)
    known = {
        (0, 2): 0.01240452,
        (10, 21): 0.00791524,
        (20, 44): 0.00719192,
        (30, 95): 0.00287401,
        (39, 185): 0.00172494,
    }
    assert {place: float(filters[place].round(8)) for place in known} == known


def test_symmetric_filters_have_the_values_of_speechbrain():
    filters = speech.symmetric_filters(80)
    assert filters.shape == (80, 201)
    known = {(0, 1): 0.191689, (20, 17): 0.159326, (40, 45): 0.915595, (60, 100): 0.788384, (79, 194): 0.897425}
    for place, value in known.items():
        assert filters[place] == pytest.approx(value, abs=2e-5)


def test_a_tone_gives_power_at_its_frequency_alone():
    tone = np.sin(2 * np.pi * 1000 * np.arange(16_000) / 16_000)
    spectra = speech.power_spectra(tone, speech.hann())
    assert spectra.shape == (101, 201)
    assert (spectra[2:-2].argmax(axis=1) == 25).all()  # 40 Hz from one to the next
    assert spectra[50, 25] == pytest.approx(100**2)
    assert spectra[50, 28:].max() < 1e-9


def test_tapers_are_periodic():
    assert speech.hann()[0] == 0
    assert speech.hann()[200] == 1
    assert speech.hamming()[0] == pytest.approx(0.08)
    for taper in (speech.hann(), speech.hamming()):
        np.testing.assert_allclose(taper[1:], taper[:0:-1])


def test_windows_overlap_by_three_quarters_of_a_second():
    spectra = np.arange(160.0)[:, None] + np.zeros(3)
    found = speech.windows(spectra)
    assert found.shape == (3, 100, 3)
    assert found[:, 0, 0].tolist() == [0, 25, 50]
    assert found[:, -1, 2].tolist() == [99, 124, 149]


def test_a_window_belongs_to_who_speaks_in_its_last_quarter_of_a_second():
    assert speech.newest_sample(3).tolist() == [14_000, 18_000, 22_000]


def test_sound_is_set_to_a_level():
    noise = np.random.default_rng(0).normal(size=1000)
    for decibel in (-30.0, -10.0):
        level = 10 * np.log10(np.mean(speech.at_level(noise, decibel).astype(float) ** 2))
        assert level == pytest.approx(decibel, abs=1e-4)
    assert np.isfinite(speech.at_level(np.zeros(10))).all()


def test_a_recording_is_read_sample_by_sample():
    pytest.importorskip("av")
    samples = np.array([0, 16384, -32768, 5] * 5000)
    np.testing.assert_array_equal(speech.decoded(recording(samples), container="wav"), samples / 32768)


def test_g722_has_two_samples_in_each_byte():
    pytest.importorskip("av")
    silence = speech.decoded(bytes([0xFA]) * 800, container="g722")
    assert len(silence) == 1600
    assert np.abs(silence).max() < 0.01


@pytest.mark.parametrize("unfit", [{"rate": 8000}, {"channels": 2}])
def test_recordings_of_another_kind_are_refused(unfit):
    pytest.importorskip("av")
    with pytest.raises(DataError, match="one channel of 16-bit samples at 16,000 Hz"):
        speech.decoded(recording(np.zeros(100), **unfit), container="wav")


def test_a_damaged_recording_is_refused():
    pytest.importorskip("av")
    with pytest.raises(DataError, match="cannot be read"):
        speech.decoded(b"damaged", container="wav")
