"""A few thousand damaged files: each is refused in one sentence, or holds what its sealer meant.

`make fuzz` does the same a hundred times over, works with everything that was taken, and checks every index.
"""

import json
from dataclasses import dataclass
from functools import cache
from threading import Event
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from springback.check import DataError
from springback.files.container import from_bytes, to_bytes
from springback.files.records import from_json
from springback.spiking._state_check import check_circuit_state, check_long_term_state, check_short_term_state
from tests.fuzz.cases import Case, Judge, Outcome, flip_case, make_case, quick_folder
from tests.fuzz.formats import FORMATS, Format
from tests.fuzz.formats.circuits import CIRCUIT

CASES, FLIPS = 300, 40
SLOW = ("onnx metadata",)
"""A session is opened for each file."""
NEEDS_COMPILED_CODE = ("spiking model", "spiking stream", "training checkpoint")
UNSEALED = ("results", "preset", "own images", "onnx metadata")

form_of = cache(lambda name: FORMATS[name]())

quick = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.more) if name in SLOW else name for name in FORMATS]
)
def test_no_damaged_file_does_more_than_to_be_refused(name):
    form = form_of(name)
    with quick_folder() as folder:
        judge = Judge(form, folder, use=name not in NEEDS_COMPILED_CODE)
        judged = {number: judge(make_case(form, number)) for number in range(CASES)}
    failed = {number: said for number, said in judged.items() if said[0] > Outcome.VALID}
    assert not failed
    assert sum(outcome == Outcome.REFUSED for outcome, _ in judged.values()) > CASES // 3


def work_forever():
    while True:
        pass


@pytest.mark.waits
@pytest.mark.parametrize("hang", [work_forever, Event().wait])
def test_a_file_that_never_ends_is_a_hang(hang, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.fuzz.cases.PATIENCE_S", 0.05)
    form = Format("text", (b"whole",), lambda path: path.read_bytes() == b"whole" or hang(), use=print)
    outcome, why = Judge(form, tmp_path, use=False)(Case(b"damaged", meant=False))
    assert outcome == Outcome.HANG, why


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in UNSEALED])
def test_no_flipped_bit_goes_unseen(name):
    form = form_of(name)
    with quick_folder() as folder:
        judge = Judge(form, folder, use=False)
        assert {judge(flip_case(form, number))[0] for number in range(FLIPS)} == {Outcome.REFUSED}


@quick
@given(content=st.binary(max_size=300))
@pytest.mark.parametrize("name", ["spiking model", "video", "tuned", "results"])
def test_bytes_of_any_kind_are_one_sentence(name, content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataError):
        form_of(name).load(tmp_path / "file")


@quick
@given(value=json_values, kind=st.sampled_from([Any, int, float, dict[str, float], tuple[int, ...], type(CIRCUIT)]))
def test_json_of_any_kind_is_a_value_of_the_type_or_one_line(value, kind):
    said = ""
    try:
        found = from_json(json.dumps(value), kind)
    except ValueError as error:
        said = str(error)
    assert "\n" not in said
    assert said or kind is Any or isinstance(found, int | float | dict | tuple | type(CIRCUIT))


@dataclass(frozen=True, eq=False)
class Named:
    name: str
    arrays: dict[str, NDArray[Any]]


dtypes = st.sampled_from(["uint8", "int16", "int32", "int64", "float32", "float64"])
keys = st.text(max_size=4).filter(lambda key: not key.startswith("$"))
some_array = dtypes.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, max_side=6)))


@quick
@given(
    tensors=st.dictionaries(st.text(max_size=4).filter(lambda key: key[:1] != "$"), some_array, max_size=3),
    name=st.text(max_size=5),
)
def test_arrays_of_any_shape_and_value_come_back_bit_for_bit(tensors, name):
    found = from_bytes("file", to_bytes("data", Named(name, tensors)), "data", Named)
    assert found.name == name
    assert {key: (one.dtype, one.shape, one.tobytes()) for key, one in found.arrays.items()} == {
        key: (one.dtype, one.shape, one.tobytes()) for key, one in tensors.items()
    }


@quick
@given(data=st.data())
def test_no_array_of_any_kind_passes_for_part_of_a_state_unless_it_fits(data):
    from springback.spiking._state import long_term_rest, rest_state, short_term_rest

    k, n = CIRCUIT.n_neurons, CIRCUIT.n_inputs
    checks = (
        (rest_state(CIRCUIT, np.zeros(k), "float32"), lambda one: check_circuit_state(one, CIRCUIT, "float32")),
        (long_term_rest(CIRCUIT, "float32"), lambda one: check_long_term_state(one, CIRCUIT, "float32", 0)),
        (
            short_term_rest(CIRCUIT, "float32"),
            lambda one: check_short_term_state(one, CIRCUIT, "float32", 0, per_synapse=False),
        ),
    )
    state, check = data.draw(st.sampled_from(checks))
    name = data.draw(st.sampled_from([name for name in state._fields if name not in ("recent", "slots")]))
    part = getattr(state, name)
    same_shape = arrays.arrays(part.dtype, part.shape)
    other = data.draw(same_shape | some_array | st.sampled_from([None, 3, "x", np.zeros(0), np.zeros((k, n))]))
    try:
        check(state._replace(**{name: other}))
    except (TypeError, ValueError):
        return
    assert isinstance(other, np.ndarray)
    assert (other.dtype, other.shape) == (part.dtype, part.shape)
