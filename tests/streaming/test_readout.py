"""From responses to classes."""

import numpy as np
import pytest

from springback.streaming import metrics, readout
from springback.streaming.records import Images


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


def test_testing_on_labelled_images_is_refused():
    rng = np.random.default_rng(0)
    images = Images(rng.integers(0, 255, (6, 4, 4), dtype=np.uint8), np.arange(6))
    readout.refuse_overlap(images[:3], images[3:])
    with pytest.raises(ValueError, match="must not be among those the neurons were labelled with; got '1 that are'"):
        readout.refuse_overlap(images[:4], images[3:])


LETTERS = np.arange(26)
ANIMALS = np.array(["cat", "dog", "gnu"])


@pytest.mark.parametrize("classes", [LETTERS, ANIMALS, np.array([-5, 3, 10, 4000])], ids=["26", "names", "any numbers"])
def test_any_number_of_any_classes_is_read_out(classes):
    """One neuron fires for each class and one never does: every image is then recognised."""
    rng = np.random.default_rng(0)
    place = rng.permutation(np.repeat(np.arange(len(classes)), 4))
    labels = classes[place]
    counts = np.zeros((len(labels), len(classes) + 1), np.int32)
    counts[np.arange(len(labels)), place] = rng.integers(1, 9, len(labels))
    np.testing.assert_array_equal(readout.classes_in(labels), classes)
    responses = readout.class_responses(counts, labels, classes)
    neuron_labels = readout.label_neurons(responses, readout.class_sizes(labels, classes))
    assert neuron_labels.tolist() == [*range(len(classes)), readout.UNLABELLED]
    predicted = readout.classify(counts, neuron_labels, classes)
    assert metrics.accuracy(predicted, labels) == 1.0
    table = metrics.confusion(predicted, labels, classes)
    assert table.shape == (len(classes) + 1,) * 2
    assert np.diag(table)[:-1].tolist() == [4] * len(classes)
    silent = readout.classify(counts * 0, neuron_labels, classes)
    assert (silent == readout.no_answer(classes)).all()
    assert readout.no_answer(classes) not in classes.tolist()
    assert metrics.confusion(silent, labels, classes)[:-1, -1].tolist() == [4] * len(classes)


def test_responses_and_sizes_of_the_digits_leave_out_noise():
    counts, labels = np.array([[1], [2], [4]], np.int32), np.array([3, 10, 3])
    assert readout.class_responses(counts, labels)[:, 0].tolist() == [0, 0, 0, 5, 0, 0, 0, 0, 0, 0]
    assert readout.class_sizes(labels).tolist() == [0, 0, 0, 2, 0, 0, 0, 0, 0, 0]


COUNTS = np.ones((2, 3), np.int32)
NOT_WHOLE = "labels must be whole numbers or strings; got "


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda: readout.class_responses(COUNTS, [3, 25]),
            r"labels must be among the classes \[0, 1, .* 9\]; got 25",
        ),
        (lambda: readout.class_responses(COUNTS, ["a", "b"]), "labels must be of the same kind as the classes"),
        (lambda: readout.class_responses(COUNTS, ["a", "emu"], ANIMALS), "labels must be among the classes"),
        (lambda: readout.class_responses(COUNTS, [3]), "labels must be one for each of 2 responses; got 1"),
        (lambda: readout.class_responses(COUNTS, [3.5, 1.0]), NOT_WHOLE + r"\[3.5\]"),
        (lambda: readout.class_responses(COUNTS, [np.nan, 1.0]), NOT_WHOLE + r"\[nan\]"),
        (lambda: readout.class_responses(COUNTS, [[1, 2]]), "labels must be one label per image, in one dimension"),
        (lambda: readout.classify(COUNTS, np.array([0, 1, 12])), r"neuron_labels must lie in -1 ... 9"),
        (
            lambda: readout.label_neurons(np.ones((10, 3)), np.ones(26)),
            "n_examples must hold one number for each",
        ),
        (lambda: readout.class_sizes([1], np.array([2, 1])), "classes must be sorted, each once"),
        (lambda: readout.no_answer(np.array(["", "a"])), "classes must hold no empty string"),
    ],
)
def test_labels_that_cannot_be_read_out_are_refused(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask()


def test_labels_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="labels must be whole numbers or strings; got dtype complex128"):
        readout.class_sizes([1j])
    with pytest.raises(TypeError, match="labels must be whole numbers or strings; got dtype object"):
        readout.class_sizes([None, 1])


def test_soft_readouts_use_what_hard_labels_throw_away():
    rng = np.random.default_rng(0)
    rates = np.array([[5.0, 0.5, 4.5], [4.5, 5.0, 0.5], [0.5, 4.5, 5.0]])  # each neuron fires for two classes
    labels = np.arange(3000) % 3
    counts = rng.poisson(rates[labels]).astype(np.int32)
    kinds = np.arange(3)
    learned, tested = slice(0, 1500), slice(1500, None)
    responses = readout.class_responses(counts[learned], labels[learned], kinds)
    sizes = readout.class_sizes(labels[learned], kinds)
    hard = readout.classify(counts[tested], readout.label_neurons(responses, sizes), kinds)
    soft = readout.vote(counts[tested], responses / sizes[:, None], kinds)
    likely = readout.likeliest(counts[tested], responses / sizes[:, None], kinds)
    right = [np.mean(one == labels[tested]) for one in (hard, soft, likely)]
    best = np.mean(
        (counts[tested] @ np.log(rates / rates.sum(axis=1, keepdims=True)).T).argmax(axis=1) == labels[tested]
    )
    assert right[0] < right[1] - 0.1
    assert right[1] < right[2] + 0.01
    assert right[2] > best - 0.02


@pytest.mark.parametrize("read", [readout.vote, readout.likeliest])
def test_profiles_of_another_network_are_refused(read):
    counts = np.ones((2, 4), np.int32)
    with pytest.raises(ValueError, match=r"mean_counts must have shape \(10, 4\)"):
        read(counts, np.ones((10, 3)))
    with pytest.raises(ValueError, match="mean_counts must be >= 0"):
        read(counts, -np.ones((10, 4)))
