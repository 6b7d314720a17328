import json

import numpy as np
import pytest

from springback.check import DataError
from springback.datasets import load_mnist
from springback.paper.baselines import Cnn, Lstm, Mlp, Rnn, classify, load_model, save_model
from springback.paper.baselines.model_file import describe, weights_of
from springback.storage import read_tensors, save_tensors

KINDS = [Mlp(n_hidden=5, seed=1), Cnn(n_filters=2, n_hidden=6, dropout=0.1), Rnn(n_hidden=5), Lstm(n_hidden=3)]


@pytest.mark.parametrize("model", KINDS, ids=lambda one: one.kind)
def test_a_model_comes_back_as_it_was(tmp_path, model):
    path = tmp_path / "model.safetensors"
    save_model(model, path, data="nothing", seed=3)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    assert loaded.shape == model.shape
    assert not loaded.training
    digits = load_mnist("train")[:50]
    np.testing.assert_array_equal(classify(loaded, digits), classify(model, digits))
    _, metadata = read_tensors(path, kind="baseline model")
    assert {name: metadata[name] for name in ("seed", "data")} == {"seed": "3", "data": "nothing"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"head.weight": np.full((11, 5), np.nan, np.float32)}, "head.weight must be finite everywhere"),
        ({"head.weight": np.zeros((11, 6), np.float32)}, r"head.weight must have shape \(11, 5\)"),
        ({"head.weight": np.zeros((11, 5))}, "head.weight must have dtype float32"),
        ({"head.weight": np.full((11, 5), 3e38, np.float32)}, "head.weight must be at most 1e.06 in size"),
        ({"head.bias": np.float32(0)[...]}, r"head.bias must have shape \(11\)"),
        ({"more": np.zeros(1, np.float32)}, "the parameters must be"),
    ],
)
def test_wrong_parameters_are_one_sentence(tmp_path, change, sentence):
    model, path = Mlp(n_hidden=5), tmp_path / "model"
    metadata = describe(model, seed=0, data="nothing")
    save_tensors(path, {**weights_of(model), **change}, kind="baseline model", metadata=metadata)
    with pytest.raises(DataError, match=f"is not a usable model: {sentence}"):
        load_model(path)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "elman"},
        {"shape": "{"},
        {"shape": json.dumps({"n_hidden": -1})},
        {"shape": json.dumps({"n_hidden": 10**12})},
        {"shape": json.dumps({"wheels": 4})},
        {"shape": "3"},
        {"shape": json.dumps({"n_hidden": 2**62})},
        {"shape": json.dumps({"n_hidden": 10**400})},
        {"shape": json.dumps({"n_hidden": True})},
        {"shape": json.dumps({"n_hidden": 5, "seed": 1})},
        {"shape": "[" * 100_000},
        {"shape": '{"n_hidden": NaN}'},
    ],
)
def test_a_file_that_describes_no_model_is_refused(tmp_path, change):
    model, path = Mlp(n_hidden=5), tmp_path / "model"
    metadata = {**describe(model, seed=0, data="nothing"), **change}
    save_tensors(path, weights_of(model), kind="baseline model", metadata=metadata)
    with pytest.raises(DataError, match="is not a usable model"):
        load_model(path)


def test_another_kind_of_file_is_refused(tmp_path):
    save_tensors(tmp_path / "video", {}, kind="video", metadata={})
    with pytest.raises(DataError, match="not a springback baseline model file"):
        load_model(tmp_path / "video")
