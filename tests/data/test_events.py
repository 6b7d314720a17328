"""Events of an event camera, made from frames."""

import numpy as np
import pytest

from springback.data.events import change_events


def test_a_pixel_reports_each_change_as_often_as_it_has_levels_and_with_its_sign():
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (6, 4, 5), np.uint8)
    events = change_events(frames, levels_per_event=10.0, frame_ms=20.0, seed=3)
    assert (np.diff(events["t"]) >= 0).all()
    change = np.diff(frames.astype(int), axis=0, prepend=np.zeros((1, 4, 5), int))
    for at in np.ndindex(change.shape):
        mine = (events["t"] // 20_000 == at[0]) & (events["y"] == at[1]) & (events["x"] == at[2])
        assert mine.sum() == np.rint(abs(change[at]) / 10.0)
        assert (events["p"][mine] == (change[at] > 0)).all()


def test_a_stream_in_two_parts_has_the_events_of_the_whole():
    frames = np.random.default_rng(1).integers(0, 256, (4, 3, 3), np.uint8)
    whole = change_events(frames)
    parts = [change_events(frames[:2]), change_events(frames[2:], before=frames[1])]
    assert len(whole) == sum(len(part) for part in parts)


def test_a_still_picture_is_silent_after_its_first_frame():
    frames = np.full((5, 3, 3), 200, np.uint8)
    assert (change_events(frames, frame_ms=10.0)["t"] < 10_000).all()
    assert len(change_events(frames, before=frames[0])) == 0


@pytest.mark.parametrize("bad", [{"levels_per_event": 0.0}, {"frame_ms": -1.0}, {"before": np.zeros((2, 2), np.uint8)}])
def test_bad_arguments_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        change_events(np.zeros((2, 3, 3), np.uint8), **bad)
