"""One method on one split: what is chosen where, and that the test streams decide nothing."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from springback.heads.tuning import VARIANTS
from springback_bench.comparison import ours
from springback_bench.comparison.measure import answers, rival_on, static_on
from springback_bench.comparison.methods import all_methods, rival_named, transitions_of
from springback_bench.comparison.scope import ComparisonScope, cut
from springback_bench.rivals.entropy_minimisation import EntropyMinimisation
from tests.bench.small_streams import CLASSES, SMALL, split, stream

RIVALS = [one.name for one in all_methods() if one.kind == "rival"]


def same(one, other):
    """Equal but for the time it took."""
    return asdict(replace(one, microseconds=0.0)) == asdict(replace(other, microseconds=0.0))


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_is_measured_on_a_small_split(name):
    found = rival_on(split(), name, replace(SMALL, trials=4))
    assert 0 <= found.calibration_error <= 1
    assert 0.2 < found.accuracy <= 1
    assert found.microseconds > 0
    assert set(found.settings) == set(rival_named(name).ranges)


def test_the_frozen_network_does_not_care_about_order():
    found = static_on(split(), SMALL)
    assert found.accuracy == found.shuffled == split().head.accuracy(cut(split().test, SMALL.test))
    assert found.state_bytes == 0


def test_settings_depend_on_the_validation_streams_alone():
    here = split()
    elsewhere = replace(here, test=(stream(99, 150),))
    one, other = (rival_on(which, "carry-over", SMALL) for which in (here, elsewhere))
    assert one.settings == other.settings
    assert one.validation == other.validation
    assert one.accuracy != other.accuracy


def test_a_rival_that_does_not_beat_the_frozen_network_on_validation_is_marked():
    perfect = split()
    streams = tuple(
        replace(one, labels=perfect.head.logits(one.features).argmax(axis=1).astype(np.int64))
        for one in perfect.validation
    )
    found = rival_on(replace(perfect, validation=streams), "smoothing", SMALL)
    assert found.frozen
    assert found.validation_static == 1
    longer = replace(split(), validation=(stream(1, 1000), stream(2, 1000)))
    assert not rival_on(longer, "carry-over", replace(SMALL, trials=60, validation=2000)).frozen


def test_slow_methods_choose_on_fewer_frames():
    shorter = replace(SMALL, validation=SMALL.slow_validation)
    assert same(rival_on(split(), "lame", SMALL), rival_on(split(), "lame", shorter))
    assert not same(rival_on(split(), "carry-over", SMALL), rival_on(split(), "carry-over", shorter))


def test_speed_is_measured_on_the_first_split_alone():
    assert np.isnan(static_on(split(number=1), SMALL).microseconds)


def test_accuracy_by_gap_is_told_where_objects_return():
    here = split("hidden-gap")
    objects = np.array([0, 1, 2, 0] * 30)
    returning = replace(here, test=tuple(replace(one, objects=objects[: len(one)]) for one in here.test))
    assert set(static_on(returning, SMALL).by_gap) == {"2", "3"}
    assert static_on(here, SMALL).by_gap == {}
    assert static_on(split(), SMALL).by_gap == {}


def test_several_memories_are_the_default_and_the_best_of_two_kinds():
    measured = ours.several_on(split(), replace(SMALL, trials=24))
    first, *others = measured.variant.split(", ")
    assert first == "learning"
    assert len(set(others)) == 2
    assert measured.settings["temperature"] > 0
    one = ours.tuned_on(split(), VARIANTS, replace(SMALL, trials=24))
    assert one.validation > one.validation_static
    assert one.variant in VARIANTS


def test_our_head_is_measured_untuned_and_without_labels():
    untuned, unlabelled = (run(split(), SMALL) for run in (ours.untuned_on, ours.unlabelled_on))
    assert untuned.settings["memory"] == 1.5
    assert unlabelled.variant in (*VARIANTS, "frozen")
    unknown = replace(split(), validation=tuple(replace(one, labels=0 * one.labels) for one in split().validation))
    assert same(ours.unlabelled_on(unknown, SMALL), unlabelled)


def test_settings_that_overflow_know_nothing():
    model = EntropyMinimisation(np.eye(2), np.zeros(2), learning_rate=1e30)
    rows = np.full((3, 2), 1e30, np.float32)
    assert (answers(model, rows) == 0.5).all()


def test_transitions_are_not_counted_between_streams_or_over_unknown_labels():
    one = stream(0, 10)
    first = replace(one, labels=np.array([0, 0, -1, 1, 1, 1, 1, 1, 1, 1]))
    found = transitions_of([first, replace(one, labels=np.full(10, 2))], CLASSES)
    assert np.allclose(found[0], [2 / 5, 1 / 5, 1 / 5, 1 / 5])
    assert np.allclose(found[1], [1 / 10, 7 / 10, 1 / 10, 1 / 10])
    assert np.allclose(found[3], 0.25)


def test_streams_are_cut_after_so_many_frames_together():
    lengths = [len(one) for one in split().validation]
    assert [len(one) for one in cut(split().validation, lengths[0] + 7)] == [lengths[0], 7]
    assert [len(one) for one in cut(split().validation, 7)] == [7]
    assert [len(one) for one in cut(split().validation, 10**6)] == lengths


def test_trials_must_suit_four_kinds_of_memory():
    with pytest.raises(ValueError, match="trials must be a multiple of 4"):
        ComparisonScope(trials=7)
