import numpy as np
import pytest

from springback.check import DataError
from springback.data import load_mnist
from springback.files.container import read, write
from springback.spiking.weights import Weights
from springback_paper.baselines import Cnn, Lstm, Mlp, Rnn, classify, load_baseline, save_baseline
from springback_paper.baselines.model_file import SavedBaseline
from tests.files.forging import forge

KINDS = [Mlp(n_hidden=5, seed=1), Cnn(n_filters=2, n_hidden=6, dropout=0.1), Rnn(n_hidden=5), Lstm(n_hidden=3)]


@pytest.mark.parametrize("model", KINDS, ids=lambda one: one.kind)
def test_a_model_comes_back_as_it_was(tmp_path, model):
    path = tmp_path / "model.safetensors"
    save_baseline(model, path, data="nothing", seed=3)
    loaded = load_baseline(path)
    assert type(loaded) is type(model)
    assert loaded.shape == model.shape
    assert not loaded.training
    digits = load_mnist("train")[:50]
    np.testing.assert_array_equal(classify(loaded, digits), classify(model, digits))
    saved = read(path, "model", SavedBaseline)
    assert (saved.seed, saved.data) == (3, "nothing")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"head.weight": np.full((11, 5), np.nan, np.float32)}, "head.weight must be finite everywhere"),
        ({"head.weight": np.zeros((11, 6), np.float32)}, r"head.weight must have shape \(11, 5\)"),
        ({"head.weight": np.zeros((11, 5))}, "weights.head.weight must be an array of float32"),
        ({"head.weight": np.full((11, 5), 3e38, np.float32)}, "head.weight must be at most 1e.06 in size"),
        ({"head.bias": np.float32(0)[...]}, r"head.bias must have shape \(11\)"),
        ({"more": np.zeros(1, np.float32)}, "the parameters must be"),
    ],
)
def test_wrong_parameters_are_one_sentence(tmp_path, change, sentence):
    model, path = Mlp(n_hidden=5), tmp_path / "model"
    save_baseline(model, path, seed=0, data="nothing")
    forge(path, arrays={f"weights.{name}": array for name, array in change.items()})
    with pytest.raises(DataError, match=f"is not a usable model: {sentence}"):
        load_baseline(path)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "elman"},
        {"shape": "{"},
        {"shape": {"n_hidden": -1}},
        {"shape": {"n_hidden": 10**12}},
        {"shape": {"wheels": 4}},
        {"shape": 3},
        {"shape": {"n_hidden": 2**62}},
        {"shape": {"n_hidden": 10**400}},
        {"shape": {"n_hidden": True}},
        {"shape": {"n_hidden": 5, "seed": 1}},
        {"shape": {"n_hidden": {"$float": "nan"}}},
        {"shape": {"n_hidden": float("nan")}},
    ],
)
def test_a_file_that_describes_no_model_is_refused(tmp_path, change):
    model, path = Mlp(n_hidden=5), tmp_path / "model"
    save_baseline(model, path, seed=0, data="nothing")
    forge(path, record=lambda plain: plain | change)
    with pytest.raises(DataError, match="is not a usable model"):
        load_baseline(path)


def test_another_kind_of_file_is_refused(tmp_path):
    write(tmp_path / "video", "video", Weights(np.zeros(1), np.zeros(1)))
    with pytest.raises(DataError, match="not a springback model file"):
        load_baseline(tmp_path / "video")
