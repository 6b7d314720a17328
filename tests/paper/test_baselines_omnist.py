import dataclasses

import numpy as np
import pytest

from springback.datasets import load_mnist, make_omnist
from springback.paper.baselines import classify
from springback.paper.runner.record_file import load_record, save_record
from springback.paper.tasks.baselines import (
    BaselineOmnist,
    evaluate,
    n_training_frames,
    paper_baselines,
    train_model,
    training_video,
    with_noise,
)
from springback.records import NOISE_LABEL

STILL = BaselineOmnist(model="mlp", trained_on="mnist", epochs=5, noise_frames=200)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


@pytest.fixture(scope="module")
def still(digits):
    return evaluate(STILL, digits[:2000], digits[50_000:50_200], seed=0)


def test_an_mlp_taught_on_stills_knows_them_and_noise_but_not_what_hides(still):
    assert still.mnist_test > 80
    assert still.by_rows_hidden["noise"] > 90
    assert still.by_rows_hidden["0"] == pytest.approx(still.mnist_test)
    assert still.by_rows_hidden["19"] < 50
    assert still.n_parameters == 31_851
    assert still.training_seconds > 0


@pytest.mark.parametrize("model", ["mlp", "lstm"])
def test_taught_on_the_video_a_network_knows_more_of_what_hides(still, digits, model):
    params = BaselineOmnist(model=model, trained_on="omnist", epochs=3, lanes=16)
    taught = evaluate(params, digits[:1500], digits[50_000:50_200], seed=0)
    assert taught.omnist > still.omnist + 5
    assert (taught.mnist_test is None) == (model == "lstm")
    assert taught.video == still.video


def test_scores_add_up_over_rows_hidden(still, digits):
    video = make_omnist(digits[50_000:50_200], seed=0)
    n = {name: (video.rows_hidden == int(name)).sum() for name in still.by_rows_hidden if name != "noise"}
    n["noise"] = (video.labels == NOISE_LABEL).sum()
    right = sum(still.by_rows_hidden[name] * count for name, count in n.items())
    assert right / len(video) == pytest.approx(still.omnist)
    assert still.n_frames == len(video)


def test_same_seed_same_result_from_a_checkpoint_too_and_it_is_a_flat_record(tmp_path, still, digits):
    again = evaluate(
        STILL,
        digits[:2000],
        digits[50_000:50_200],
        seed=0,
        checkpoint=tmp_path / "training",
        on_progress=lambda *_: None,
    )
    again = dataclasses.replace(again, training_seconds=still.training_seconds)
    assert again == still
    save_record(again, tmp_path / "result")
    assert load_record(tmp_path / "result", type(again)) == again


def test_progress_counts_to_what_was_announced(digits):
    for params in (STILL, BaselineOmnist(model="mlp", trained_on="omnist", epochs=2)):
        said = []
        model = train_model(params, digits[:100], 0, on_progress=lambda done, _, said=said: said.append(done))
        assert sum(said) == n_training_frames(params, digits[:100], 0)
        assert len(classify(model, digits[:3])) == 3


def test_noise_is_taken_from_the_training_video_and_is_not_that_of_the_test_video(digits):
    train, video = digits[:50], training_video(digits[:50], 3)
    joined = with_noise(train, video, 60)
    np.testing.assert_array_equal(joined.pixels[:50], train.pixels)
    np.testing.assert_array_equal(joined.pixels[50:], video.frames[video.labels == NOISE_LABEL][:60])
    assert (joined.labels[50:] == NOISE_LABEL).all()
    tested = make_omnist(digits[:50], seed=3)
    shown = {frame.tobytes() for frame in tested.frames[tested.labels == NOISE_LABEL]}
    assert not shown & {frame.tobytes() for frame in joined.pixels[50:]}
    assert len(with_noise(train, video, 10_000)) == 50 + 200


def test_testing_on_training_digits_is_refused(digits):
    with pytest.raises(ValueError, match="the test images must not be among"):
        evaluate(STILL, digits[:20], digits[19:30], seed=0)


def test_the_paper_runs_six_networks_and_we_a_seventh_as_large_as_the_spiking_one():
    runs = {(one.model, one.trained_on, one.n_hidden) for one in paper_baselines()}
    assert len(runs) == 7
    assert ("mlp", "mnist", 400) in runs


@pytest.mark.parametrize(
    "wrong", [{"model": "gru"}, {"trained_on": "svhn"}, {"n_hidden": 0}, {"epochs": 0}, {"noise_frames": -1}]
)
def test_what_cannot_be_run_is_refused(wrong):
    with pytest.raises(ValueError, match=f"BaselineOmnist.{next(iter(wrong))} must be"):
        BaselineOmnist(**{"model": "mlp", "trained_on": "omnist", **wrong})
