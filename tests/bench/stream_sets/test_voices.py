"""Voices of a city council."""

import io
import tarfile
import zipfile
from itertools import pairwise

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets import recordings, voices
from springback_bench.stream_sets.recordings import Turn, babbling_voices, council_meetings, turns_by_meeting
from tests.bench.stream_sets.test_speech import recording

RATE_HZ = 16_000


def zipped(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as opened:
        for name, samples in files.items():
            opened.writestr(name, recording(samples))
    return content.getvalue()


def test_turns_come_in_the_order_of_time_and_meetings_in_that_of_their_names():
    pytest.importorskip("av")
    long = np.ones(9000)
    files = {
        "b/ann/90-95.wav": long,
        "b/bob/1000-1005.wav": 2 * long,
        "b/ann/200-205.wav": 3 * long,
        "a/bob/1-2.wav": long,
    }
    meetings = turns_by_meeting(zipped({f"diarized/{name}": samples for name, samples in files.items()}))
    assert [[turn.speaker for turn in turns] for turns in meetings] == [["bob"], ["ann", "ann", "bob"]]
    assert [round(float(turn.samples[0]) * 32768) for turn in meetings[1]] == [1, 3, 2]


def test_turns_of_less_than_half_a_second_are_left_out():
    pytest.importorskip("av")
    meetings = turns_by_meeting(zipped({"a/ann/1-2.wav": np.ones(8000), "a/bob/3-4.wav": np.ones(8001)}))
    assert [turn.speaker for turn in meetings[0]] == ["bob"]


def test_sound_files_with_other_names_are_refused():
    with pytest.raises(DataError, match=r"MEETING/SPEAKER/START-END\.wav; got 'a/ann/first\.wav'"):
        turns_by_meeting(zipped({"a/ann/first.wav": np.ones(9000)}))


def test_no_meeting_is_in_two_parts_of_a_split():
    for parts in voices.SPLITS:
        numbers = [number for part in parts for number in part]
        assert len(numbers) == len(set(numbers))
        assert set(numbers) <= set(range(voices.MEETINGS))
    assert len(set(voices.SPLITS)) == 6


def some_voices():
    rng = np.random.default_rng(5)
    speech = {name: rng.normal(size=20 * RATE_HZ).astype(np.float32) for name in ("ann", "bob", "eve")}
    return speech, [rng.normal(size=15 * RATE_HZ).astype(np.float32) for _ in range(5)]


def test_nobody_speaks_twice_in_a_row_at_a_party():
    turns = voices.party(*some_voices(), 12, np.random.default_rng(0))
    speakers = [turn.speaker for turn in turns]
    assert len(speakers) == 12
    assert all(a != b for a, b in pairwise(speakers))
    assert all(4 * RATE_HZ <= len(turn.samples) <= 12 * RATE_HZ for turn in turns)


def test_the_background_grows_from_15_below_to_10_decibel_above_the_speaker():
    _, babble = some_voices()
    silent = {name: np.full(12 * RATE_HZ, 1e-30, np.float32) for name in ("ann", "bob")}
    samples = voices.party(silent, babble, 1, np.random.default_rng(0))[0].samples
    tenth = len(samples) // 10
    first, last = (10 * np.log10(np.mean(part.astype(float) ** 2)) for part in (samples[:tenth], samples[-tenth:]))
    assert first == pytest.approx(-30 - 15 + 1.25, abs=0.5)
    assert last == pytest.approx(-30 + 10 - 1.25, abs=0.5)


def test_people_who_say_less_than_five_seconds_are_not_invited():
    turns = [Turn("ann", np.ones(3 * RATE_HZ, np.float32)), Turn("bob", np.ones(RATE_HZ, np.float32))]
    found = voices._voices([turns, turns])
    assert {name: len(samples) for name, samples in found.items()} == {"ann": 6 * RATE_HZ}


def quarter_seconds(samples):
    """A network in miniature: the mean level of each window."""
    count = (len(samples) - RATE_HZ) // (RATE_HZ // 4) + 1
    return np.stack([samples[i * 4000 : i * 4000 + RATE_HZ].mean() * np.ones(2) for i in range(count)]).astype(
        np.float32
    )


def test_labels_tell_who_speaks_at_the_end_of_the_frame():
    turns = [Turn("bob", np.ones(2 * RATE_HZ, np.float32)), Turn("ann", np.ones(2 * RATE_HZ, np.float32))]
    stream = voices._stream(turns, ["ann", "bob"], quarter_seconds)
    assert stream.labels.tolist() == [1] * 5 + [0] * 8
    assert stream.objects.tolist() == [0] * 5 + [1] * 8
    assert stream.times.tolist() == [1 + t / 4 for t in range(13)]


def test_the_mean_is_subtracted_before_features_are_scaled():
    turns = [Turn("ann", np.ones(2 * RATE_HZ, np.float32))]
    plain = voices._stream(turns, ["ann"], quarter_seconds)
    np.testing.assert_allclose(plain.features, np.sqrt(0.5), rtol=1e-6)
    centred = voices._stream(turns, ["ann"], quarter_seconds, mean=np.sqrt(0.5) * np.array([1, 0]))
    np.testing.assert_allclose(centred.features, [[0, 1]] * 5, atol=1e-6)


def test_prompts_are_joined_in_the_order_of_their_names(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "decoded", lambda content, **_: np.full(10, len(content), np.float32))
    monkeypatch.setattr(recordings, "_BABBLE_SAMPLES", 15)
    sizes = {
        "b.g722": 17_000,
        "a.g722": 16_000,
        "short.g722": 15_000,
        "digits/a.g722": 20_000,
        "c.txt": 30_000,
        "d.g722": 18_000,
    }
    with tarfile.open(tmp_path / "files", "w") as opened:
        for name, size in sizes.items():
            about = tarfile.TarInfo(f"./usr/share/asterisk/sounds/en_US/{name}")
            about.size = size
            opened.addfile(about, io.BytesIO(bytes(size)))
    assert recordings._prompts(tmp_path / "files").tolist() == [16_000] * 10 + [17_000] * 10
    monkeypatch.setattr(recordings, "_BABBLE_SAMPLES", 100)
    with pytest.raises(DataError, match="must hold prompts"):
        recordings._prompts(tmp_path / "files")


@pytest.mark.parametrize(
    ("name", "load"),
    [("speakerbox-1.2.0", council_meetings), ("asterisk-core-sounds-en-g722-1.6.1-1", babbling_voices)],
)
def test_a_damaged_package_is_refused(tmp_path, name, load):
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / name).write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"must have .* bytes; got 7; delete"):
        load(tmp_path, print)


def test_the_head_of_a_meeting_is_the_best_on_the_validation(monkeypatch):
    rng = np.random.default_rng(1)
    labels = np.arange(60) % 3
    meetings = []
    for _ in range(voices.MEETINGS):
        features = np.eye(3)[labels] + rng.normal(0, 1, (60, 3))
        meetings.append(voices._timed(features.astype(np.float32), labels))
    monkeypatch.setattr(voices, "_recordings", lambda *_: meetings)
    heads = {}
    for strengths in ((0.001,), (100.0,), (0.001, 100.0)):
        monkeypatch.setattr(voices, "_STRENGTHS", strengths)
        heads[strengths] = voices._make_meeting(2, None, print, name="meeting").head
    scores = {strengths: head.accuracy([meetings[1], meetings[3]]) for strengths, head in heads.items()}
    assert scores[0.001, 100.0] == max(scores.values()) > min(scores.values())


def test_the_splits_of_a_meeting_share_recordings(tmp_path, monkeypatch):
    """With a network in miniature, on meetings drawn here."""
    rng = np.random.default_rng(0)
    names = ("ann", "bob", "eve")
    meetings = [
        [Turn(name, (rng.random(2 * RATE_HZ) + 1).astype(np.float32)) for name in names] for _ in range(voices.MEETINGS)
    ]
    asked = []
    monkeypatch.setattr(voices, "council_meetings", lambda *_: asked.append(1) or meetings)
    monkeypatch.setattr(voices, "_encoder", lambda *_: quarter_seconds)
    splits = [voices._make_meeting(split, tmp_path, print, name="meeting") for split in range(6)]
    assert len(asked) == 1
    assert [len(split.test) for split in splits] == [3, 3, 1, 2, 1, 1]
    assert all(len(split.head.weight) == 3 for split in splits)
