"""A killed training resumes with bit-identical results; a foreign or damaged state never reaches compiled code."""

import os

import numpy as np
import pytest

from springback.check import DataError
from springback.files.atomic import previous_path
from springback.spiking import load_checkpoint, save_checkpoint
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.training import init_training, train
from tests.files.forging import forge

CIRCUIT = Circuit(n_inputs=64, n_neurons=16)
RESTLESS = Presentation(rest_ms=0.0)
STDP = LongTermStdp(weight_sum=8.0)
NAMING = {"circuit": CIRCUIT, "long_term": STDP, "training": RESTLESS, "seed": 3, "data": "noise"}
HOW = {"circuit": CIRCUIT, "stdp": STDP, "presentation": RESTLESS, "seed": 3}
FRAMES = np.random.default_rng(5).integers(0, 256, (60, 8, 8), dtype=np.uint8)


@pytest.fixture(scope="module")
def half():
    return train(init_training(CIRCUIT, STDP, seed=3), FRAMES[:31], **HOW)[0]


def same(one, other):
    pairs = zip([one.resting, *one.circuit, *one.traces], [other.resting, *other.circuit, *other.traces], strict=True)
    return one.n_seen == other.n_seen and all(a.tobytes() == b.tobytes() for a, b in pairs)


def test_training_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path, half):
    whole, _ = train(init_training(CIRCUIT, STDP, seed=3), FRAMES, **HOW)
    save_checkpoint(half, tmp_path / "c", **NAMING)
    loaded = load_checkpoint(tmp_path / "c", **NAMING)
    assert loaded.n_seen == 31
    assert (loaded.circuit.place >= 0).any(), "no neuron has fired recently"
    assert same(train(loaded, FRAMES[31:], **HOW)[0], whole)


def test_a_checkpoint_with_other_parameters_is_refused(tmp_path):
    save_checkpoint(init_training(CIRCUIT, STDP), tmp_path / "c", **NAMING)
    with pytest.raises(DataError, match=r"another training: its params is .*8\.0.*, not .*78\.0.*; delete") as caught:
        load_checkpoint(tmp_path / "c", **(NAMING | {"long_term": LongTermStdp()}))
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: os.truncate(path, 300)])
def test_the_version_before_a_lost_checkpoint_is_taken(tmp_path, half, damage):
    path = tmp_path / "c"
    save_checkpoint(half, path, **NAMING)
    later = train(half, FRAMES[31:40], **HOW)[0]
    save_checkpoint(later, path, **NAMING)
    damage(path)
    with pytest.warns(UserWarning, match="continuing from the previous version"):
        assert same(load_checkpoint(path, **NAMING), half)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("resting", lambda a: a * np.nan),
        ("resting", lambda a: a + 3e38),
        ("resting", lambda a: a[:, :-1]),
        ("resting", lambda a: a.astype(np.int32)),
        ("n_seen", lambda a: a - 100),
        ("n_seen", lambda a: a[0]),
        ("n_seen", lambda _a: np.array([2**63 - 1])),
        ("circuit.recent.neuron", lambda a: a + 10_000),
        ("circuit.recent.neuron", lambda a: a - 1),
        ("circuit.recent.wait", lambda a: a - 5),
        ("circuit.recent.v", lambda a: a[:3]),
        ("circuit.place", lambda a: a + 100),
        ("circuit.inh_step", lambda a: a + 2**50),
        ("circuit.common.n_recent", lambda a: a + 17),
        ("circuit.common.step", lambda a: 0 * a - 1),
        ("circuit.common.step", lambda a: 0 * a + (2**63 - 1)),
        ("circuit.common.theta_scale", lambda a: 0 * a),
        ("circuit.common.inhibition", lambda a: a + np.inf),
        ("circuit.common.inhibition", lambda a: a[:0]),
        ("circuit.theta", lambda a: a + np.inf),
        ("circuit.theta", lambda a: np.full(a.shape, 0x7F800001, np.int32).view(np.float32)),
        ("circuit.ge", lambda a: a - 1),
        ("circuit.firing", lambda a: a.astype(np.int64)),
        ("traces.last_pre", lambda a: a + 2**40),
        ("traces.last_post", lambda a: np.full_like(a, -(2**63))),
        ("traces.touched", lambda a: a + 64),
        ("traces.touched", lambda a: a * 0),
        ("traces.is_touched", lambda a: 1 - a),
        ("traces.is_touched", lambda a: a + 2),
        ("traces.fired", lambda a: a - 100),
        ("traces.common.n_touched", lambda a: a + 1000),
        ("traces.common.n_fired", lambda a: a - 1000),
        ("traces.loss", lambda a: a[0]),
        ("more", lambda _a: np.zeros(3)),
    ],
)
def test_a_state_that_could_lead_outside_of_its_arrays_is_refused(tmp_path, half, name, spoil):
    save_checkpoint(half, tmp_path / "bad", **NAMING)
    forge(tmp_path / "bad", arrays={f"arrays.{name}": spoil})
    with pytest.raises(DataError, match="not a usable checkpoint"):
        load_checkpoint(tmp_path / "bad", **NAMING)
    assert not previous_path(tmp_path / "bad").exists()
