"""The one error sentence."""

import numpy as np
import pytest

from springback import check


@pytest.mark.parametrize(
    ("value", "limits", "sentence"),
    [
        (-3.0, {"above": 0}, r"Neuron.tau_ms must be > 0; got -3.0"),
        (2, {"high": 1}, r"Neuron.tau_ms must be <= 1; got 2"),
        (-1, {"low": 0}, r"Neuron.tau_ms must be >= 0; got -1"),
        (float("nan"), {}, r"Neuron.tau_ms must be finite; got nan"),
    ],
)
def test_a_bad_number_is_one_sentence(value, limits, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        check.real("Neuron.tau_ms", value, **limits)


@pytest.mark.parametrize("value", ["3", None, True, 1j])
def test_what_is_not_a_number_is_a_type_error(value):
    with pytest.raises(TypeError, match="must be a number"):
        check.real("x", value)
    with pytest.raises(TypeError, match="must be a whole number"):
        check.integer("x", value)


def test_a_numpy_number_is_a_number():
    assert check.real("x", np.float32(0.5)) == 0.5
    assert check.integer("x", np.int64(3), low=3, high=3) == 3


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (np.zeros((2, 3), np.float32), "dtype"),
        (np.zeros((2, 4)), "shape"),
        (np.zeros(3), "shape"),
        (np.full((2, 3), np.inf), "finite"),
    ],
)
def test_a_wrong_array_is_refused(value, problem):
    with pytest.raises(ValueError, match=problem):
        check.array("weights", value, shape=(None, 3), dtype=np.float64)
