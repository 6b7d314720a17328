"""Arrays that several splits share."""

import numpy as np

from springback_bench.stream_sets._kept import kept


def counted():
    calls = []

    def make():
        calls.append(1)
        return {"features": np.full(2, len(calls), np.float32)}

    return calls, make


def test_what_is_kept_is_made_once(tmp_path):
    calls, make = counted()
    first, second = (kept(tmp_path, "some", make)["features"] for _ in range(2))
    assert len(calls) == 1
    np.testing.assert_array_equal(first, second)


def test_a_damaged_file_is_made_again(tmp_path):
    calls, make = counted()
    kept(tmp_path, "some", make)
    (tmp_path / "streams" / "some.safetensors").write_bytes(b"damaged")
    assert kept(tmp_path, "some", make)["features"].tolist() == [2, 2]
    assert len(calls) == 2


def test_a_file_of_another_version_is_made_again(tmp_path):
    calls, make = counted()
    kept(tmp_path, "some", make, version=1)
    kept(tmp_path, "some", make, version=2)
    kept(tmp_path, "some", make, version=2)
    assert len(calls) == 2
