"""Streams as tracks of several objects in view at once."""

import numpy as np

from springback.heads import Observer
from springback_bench.comparison import tracked
from springback_bench.stream_sets import Head, Stream


def streams():
    labels = np.tile(np.arange(3), 7).repeat(5)
    objects = np.arange(21).repeat(5)
    features = np.eye(3, dtype=np.float32)[labels]
    features[2::5] = np.roll(features[2::5], 1, axis=1)  # the third frame of each object is mistaken
    return (Stream(features=features, labels=labels, times=np.arange(105.0), objects=objects),)


HEAD = Head(weight=2 * np.eye(3, dtype=np.float32), bias=np.zeros(3, np.float32), centre=np.zeros(3, np.float32))


def test_every_frame_is_shown_once_and_some_tracks_go_on_with_one_other_object():
    shown = tracked.tracks_of(HEAD, streams())
    assert np.bincount(shown.objects).tolist() == [5] * 21
    assert len(set(shown.tracks[:8])) == 8
    objects = [len(set(shown.objects[shown.tracks == one])) for one in np.unique(shown.tracks)]
    assert set(objects) == {1, 2}


def test_each_method_answers_each_track_by_itself():
    shown = tracked.tracks_of(HEAD, streams())
    alone = tracked.frozen(shown, None)
    assert np.mean(alone == shown.labels) == 0.8
    one = shown.tracks == np.unique(shown.tracks)[0]
    calm = Observer(kappa=0.0, continuity=0.0, evidence=1.0, novelty_odds=0.03)
    for run, setting in ((tracked.majority_lock, 5), (tracked.smoothing, 0.8), (tracked.ours, calm)):
        answers = run(shown, setting)
        assert np.mean(answers == shown.labels) > 0.85, run
        part = tracked.Tracks(*(values[one] for values in shown))
        assert (run(part, setting) == answers[one]).all(), run
