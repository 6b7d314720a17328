"""Weights are checked once, and cannot be written to afterwards."""

import pickle

import numpy as np
import pytest

from springback.spiking import Circuit, ShortTermStdp, Streaming, Weights, init, track
from springback.spiking.weights import CheckedWeights, check_weights

SMALL = Circuit(n_inputs=64, n_neurons=16)
FRAMES = np.random.default_rng(0).integers(0, 256, (2, 8, 8), dtype=np.uint8)


def some_weights():
    rng = np.random.default_rng(1)
    return Weights(rng.uniform(0, 1.5, (64, 16)).astype(np.float32), np.full(16, 20.0, np.float32))


def test_checked_weights_do_not_follow_the_arrays_they_were_made_from():
    plain = some_weights()
    checked = check_weights(plain, SMALL)
    plain.resting[:] = np.nan
    assert np.isfinite(checked.resting).all()
    with pytest.raises(ValueError, match="read-only"):
        checked.resting[0, 0] = 1.0


def test_checked_weights_of_another_circuit_are_refused():
    with pytest.raises(ValueError, match=r"Weights\.resting must have shape"):
        check_weights(check_weights(some_weights(), SMALL), Circuit(n_inputs=64, n_neurons=15))


def test_copies_are_checked_again():
    checked = check_weights(some_weights(), SMALL)
    for copy in (pickle.loads(pickle.dumps(checked)), checked._replace(theta=np.full(16, np.nan, np.float32))):
        assert not isinstance(copy, CheckedWeights)
    with pytest.raises(ValueError, match=r"Weights\.theta"):
        check_weights(copy, SMALL)


def test_checked_weights_give_the_spikes_of_plain_ones_with_one_plasticity_after_the_other():
    plain = some_weights()
    checked, other = check_weights(plain, SMALL), check_weights(plain._replace(resting=plain.resting * 1.2), SMALL)
    rule = ShortTermStdp(pull=0.5)
    how = {"circuit": SMALL, "presentation": Streaming(intensity=4.0), "short_term": rule}
    expected = track(plain, init(plain, SMALL, rule), FRAMES, **how)[1]
    for _ in range(2):
        found = track(checked, init(checked, SMALL, rule), FRAMES, **how)[1]
        np.testing.assert_array_equal(found, expected)
        moved = track(other, init(other, SMALL, rule), FRAMES, **how)[1]
        assert not np.array_equal(moved, expected)
