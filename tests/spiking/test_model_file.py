"""Models on disk: whole, checked, and the same when they come back."""

import numpy as np
import pytest

from springback.check import DataError
from springback.spiking.model_file import SpikingModel, load_checkpoint, load_model, save_checkpoint, save_model
from springback.spiking.network import Weights
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.training import begin_training, train
from springback.storage import previous_path, save_tensors

CIRCUIT = Circuit(n_inputs=64, n_neurons=16)
STDP = LongTermStdp(weight_sum=8.0)
NAMING = {"circuit": CIRCUIT, "long_term": STDP, "training": Presentation(), "seed": 3, "data": "noise"}


def a_model(**changes):
    rng = np.random.default_rng(0)
    values = {
        "circuit": CIRCUIT,
        "long_term": STDP,
        "training": Presentation(),
        "weights": Weights(rng.random((64, 16), np.float32), rng.uniform(20, 30, 16).astype(np.float32)),
        "neuron_labels": rng.integers(-1, 10, 16),
        "seed": 3,
        "data": "noise",
    }
    return SpikingModel(**(values | changes))


def test_a_model_comes_back_unchanged(tmp_path):
    model = a_model()
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert (again.circuit, again.long_term, again.training) == (model.circuit, model.long_term, model.training)
    assert (again.seed, again.data) == (3, "noise")
    for one, other in zip(again.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.neuron_labels, model.neuron_labels)


def test_the_previous_model_is_kept(tmp_path):
    save_model(a_model(seed=1), tmp_path / "m")
    save_model(a_model(seed=2), tmp_path / "m")
    assert load_model(tmp_path / "m").seed == 2
    assert load_model(previous_path(tmp_path / "m")).seed == 1


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        ({"resting": np.full((64, 16), np.nan, np.float32)}, "finite"),
        ({"resting": np.full((64, 16), -1.0, np.float32)}, ">= 0"),
        ({"resting": np.zeros((63, 16), np.float32)}, "shape"),
        ({"theta": np.zeros(16, np.float64)}, "dtype"),
        ({"neuron_labels": np.full(16, -7)}, "neuron_labels"),
        ({"theta": None}, "hold theta"),
    ],
)
def test_values_are_checked_when_loaded(tmp_path, tensors, sentence):
    model = a_model()
    save_model(model, tmp_path / "good")
    whole = {**model.weights._asdict(), "neuron_labels": model.neuron_labels} | tensors
    from safetensors import safe_open

    with safe_open(str(tmp_path / "good"), "numpy") as file:
        metadata = {key: value for key, value in file.metadata().items() if key not in ("springback", "format")}
    kept = {name: value for name, value in whole.items() if value is not None}
    save_tensors(tmp_path / "bad", kept, kind="spiking model", metadata=metadata)
    with pytest.raises(DataError, match=sentence):
        load_model(tmp_path / "bad")


def test_a_model_with_bad_parameters_is_refused(tmp_path):
    model = a_model()
    tensors = {**model.weights._asdict(), "neuron_labels": model.neuron_labels}
    save_tensors(tmp_path / "bad", tensors, kind="spiking model", metadata={"params": "{}", "seed": "0", "data": ""})
    with pytest.raises(DataError, match="not a usable model"):
        load_model(tmp_path / "bad")


def test_training_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path):
    frames = np.random.default_rng(5).integers(0, 256, (60, 8, 8), dtype=np.uint8)
    state = begin_training(CIRCUIT, STDP, seed=3)
    _, whole = train(state, frames, circuit=CIRCUIT, stdp=STDP, seed=3)
    _, half = train(state, frames[:31], circuit=CIRCUIT, stdp=STDP, seed=3)
    save_checkpoint(half, tmp_path / "c", **NAMING)
    loaded = load_checkpoint(tmp_path / "c", **NAMING)
    assert loaded.n_seen == 31
    _, resumed = train(loaded, frames[31:], circuit=CIRCUIT, stdp=STDP, seed=3)
    for one, other in zip(
        [whole.resting, *whole.circuit, *whole.traces],
        [resumed.resting, *resumed.circuit, *resumed.traces],
        strict=True,
    ):
        assert one.tobytes() == other.tobytes()


def test_a_checkpoint_with_other_parameters_is_refused(tmp_path):
    save_checkpoint(begin_training(CIRCUIT, STDP), tmp_path / "c", **NAMING)
    with pytest.raises(DataError, match="another training: its params"):
        load_checkpoint(tmp_path / "c", **(NAMING | {"long_term": LongTermStdp()}))
