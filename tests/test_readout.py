"""From responses to classes."""

import numpy as np
import pytest

from springback import readout
from springback.records import Images
from tests.test_records import video_of


def test_a_silent_neuron_has_no_label():
    counts = np.array([[5, 0, 1], [0, 0, 4]], np.int32)
    labels = np.array([3, 8])
    responses = readout.class_responses(counts, labels)
    assert readout.label_neurons(responses, np.bincount(labels, minlength=10)).tolist() == [3, readout.UNLABELLED, 8]


def test_labels_are_by_the_mean_response_not_the_sum():
    counts = np.array([[3], [3], [3], [8]], np.int32)
    labels = np.array([1, 1, 1, 2])
    responses = readout.class_responses(counts, labels)
    assert readout.label_neurons(responses, np.bincount(labels, minlength=10)).tolist() == [2]


def test_the_class_is_that_of_the_highest_mean_rate():
    neuron_labels = np.array([4, 4, 4, 7])
    assert readout.classify(np.array([[3, 3, 3, 4]], np.int32), neuron_labels).tolist() == [7]
    assert readout.classify(np.array([[6, 6, 1, 4]], np.int32), neuron_labels).tolist() == [4]


def test_no_spikes_and_spikes_of_unlabelled_neurons_are_the_eleventh_class():
    neuron_labels = np.array([4, readout.UNLABELLED])
    assert readout.classify(np.array([[0, 0], [0, 9]], np.int32), neuron_labels).tolist() == [10, 10]


def test_responses_of_chunks_add_up():
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(2, (50, 7)).astype(np.int32), rng.integers(0, 10, 50)
    parts = sum(readout.class_responses(counts[a:b], labels[a:b]) for a, b in ((0, 13), (13, 50)))
    np.testing.assert_array_equal(parts, readout.class_responses(counts, labels))


def test_accuracy_by_rows_and_ink():
    video = video_of(np.zeros((6, 2, 2), np.uint8))
    object.__setattr__(video, "labels", np.array([1, 1, 1, 1, 10, 10]))
    object.__setattr__(video, "rows_hidden", np.array([0, 0, 3, 3, -1, -1], np.int16))
    object.__setattr__(video, "ink_hidden", np.array([0, 0.05, 0.55, 1.0, np.nan, np.nan], np.float32))
    predicted = np.array([1, 2, 1, 1, 10, 1])
    assert readout.accuracy_by_rows(predicted, video) == {"0": 50.0, "3": 100.0, "noise": 50.0}
    assert readout.accuracy_by_ink(predicted, video) == {"0-10": 50.0, "50-60": 100.0, "90-100": 100.0, "noise": 50.0}


def test_confusion_counts_every_answer():
    table = readout.confusion(np.array([1, 2, 10]), np.array([1, 1, 10]))
    assert (table[1, 1], table[1, 2], table[10, 10], table.sum()) == (1, 1, 1, 3)


def test_testing_on_labelled_images_is_refused():
    rng = np.random.default_rng(0)
    images = Images(rng.integers(0, 255, (6, 4, 4), dtype=np.uint8), np.arange(6))
    readout.refuse_overlap(images[:3], images[3:])
    with pytest.raises(ValueError, match="must not be among those the neurons were labelled with; got '1 that are'"):
        readout.refuse_overlap(images[:4], images[3:])
