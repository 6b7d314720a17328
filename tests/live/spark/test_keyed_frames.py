"""The frames of one key, as Spark hands them over: followed once, in the order of time; without the engine."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from springback.check import DataError
from springback.heads import ElasticHead
from springback.live.spark import FORMAT, _Rule, _Stream
from tests.streaming_models import subjects

RULE = _Rule(file="one", step=None, forget_after=None, replace_model=False, per_unit=1, origin=0, words=False)
KINDS = ("ElasticHead", "ElasticClustering", "OnnxStream", "SpikingClassifier")
EXACT = [one for one in subjects() if one.values[0].name.startswith(KINDS)]


def head():
    rng = np.random.default_rng(0)
    return ElasticHead(rng.normal(size=(4, 6)), np.zeros(4))


def rows_of(n, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 6)).astype(np.float32)


def frames(times, rows):
    return pd.DataFrame({"time": times, "frame": list(rows)})


def follow(model, rule, pieces, kept=None):
    """The answers to batches, one after the other, each from what the one before it left in the state store."""
    found = []
    for piece in pieces:
        stream = _Stream(model, rule, kept)
        found.append(stream.answers("door", [piece]))
        kept = stream.kept() if stream.moved else kept
    return pd.concat(found, ignore_index=True), kept


def probabilities(answers):
    return np.stack(answers[answers.adapted].sort_values("time").probabilities.to_list())


@pytest.mark.parametrize("subject", EXACT)
def test_every_kind_of_model_answers_as_track_does_however_its_frames_are_split_and_mixed(subject):
    rng, rows = np.random.default_rng(2), subject.rows[:10].reshape(10, -1)
    shown = [row.tobytes() if row.dtype == np.uint8 else row for row in rows]
    table = frames(np.arange(10.0), shown)
    batches = [rng.permutation(part) for part in np.split(np.arange(10), np.sort(rng.integers(1, 10, 3))) if len(part)]
    answers, _ = follow(subject.make(), RULE, [table.iloc[part] for part in batches])
    model = subject.make()
    assert np.array_equal(probabilities(answers), model.track(subject.rows[:10]))
    assert answers.sort_values("time").label.tolist() == model.track_labels(subject.rows[:10]).tolist()


def test_time_stamps_count_in_steps():
    times = np.cumsum(np.random.default_rng(4).integers(1, 9, 20)) * 250_000
    rule = dataclasses.replace(RULE, step=0.5, per_unit=1_000_000)
    answers, _ = follow(head(), rule, [frames(times[a : a + 7], rows_of(20)[a : a + 7]) for a in (0, 7, 14)])
    assert np.array_equal(probabilities(answers), head().track(rows_of(20), times / 1_000_000 / 0.5))


def test_late_frames_and_duplicates_have_a_row_but_move_nothing():
    rows = rows_of(6)
    late = [frames([0.0, 1.0, 2.0], rows[:3]), frames([1.5, 2.0, 3.0, 3.0], rows[[5, 2, 3, 3]])]
    answers, _ = follow(head(), RULE, late)
    assert answers.adapted.tolist() == [True, True, True, False, False, True, False]
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
    assert kept.time == now + 2


@pytest.mark.parametrize(
    "bad", [None, np.full(6, np.nan), np.zeros(5), np.array([None] * 6), np.full(6, 3e38, np.float32)], ids=str
)
def test_a_frame_that_cannot_be_used_moves_nothing(bad):
    rows = [*rows_of(5)]
    answers, _ = follow(head(), RULE, [frames(np.arange(6.0), [*rows[:2], bad, *rows[2:]])])
    assert answers.adapted.tolist() == [True, True, False, True, True, True]
    assert np.array_equal(probabilities(answers), head().track(rows_of(5)))


def test_a_batch_without_a_frame_that_can_be_used_leaves_the_state_as_it_was():
    stream = _Stream(head(), RULE)
    assert not stream.answers("door", [frames([np.nan, 1.0], [np.zeros(6), None])]).adapted.any()
    assert not stream.moved


@pytest.mark.parametrize("cuts", [[], [3], [5], [2, 5, 6]], ids=str)
def test_a_key_starts_at_rest_after_a_long_silence_wherever_batches_end(cuts):
    times, rows = np.array([0.0, 1, 2, 12, 13, 24, 34, 35]), rows_of(8)
    rule = dataclasses.replace(RULE, forget_after=10.0)
    batches = [part for part in np.split(np.arange(8), cuts) if len(part)]
    answers, _ = follow(head(), rule, [frames(times[part], rows[part]) for part in batches])
    apart = np.concatenate([head().track(rows[:5]), head().track(rows[5:])])
    assert np.array_equal(probabilities(answers), apart)


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


def test_states_of_another_version_are_refused_in_one_sentence():
    _, kept = follow(head(), RULE, [frames([0.0], rows_of(1))])
    with pytest.raises(DataError, match=r"^the checkpoint keeps states in format 2, which this version cannot read"):
        _Stream(head(), RULE, kept._replace(format=FORMAT + 1))
    with pytest.raises(ValueError, match="got other, incomplete or changed bytes"):
        _Stream(head(), RULE, kept._replace(state=kept.state[:-1] + bytes([kept.state[-1] ^ 1])))
