import dataclasses
import json

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.elastic import Elasticity, best_threshold, init, prepare, read, spherical_k_means
from springback.streaming.records import NOISE_LABEL, Images
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.tasks.elastic import evaluate


def strokes(n, seed=0):
    """Small drawings of three kinds: a bar down the left, down the right, and across."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    pixels = np.zeros((n, 28, 28), np.uint8)
    for image, label in zip(pixels, labels, strict=True):
        at, shift = rng.integers(4, 9), rng.integers(-1, 2)
        if label == 2:
            image[12 + shift : 15 + shift, 3:25] = 200
        image[2:26, (at, 26 - at, at)[label] : (at, 26 - at, at)[label] + 2] = rng.integers(150, 255)
    return Images(pixels, labels)


SMALL = ElasticOmnist(n_clusters=20, pull=10.0, threshold_images=60)


@pytest.fixture(scope="module")
def outcome():
    return evaluate(SMALL, strokes(600), strokes(80, seed=1), seed=0)


def test_elastic_centroids_recognise_what_hides(outcome):
    assert outcome.still_accuracy > 0.95
    assert outcome.elastic.accuracy > outcome.static.accuracy
    assert outcome.elastic.by_rows_hidden["19"] > outcome.static.by_rows_hidden["19"]
    assert outcome.elastic.by_rows_hidden["noise"] > 0.95


def test_on_a_few_thousand_digits_it_is_far_above_the_static_model():
    digits = load_mnist("train")
    few = evaluate(
        ElasticOmnist(n_clusters=100, iterations=8, threshold_images=300), digits[:8000], digits[8000:8300], 0
    )
    assert few.elastic.accuracy > 0.85
    assert few.static.accuracy < 0.75
    assert few.elastic.by_rows_hidden["noise"] > 0.99


def test_scores_add_up_over_rows_hidden_and_noise(outcome):
    video = make_omnist(strokes(80, seed=1), seed=0)
    for part in (outcome.static, outcome.elastic):
        rows = {name: -1 if name == "noise" else int(name) for name in part.by_rows_hidden}
        right = sum(share * (video.rows_hidden == rows[name]).sum() for name, share in part.by_rows_hidden.items())
        assert right / len(video) == pytest.approx(part.accuracy)
    assert outcome.n_frames == len(video)
    assert outcome.video == video.name


def test_the_threshold_never_sees_the_test_video(outcome):
    other = evaluate(SMALL, strokes(600), strokes(20, seed=9), seed=0)
    assert other.elastic.threshold == outcome.elastic.threshold
    assert other.static.threshold == outcome.static.threshold


def test_the_static_threshold_is_the_best_on_the_practice_video(outcome):
    train = strokes(600)
    practice = make_omnist(train[540:], seed=1_000_000)
    resting = spherical_k_means(brightness(train.pixels, 0.5), 20, seed=0, iterations=SMALL.iterations).centroids
    model = prepare(Elasticity(kappa=SMALL.kappa, pull=0.0), resting)
    nearest = read(model, init(model), brightness(practice.frames, 0.5)).similarity
    assert outcome.static.threshold == best_threshold(nearest.astype(float), practice.labels == NOISE_LABEL)


def test_same_seed_same_result_and_it_is_plain_data(outcome):
    again = evaluate(SMALL, strokes(600), strokes(80, seed=1), seed=0)
    assert again == outcome
    assert json.loads(json.dumps(dataclasses.asdict(again)))["seed"] == 0
