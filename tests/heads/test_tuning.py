"""Tuning finds memory where there is some to use, with and without labels, and never ends below the frozen head."""

import numpy as np
import pytest

from springback.heads import ElasticHead, tune_head, tune_several
from springback.heads.known_settings import KNOWN
from springback.heads.tuning import RANGES
from springback.heads.tuning_result import VARIANTS

RNG = np.random.default_rng(3)
CLASSES, FEATURES = 4, 24
WEIGHT = 6 * np.linalg.qr(RNG.normal(size=(FEATURES, FEATURES)))[0][:CLASSES]
BIAS = np.zeros(CLASSES)


def turning_objects(n_objects: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Objects that first look like their class and then turn towards anything else."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for label in rng.integers(0, CLASSES, n_objects):
        start, end = WEIGHT[label] / 6, rng.normal(size=FEATURES) / np.sqrt(FEATURES)
        for share in np.linspace(0, 1, 12):
            rows.append((1 - share) * start + share * end + 0.05 * rng.normal(size=FEATURES))
        labels += [label] * 12
    return np.array(rows), np.array(labels)


STREAM, LABELS = turning_objects(25, 0)
OTHER, OTHER_LABELS = turning_objects(25, 1)


def accuracy(head: ElasticHead, rows: np.ndarray, labels: np.ndarray) -> float:
    return float((head.track_labels(rows) == labels).mean())


@pytest.fixture(scope="module")
def frozen() -> float:
    return float(((OTHER @ WEIGHT.T).argmax(axis=1) == OTHER_LABELS).mean())


@pytest.mark.parametrize("labelled", [True, False])
def test_a_turning_object_is_followed_with_and_without_labels(labelled, frozen):
    tuned = tune_head(WEIGHT, BIAS, [STREAM], [LABELS] if labelled else None, n_trials=16)
    assert tuned.criterion == ("accuracy" if labelled else "agreement")
    assert len(tuned.trials) == 16 * len(VARIANTS)
    assert accuracy(tuned.head(WEIGHT, BIAS), OTHER, OTHER_LABELS) > frozen + 0.05


def test_frames_in_random_order_leave_the_head_frozen_without_labels():
    order = np.random.default_rng(5).permutation(len(STREAM))
    tuned = tune_head(WEIGHT, BIAS, [STREAM[order]], n_trials=8)
    assert tuned.variant == "frozen"
    head, rows = tuned.head(WEIGHT, BIAS), STREAM[order]
    np.testing.assert_array_equal(head.track_labels(rows), (rows @ WEIGHT.T).argmax(axis=1))


def short_visits(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes change every few frames while most features drift slowly: neighbours look alike, and are not."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.cumsum(rng.integers(1, 3, 300)) % 3, rng.integers(2, 6, 300))[:600]
    drift = 0.2 * rng.normal(size=(600, 8)).cumsum(axis=0)
    return np.hstack([np.eye(3)[labels] + 0.3 * rng.normal(size=(600, 3)), 3 * drift]), labels


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_head_that_memory_would_harm_stays_frozen_without_labels(seed):
    weight, bias = 4 * np.eye(3, 11), np.zeros(3)
    rows, labels = short_visits(seed)
    frozen = float(((rows @ weight.T).argmax(axis=1) == labels).mean())
    assert accuracy(ElasticHead(weight, bias), rows, labels) < frozen - 0.02
    tuned = tune_head(weight, bias, [rows], n_trials=8)
    other, wanted = short_visits(seed + 10)
    without = float(((other @ weight.T).argmax(axis=1) == wanted).mean())
    assert accuracy(tuned.head(weight, bias), other, wanted) >= without - 0.005
    assert tuned.held_out.choice != "default"


@pytest.mark.parametrize("seed", [0, 1])
def test_mistakes_that_last_as_long_as_their_object_are_not_made_worse(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLASSES, 50)
    shown = np.where(rng.random(50) < 0.3, (truth + 1) % CLASSES, truth)  # what the frozen head takes each object for
    labels, rows = np.repeat(truth, 12), WEIGHT[np.repeat(shown, 12)] / 6 + 0.15 * rng.normal(size=(600, FEATURES))
    frozen = float(((rows @ WEIGHT.T).argmax(axis=1) == labels).mean())
    tuned = tune_head(WEIGHT, BIAS, [rows], n_trials=8)
    assert accuracy(tuned.head(WEIGHT, BIAS), rows, labels) >= frozen - 0.005
    assert "nothing can tell whether an answer that lasts as long as its object is right" in str(tuned.held_out)


def test_frozen_default_and_best_settings_are_compared_on_the_later_half():
    tuned = tune_head(WEIGHT, BIAS, [STREAM, OTHER], n_trials=8)
    found = tuned.held_out
    assert (found.n_frames, found.n_frames_in_all, found.n_stretches) == (300, 600, 10)
    assert found.default.score > found.frozen
    report = str(found)
    for part in (
        "frozen head: ",
        "untuned default: ",
        "best settings of the first part: ",
        "label some frames",
        "300 frames",
    ):
        assert part in report
    assert f"{100 * found.frozen:.1f} %" in report
    assert f"{100 * found.default.gain.mean:+.1f} ± {100 * found.default.gain.error:.1f}" in report


def test_the_later_half_does_not_take_part_in_the_search():
    late = STREAM.copy()
    late[150:] = STREAM[150:][::-1]
    trials = [tune_head(WEIGHT, BIAS, [rows[:150], rows[150:]], n_trials=1).trials for rows in (STREAM, late)]
    scores = [[one.score for one in some] for some in trials]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.02)  # views are ranked among all frames


def test_the_untuned_default_that_is_kept_is_the_head_without_settings():
    weight = np.eye(CLASSES, FEATURES)
    rows = np.repeat(weight, 40, axis=0)[np.random.default_rng(0).permutation(160)]
    tuned = tune_head(WEIGHT, BIAS, [STREAM, OTHER], variants=["learning"], n_trials=1)
    assert tuned.held_out.choice == "default"
    assert tuned.scale is None
    np.testing.assert_array_equal(tuned.head(WEIGHT, BIAS).track(rows), ElasticHead(WEIGHT, BIAS).track(rows))


def test_the_default_is_not_used_where_observers_are_not_asked_for():
    tuned = tune_head(WEIGHT, BIAS, [STREAM], variants=["classes"], n_trials=4)
    assert tuned.held_out.default is None
    assert tuned.variant in ("classes", "frozen")
    assert "untuned default" not in str(tuned.held_out)


@pytest.mark.parametrize("n_frames", [1, 2, 3])
def test_a_stream_that_is_too_short_to_judge_leaves_the_head_frozen(n_frames):
    tuned = tune_head(WEIGHT, BIAS, [STREAM[:n_frames]], n_trials=1)
    assert tuned.variant == "frozen"
    assert "The frozen head is used" in str(tuned.held_out)


def test_labels_need_no_later_half():
    assert tune_head(WEIGHT, BIAS, [STREAM], [LABELS], n_trials=1).held_out is None


@pytest.mark.parametrize("variant", VARIANTS)
def test_known_settings_lie_within_the_ranges_of_the_search(variant):
    for known in KNOWN[variant]:
        assert {name: one.at(one.share_of(known[name])) for name, one in RANGES[variant].items()} == pytest.approx(
            known
        )


def test_the_same_seed_finds_the_same_head():
    runs = [tune_head(WEIGHT, BIAS, [STREAM], [LABELS], n_trials=4, seed=1) for _ in range(2)]
    assert runs[0].settings == runs[1].settings
    assert runs[0].trials == runs[1].trials


def test_only_the_variants_asked_for_are_tried():
    seen = []
    tuned = tune_head(WEIGHT, BIAS, [STREAM], [LABELS], variants=["classes"], n_trials=6, on_trial=seen.append)
    assert len(seen) == 6
    assert tuned.variant in ("classes", "frozen")


@pytest.mark.parametrize(
    ("streams", "labels", "message"),
    [
        ([], None, "streams must hold at least one stream"),
        ([STREAM], [LABELS[:-1]], "labels must have shape"),
        ([STREAM], [LABELS + 2], "labels must be below 4"),
        ([STREAM], [np.full(len(LABELS), -1)], "labels must be known for some frames"),
        ([STREAM], [LABELS, LABELS], "labels must hold one array for each stream"),
        ([STREAM[:, :3]], None, "streams must have shape"),
        ([np.zeros_like(STREAM)], None, "logits must differ between classes"),
    ],
)
def test_streams_and_labels_that_do_not_fit_are_refused(streams, labels, message):
    with pytest.raises(ValueError, match=message):
        tune_head(WEIGHT, BIAS, streams, labels, n_trials=1)


def test_a_mean_of_memories_that_is_no_better_than_the_frozen_head_stays_frozen():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)).astype(np.float32)
    weight = 3 * np.eye(4, dtype=np.float32)
    model = tune_several(weight, np.zeros(4), [rows], [rows.argmax(axis=1)], n_trials=2)
    assert [one.settings.never_moves for one in model.heads] == [True]
    assert model.temperature < 1  # the frozen head is always right, and not sure enough
    assert (model.track_labels(rows) == rows.argmax(axis=1)).all()
