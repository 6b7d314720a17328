"""A frozen network on the video: every method from the same features, settings chosen on training images."""

import numpy as np
import pytest

import torch
from springback.data import load_mnist, make_omnist, noise_frames
from springback.streaming.records import NOISE_LABEL, Images
from springback.torch import Springs, algorithm
from springback_paper.baselines import Mlp, StillTraining, train_still
from springback_paper.baselines.torch_state import one_thread
from springback_paper.tasks.adaptation_methods import (
    Method,
    Seen,
    answer_elastically,
    answer_elastically_in_lanes,
    choose,
    methods,
)
from springback_paper.tasks.elastic_head import ROWS, Adaptation, run, score_methods, see


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    with one_thread():
        yield


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")[:4000]


@pytest.fixture(scope="module")
def network(digits):
    noise = noise_frames(300, seed=1)
    labels = np.concatenate([digits.labels[:3000], np.full(300, NOISE_LABEL)])
    shown = Images(np.concatenate([digits.pixels[:3000], noise]), labels)
    return train_still(Mlp(n_hidden=60), shown, StillTraining(epochs=8), seed=0)


@pytest.fixture(scope="module")
def seen(network, digits):
    return see(network, make_omnist(digits[3000:3100], seed=3))


def test_what_is_seen_is_what_the_network_answers(network, digits, seen):
    frames = make_omnist(digits[3000:3100], seed=3).frames[:50]
    with torch.no_grad():
        logits = network(torch.tensor(frames) / 255).numpy()
    assert np.allclose(seen.logits[:50], logits, atol=1e-4)
    assert np.allclose(seen.features @ seen.weight.T + seen.bias, seen.logits, atol=1e-4)


def test_an_elastic_head_follows_the_plain_formula(seen):
    pull, memory, kappa = 20.0, 1.4, 2.0
    short_term, expected = np.zeros(seen.weight.shape), []
    for x, logits in zip(seen.features[:200].astype(float), seen.logits[:200], strict=True):
        unit = x / np.linalg.norm(x)
        short_term = short_term * np.exp(-1 / memory)
        output = logits + short_term @ unit
        expected.append(output)
        belief = np.exp(kappa * (output - output.max()))
        short_term += pull * np.outer(belief / belief.sum(), unit)
    assert np.allclose(answer_elastically(seen, pull, memory, kappa)[:200], expected, atol=1e-2)


@torch.no_grad()
def test_the_compiled_head_names_the_classes_that_the_same_arithmetic_in_torch_names(seen):
    springs = Springs(pull=40.0, memory=1.0, kappa=2.0, continuity=0.0)
    weight, bias = torch.from_numpy(seen.weight), torch.from_numpy(seen.bias)
    frames, state = torch.tensor(seen.features)[:, None], algorithm.init(springs, weight, 1)
    plain = algorithm.track(springs, weight, bias, state, frames)
    expected = plain[1].output[:, 0].numpy()
    answers = answer_elastically(seen, pull=40.0, memory=1.0, kappa=2.0)
    assert np.allclose(answers, expected, rtol=0, atol=1e-3)
    assert (answers.argmax(axis=1) == expected.argmax(axis=1)).all()


def test_without_pull_the_elastic_head_is_the_network(seen):
    assert np.allclose(answer_elastically(seen, 0.0, 1.0, 1.0), seen.logits, atol=1e-4)


def test_lanes_answer_nearly_as_one_stream_does(seen):
    lanes = answer_elastically_in_lanes(seen, 20.0, 1.0, 2.0).argmax(axis=1)
    one = answer_elastically(seen, 20.0, 1.0, 2.0).argmax(axis=1)[: len(lanes)]
    assert len(lanes) > 0.95 * len(seen.labels)
    assert (lanes == one).mean() > 0.8


def test_a_shift_of_the_noise_logit_changes_that_class_only(seen):
    method = methods(seen.labels)["static, noise shifted"]
    moved = method.answer(seen, shift=3.0) - seen.logits
    assert np.allclose(moved[:, :NOISE_LABEL], 0)
    assert np.allclose(moved[:, NOISE_LABEL], 3.0, atol=1e-4)


def test_settings_are_the_best_of_the_grid():
    seen = Seen(*[np.zeros((4, 2), np.float32)] * 4, labels=np.array([0, 0, 1, 1]))

    def answer(_seen, late):
        classes = np.arange(4) >= late
        return np.stack([~classes, classes], axis=1)

    assert choose(Method(answer, {"late": (0, 1, 2, 3)}), seen) == ({"late": 2}, 1.0)


def test_the_elastic_head_beats_the_static_network_and_is_tuned_on_training_images(network, digits):
    result = run(Adaptation(practice_images=60), network, digits[:3500], digits[3500:3700], seed=0)
    assert result.accuracy["elastic"] > result.accuracy["static"] + 0.1
    assert set(result.accuracy) == set(result.settings) == set(result.practice) == set(methods(np.arange(11)))
    assert result.accuracy["elastic"] == pytest.approx(
        np.average(
            list(result.by_rows["elastic"].values()),
            weights=_frames_by_rows(make_omnist(digits[3500:3700], seed=0), result.by_rows["elastic"]),
        )
    )
    assert result.accuracy["static, noise shifted"] > result.accuracy["static"] - 0.02
    scores = score_methods(result, digits[:3500], digits[3500:3700])
    assert scores.omnist_test["cnn_feedback"] == result.accuracy["class feedback"]
    assert set(scores.omnist_test) == set(scores.by_rows_hidden) == set(scores.by_ink_hidden) == set(ROWS)
    assert all("noise" in part for part in scores.by_ink_hidden.values())


def _frames_by_rows(video, groups):
    return [(video.rows_hidden == (-1 if name == "noise" else int(name))).sum() for name in groups]
