"""The frames of a group of keys, as Spark hands them over: each followed once, in the order of time; no engine."""

import dataclasses

import numpy as np
import pytest

from springback.check import DataError
from springback.extras import is_installed
from springback.files.container import from_bytes, to_bytes
from springback.heads import ElasticHead
from springback.live.spark.group import FORMAT, KeptGroup, KeyGroup
from springback.live.spark.packing import pack, table_of, unpack
from springback.live.spark.rule import Rule
from tests.streaming_models import subjects

pytestmark = pytest.mark.skipif(not is_installed("pyarrow"), reason="pyarrow is not installed: make test-spark")
RULE = Rule(
    file="one",
    groups=4,
    step=None,
    forget_after=None,
    lateness=None,
    replace_model=False,
    per_unit=1,
    words=False,
)
FORGETFUL = dataclasses.replace(RULE, forget_after=10.0, lateness=10.0)
KINDS = ("ElasticHead", "ElasticClustering", "OnnxStream", "SpikingClassifier")
EXACT = [one for one in subjects() if one.values[0].name.startswith(KINDS)]


def head():
    rng = np.random.default_rng(0)
    return ElasticHead(rng.normal(size=(4, 6)), np.zeros(4))


def rows_of(n, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 6)).astype(np.float32)


def frames(times, rows, keys="door"):
    """A table as it comes from Spark; frames are bytes or lists of numbers."""
    import pyarrow as pa

    keys = [keys] * len(rows) if isinstance(keys, str) else list(keys)
    shown = [one if one is None or isinstance(one, bytes) else one.tolist() for one in rows]
    kind = pa.binary() if any(isinstance(one, bytes) for one in shown) else pa.list_(pa.float32())
    if kind != pa.binary() and any(getattr(one, "dtype", None) == np.float64 for one in rows):
        kind = pa.list_(pa.float64())
    return pa.table({"key": pa.array(keys, pa.string()), "time": times, "frame": pa.array(shown, kind)})


def follow(model, rule, pieces, kept=None):
    """The answers to batches, one after the other, each from what the one before it left in the state store."""
    import pandas as pd

    found = []
    for piece in pieces:
        group = KeyGroup(rule, kept, model)
        found.append(group.answers(piece).to_pandas())
        kept = group.content()
    return pd.concat(found, ignore_index=True), kept


def probabilities(answers, key="door"):
    return np.stack(answers[answers.adapted & (answers.key == key)].sort_values("time").probabilities.to_list())


def kept_keys(kept):
    return table_of(from_bytes("it", kept, "state", KeptGroup).keys).column(0).to_pylist()


@pytest.mark.parametrize("subject", EXACT)
def test_every_kind_of_model_answers_as_track_does_however_its_frames_are_split_and_mixed(subject):
    rng, rows = np.random.default_rng(2), subject.rows[:10].reshape(10, -1)
    shown = [row.tobytes() if row.dtype == np.uint8 else row for row in rows]
    owner = rng.permutation(list("aaaaaabbbc"))
    table = frames(np.arange(10.0), shown, owner)
    batches = [rng.permutation(part) for part in np.split(np.arange(10), np.sort(rng.integers(1, 10, 3))) if len(part)]
    answers, kept = follow(subject.make(), RULE, [table.take(part) for part in batches])
    for key in "abc":
        own, model = subject.rows[:10][owner == key], subject.make()
        assert np.array_equal(probabilities(answers, key), model.track(own))
        assert answers[answers.key == key].sort_values("time").label.tolist() == model.track_labels(own).tolist()
    assert sorted(kept_keys(kept)) == ["a", "b", "c"]


def test_many_keys_with_few_and_with_many_frames_answer_as_track_does():
    rng, rows = np.random.default_rng(5), rows_of(400)
    owner = np.minimum(rng.geometric(0.05, 400), 60).astype(str)
    table = frames(np.arange(400.0), rows, owner)
    answers, _ = follow(head(), RULE, [table.take(part) for part in np.split(np.arange(400), [7, 150, 390])])
    for key in set(owner):
        assert np.array_equal(probabilities(answers, key), head().track(rows[owner == key]))


def test_single_precision_bytes_are_the_same_frames():
    rows = rows_of(5)
    one, _ = follow(head(), RULE, [frames(np.arange(5.0), [row.tobytes() for row in rows])])
    assert np.array_equal(probabilities(one), head().track(rows))
    mixed = [rows[0].tobytes(), bytes(range(6)), bytes(5), None]
    other, _ = follow(head(), RULE, [frames(np.arange(4.0), mixed)])
    assert other.adapted.tolist() == [True, True, False, False]
    assert np.array_equal(probabilities(other), head().track([rows[0], np.arange(6)]))


def test_time_stamps_count_in_steps():
    times = np.cumsum(np.random.default_rng(4).integers(1, 9, 20)) * 250_000
    rule = dataclasses.replace(RULE, step=0.5, per_unit=1_000_000)
    answers, _ = follow(head(), rule, [frames(times[a : a + 7], rows_of(20)[a : a + 7]) for a in (0, 7, 14)])
    alone = head()
    alone.memory_in_ = "time"
    assert np.array_equal(probabilities(answers), alone.track(rows_of(20), times / 1_000_000 / 0.5))


def test_late_frames_and_duplicates_have_a_row_but_move_nothing():
    rows = rows_of(6)
    late = [frames([0.0, 1.0, 2.0], rows[:3]), frames([1.5, 2.0, 3.0, 3.0], rows[[5, 2, 3, 3]])]
    answers, _ = follow(head(), RULE, late)
    assert answers.adapted.tolist()[:5] == [True, True, True, False, False]
    assert sorted(answers.adapted[5:]) == [False, True]
    assert answers[~answers.adapted].label.isna().all()
    assert answers[~answers.adapted].probabilities.isna().all()
    assert np.array_equal(probabilities(answers), head().track(rows[:4]))


def test_of_two_frames_of_the_same_time_the_same_one_is_followed_in_whatever_order_they_arrive():
    rows = rows_of(2)
    one, _ = follow(head(), RULE, [frames([1.0, 1.0], rows)])
    other, _ = follow(head(), RULE, [frames([1.0, 1.0], rows[::-1])])
    assert np.array_equal(probabilities(one), probabilities(other))


def test_whole_numbers_of_nanoseconds_are_told_apart():
    now = 1_800_000_000_000_000_000
    answers, kept = follow(head(), RULE, [frames([now, now + 1], rows_of(2)), frames([now + 1, now + 2], rows_of(2))])
    assert answers.adapted.tolist() == [True, True, False, True]
    assert from_bytes("it", kept, "state", KeptGroup).times.tolist() == [now + 2]


@pytest.mark.parametrize(
    "bad", [None, np.full(6, np.nan), np.zeros(5), np.array([None] * 6), np.full(6, 3e38, np.float32)], ids=str
)
def test_a_frame_that_cannot_be_used_moves_nothing(bad):
    rows = [*rows_of(5)]
    answers, _ = follow(head(), RULE, [frames(np.arange(6.0), [*rows[:2], bad, *rows[2:]])])
    assert answers.adapted.tolist() == [True, True, False, True, True, True]
    assert np.array_equal(probabilities(answers), head().track(rows_of(5)))


def test_a_refused_frame_among_many_keys_stops_none_and_does_not_end_a_silence():
    huge, rows = np.full(6, 3e38, np.float32), rows_of(4)
    owner, times = list("abaaba"), [0.0, 0.0, 5.0, 11.0, 11.0, 12.0]
    table = frames(times, [rows[0], rows[0], huge, rows[1], huge, rows[2]], owner)
    answers, kept = follow(head(), FORGETFUL, [table])
    assert answers.adapted.tolist() == [True, True, False, True, False, True]
    apart = np.concatenate([head().track(rows[:1]), head().track(rows[1:3])])
    assert np.array_equal(probabilities(answers, "a"), apart)
    assert kept_keys(kept) == ["a", "b"]


def test_a_batch_without_a_frame_that_can_be_used_keeps_nothing():
    group = KeyGroup(RULE, None, head())
    assert not any(group.answers(frames([np.nan, 1.0, None], [np.zeros(6), None, np.zeros(6)]))["adapted"].to_pylist())
    assert len(group) == 0


@pytest.mark.parametrize("cuts", [[], [3], [5], [2, 5, 6]], ids=str)
def test_a_key_starts_at_rest_after_a_long_silence_wherever_batches_end(cuts):
    times, rows = np.array([0.0, 1, 2, 12, 13, 24, 34, 35]), rows_of(8)
    batches = [part for part in np.split(np.arange(8), cuts) if len(part)]
    answers, _ = follow(head(), FORGETFUL, [frames(times[part], rows[part]) for part in batches])
    apart = np.concatenate([head().track(rows[:5]), head().track(rows[5:])])
    assert np.array_equal(probabilities(answers), apart)


def test_only_keys_that_still_have_frames_are_kept_and_a_late_frame_does_not_bring_one_back():
    rows = rows_of(40)
    passing = [frames([10.0 * n, 10.0 * n], rows[2 * n : 2 * n + 2], [f"car {n}", "door"]) for n in range(20)]
    answers, kept = follow(head(), FORGETFUL, passing)
    assert answers.adapted.all()
    assert set(kept_keys(kept)) == {"car 17", "car 18", "car 19", "door"}
    late, _ = follow(head(), FORGETFUL, [frames([5.0, 179.5, 180.5], rows[:3], ["car 0", "car 30", "car 31"])], kept)
    assert late.adapted.tolist() == [False, False, True]


def test_states_of_another_model_are_refused_unless_it_is_to_be_replaced():
    rows = rows_of(6)
    _, kept = follow(head(), RULE, [frames([0.0, 1.0, 2.0], rows[:3])])
    other = dataclasses.replace(RULE, file="other")
    with pytest.raises(DataError, match=r"^the checkpoint keeps states of another model: start the query with"):
        follow(head(), other, [frames([3.0], rows[3:4])], kept)
    replaced = dataclasses.replace(other, replace_model=True)
    answers, _ = follow(head(), replaced, [frames([2.0, 3.0, 4.0], rows[[2, 3, 4]])], kept)
    assert answers.adapted.tolist() == [False, True, True]
    assert np.array_equal(probabilities(answers), head().track(rows[3:5]))


def test_states_of_another_version_or_number_of_groups_and_changed_ones_are_refused_in_one_sentence():
    _, kept = follow(head(), RULE, [frames([0.0], rows_of(1))])
    later = dataclasses.replace(from_bytes("it", kept, "state", KeptGroup), format=FORMAT + 1)
    with pytest.raises(DataError, match=r"^the checkpoint keeps states in format 3, which this version cannot read"):
        KeyGroup(RULE, to_bytes("state", later), head())
    with pytest.raises(DataError, match=r"^the checkpoint keeps keys in 4 groups: .* groups=4$"):
        KeyGroup(dataclasses.replace(RULE, groups=8), kept, head())
    with pytest.raises(ValueError, match=r"^the state of a group of keys is damaged"):
        KeyGroup(RULE, kept[:-1] + bytes([kept[-1] ^ 1]), head())


def test_frames_without_a_key_are_one_stream():
    rows = rows_of(4)
    answers, kept = follow(
        head(), RULE, [frames([0.0, 1.0], rows[:2], [None, "door"]), frames([2.0], rows[2:3], [None])]
    )
    found = answers[answers.key.isna()].sort_values("time")
    assert np.array_equal(np.stack(found.probabilities.to_list()), head().track(rows[[0, 2]]))
    assert set(kept_keys(kept)) == {None, "door"}


def test_rows_are_packed_by_group_and_the_first_group_always_has_one():
    import pyarrow as pa

    keys, groups = list("abcab"), pa.array([3, 1, 1, 3, 1], pa.int32())
    (packed,) = pack([pa.RecordBatch.from_pydict({"key": keys, "group": groups})])
    assert packed.column("group").to_pylist() == [0, 1, 3]
    found = [one.column("key").to_pylist() for one in unpack([packed.slice(1).select(["packed"])])]
    assert found == [["b", "c", "b"], ["a", "a"]]
