"""The one door for data from outside."""

import itertools
import os
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from springback import check
from springback.check import DataError
from springback.outside import from_json, read_bytes


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


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe is a named pipe, not a regular file"):
        read_bytes(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("place", "sentence"),
    [("/dev/zero", "is a device"), (".", "is a folder"), ("none", "does not exist"), ("file/under", "does not exist")],
)
def test_what_is_no_file_is_one_sentence(tmp_path, place, sentence):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=sentence):
        read_bytes(tmp_path / place)


def test_a_sparse_giant_is_refused_by_its_size_alone(tmp_path):
    with open(tmp_path / "giant", "wb") as file:
        file.truncate(100 * 2**30)
    with pytest.raises(DataError, match="must not exceed 1,000 bytes; it has 107,374,182,400"):
        read_bytes(tmp_path / "giant", largest=1000)
