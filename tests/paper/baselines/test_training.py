import copy

import numpy as np
import pytest

import torch
from springback.check import DataError
from springback.data import load_mnist, make_omnist
from springback.files.atomic import previous_path
from springback.streaming.records import Images
from springback_paper.baselines import Cnn, Mlp, StillTraining, classify, train_still
from tests.files.forging import forge

SHORT = StillTraining(epochs=3)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


def same_weights(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


@pytest.mark.parametrize("model", [Mlp(), Cnn(n_hidden=50)], ids=["mlp", "cnn"])
def test_digits_are_learned_and_held_out_ones_recognised(model, digits):
    said = []
    trained = train_still(
        model, digits[:4000], SHORT, seed=1, on_progress=lambda done, right: said.append((done, right))
    )
    assert not trained.training
    assert sum(done for done, _ in said) == 12_000
    assert said[0][1] < said[-1][1] > 0.7
    held_out = digits[50_000:51_000]
    assert (classify(trained, held_out) == held_out.labels).mean() > 0.83
    assert (classify(model, held_out) == held_out.labels).mean() < 0.4


def test_one_epoch_is_plain_descent_over_the_shuffled_batches(digits):
    images = digits[:250]
    trained = train_still(Mlp(n_hidden=5, seed=2), images, StillTraining(epochs=2), seed=7)
    model = Mlp(n_hidden=5, seed=2)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        order = np.random.default_rng([7, epoch, 0]).permutation(250)
        for rows in (order[:100], order[100:200], order[200:]):
            adam.zero_grad()
            x = torch.tensor(images.pixels[rows] / 255, dtype=torch.float32)
            torch.nn.functional.cross_entropy(model(x), torch.tensor(images.labels[rows])).backward()
            adam.step()
    for one, other in zip(trained.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("model", [Mlp(n_hidden=5), Cnn(n_hidden=10, dropout=0.0)], ids=["mlp", "cnn"])
def test_plain_descent_follows_the_gradient_of_each_batch(digits, model):
    images, model = digits[:250], copy.deepcopy(model)
    training = StillTraining(epochs=1, optimiser="sgd", learning_rate=0.1)
    trained = train_still(model, images, training, seed=7)
    order = np.random.default_rng([7, 0, 0]).permutation(250)
    for rows in (order[:100], order[100:200], order[200:]):
        model.zero_grad()
        x = torch.tensor(images.pixels[rows] / 255, dtype=torch.float32)
        torch.nn.functional.cross_entropy(model(x), torch.tensor(images.labels[rows])).backward()
        with torch.no_grad():
            for weights in model.parameters():
                weights.sub_(0.1 * weights.grad)
    for one, other in zip(trained.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_same_seed_same_bits_for_any_number_of_threads(digits):
    before, runs = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            runs.append(train_still(Cnn(n_hidden=20), digits[:600], StillTraining(epochs=1), seed=3))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert same_weights(*runs)
    other = train_still(Cnn(n_hidden=20), digits[:600], StillTraining(epochs=1), seed=4)
    assert not same_weights(runs[0], other)


def test_training_leaves_the_given_model_and_torchs_own_randomness_alone(digits):
    model, fresh = Cnn(n_hidden=20, seed=1), Cnn(n_hidden=20, seed=1)
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    train_still(model, digits[:200], StillTraining(epochs=1))
    assert torch.equal(torch.rand(3), expected)
    assert same_weights(model, fresh)


@pytest.mark.parametrize(("source", "optimiser"), [("images", "adam"), ("video", "adam"), ("images", "sgd")])
def test_a_killed_training_goes_on_to_the_same_bits(tmp_path, digits, source, optimiser):
    frames = digits[:500] if source == "images" else make_omnist(digits[:30], seed=0)
    training = StillTraining(epochs=3, optimiser=optimiser)
    whole = train_still(Cnn(n_hidden=20), frames, training, seed=2)
    path, said = tmp_path / "training", []

    def kill(done, _accuracy):
        said.append(done)
        if sum(said) > 1.5 * len(frames):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_still(Cnn(n_hidden=20), frames, training, seed=2, checkpoint=path, on_progress=kill)
    again = []
    resumed = train_still(
        Cnn(n_hidden=20), frames, training, seed=2, checkpoint=path, on_progress=lambda *one: again.append(one)
    )
    assert same_weights(whole, resumed)
    assert again[0][0] == len(frames)
    assert np.isnan(again[0][1])
    assert sum(done for done, _ in again) == 3 * len(frames)


@pytest.mark.parametrize(
    ("model", "first", "training", "seed", "differs"),
    [
        (Mlp(n_hidden=6), 0, SHORT, 0, "shape"),
        (Cnn(), 0, SHORT, 0, "model"),
        (Mlp(n_hidden=5, seed=1), 0, SHORT, 0, "first_weights"),
        (Mlp(n_hidden=5), 1, SHORT, 0, "data"),
        (Mlp(n_hidden=5), 0, StillTraining(epochs=4), 0, "training"),
        (Mlp(n_hidden=5), 0, SHORT, 1, "seed"),
    ],
)
def test_the_checkpoint_of_another_training_is_refused(tmp_path, digits, model, first, training, seed, differs):
    path = tmp_path / "training"
    train_still(Mlp(n_hidden=5), digits[:100], SHORT, checkpoint=path)
    with pytest.raises(DataError, match=f"is of another training: its {differs} is .* delete it to start again"):
        train_still(model, digits[first : first + 100], training, seed=seed, checkpoint=path)


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("adam.head.bias.exp_avg", np.zeros(1, np.float32), r"head.bias.exp_avg must have shape \(11\); got \(1,\)"),
        ("adam.head.bias.exp_avg_sq", np.full(11, np.nan, np.float32), "head.bias.exp_avg_sq must be finite"),
        ("weights.head.bias", np.full(11, np.inf, np.float32), "head.bias must be finite"),
        ("place", np.zeros(3, np.int64), r"place must have shape \(2\)"),
        ("place", np.array([-1, 0]), r"place\[0\] must be >= 0"),
        ("place", np.array([10**6, 0]), r"place\[0\] must be <= "),
        ("adam.head.bias.exp_avg_sq", np.full(11, -1, np.float32), "head.bias.exp_avg_sq must be >= 0"),
        ("weights.head.bias", np.full(11, 3e38, np.float32), "head.bias must be at most"),
        ("state.0", np.zeros((1, 1, 5), np.float32), "the state must have 0 parts"),
    ],
)
def test_a_damaged_checkpoint_is_one_sentence(tmp_path, digits, name, array, sentence):
    path = tmp_path / "training"
    train_still(Mlp(n_hidden=5), digits[:100], SHORT, checkpoint=path)
    previous_path(path).unlink()
    forge(path, arrays={f"arrays.{name}": array})
    with pytest.raises(DataError, match=f"is not a usable checkpoint: {sentence}"):
        train_still(Mlp(n_hidden=5), digits[:100], SHORT, checkpoint=path)


def test_the_version_before_a_lost_checkpoint_is_taken_to_the_same_bits(tmp_path, digits):
    path = tmp_path / "training"
    whole = train_still(Mlp(n_hidden=5), digits[:100], SHORT, checkpoint=path)
    assert previous_path(path).exists()
    path.write_bytes(path.read_bytes()[:500])
    with pytest.warns(UserWarning, match="continuing from the previous version"):
        again = train_still(Mlp(n_hidden=5), digits[:100], SHORT, checkpoint=path)
    assert same_weights(whole, again)


def test_labels_beyond_eleven_classes_no_frames_and_frames_of_another_size_are_refused(digits):
    with pytest.raises(ValueError, match=r"labels must lie in 0 ... 10 \(ten classes, and 10 for noise\); got 11"):
        train_still(Mlp(), Images(np.zeros((2, 28, 28), np.uint8), np.array([3, 11])))
    with pytest.raises(ValueError, match="the training data must hold at least one frame; got 0"):
        train_still(Mlp(), digits[:0])
    with pytest.raises(ValueError, match=r"the frames must be 28 x 28 pixels; got \(28, 20\)"):
        train_still(Mlp(), Images(np.zeros((2, 28, 20), np.uint8), np.array([3, 1])))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epochs": -1}, "epochs must be >= 0"),
        ({"batch": 0}, "batch must be >= 1"),
        ({"learning_rate": 0}, "> 0"),
        ({"optimiser": "lion"}, "StillTraining.optimiser must be one of 'adam', 'sgd'"),
    ],
)
def test_a_training_that_cannot_be_is_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        StillTraining(**wrong)
