"""Things that are taught by showing them, and the features they are recognised by."""

import numpy as np
import pytest

from springback.heads import ElasticHead, Springs
from springback_studio.own_stream.answers import remembered
from springback_studio.own_stream.features import (
    HOP,
    N_PICTURE_FEATURES,
    N_SOUND_FEATURES,
    PICTURE_SHAPE,
    RATE_HZ,
    WINDOW,
    picture_features,
    sound_features,
)
from springback_studio.own_stream.recognisers import NetworkRecogniser, TaughtRecogniser
from springback_studio.own_stream.taught_things import THINGS_MAX, Things, nearest_mean_head
from tests.studio.recorded import scene


def picture(number, shift=0, noise=0.0, seed=0, hidden=0.0, light=1.0):
    """A scene as a camera of the browser sends it."""
    rng = np.random.default_rng(seed)
    rows = np.linspace(0, 119, PICTURE_SHAPE[0]).astype(int)
    columns = np.linspace(0, 159, PICTURE_SHAPE[1]).astype(int)
    small = light * scene(number, shift)[rows][:, columns].astype(np.float64)
    small[: int(hidden * PICTURE_SHAPE[0])] = 40
    return np.clip(small + rng.normal(0, noise, small.shape), 0, 255).astype(np.uint8)


def taught_by_pictures(frames=5):
    taught = TaughtRecogniser.by_pictures()
    for thing in range(3):
        for seed in range(frames):
            taught.see(picture(thing, shift=seed, noise=8, seed=seed).tobytes(), thing)
    taught.restart()
    return taught


def test_features_have_the_promised_sizes_and_are_finite():
    assert picture_features(picture(0)).shape == (N_PICTURE_FEATURES,)
    assert sound_features(np.zeros(WINDOW, np.int16)).shape == (N_SOUND_FEATURES,)
    for extreme in (np.zeros(PICTURE_SHAPE, np.uint8), np.full(PICTURE_SHAPE, 255, np.uint8)):
        assert np.isfinite(picture_features(extreme)).all()
    assert np.isfinite(sound_features(np.full(WINDOW, -(2**15), np.int16))).all()


def test_features_of_a_picture_hardly_change_with_the_light():
    plain, dark, other = (picture_features(one) for one in (picture(0), picture(0, light=0.6), picture(1)))
    assert np.linalg.norm(plain - dark) < 0.6 * np.linalg.norm(plain - other)


def test_things_are_recognised_with_noise_and_when_they_are_moved():
    taught = taught_by_pictures()
    for thing in range(3):
        taught.restart()
        told = taught.see(picture(thing, shift=7, noise=25, seed=9).tobytes(), None)
        assert told.frozen.argmax() == thing
        assert told.posterior.argmax() == thing


def test_with_memory_a_thing_is_known_longer_when_it_is_hidden():
    taught = taught_by_pictures()
    for seed in range(6):
        told = taught.see(picture(1, noise=15, seed=seed).tobytes(), None)
    certain = told.posterior[1]
    for hidden in np.linspace(0.1, 0.7, 7):
        told = taught.see(picture(1, noise=15, seed=int(100 * hidden), hidden=hidden).tobytes(), None)
    assert told.posterior[1] > told.frozen[1]
    assert told.posterior.argmax() == 1
    assert told.memory[1] > 0.3
    assert certain > 0.8


def test_something_new_is_novel_and_familiar_soon():
    taught = taught_by_pictures()
    novelty = [taught.see(picture(number, seed=3).tobytes(), None).novelty for number in (0, 0, 0, 2)]
    assert novelty[2] < 0.5 < novelty[3]


def test_sounds_are_recognised():
    time = np.arange(HOP * 12) / RATE_HZ
    sounds = [np.zeros(len(time)), *(9000 * np.sin(2 * np.pi * hertz * time) for hertz in (300, 2000))]
    taught = TaughtRecogniser.by_sound()
    assert taught.frame_bytes == 2 * HOP
    for thing, sound in enumerate(sounds):
        for hop in sound.astype("<i2").reshape(-1, HOP)[4:]:
            taught.see(hop.tobytes(), thing)
    for thing, sound in enumerate(sounds):
        taught.restart()
        for hop in (0.5 * sound).astype("<i2").reshape(-1, HOP):
            told = taught.see(hop.tobytes(), None)
        assert told.frozen.argmax() == thing


def test_nothing_is_answered_until_two_things_are_known():
    things = Things(3, ("a", "b"))
    row = np.ones(3, np.float32)
    things.teach(0, row)
    assert things.answer(row) is None
    things.teach(1, -row)
    assert things.answer(row).posterior.argmax() == 0
    things.forget(1)
    assert things.answer(row) is None


def test_things_that_look_the_same_are_equally_likely():
    things = Things(3, ("a", "b"))
    for thing in (0, 1):
        things.teach(thing, np.ones(3, np.float32))
    assert things.answer(np.ones(3, np.float32)).posterior.tolist() == [0.5, 0.5]


def test_the_number_of_things_is_limited():
    things = Things(3, ("a",))
    for _ in range(THINGS_MAX - 1):
        things.add()
    with pytest.raises(ValueError, match=f"things must be at most {THINGS_MAX}"):
        things.add()
    with pytest.raises(ValueError, match="thing must be <="):
        things.teach(THINGS_MAX, np.zeros(3, np.float32))


def test_the_head_answers_with_the_nearest_mean():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(4, 9)) + 3
    head = nearest_mean_head(means, 3.0)
    rows = means.repeat(20, axis=0) + 0.8 * rng.normal(size=(80, 9))
    logits = rows @ head.weight.T.astype(np.float64) + head.bias
    distances = ((rows[:, None] - means) ** 2).sum(axis=2)
    assert (logits.argmax(axis=1) == distances.argmin(axis=1)).all()


def test_the_springs_of_a_class_are_shown_within_bounds():
    head = ElasticHead(np.eye(3), np.zeros(3), Springs(pull=2.0, memory=3.0))
    assert remembered(head).tolist() == [0, 0, 0]
    for _ in range(50):
        head.step([0.0, 5.0, 0.0])
    assert remembered(head).argmax() == 1
    assert 0 < remembered(head).max() <= 1
    assert remembered(object()) is None


def test_a_network_that_takes_rows_is_refused_for_a_camera():
    from springback.check import DataError
    from springback.live.follower import Follower

    follower = Follower(ElasticHead(np.eye(3), np.zeros(3)), "head.safetensors")
    with pytest.raises(DataError, match="use a network that turns pictures into features"):
        NetworkRecogniser(follower, "camera")
    with pytest.raises(DataError, match="does not take sound"):
        NetworkRecogniser(follower, "microphone")


def test_a_network_of_pictures_that_says_nothing_about_them_names_what_to_give():
    from springback.check import DataError
    from springback.live.frames import Signal
    from springback.live.preparation import Rows

    with pytest.raises(DataError, match=r"clip.mp4 gives pictures, .*mean 0, std 1 and channels grey"):
        Rows(shape=(1, 28, 28)).refuse(Signal(kind="pictures"), "clip.mp4")
    with pytest.raises(DataError, match=r"mean 0,0,0, std 1,1,1 and channels rgb"):
        Rows(shape=(3, 28, 28)).refuse(Signal(kind="pictures"), "clip.mp4")
