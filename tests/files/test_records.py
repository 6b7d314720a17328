"""Records on disk: what is read equals what was written, or is refused in one sentence."""

import itertools
import re
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from springback import check
from springback.check import DataError
from springback.files import records
from springback.files.container import opened, read, write
from springback.files.records import from_json
from springback_paper.results.scores import Scores
from tests.files.forging import forge


@dataclass(frozen=True, kw_only=True)
class Knob:
    turns: int = 1
    size: float = 2.0

    def __post_init__(self) -> None:
        check.real("Knob.size", self.size, above=0)


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    pass


def test_a_record_comes_back_from_its_json():
    assert from_json('{"turns": 3, "size": 2}', Knob) == Knob(turns=3, size=2.0)


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("[" * 100_000, Any, "nested too deeply"),
        ('{"a":' * 100_000, Any, "nested too deeply"),
        ("1" * 400, float, "out of range"),
        ("1" * 5000, Any, "out of range"),
        ("NaN", float, "malformed"),
        ("Infinity", Any, "malformed"),
        ("1e400", float, "out of range"),
        ('{"turns": true, "size": 1}', Knob, "Expected `int`, got `bool`"),
        ('{"turns": 1.5, "size": 1}', Knob, "Expected `int`, got `float`"),
        ('{"turns": 1, "size": -1}', Knob, "Knob.size must be > 0; got -1"),
        ('{"turns": 1}', Knob, "unknown or missing fields"),
        ('{"turns": 1, "size": 1, "colour": 1}', Knob, "unknown or missing fields"),
        ("3", Knob, "Expected `object`"),
        ('{"two\\nlines": 1}', Strict, "unknown field `two lines`"),
        ("", Any, "truncated"),
        (b'"\xff"', Any, "utf-8"),
        ('"\\ud800"', Any, "truncated"),
        (" " * (16 * 2**20 + 1), Any, "must not exceed"),
    ],
    ids=itertools.count(),
)
def test_json_that_is_no_such_record_is_one_line(text, kind, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        from_json(text, kind)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


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
    write(path, "result", everything(), about={"seconds": "2"})
    back = read(path, "result", Everything)
    for name in ("number", "count", "word", "yes", "nothing", "pair", "by_name"):
        assert getattr(back, name) == getattr(everything(), name)
        assert type(getattr(back, name)) is type(getattr(everything(), name))
    for name in ("array", "flags"):
        assert getattr(back, name).dtype == getattr(everything(), name).dtype
        np.testing.assert_array_equal(getattr(back, name), getattr(everything(), name))
    with opened(path, "result") as file:
        assert file.about["seconds"] == "2"


def test_a_float_that_json_has_no_word_for_survives(tmp_path):
    write(tmp_path / "one", "result", everything(number=float("nan"), pair=(float("inf"),)))
    back = read(tmp_path / "one", "result", Everything)
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


def test_fields_come_back_as_their_types(tmp_path):
    write(tmp_path / "one", "result", Typed(**typed()))
    back = read(tmp_path / "one", "result", Typed)
    assert (back.accuracy, back.rows, back.by_name, back.maybe) == (0.5, (1, 2), {"a": 1.0}, None)
    write(tmp_path / "one", "result", Typed(**typed(maybe=np.ones(2))))
    np.testing.assert_array_equal(read(tmp_path / "one", "result", Typed).maybe, np.ones(2))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"accuracy": 1e9}, "Typed.accuracy must be <= 1"),
        ({"accuracy": {"$float": "nan"}}, "Typed.accuracy must be finite"),
        ({"accuracy": {"$float": "0x1"}}, "must be one of 'nan', 'inf', '-inf'"),
        ({"accuracy": "high"}, "accuracy: Expected `float`, got `str`"),
        ({"rows": [1.5]}, "rows.0: Expected `int`, got `float`"),
        ({"by_name": [1]}, "by_name must not be a list of values"),
        ({"by_name": 3}, "by_name must be"),
        ({"more": 1}, "it must have the fields accuracy, rows"),
        ({"curve": 3}, "curve must be"),
        ({"curve": {"$array": "float64"}}, "the dtype of curve must be float32"),
        ({"curve": {"$texts": "str", "values": ["a"]}}, "curve must be no text"),
        ({"maybe": {"$array": "float64"}}, "maybe must be an array of the file"),
        ({"accuracy": {"$array": "float32"}}, "accuracy must be an array of the file"),
        ({"accuracy": {"$type": "Typed"}}, "the type of accuracy must be one of"),
    ],
)
def test_a_record_with_other_types_is_one_sentence(tmp_path, change, sentence):
    write(tmp_path / "one", "result", Typed(**typed()))
    forge(tmp_path / "one", record=lambda plain: plain | change)
    with pytest.raises(DataError, match=f"is not a usable result: .*{re.escape(sentence)}"):
        read(tmp_path / "one", "result", Typed)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "it must not be a list"),
        ("[" * 100_000, "nested too deeply"),
        ('{"accuracy": NaN}', "malformed"),
        ("{}", "it must be Typed"),
        ("", "truncated"),
    ],
)
def test_what_is_no_record_is_one_sentence(tmp_path, text, sentence):
    write(tmp_path / "one", "result", Typed(**typed()))
    forge(tmp_path / "one", record=lambda _plain: text)
    with pytest.raises(DataError, match=f"is not a usable result: .*{sentence}"):
        read(tmp_path / "one", "result", Typed)


def test_an_array_of_another_dtype_is_refused(tmp_path):
    write(tmp_path / "one", "result", Typed(**typed()))
    forge(tmp_path / "one", arrays={"curve": np.zeros(3)})
    with pytest.raises(DataError, match="curve must be an array of float32; got 'an array of float64'"):
        read(tmp_path / "one", "result", Typed)


@dataclass(frozen=True)
class Left:
    size: float


class Right(NamedTuple):
    marks: NDArray[Any]
    inner: Left | None


@dataclass(frozen=True, eq=False)
class Tree:
    sides: tuple[Left | Right, ...]
    names: NDArray[Any]
    by_name: dict[str, Right]


def test_records_within_records_come_back_as_their_classes(tmp_path):
    inner = Right(np.array([True, False]), Left(2.0))
    write(tmp_path / "one", "model", Tree((Left(1.0), inner), np.array(["a", "b"]), {"x.y": Right(np.arange(2), None)}))
    back = read(tmp_path / "one", "model", Tree)
    assert [type(side) for side in back.sides] == [Left, Right]
    assert back.sides[1].inner == Left(2.0)
    assert back.sides[1].marks.tolist() == [True, False]
    assert back.names.tolist() == ["a", "b"]
    assert back.by_name["x.y"].marks.tolist() == [0, 1]


def test_only_a_result_may_hold_numbers_that_are_not_finite(tmp_path):
    for kind in ("model", "result"):
        write(tmp_path / kind, kind, Left(float("inf")))
    assert read(tmp_path / "result", "result", Left).size == float("inf")
    with pytest.raises(DataError, match="is not a usable model: size must be one of ; got 'inf'"):
        read(tmp_path / "model", "model", Left)


@pytest.mark.parametrize("accuracy", [95.0, 1e9, float("nan"), float("inf"), -1.0])
def test_an_accuracy_that_is_none_cannot_become_a_score(tmp_path, accuracy):
    write(tmp_path / "one", "result", Scores(n_train=1, n_test=1, n_frames=1, omnist_test={"elastic": 0.5}))
    value = accuracy if np.isfinite(accuracy) else {"$float": repr(accuracy)}
    forge(tmp_path / "one", record=lambda plain: plain | {"omnist_test": {"elastic": value}})
    with pytest.raises(DataError, match=r"an accuracy of Scores\.omnist_test must be"):
        read(tmp_path / "one", "result", Scores)
    with pytest.raises(ValueError, match=r"an accuracy of Scores\.by_rows_hidden must be"):
        Scores(n_train=1, n_test=1, n_frames=1, by_rows_hidden={"elastic": {"noise": accuracy}})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"number": object()}, "Everything.number must be a number"),
        ({"pair": [1, 2]}, "Everything.pair must be a number"),
        ({"by_name": {1: 2}}, "Everything.by_name must have names as keys; got 1"),
        ({"by_name": {"$type": 2}}, "Everything.by_name must have names as keys; got '.type'"),
        ({"array": np.array(["a", 1], object)}, "Everything.array must be numbers or text"),
        ({"array": np.zeros(2, complex)}, "array must be an array of numbers"),
        ({"word": {"a": {1, 2}}}, "Everything.word.a must be"),
    ],
)
def test_what_cannot_be_held_is_refused_and_nothing_is_written(tmp_path, change, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        write(tmp_path / "one", "result", everything(**change))
    assert not list(tmp_path.iterdir())


def test_another_record_or_a_damaged_file_is_one_sentence(tmp_path):
    @dataclass(frozen=True)
    class Other:
        number: float

    path = tmp_path / "one"
    write(path, "result", Other(1.0))
    with pytest.raises(DataError, match="holds a Other, not a Everything"):
        read(path, "result", Everything)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(DataError, match="damaged"):
        read(path, "result", Other)


Scalar = TypeVar("Scalar", bound=np.generic)
Named = TypeAliasType("Named", np.ndarray[Any, np.dtype[Scalar]], type_params=(Scalar,))


@dataclass(frozen=True)
class Aliased:
    memory: float | Named[np.float64]


@pytest.mark.parametrize("memory", [0.5, np.ones(2)])
def test_an_array_type_that_is_an_alias_with_a_name_is_an_array(tmp_path, monkeypatch, memory):
    """NumPy 2.5 made `NDArray` such an alias."""
    monkeypatch.setattr(records, "NDArray", Named)
    write(tmp_path / "one", "result", Aliased(memory))
    np.testing.assert_array_equal(read(tmp_path / "one", "result", Aliased).memory, memory)
    write(tmp_path / "one", "result", Aliased(np.ones(2, np.float32)))
    with pytest.raises(ValueError, match="memory must be an array of float64"):
        read(tmp_path / "one", "result", Aliased)
