"""Models on disk: whole, checked, and the same when they come back."""

from dataclasses import replace

import numpy as np
import pytest

from springback.check import DataError
from springback.files.atomic import previous_path
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_spiking_model, save_spiking_model
from springback.spiking.params import Circuit, IntrinsicPlasticity, LongTermStdp, Presentation, ShortTermStdp, Streaming
from springback.spiking.presets import Preset
from springback.spiking.weights import Weights
from tests.files.forging import forge

CIRCUIT = Circuit(n_inputs=64, n_neurons=16)
PRESET = Preset(
    name="small",
    circuit=CIRCUIT,
    long_term=LongTermStdp(weight_sum=8.0),
    training=Presentation(intensity=2.5),
    testing=Presentation(spikes_min=7),
    streaming=Streaming(intensity=4.5),
    short_term=ShortTermStdp(pull=0.3, efficacy_max=4.0, intrinsic=IntrinsicPlasticity(step_mv=0.1), delay_ms=40.0),
)


def a_model(**changes):
    rng = np.random.default_rng(0)
    weights = Weights(rng.random((64, 16), np.float32), rng.uniform(20, 30, 16).astype(np.float32))
    labels = rng.integers(-1, 10, 16)
    model = SpikingModel(preset=PRESET, weights=weights, neuron_labels=labels, seed=3, data="noise", n_seen=7)
    return replace(model, **changes)


def with_memory(tau):
    return a_model(preset=replace(PRESET, short_term=ShortTermStdp(memory_ms=tau)))


def test_a_model_comes_back_unchanged(tmp_path):
    model = a_model()
    save_spiking_model(model, tmp_path / "m")
    again = load_spiking_model(tmp_path / "m")
    for name in ("seed", "data", "n_seen"):
        assert getattr(again, name) == getattr(model, name)
    for name in ("name", "circuit", "long_term", "training", "testing", "streaming", "shuffled"):
        assert getattr(again.preset, name) == getattr(model.preset, name)
    assert vars(again.preset.short_term) == vars(model.preset.short_term)
    for one, other in zip(again.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.neuron_labels, model.neuron_labels)


@pytest.mark.parametrize("classes", [np.arange(26), np.array(["cat", "dog"]), np.array([-3, 10**15])])
def test_classes_of_any_kind_come_back(tmp_path, classes):
    save_spiking_model(a_model(classes=classes, neuron_labels=np.arange(16) % 2), tmp_path / "m")
    again = load_spiking_model(tmp_path / "m").classes
    assert again.dtype == classes.dtype
    np.testing.assert_array_equal(again, classes)


@pytest.mark.parametrize("shape", [(16,), (64, 16)])
def test_time_constants_of_neurons_and_synapses_come_back(tmp_path, shape):
    tau = np.random.default_rng(1).uniform(100, 900, shape)
    save_spiking_model(with_memory(tau), tmp_path / "m")
    again = load_spiking_model(tmp_path / "m").preset.short_term
    np.testing.assert_array_equal(again.memory_ms, tau)
    assert again.pull == ShortTermStdp().pull


def test_time_constants_of_another_circuit_are_refused():
    with pytest.raises(ValueError, match=r"memory_ms must have shape \(\), \(16,\) or \(64, 16\)"):
        with_memory(np.full(15, 300.0))


def test_the_same_model_is_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save_spiking_model(a_model(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_previous_model_is_kept(tmp_path):
    save_spiking_model(a_model(seed=1), tmp_path / "m")
    save_spiking_model(a_model(seed=2), tmp_path / "m")
    assert load_spiking_model(tmp_path / "m").seed == 2
    assert load_spiking_model(previous_path(tmp_path / "m")).seed == 1


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        ({"resting": np.full((64, 16), np.nan, np.float32)}, "finite"),
        ({"resting": np.full((64, 16), np.inf, np.float32)}, "finite"),
        ({"resting": np.full((64, 16), 3e38, np.float32)}, "at most"),
        ({"theta": np.full(16, 3e38, np.float32)}, "at most"),
        ({"resting": np.full((64, 16), -1.0, np.float32)}, ">= 0"),
        ({"resting": np.zeros((63, 16), np.float32)}, "shape"),
        ({"resting": np.zeros((), np.float32)}, "shape"),
        ({"resting": np.zeros((64, 16), np.int32)}, "dtype"),
        ({"theta": np.zeros(16, np.float64)}, "dtype"),
        ({"neuron_labels": np.full(16, -7)}, "neuron_labels"),
        ({"theta": None}, "it must have the fields .*theta"),
        ({"memory_ms": np.ones(16)}, "hold no arrays that its record does not name"),
    ],
)
def test_values_are_checked_when_loaded(tmp_path, tensors, sentence):
    save_spiking_model(a_model(), tmp_path / "bad")
    forge(tmp_path / "bad", arrays=tensors)
    with pytest.raises(DataError, match=sentence):
        load_spiking_model(tmp_path / "bad")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda _params: {}, "it must be SavedSpikingModel"),
        (lambda params: params["preset"]["circuit"].pop("dt_ms") and None, "preset.circuit must have the fields"),
        (lambda params: params["preset"]["circuit"].update(colour=1), "preset.circuit must have the fields"),
        (lambda params: params["preset"]["circuit"].update(n_neurons=10**400), "digits|out of range|must"),
        (lambda params: params["preset"]["circuit"].update(dt_ms="fast"), "Expected `float`"),
        (lambda params: params["preset"]["circuit"]["excitatory"].update(tau_membrane_ms=-1), "must be > 0"),
        (lambda params: params["preset"]["streaming"].update(show_ms=None), "Expected `float`"),
        (lambda params: params["preset"]["short_term"].update(pull=True), "Expected `float`"),
        (lambda params: params["preset"]["short_term"].update(memory_ms=None), "memory_ms: Expected `float`"),
        (lambda params: params.update(seed=-1), "seed must be >= 0"),
        (lambda params: params["preset"]["circuit"].update(dt_ms=1e-7), "dt_ms must be at least"),
        (lambda params: params["preset"]["streaming"].update(show_ms=1e9), "the steps of one image must be <= 1e.06"),
        (lambda params: params["preset"]["testing"].update(intensity_step=1e-5), "in at most 1000 attempts"),
        (
            lambda params: params["preset"]["circuit"]["excitatory"].update(tau_membrane_ms=1e-300),
            "tau_membrane_ms must be >=",
        ),
        (lambda params: params["preset"]["circuit"].update(weight_to_inhibitory=3e38), "must be <= 1e.0"),
        (lambda params: params.update(data="two\nlines"), "data must be one line"),
        (lambda params: params["preset"].update(name=["a"]), "preset.name must not be a list"),
        (lambda params: params.update(classes=["a", "b"]), "classes must not be a list"),
        (lambda params: params.update(n_seen=-1), "n_seen must be >= 0"),
    ],
)
def test_a_model_with_bad_parameters_is_refused(tmp_path, change, sentence):
    save_spiking_model(a_model(), tmp_path / "bad")
    forge(tmp_path / "bad", record=change)
    with pytest.raises(DataError, match=f"not a usable model: .*({sentence})") as caught:
        load_spiking_model(tmp_path / "bad")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"$texts": "str", "values": []}, "classes must"),
        ({"$texts": "str", "values": ["a", 1]}, "Expected `str`"),
        ({"$texts": "str", "values": ["b", "a"]}, "classes must be sorted"),
        ({"$texts": "bytes", "values": ["a"]}, "classes must be one of 'object', 'str'"),
        ({"$texts": "str"}, "missing required field"),
    ],
)
def test_a_model_with_bad_names_of_classes_is_refused(tmp_path, texts, sentence):
    save_spiking_model(a_model(), tmp_path / "bad")
    forge(tmp_path / "bad", arrays={"classes": None}, record=lambda params: params | {"classes": texts})
    with pytest.raises(DataError, match=f"not a usable model: .*{sentence}"):
        load_spiking_model(tmp_path / "bad")
