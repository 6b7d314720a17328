import numpy as np
import pytest

from springback_studio.controls import CONTROL_NAMES, MODELS, absence_of, controls_of
from springback_studio.view import View, command_of, packed_drawing, unpacked_drawing


@pytest.mark.parametrize("model", MODELS)
def test_every_slider_has_a_default_within_its_bounds_and_says_what_it_does(model):
    for control in controls_of(model).values():
        assert control.low <= control.default <= control.high
        assert control.says.endswith(".")
        assert len(control.says) < 90


@pytest.mark.parametrize("model", MODELS)
def test_a_slider_is_there_or_its_absence_has_a_reason(model):
    for name in CONTROL_NAMES:
        assert (name in controls_of(model)) != bool(absence_of(model, name))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"model": "transformer"}, "model must be one of"),
        ({"occlude": 29}, "occlude must be <= 28; got 29"),
        ({"settings": {"pull": -1.0}}, "pull must be >= 0; got -1.0"),
        ({"settings": {"path": 1.0}}, "the control must be one of"),
        ({"source": "drawing"}, "drawing must be given; got None"),
        ({"speed": 0}, "speed must be >= 1; got 0"),
    ],
)
def test_a_wrong_view_is_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        View(**wrong)


def test_a_drawing_survives_the_command_line():
    frame = np.random.default_rng(0).integers(0, 256, (28, 28), dtype=np.uint8)
    assert (unpacked_drawing(packed_drawing(frame)) == frame).all()


def test_a_word_that_unpacks_to_something_huge_is_refused():
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(bytes(10**7))).decode()
    with pytest.raises(ValueError, match="drawing must be a code that the studio exported"):
        unpacked_drawing(bomb)


def test_the_command_names_only_what_was_changed():
    view = View(model="cnn", source="digit", digit=4, example=2, settings={"pull": 7.0}, frames=5)
    expected = "springback studio --model cnn --digit 4 --example 2 --occlude 0 --pull 7 --speed 10 --seed 0 --frames 5"
    assert command_of(view) == expected
