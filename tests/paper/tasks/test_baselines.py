import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.files.container import read, write
from springback.streaming.records import NOISE_LABEL
from springback_paper.baselines import classify
from springback_paper.tasks.baselines import BaselineOmnist, evaluate, train_model, training_video, with_noise

STILL = BaselineOmnist(model="mlp", trained_on="mnist", epochs=5, noise_frames=200)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


@pytest.fixture(scope="module")
def still(digits):
    return evaluate(STILL, digits[:2000], digits[50_000:50_200], seed=0)


def test_an_mlp_taught_on_stills_knows_them_and_noise_but_not_what_hides(still):
    rows = still.by_rows_hidden["mlp_mnist"]
    assert still.mnist_test["mlp_mnist"] > 0.8
    assert rows["noise"] > 0.9
    assert rows["0"] == pytest.approx(still.mnist_test["mlp_mnist"])
    assert rows["19"] < 0.5


@pytest.mark.parametrize("model", ["mlp", "lstm"])
def test_taught_on_the_video_a_network_knows_more_of_what_hides(still, digits, model):
    params = BaselineOmnist(model=model, trained_on="omnist", epochs=3, lanes=16)
    taught = evaluate(params, digits[:1500], digits[50_000:50_200], seed=0)
    assert taught.omnist_test[f"{model}_omnist"] > still.omnist_test["mlp_mnist"] + 0.05
    assert (taught.mnist_test == {}) == (model == "lstm")
    assert taught.n_frames == still.n_frames


def test_scores_add_up_over_rows_hidden(still, digits):
    video = make_omnist(digits[50_000:50_200], seed=0)
    rows = still.by_rows_hidden["mlp_mnist"]
    n = {name: (video.rows_hidden == int(name)).sum() for name in rows if name != "noise"}
    n["noise"] = (video.labels == NOISE_LABEL).sum()
    right = sum(rows[name] * count for name, count in n.items())
    assert right / len(video) == pytest.approx(still.omnist_test["mlp_mnist"])
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
    assert again == still
    write(tmp_path / "result", "result", again)
    assert read(tmp_path / "result", "result", type(again)) == again


def test_progress_counts_every_frame_of_every_epoch(digits):
    video = training_video(digits[:100], 0)
    frames = 100 + min(STILL.noise_frames, int((video.labels == NOISE_LABEL).sum()))
    on_video = BaselineOmnist(model="mlp", trained_on="omnist", epochs=2)
    for params, expected in ((STILL, 5 * frames), (on_video, 2 * len(video))):
        said = []
        model = train_model(params, digits[:100], 0, on_progress=lambda done, _, said=said: said.append(done))
        assert sum(said) == expected
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


def test_optimiser_and_rate_reach_the_training(digits):
    weights = []
    for how in ({}, {"optimiser": "sgd"}, {"optimiser": "sgd", "learning_rate": 0.5}):
        for model, trained_on in (("mlp", "mnist"), ("lstm", "omnist")):
            params = BaselineOmnist(model=model, trained_on=trained_on, n_hidden=3, epochs=1, lanes=2, **how)
            weights.append(train_model(params, digits[:60], 0).head.weight.detach().numpy().tobytes())
    assert len(set(weights)) == 6


def test_testing_on_training_digits_is_refused(digits):
    with pytest.raises(ValueError, match="the test images must not be among"):
        evaluate(STILL, digits[:20], digits[19:30], seed=0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "gru"},
        {"trained_on": "svhn"},
        {"n_hidden": 0},
        {"epochs": 0},
        {"noise_frames": -1},
        {"optimiser": "lion"},
        {"learning_rate": -1.0},
    ],
)
def test_what_cannot_be_run_is_refused(wrong):
    with pytest.raises(ValueError, match=f"BaselineOmnist.{next(iter(wrong))} must be"):
        BaselineOmnist(**{"model": "mlp", "trained_on": "omnist", **wrong})
