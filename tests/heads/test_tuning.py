"""Tuning finds memory where there is some to use, with and without labels, and never ends below the frozen head."""

import numpy as np
import pytest

from springback.heads import ElasticHead, tune_head
from springback.heads.found import VARIANTS
from springback.heads.known_settings import KNOWN
from springback.heads.tuning import RANGES

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
