"""Flat records on disk."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.paper.runner.record_file import load_record, save_record
from springback.paper.runner.result_file import result_metadata
from springback.paper.scores import Scores
from springback.storage import read_tensors, save_tensors


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
    assert result_metadata(path, Everything)["seconds"] == "2"


def test_a_float_that_json_has_no_word_for_survives(tmp_path):
    save_record(everything(number=float("nan"), pair=(float("inf"),)), tmp_path / "one")
    back = load_record(tmp_path / "one", Everything)
    assert np.isnan(back.number)
    assert back.pair == (float("inf"),)


@dataclass(frozen=True)
class Typed:
    accuracy: float
    rows: tuple[int, ...]
    curve: NDArray[np.float32]
    by_name: dict[str, float]
    maybe: NDArray[np.float64] | None = None

    def __post_init__(self):
        check.real("Typed.accuracy", self.accuracy, low=0, high=1)


def typed(**changes):
    values = {"accuracy": 0.5, "rows": (1, 2), "curve": np.zeros(3, np.float32), "by_name": {"a": 1.0}}
    return values | {"maybe": None} | changes


def rewritten(path, *, plain=None, dtypes=None, tensors=None):
    old, metadata = read_tensors(path, kind="record")
    about = dict(metadata)
    for name, change in (("plain", plain), ("dtypes", dtypes)):
        if change is not None:
            about[name] = change if isinstance(change, str) else json.dumps({**json.loads(about[name]), **change})
    save_tensors(path, old if tensors is None else tensors, kind="record", metadata=about)


def test_fields_come_back_as_their_types(tmp_path):
    save_record(Typed(**typed()), tmp_path / "one")
    back = load_record(tmp_path / "one", Typed)
    assert (back.accuracy, back.rows, back.by_name, back.maybe) == (0.5, (1, 2), {"a": 1.0}, None)
    save_record(Typed(**typed(maybe=np.ones(2))), tmp_path / "one")
    np.testing.assert_array_equal(load_record(tmp_path / "one", Typed).maybe, np.ones(2))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"plain": {"accuracy": 1e9}}, "Typed.accuracy must be <= 1"),
        ({"plain": {"accuracy": {"not finite": "nan"}}}, "Typed.accuracy must be finite"),
        ({"plain": {"accuracy": {"not finite": "0x1"}}}, "must be one of 'nan', 'inf', '-inf'"),
        ({"plain": {"accuracy": "high"}}, "accuracy: Expected `float`, got `str`"),
        ({"plain": {"rows": [1.5]}}, "rows: Expected `int`, got `float`"),
        ({"plain": {"by_name": [1]}}, "by_name: Expected `object`"),
        ({"plain": {"more": 1}}, "the fields must be"),
        ({"plain": "[]"}, "Expected `object`"),
        ({"plain": "[" * 100_000}, "nested too deeply"),
        ({"plain": '{"accuracy": NaN}'}, "malformed"),
        ({"plain": "{}"}, "the fields must be"),
        ({"plain": {"curve": 3}, "tensors": {}, "dtypes": "{}"}, "curve must be an array"),
        ({"dtypes": {"curve": "float64"}}, "the dtype of curve must be float32"),
        ({"dtypes": {"curve": "bool"}}, "the dtype of curve must be float32"),
        ({"dtypes": "{}"}, "the dtypes must be those of the arrays"),
        ({"dtypes": "3"}, "Expected `object`"),
        ({"tensors": {"curve": np.zeros(3)}, "dtypes": {"curve": "float64"}}, "curve must be of the type"),
    ],
)
def test_a_record_with_other_types_is_one_sentence(tmp_path, change, sentence):
    save_record(Typed(**typed()), tmp_path / "one")
    rewritten(tmp_path / "one", **change)
    with pytest.raises(DataError, match=f"is not a usable Typed: .*{sentence}"):
        load_record(tmp_path / "one", Typed)


@pytest.mark.parametrize("accuracy", [95.0, 1e9, float("nan"), float("inf"), -1.0])
def test_an_accuracy_that_is_none_cannot_become_a_score(tmp_path, accuracy):
    save_record(Scores(n_train=1, n_test=1, n_frames=1, omnist_test={"elastic": 0.5}), tmp_path / "one")
    value = accuracy if np.isfinite(accuracy) else {"not finite": repr(accuracy)}
    rewritten(tmp_path / "one", plain={"omnist_test": {"elastic": value}})
    with pytest.raises(DataError, match=r"an accuracy of Scores\.omnist_test must be"):
        load_record(tmp_path / "one", Scores)
    with pytest.raises(ValueError, match=r"an accuracy of Scores\.by_rows_hidden must be"):
        Scores(n_train=1, n_test=1, n_frames=1, by_rows_hidden={"elastic": {"noise": accuracy}})


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
