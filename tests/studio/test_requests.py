import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from springback_studio.requests import DRAWING_BYTES, Message, drawing_of, parse


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hello", "a message must be a JSON object"),
        ("[]", "a message must be a JSON object"),
        ("[" * 400, "a message must be a JSON object"),
        ('{"ask": "rm"}', "ask must be one of"),
        ('{"ask": 3}', "ask must be one of"),
        ('{"ask": "noise", "file": "/etc/passwd"}', "the values of 'noise' must be"),
        ('{"ask": "occlude"}', "the values of 'occlude' must be"),
        ('{"ask": "occlude", "rows": 29}', "rows must be <= 28; got 29"),
        ('{"ask": "occlude", "rows": 3.5}', "rows must be a whole number; got 3.5"),
        ('{"ask": "occlude", "rows": true}', "rows must be a whole number; got True"),
        ('{"ask": "control", "name": "pull", "value": NaN}', "a message must be a JSON object"),
        ('{"ask": "control", "name": "pull", "value": ' + "9" * 430 + "}", "a message must be a JSON object"),
        ('{"ask": "seen", "frame": ' + "1" * 18 + "}", "a message must be a JSON object"),
        ('{"ask": "control", "name": "pull", "value": 1e999}', "value must be finite"),
        ('{"ask": "control", "name": "__class__", "value": 1}', "name must be one of"),
        ('{"ask": "record", "on": 1}', "on must be true or false; got 1"),
        ('{"ask": "model", "model": "' + "x" * 600 + '"}', "a message must have at most 500 characters"),
    ],
)
def test_a_bad_message_is_refused_in_one_sentence(text, sentence):
    with pytest.raises((ValueError, TypeError)) as caught:
        parse(text)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(text=st.text(max_size=600))
def test_any_text_is_either_understood_or_refused(text):
    with suppress(ValueError, TypeError):
        assert isinstance(parse(text), Message)


@settings(deadline=None)
@given(
    found=st.dictionaries(
        st.sampled_from(["ask", "rows", "value", "name"]), st.none() | st.floats() | st.integers() | st.text()
    )
)
def test_any_object_is_either_understood_or_refused(found):
    with suppress(ValueError, TypeError):
        assert isinstance(parse(json.dumps(found)), Message)


def test_a_drawing_has_exactly_its_bytes():
    assert drawing_of(bytes(DRAWING_BYTES)).shape == (112, 112)
    for wrong in (0, DRAWING_BYTES - 1, DRAWING_BYTES + 1):
        with pytest.raises(ValueError, match="a drawing must have 12544 bytes"):
            drawing_of(bytes(wrong))


def test_a_drawing_is_read_row_by_row():
    pixels = np.random.default_rng(0).integers(0, 256, (112, 112), dtype=np.uint8)
    assert (drawing_of(pixels.tobytes()) == pixels).all()
