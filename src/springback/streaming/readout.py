"""Responses -> neuron labels -> classes.

Labels of neurons come from training data alone; a neuron that never fired has no label. Classes are the ten digits
unless they are given: any whole numbers or strings, sorted, as `classes_in` finds them in training labels. A neuron's
label is the place of its class in that list.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.streaming.records import NOISE_LABEL, Images, as_labels

UNLABELLED = -1
N_CLASSES = 10
DIGITS = np.arange(N_CLASSES)
"""The classes of MNIST and of OMNIST, whose `NOISE_LABEL` stands for none of them."""
DIGITS.flags.writeable = False

Counts = NDArray[np.int32]
Labels = NDArray[np.int64]
Classes = NDArray[Any]


def classes_in(labels: Any) -> Classes:
    """The classes that occur in labels, sorted.

    Examples
    --------
    >>> classes_in(["dog", "cat", "dog"])
    array(['cat', 'dog'], dtype='<U3')
    """
    return np.unique(as_labels("labels", labels))


def no_answer(classes: Classes = DIGITS) -> Any:
    """The label for none of the classes: `NOISE_LABEL` for the digits, else "" or a number below 0 and all classes.

    Examples
    --------
    >>> no_answer(), no_answer(np.arange(26)), no_answer(np.array(["cat", "dog"]))
    (10, -1, '')
    """
    if classes.dtype.kind == "U":
        check.require(bool((classes != "").all()), "classes", "hold no empty string, which stands for none of them", "")
        return ""
    if np.array_equal(classes, DIGITS):
        return NOISE_LABEL
    return min(int(classes[0]), 0) - 1


def class_indices(name: str, labels: Any, classes: Classes = DIGITS) -> Labels:
    """The index of each label in the list of classes; the number of classes for `no_answer`. Others are refused.

    Examples
    --------
    >>> class_indices("labels", np.array(["dog", "cat", ""]), np.array(["cat", "dog"]))
    array([1, 0, 2])
    """
    classes, labels = check_classes(classes), as_labels(name, labels)
    same_kind = (labels.dtype.kind == "U") == (classes.dtype.kind == "U") or not labels.size
    check.require(same_kind, name, f"be of the same kind as the classes ({classes.dtype})", str(labels.dtype))
    if not labels.size:
        return np.zeros(0, np.int64)
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    known = classes[place] == labels
    unknown = labels[~known & (labels != no_answer(classes))]
    if unknown.size:
        raise ValueError(
            f"{name} must be among the classes {_short(classes)}; got {unknown[0].item()!r}: "
            "give the classes (classes_in finds them in labels)"
        )
    return np.where(known, place, len(classes)).astype(np.int64)


def check_classes(classes: Any) -> Classes:
    """The list of classes; refused unless sorted, each once.

    Examples
    --------
    >>> check_classes(["dog", "cat"])
    Traceback (most recent call last):
    ValueError: classes must be sorted, each once; got array(['dog', 'cat'], dtype='<U3')
    """
    known = as_labels("classes", classes)
    check.require(bool(known.size and (known[1:] > known[:-1]).all()), "classes", "be sorted, each once", known)
    return known


def _short(classes: Classes) -> str:
    few = classes.tolist()
    return str(few) if len(few) <= 12 else f"[{few[0]!r}, {few[1]!r}, ... {few[-1]!r}]"


def class_sizes(labels: Any, classes: Classes = DIGITS) -> Labels:
    """How many labels each class has, (classes,).

    Examples
    --------
    >>> class_sizes([3, 3, 9])
    array([0, 0, 0, 2, 0, 0, 0, 0, 0, 1])
    """
    return np.bincount(class_indices("labels", labels, classes), minlength=len(classes) + 1)[: len(classes)]


def class_responses(counts: Counts, labels: Any, classes: Classes = DIGITS) -> NDArray[np.float64]:
    """Summed responses of each neuron to each class, (classes, n_neurons); those of chunks may be added."""
    place = class_indices("labels", labels, classes)
    check.require(len(place) == len(counts), "labels", f"be one for each of {len(counts)} responses", len(place))
    total = np.zeros((len(classes), counts.shape[1]))
    for one in range(len(classes)):
        total[one] = counts[place == one].sum(axis=0)
    return total


def label_neurons(responses: NDArray[np.float64], n_examples: NDArray[np.integer]) -> Labels:
    """The place of the class that each neuron responds to most on average; `UNLABELLED` if it never fired.

    Parameters
    ----------
    responses : NDArray[np.float64]
        As from `class_responses`.
    n_examples : NDArray[np.integer]
        How many images each class had, as from `class_sizes`.

    Examples
    --------
    >>> label_neurons(np.array([[4.0, 0, 1], [2.0, 0, 9]]), np.array([4, 1]))
    array([ 1, -1,  1])
    """
    fits = np.shape(n_examples) == np.shape(responses)[:1]
    check.require(fits, "n_examples", f"hold one number for each of {len(responses)} classes", np.shape(n_examples))
    mean = responses / np.maximum(n_examples, 1)[:, None]
    return np.where(responses.sum(axis=0) > 0, mean.argmax(axis=0), UNLABELLED)


def classify(counts: Counts, neuron_labels: Labels, classes: Classes = DIGITS) -> NDArray[Any]:
    """The class whose neurons fired most on average; `no_answer` (of the digits: `NOISE_LABEL`) if no labelled one did.

    Examples
    --------
    >>> classify(np.array([[3, 0, 0], [0, 0, 0]], np.int32), np.array([7, 2, 2]))
    array([ 7, 10])
    >>> classify(np.array([[3, 0, 0], [0, 0, 0]], np.int32), np.array([1, 0, 0]), np.array(["cat", "dog"]))
    array(['dog', ''], dtype='<U3')
    """
    rates = class_rates(counts, neuron_labels, classes)
    return np.asarray(np.where(rates.max(axis=1) > 0, classes[rates.argmax(axis=1)], no_answer(classes)))


def class_rates(counts: Counts, neuron_labels: Labels, classes: Classes = DIGITS) -> NDArray[np.float32]:
    """Mean number of spikes of the neurons of each class, (n, classes); 0 for a class without neurons.

    Examples
    --------
    >>> class_rates(np.array([[3, 0, 1]], np.int32), np.array([1, 0, 0]), np.array(["cat", "dog"]))
    array([[0.5, 3. ]], dtype=float32)
    """
    n_classes = len(classes)
    known = bool(((neuron_labels >= UNLABELLED) & (neuron_labels < n_classes)).all())
    check.require(known, "neuron_labels", f"lie in -1 ... {n_classes - 1} (places in the classes)", neuron_labels)
    members = (neuron_labels[:, None] == np.arange(n_classes)).astype(np.float32)
    return np.asarray((counts.astype(np.float32) @ members) / np.maximum(members.sum(axis=0), 1))


def class_shares(counts: Counts, neuron_labels: Labels, classes: Classes = DIGITS) -> NDArray[np.float64]:
    """Share of each class in the response, (n, classes); equal shares if no labelled neuron fired.

    Examples
    --------
    >>> class_shares(np.array([[3, 0, 1], [0, 0, 0]], np.int32), np.array([1, 0, 0]), np.array(["cat", "dog"])).round(2)
    array([[0.14, 0.86],
           [0.5 , 0.5 ]])
    """
    rates = class_rates(counts, neuron_labels, classes).astype(np.float64)
    total = rates.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, rates / np.where(total > 0, total, 1), 1 / len(classes)))


def vote(counts: Counts, mean_counts: NDArray[np.float64], classes: Classes = DIGITS) -> NDArray[Any]:
    """The class for which most spikes vote: each spike with its neuron's profile P(class | spike).

    Parameters
    ----------
    mean_counts : NDArray[np.float64]
        (classes, n_neurons) mean responses to training images of each class: `class_responses` divided by
        `class_sizes`.

    Examples
    --------
    >>> profiles = np.array([[8.0, 1.0, 4.0], [0.0, 1.0, 4.0]])  # the second and third neuron say nothing
    >>> vote(np.array([[1, 5, 5], [0, 0, 0]], np.int32), profiles, np.array(["cat", "dog"]))
    array(['cat', ''], dtype='<U3')
    """
    _check_profiles(counts, mean_counts, classes)
    total = mean_counts.sum(axis=0)
    return _highest(counts, mean_counts / np.where(total > 0, total, 1), classes)


def likeliest(
    counts: Counts, mean_counts: NDArray[np.float64], classes: Classes = DIGITS, *, floor: float = 0.02
) -> NDArray[Any]:
    """The class under which it is likeliest that these neurons fired, given how many spikes there were.

    Parameters
    ----------
    mean_counts : NDArray[np.float64]
        As for `vote`.
    floor : float
        Added to every mean, because a neuron that never fired for a class in training may do so.

    Examples
    --------
    >>> profiles = np.array([[8.0, 1.0, 4.0], [0.0, 1.0, 4.0]])
    >>> likeliest(np.array([[0, 2, 5], [0, 0, 0]], np.int32), profiles, np.array(["cat", "dog"]))
    array(['dog', ''], dtype='<U3')
    """
    _check_profiles(counts, mean_counts, classes)
    check.real("floor", floor, above=0)
    rates = mean_counts + floor
    return _highest(counts, np.log(rates / rates.sum(axis=1, keepdims=True)), classes)


def _highest(counts: Counts, scores: NDArray[np.float64], classes: Classes) -> NDArray[Any]:
    """The class with the highest score, (classes, n_neurons) for each spike; no answer without spikes."""
    best = (counts.astype(np.float64) @ scores.T).argmax(axis=1)
    return np.asarray(np.where(counts.sum(axis=1) > 0, classes[best], no_answer(classes)))


def _check_profiles(counts: Counts, mean_counts: NDArray[np.float64], classes: Classes) -> None:
    shape = (len(classes), counts.shape[1])
    check.array("mean_counts", mean_counts, shape=shape, dtype=np.float64)
    check.require(bool((mean_counts >= 0).all()), "mean_counts", "be >= 0 everywhere", mean_counts.min())


def refuse_overlap(labelled: Images, tested: Images) -> None:
    """Refuse to test on images that neurons were labelled with."""
    seen = set(_digests(labelled))
    shared = sum(digest in seen for digest in _digests(tested))
    check.require(
        shared == 0, "the test images", "not be among those the neurons were labelled with", f"{shared} that are"
    )


def _digests(images: Images) -> Iterable[bytes]:
    return (hashlib.blake2b(np.ascontiguousarray(one).data, digest_size=16).digest() for one in images.pixels)
