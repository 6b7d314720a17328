"""A pickle from outside is data: whatever it asks for, nothing is run."""

import pickle
import sys

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets.inert_pickle import ARRAYS, Global, Record, as_array, read_pickle

TABLES = ARRAYS | {"copy_reg _reconstructor", "__builtin__ object", "__builtin__ slice"}


class Trap:
    """Unpickled by Python, it leaves a mark."""

    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


def mark(path):
    path.write_text("sprung")


def text(word):
    return b"X" + len(word).to_bytes(4, "little") + word.encode()


def as_pickled_in_2019(values):
    """With the names that NumPy had then."""
    return pickle.dumps(values, protocol=1).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


@pytest.mark.parametrize(
    "values",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(5, dtype=np.int8),
        np.array([True, False]),
        np.ones((1, 3), np.float32),
    ],
    ids=lambda one: f"{one.dtype} {one.shape} {'F' if one.flags.f_contiguous else 'C'}",
)
def test_arrays_of_numbers_come_out_as_they_went_in(values):
    found = as_array(read_pickle(as_pickled_in_2019(values), TABLES))
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)


def test_an_array_of_strings_is_an_array_of_text():
    found = as_array(read_pickle(as_pickled_in_2019(np.array(["acc-x", "label"], object)), TABLES))
    assert found.tolist() == ["acc-x", "label"]
    assert found.dtype.kind == "U"


def test_plain_values_come_out_as_they_went_in():
    values = {"a": [1, -70_000, 300, None, "word", (1, 2, 3, 4)], 7: {}, "again": [[5], [5]]}
    assert read_pickle(pickle.dumps(values, protocol=1), ()) == values


def test_a_value_that_occurs_twice_is_the_same_object():
    inner = [1, 2]
    found = read_pickle(pickle.dumps([inner, inner], protocol=1), ())
    assert found[0] is found[1]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "trap",
    [
        lambda path: Trap(mark, path),
        lambda path: Trap(eval, f"open({str(path)!r}, 'w')"),
        lambda _: Trap(getattr, 1, "a"),
    ],
    ids=["function", "eval", "getattr"],
)
def test_a_call_is_refused_and_not_made(trap, protocol, tmp_path):
    path = tmp_path / "mark"
    with pytest.raises(DataError, match="a pickle must"):
        read_pickle(pickle.dumps([trap(path)], protocol=protocol), TABLES)
    assert not path.exists()


@pytest.mark.parametrize(
    "name",
    [
        "os system",
        "posix system",
        "builtins eval",
        "__builtin__ eval",
        "builtins getattr",
        "subprocess Popen",
        "copy_reg __newobj__",
        "numpy.core.multiarray scalar",
        "numpy ndarray.tofile",
        "numpy.testing._private.utils runstring",
        "_codecs decode",
        "pandas.core.frame DataFrame",
    ],
)
def test_an_unexpected_name_is_refused_in_one_sentence(name):
    module, _, function = name.partition(" ")
    content = f"c{module}\n{function}\n(".encode() + text("echo") + b"tR."
    with pytest.raises(DataError) as caught:
        read_pickle(content, TABLES)
    assert str(caught.value) == f"a pickle must name nothing but data; this one names {name!r}"
    assert caught.value.__cause__ is None


def test_the_modules_that_a_pickle_names_are_not_imported():
    sys.modules.pop("antigravity", None)
    with pytest.raises(DataError, match="this one names 'antigravity fly_id'"):
        read_pickle(b"cantigravity\nfly_id\n.", TABLES)
    read_pickle(b"cantigravity\nfly_id\n.", {"antigravity fly_id"})
    assert "antigravity" not in sys.modules


def test_an_expected_call_becomes_a_record_that_does_nothing():
    found = read_pickle(b"ccopy_reg\n_reconstructor\n(c__builtin__\nobject\nNtR}" + text("a") + b"K\x01sb.", TABLES)
    assert isinstance(found, Record)
    assert found.name == "copy_reg _reconstructor"
    assert found.arguments == (Global("__builtin__ object"), None)
    assert found.state == {"a": 1}
    assert not callable(found)
    assert not callable(found.arguments[0])


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"c__builtin__\nobject\n}b.", "Record is wanted; got Global"),
        (b"c__builtin__\nslice\n(NNNtR(NtR.", "Global is wanted; got Record"),
        (b"c__builtin__\nslice\n]R.", "tuple is wanted; got list"),
        (b"}}b.", "Record is wanted; got dict"),
        (b"](K\x01tK\x02s.", "dict is wanted; got list"),
        (b"}]K\x02s.", "str or int is wanted; got list"),
        (b"}(K\x01u.", "shorter"),
        (b"}(K\x01e.", "list is wanted; got dict"),
        (b"s.", "the stack is empty"),
        (b"t.", "empty list"),
        (b"h\x07.", "7"),
        (b"}}.", "too many values"),
        (b".", "not enough values"),
        (b"", "must be complete and valid"),
        (b"}", "must be complete and valid"),
        (b"c_codecs\nencode\n(" + text("a") + text("utf-7") + b"tR.", "encoded as latin1; got 'utf-7'"),
        (b"c_codecs\nencode\n(" + text("a") + b"tR.", "not enough values"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "the instruction PROTO"),
        (b"\x8c\x02os\x8c\x06system\x93.", "the instruction SHORT_BINUNICODE"),
        (text("os") + text("system") + b"\x93.", "the instruction STACK_GLOBAL"),
        (b"(ios\nsystem\n.", "the instruction INST"),
        (b"c__builtin__\nobject\n)\x81.", "the instruction EMPTY_TUPLE"),
        (b"Paddress\n.", "the instruction PERSID"),
        (b"\x82\x01.", "the instruction EXT1"),
        (b"X\xff\xff\xff\xffa.", "must be complete and valid"),
        (b"}r\xff\xff\xff\xff0.", "the instruction POP"),
    ],
)
def test_tricks_and_rubbish_are_refused_in_one_sentence(content, part):
    with pytest.raises(DataError) as caught:
        read_pickle(content, TABLES)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_memory_with_a_huge_number_takes_no_room():
    assert read_pickle(b"}r\xff\xff\xff\xff.", ()) == {}


def test_a_damaged_pickle_is_refused_or_gives_data():
    rng = np.random.default_rng(0)
    whole = as_pickled_in_2019({"a": [np.arange(5.0), "text", (1, None)], 3: [np.array(["x"], object)] * 2})
    refused, found = 0, []
    for _ in range(2000):
        content = bytearray(whole)
        for at in rng.integers(0, len(whole), rng.integers(1, 4)):
            content[at] = rng.integers(256)
        if rng.random() < 0.5:
            content = content[: rng.integers(1, len(content) + 1)]
        try:
            found.append(read_pickle(bytes(content), TABLES))
        except DataError:
            refused += 1
    assert refused > 1000
    assert len(found) > 50
    assert all(is_inert(one) for one in found)


def is_inert(value):
    """Whether a value, which may contain itself, is plain data all the way down."""
    seen, left = set(), [value]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, Record):
            left += [one.name, one.arguments, one.state]
        elif isinstance(one, list | tuple):
            left += one
        elif not (one is None or isinstance(one, int | str | bytes | Global)):
            return False
    return True


def array_record(shape=(2,), code="f8", order="<", content=bytes(16), by_columns=False):
    kind = Record("numpy dtype", (code, 0, 1), (3, order, None, None, None, -1, -1, 0))
    return Record("numpy.core.multiarray _reconstruct", (), (1, shape, kind, by_columns, content))


@pytest.mark.parametrize(
    ("record", "part"),
    [
        (array_record(code="O8", content=["a", Trap(eval, "1")]), "str is wanted; got Trap"),
        (array_record(code="O8", content=[Global("os system")] * 2), "str is wanted; got Global"),
        (array_record(code="V16"), "plain numbers; got ('<', 'V16')"),
        (array_record(code="f8", order=">"), "plain numbers; got ('>', 'f8')"),
        (array_record(shape=(3,)), "have 3 values; got 2"),
        (array_record(shape=(2**62, 4)), "values; got 2"),
        (array_record(shape=(-2,)), "a size must be >= 0; got -2"),
        (array_record(shape=[2]), "tuple is wanted; got list"),
        (array_record(content=bytes(15)), "buffer size"),
        (array_record(content="text"), "bytes is wanted; got str"),
        (Record("numpy.core.multiarray _reconstruct", ()), "tuple is wanted; got NoneType"),
        (Record("os system", ("ls",)), "a record of one; got Record"),
        ("text", "a record of one; got str"),
    ],
)
def test_what_is_not_an_array_of_plain_values_is_refused(record, part):
    with pytest.raises(DataError) as caught:
        as_array(record)
    assert part in str(caught.value)
