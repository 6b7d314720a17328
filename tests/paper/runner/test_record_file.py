"""Flat records on disk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from springback.check import DataError
from springback.paper.runner.record_file import load_record, record_metadata, save_record


@dataclass(frozen=True, kw_only=True)
class Everything:
    number: float
    count: int
    word: str
    yes: bool
    nothing: None
    pair: tuple[Any, ...]
    by_name: dict[str, Any]
    array: Any
    flags: Any


def everything(**changes):
    values = {
        "number": 0.1,
        "count": 3,
        "word": "ü",
        "yes": True,
        "nothing": None,
        "pair": (1, ("a", 2.5), None),
        "by_name": {"noise": 1.0, "rows": (1, 2)},
        "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "flags": np.array([True, False]),
    }
    return Everything(**{**values, **changes})


def test_what_is_read_equals_what_was_written(tmp_path):
    path = tmp_path / "one.safetensors"
    save_record(everything(), path, metadata={"seconds": "2"})
    back = load_record(path, Everything)
    for name in ("number", "count", "word", "yes", "nothing", "pair", "by_name"):
        assert getattr(back, name) == getattr(everything(), name)
        assert type(getattr(back, name)) is type(getattr(everything(), name))
    for name in ("array", "flags"):
        assert getattr(back, name).dtype == getattr(everything(), name).dtype
        np.testing.assert_array_equal(getattr(back, name), getattr(everything(), name))
    assert record_metadata(path)["seconds"] == "2"


def test_a_float_that_json_has_no_word_for_survives(tmp_path):
    save_record(everything(number=float("nan"), pair=(float("inf"),)), tmp_path / "one")
    back = load_record(tmp_path / "one", Everything)
    assert np.isnan(back.number)
    assert back.pair == (float("inf"),)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"number": np.float64(1)}, "Everything.number must be a plain Python value; got float64"),
        ({"pair": [1, 2]}, "Everything.pair must be a number"),
        ({"by_name": {1: 2}}, "Everything.by_name must have str keys; got 1"),
        ({"array": np.array(["a"])}, "Everything.array must be an array of numbers"),
        ({"word": {"a": {1, 2}}}, "Everything.word must be"),
    ],
)
def test_what_cannot_be_held_is_refused_and_nothing_is_written(tmp_path, change, sentence):
    with pytest.raises(TypeError, match=sentence):
        save_record(everything(**change), tmp_path / "one")
    assert not list(tmp_path.iterdir())


def test_another_record_or_a_damaged_file_is_one_sentence(tmp_path):
    @dataclass(frozen=True)
    class Other:
        number: float

    path = tmp_path / "one"
    save_record(Other(1.0), path)
    with pytest.raises(DataError, match="holds a Other, not a Everything"):
        load_record(path, Everything)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(DataError, match="damaged"):
        load_record(path, Other)
