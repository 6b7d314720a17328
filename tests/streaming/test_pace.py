"""Time stamps become frames by the pace of their stream, the same in every model."""

import numpy as np
import pytest

from springback import ElasticClustering
from springback.heads import ElasticHead, KeyedStreams, Observer, Springs
from springback.streaming.pace import AT_REST, next_times, stamps_in_frames, usual_step

ROWS = np.random.default_rng(0).normal(size=(40, 5))
HEAD = np.random.default_rng(1).normal(size=(3, 5)), np.zeros(3)
EVEN = {
    "thirtieths": np.arange(40) / 30,
    "milliseconds": 33.3 * np.arange(40),
    "seconds since 1970": 1.7e9 + np.arange(40) / 30,
    "dates": np.datetime64("2024-01-01", "ms") + 33 * np.arange(40),
}


def in_frames(stamps):
    return next_times("times", len(stamps), stamps, np.nan, AT_REST, "frames")[0]


def models():
    return {
        "observer": ElasticHead(*HEAD),
        "springs": ElasticHead(*HEAD, Springs(pull=1.0, memory=3.0)),
        "clustering": ElasticClustering(3, resting=HEAD[0], pull=1.0, scaling=None).fit(ROWS),
    }


@pytest.mark.parametrize("name", ["observer", "springs", "clustering"])
@pytest.mark.parametrize("unit", EVEN)
def test_even_time_stamps_in_any_unit_answer_as_none_do(name, unit):
    model = models()[name]
    np.testing.assert_allclose(model.track(ROWS, EVEN[unit]), model.track(ROWS), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["observer", "springs", "clustering"])
def test_a_stream_with_uneven_time_stamps_may_be_split_and_saved_anywhere(name):
    stamps = np.cumsum(np.random.default_rng(2).exponential(0.04, 40))
    model = models()[name]
    whole, other = model.track(ROWS, stamps), models()[name]
    model.track_response(ROWS[:7], stamps[:7], in_place=True)
    stepped = [model.step(row, stamp) for row, stamp in zip(ROWS[7:20], stamps[7:20], strict=True)]
    np.testing.assert_array_equal(stepped, whole[7:20])
    np.testing.assert_array_equal(other.set_state(model.get_state()).track(ROWS[20:], stamps[20:]), whole[20:])
    streams = KeyedStreams(models()[name], compact=False)
    keyed = [streams.follow("a", ROWS[part], stamps[part]).posterior for part in (slice(0, 3), slice(3, 40))]
    np.testing.assert_array_equal(np.concatenate(keyed), whole)


def test_a_pause_is_as_many_frames_as_it_is_usual_steps_and_jitter_is_no_pause():
    np.testing.assert_allclose(in_frames([0.0, 0.1, 0.2, 6.2, 6.3]), [0, 1, 2, 62, 63])
    assert np.diff(in_frames([0.0, 0.099, 0.2, 0.301, 0.4])).max() < 1.05
    np.testing.assert_allclose(in_frames([0.0, 60.0, 60.1, 60.2])[2:], [2, 3])  # a pause at once is not the pace


def test_time_stamps_that_are_too_coarse_are_said():
    head = ElasticHead(*HEAD, Observer())
    rows, seconds = np.resize(ROWS, (60, ROWS.shape[1])), np.arange(60) / 30
    with pytest.warns(UserWarning, match="most frames have the time stamp of the frame before them"):
        head.track(rows, np.floor(seconds))
    head.track(rows, seconds)
    head.track(rows, np.floor(60 * seconds))


def test_a_lasting_change_of_pace_is_followed():
    stamps = np.concatenate([np.arange(20) / 30, 19 / 30 + np.arange(1, 21) / 10])
    np.testing.assert_allclose(np.diff(in_frames(stamps))[[10, 19, 25, 26, 38]], [1, 3, 3, 1, 1])


def test_frames_without_time_stamps_come_one_usual_step_after_the_last():
    head, timed = ElasticHead(*HEAD), ElasticHead(*HEAD)
    stamps = np.arange(10) / 4
    for row, stamp in zip(ROWS, stamps, strict=False):
        head.step(row, stamp)
        timed.step(row, stamp)
    np.testing.assert_array_equal(head.step(ROWS[10]), timed.step(ROWS[10], 2.5))
    np.testing.assert_allclose(head.step(ROWS[11], 7.5), timed.relax(4.75).step(ROWS[11], 7.5))
    with pytest.raises(ValueError, match=r"time must be >= 7.5, the time of the last frame"):
        head.step(ROWS[0], 7.0)


def test_frames_at_the_same_time_do_not_change_the_pace():
    pace = stamps_in_frames(AT_REST[None], np.array([np.nan]), np.array([[0.0], [0.5], [0.5], [0.5], [1.0]]))[1]
    assert usual_step(pace) == 0.5


@pytest.mark.parametrize(
    "model",
    [
        ElasticHead(*HEAD, Observer(memory=0.1, memory_in="time")),
        ElasticClustering(3, resting=HEAD[0], memory=0.1, memory_in="time", scaling=None).fit(ROWS),
    ],
)
def test_a_memory_in_the_unit_of_time_stamps_needs_them(model):
    own = type(model)
    frames = (
        ElasticHead(*HEAD, Observer())
        if own is ElasticHead
        else ElasticClustering(3, resting=HEAD[0], memory=3.0, scaling=None).fit(ROWS)
    )
    np.testing.assert_allclose(model.track(ROWS, EVEN["thirtieths"]), frames.track(ROWS), rtol=1e-3, atol=1e-4)
    for refused in (lambda: model.track(ROWS), lambda: model.step(ROWS[0])):
        with pytest.raises(ValueError, match=r"times must be given, .* \(memory_in='time'\)"):
            refused()
