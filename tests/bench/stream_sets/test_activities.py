"""Sessions with a phone as streams, and their tables out of a pickle that is only read."""

import gzip

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets import activities, hapt, stream_sets
from springback_bench.stream_sets.activities import labels_of, stream_of, turned, windows_of
from springback_bench.stream_sets.hapt import CHANNELS, ActivitySession
from springback_bench.stream_sets.inert_pickle import Global, Record


def session(person, seconds=40, seed=0):
    """One activity after another, each with an own acceleration."""
    rng = np.random.default_rng([seed, person])
    known = np.repeat(rng.integers(0, 13, seconds // 4), 200)
    signals = rng.normal(0, 0.1, (len(known), 6)) + known[:, None] * np.array([1, -1, 0.5, 0, 0, 0])
    return ActivitySession(person, signals.astype(np.float32), known)


def test_a_frame_is_the_last_64_samples_after_every_16():
    signals = np.arange(6 * 100, dtype=np.float32).reshape(100, 6)
    windows = windows_of(signals)
    assert windows.shape == (3, 6, 64)
    np.testing.assert_array_equal(windows[2], signals[32:96].T)


def test_a_frame_is_scored_by_its_newest_samples():
    known = np.repeat([3, 5, 0], [71, 19, 22])
    assert labels_of(known).tolist() == [2, 4, 4, -1]


def test_another_activity_is_another_object_and_time_is_in_seconds():
    stream = stream_of(np.zeros((4, 2), np.float32), np.repeat([3, 5, 0], [64, 26, 22]))
    assert stream.objects.tolist() == [0, 1, 1, 2]
    assert stream.times[1] == pytest.approx(0.32)


def test_a_turning_phone_starts_upright_and_keeps_lengths():
    signals = np.random.default_rng(0).normal(size=(4000, 6)).astype(np.float32)
    moved = turned(signals, np.random.default_rng(1))
    np.testing.assert_allclose(moved[0], signals[0], rtol=1e-5)
    for part in (slice(0, 3), slice(3, 6)):
        np.testing.assert_allclose(
            np.linalg.norm(moved[:, part], axis=1), np.linalg.norm(signals[:, part], axis=1), rtol=1e-4
        )
    angle = np.arccos(np.clip((np.trace(_rotation(2000)) - 1) / 2, -1, 1))
    assert angle == pytest.approx(1.0, abs=1e-3)


def _rotation(at):
    """The turn at a sample, from what it does to the three directions of space."""
    columns = []
    for direction in np.eye(3):
        signals = np.tile(np.concatenate([direction, direction]), (at + 1, 1)).astype(np.float32)
        columns.append(turned(signals, np.random.default_rng(7))[at, :3])
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("name", ["hapt", "hapt-turning"])
def test_a_network_is_trained_on_some_people_and_the_streams_show_others(name, tmp_path, monkeypatch):
    monkeypatch.setattr(hapt, "recordings", lambda *_: [session(person) for person in range(1, 31)])
    make = stream_sets()[name].make
    split = make(0, tmp_path, lambda _: None)
    assert (len(split.validation), len(split.test)) == (6, 8)
    assert split.head.weight.shape == (12, 64)
    again = make(0, tmp_path, lambda _: None)
    np.testing.assert_array_equal(again.head.weight, split.head.weight)
    np.testing.assert_array_equal(again.test[0].features, split.test[0].features)
    other = make(1, tmp_path, lambda _: None)
    assert not np.array_equal(other.head.weight, split.head.weight)


def test_all_people_are_learned_from_validated_on_or_tested_on(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(hapt, "recordings", lambda *_: [session(person) for person in range(1, 31)])
    monkeypatch.setattr(activities, "windows_of", lambda signals: seen.append(signals) or windows_of(signals))
    stream_sets()["hapt"].make(0, tmp_path, lambda _: None)
    assert len({one.tobytes() for one in seen}) == len(seen) == 30


def array(values):
    code = {"f": "f8", "i": "i8"}.get(values.dtype.kind, "O8")
    kind = Record("numpy dtype", (code, 0, 1), (3, "|" if code == "O8" else "<", None, None, None, -1, -1, 0))
    content = values.tolist() if code == "O8" else values.tobytes()
    return Record("numpy.core.multiarray _reconstruct", (), (1, values.shape, kind, False, content))


def table(signals, labels):
    names = array(np.array([*CHANNELS, "sequence", "label"]))
    blocks = [
        {"values": array(signals), "mgr_locs": Record("__builtin__ slice", (0, 6, 1))},
        {"values": array(np.stack([labels * 0, labels])), "mgr_locs": array(np.array([6, 7]))},
    ]
    axes = [Record("pandas.core.indexes.base _new_Index", (Global("index"), {"data": names})), None]
    manager = Record("manager", (), ([], [], [], {"0.14.1": {"axes": axes, "blocks": blocks}}))
    return Record("frame", (), {"_data": manager})


@pytest.fixture
def read(tmp_path, monkeypatch):
    """The recordings of a package whose file has this content, or whose pickle would give these tables."""

    def recordings(people=None, content=b""):
        monkeypatch.setattr(hapt, "stored", lambda *_: tmp_path)
        monkeypatch.setattr(hapt, "tar_member", lambda *_: gzip.compress(content))
        if people is not None:
            monkeypatch.setattr(hapt, "read_pickle", lambda *_: people)
        return hapt.recordings(tmp_path, lambda _: None)

    return recordings


def test_the_columns_of_a_table_are_found_by_name(read):
    signals, labels = np.arange(18.0).reshape(6, 3), np.array([0, 5, 12])
    (found,) = read({1: [table(signals, labels)]})
    np.testing.assert_array_equal(found.signals, signals.T)
    np.testing.assert_array_equal(found.activities, labels)


@pytest.mark.parametrize(
    ("people", "part"),
    [
        ({1: [Record("frame", ())]}, "NoneType"),
        ({1: [table(np.ones((6, 3)), np.array([0, 5, 13]))]}, "label must be at most 12"),
        ({1: [table(np.full((6, 3), np.nan), np.array([0, 5, 12]))]}, "signals must be finite"),
        ([], "list"),
    ],
)
def test_tables_that_are_not_those_of_hapt_are_refused(people, part, read):
    with pytest.raises(DataError, match=r"HAPT\.pkl\.gz must hold the tables of HAPT") as caught:
        read(people)
    assert part in str(caught.value)


def test_a_pickle_that_asks_for_a_call_is_refused(read):
    with pytest.raises(DataError, match="this one names 'os system'"):
        read(content=b"cos\nsystem\n.")


def test_recordings_are_read_once_and_then_kept(read):
    signals, labels = np.arange(18.0).reshape(6, 3), np.array([0, 5, 12])
    first = read({person: [table(signals * person, labels)] * 2 for person in (1, 30)})
    again = read([])  # which would be refused
    assert [one.person for one in again] == [1, 1, 30, 30]
    np.testing.assert_array_equal(first[2].signals, again[2].signals)
