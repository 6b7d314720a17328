import numpy as np
import pytest

from springback.data import Occluder
from springback.data.pretrained import shipped_digits
from springback.spiking.presets import springback_2026
from springback.streaming.records import NOISE_LABEL
from springback_studio.inputs import NOISE_FRAMES, Input, fitted, still, stream_round
from springback_studio.session import N_MAPS, Session, directions
from springback_studio.view import View


def make(**view):
    return Session(View(**{"model": "elastic", **view}))


def test_the_stream_is_the_omnist_video_of_the_shipped_digits():
    video, view = stream_round(4, 0), View(seed=4)
    source = Input(view)
    shown = [source.next(view) for _ in range(len(video))]
    assert (np.stack([one.pixels for one in shown]) == video.frames).all()
    assert [one.label for one in shown] == video.labels.tolist()
    second = stream_round(4, 1)
    assert (source.next(view).pixels == second.frames[0]).all()
    assert not np.array_equal(video.labels[:200], second.labels[:200])


def test_a_picked_digit_is_hidden_as_the_videos_occluder_hides_it():
    pixels = shipped_digits().pixels[42]
    for rows in (0, 9, 19):
        visible = Occluder(speed=rows, stop_at=rows, slow_from=28).visible(2, (28, 28))[1]
        assert (still(View(source="digit", digit=4, example=2, occlude=rows)).pixels == pixels * visible).all()


def test_thrown_noise_lasts_four_frames_and_the_picture_comes_back():
    session = make(source="digit", digit=5)
    session.advance()
    session.throw_noise()
    labels = [session.advance().shown.label for _ in range(NOISE_FRAMES + 1)]
    assert labels == [NOISE_LABEL] * NOISE_FRAMES + [5]


def test_running_accuracy_counts_what_was_correct():
    session = make(seed=1)
    pictures = [session.advance() for _ in range(40)]
    for which in (0, 1):
        right = sum(one.answers[which].predicted == one.shown.label for one in pictures)
        assert pictures[-1].correct[which] == right
    assert pictures[-1].counted == 40
    assert pictures[-1].correct[0] > pictures[-1].correct[1]


def test_a_drawing_has_no_label_and_is_not_counted():
    session = make(source="digit", digit=1)
    ink = np.zeros((112, 112), np.uint8)
    ink[10:100, 50:58] = 255
    session.draw(ink)
    picture = session.advance()
    assert picture.shown.label is None
    assert picture.counted == 0
    assert (picture.shown.pixels == fitted(ink)).all()
    assert picture.answers[0].predicted == 1


def test_hidden_digits_are_still_known_by_the_one_that_adapts():
    right = [0, 0]
    for digit in range(10):
        session = make(source="digit", digit=digit)
        for rows in range(0, 19, 3):
            session.occlude(rows)
            picture = session.advance()
        for which, answer in enumerate(picture.answers):
            right[which] += answer.predicted == digit
    assert right[0] >= 9
    assert right[1] <= 6


def test_looking_moves_nothing():
    session = make(seed=2)
    for _ in range(3):
        session.advance()
    before = session.look()
    assert before.short_term.any()
    assert (session.look().short_term == before.short_term).all()
    assert session.frame == 3


def test_the_same_view_with_frames_shows_the_same_picture():
    session = make(seed=3, settings={"pull": 11.0})
    for _ in range(12):
        last = session.advance()
    again = Session(session.command_view()).look()
    assert again.frame == 12
    assert (again.short_term == last.short_term).all()
    assert again.correct == last.correct
    assert (again.shown.pixels == last.shown.pixels).all()


def test_a_change_on_the_way_is_not_claimed_to_be_repeatable():
    session = make(source="digit", digit=2)
    session.advance()
    session.occlude(5)
    session.advance()
    assert session.command_view().frames == 0
    assert session.command_view().occlude == 5


def test_the_winner_is_pulled_towards_the_input_and_springs_back():
    session = make(source="digit", digit=7)
    session.advance()
    path = session.advance().path
    winner = np.array([path.unit])
    rest, stretched = session.pair.resting(winner), session.pair.short_term(winner)
    seen = session.pair.sensed(session.look().shown.pixels[None])

    def cosine(weights):
        return float((directions(weights) * directions(seen)).sum())

    assert cosine(rest + stretched) > cosine(rest) + 0.05
    assert np.allclose(path.now, session.plane.place(rest + stretched)[0])
    session.occlude(28)
    away = [np.linalg.norm(session.advance().path.now - path.rest) for _ in range(12)]
    assert away == sorted(away, reverse=True)
    assert away[-1] < 0.05 * np.linalg.norm(path.now - path.rest)


def test_the_winner_is_the_first_map_and_no_unit_is_shown_twice():
    session = make(seed=6)
    for _ in range(30):
        picture = session.advance()
        if picture.path is not None:
            assert picture.units[0] == picture.path.unit
        assert len(set(picture.units.tolist())) == N_MAPS


def test_a_refused_slider_changes_nothing():
    session = make()
    before = session.view
    with pytest.raises(ValueError, match="pull must be <= 100"):
        session.control("pull", 101.0)
    assert session.view is before


def test_switching_the_model_takes_its_own_settings_and_keeps_the_picture():
    session = make(source="digit", digit=8, settings={"pull": 3.0})
    session.choose_model("spiking")
    assert session.view.digit == 8
    assert session.view.settings["pull"] == springback_2026().short_term.pull
    assert session.advance().answers[0].response.sum() > 0
