import numpy as np
import pytest

from springback.files.quantised import Codes, decode, encode


@pytest.mark.parametrize("shape", [(3, 7), (4, 2, 5), (6,)])
def test_decoding_returns_every_number_within_half_a_step(shape):
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    codes = encode(values)
    error = np.abs(decode(codes) - values).reshape(len(values), -1).max(axis=1)
    assert (error <= codes.step / 2 + 1e-6).all()


def test_a_row_of_equal_numbers_comes_back_exactly():
    values = np.full((2, 5), 0.3, np.float32)
    assert (decode(encode(values)) == values).all()


def test_codes_that_are_not_bytes_are_refused():
    with pytest.raises(ValueError, match="dtype uint8"):
        decode(Codes(np.zeros((2, 3)), np.zeros(2, np.float32), np.zeros(2, np.float32)))
