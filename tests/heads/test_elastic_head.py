"""The compiled head equals the plain one, keeps the protocol of streams, and falls back to the frozen answer."""

import dataclasses

import numpy as np
import pytest
from scipy.special import softmax

from springback.heads import (
    CentroidSprings,
    ElasticHead,
    LearningObserver,
    Observer,
    Scale,
    Springs,
    WindowSprings,
    follow,
)
from springback.streaming.pace import AT_REST, stamps_in_frames

RNG = np.random.default_rng(0)
WEIGHT, BIAS = RNG.normal(size=(5, 12)).astype(np.float32), RNG.normal(size=5).astype(np.float32)
CENTRE = RNG.normal(size=12).astype(np.float32)
ROWS = (np.repeat(RNG.normal(size=(6, 12)), 8, axis=0) + 0.4 * RNG.normal(size=(48, 12))).astype(np.float32)
MIXED = ROWS[np.random.default_rng(1).permutation(len(ROWS))]
GAPS = RNG.uniform(0.2, 3.0, len(ROWS))

SETTINGS = {
    "observer": Observer(),
    "observer, no evidence": Observer(evidence=0.0, novelty_odds=0.001),
    "observer, averaging": Observer(gain=0.2, memory=20.0, kappa=3.0),
    "observer, short": Observer(depth=3, evidence=1.0),
    "class memory": Observer(kappa=0.0, evidence=0.5),
    "springs": Springs(pull=3.0, memory=2.0, kappa=0.5),
    "springs and class memory": Springs(pull=3.0, memory=2.0, constant=0.3),
    "class memory alone": Springs(pull=3.0, memory=2.0, constant=1.0),
    "raw inputs": Springs(pull=0.3, memory=2.0, unit_inputs=False),
    "a window": WindowSprings(pull=3.0, memory=2.0, constant=0.3, window=5),
    "tuned springs": WindowSprings(pull=3.0, memory=2.0, kappa=0.5, constant=0.2, window=20, tuning=4.0),
    "tuned to nothing": WindowSprings(pull=3.0, memory=2.0, window=20, tuning=0.0),
    "always trusted": Observer(continuity=0.0),
    "learning": LearningObserver(depth=4, slowness=20.0),
    "learning, averaging": LearningObserver(depth=4, strength=8.0, gain=0.3, slowness=5.0),
    "learning, always trusted": LearningObserver(depth=4, continuity=0.0, slowness=20.0),
    "centroids": CentroidSprings(pull=0.5, memory=3.0, kappa=9.0, likelihood="exponential"),
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("scale", [None, Scale(6.0, 0.7)])
def test_the_compiled_head_equals_the_plain_one(name, centred, scale):
    centre = CENTRE if centred else None
    times = 10 + np.cumsum(GAPS)
    in_frames = stamps_in_frames(AT_REST[None], np.array([np.nan]), times[:, None])[0][:, 0]
    for unit, counted in (("time", times), ("frames", in_frames)):
        settings = dataclasses.replace(SETTINGS[name], memory_in=unit)
        head = ElasticHead(WEIGHT, BIAS, settings, centre=centre, scale=scale)
        gaps = np.diff(counted, prepend=counted[0] - 1)
        wanted = follow(settings, WEIGHT, BIAS, ROWS, gaps=gaps, centre=centre, scale=scale)
        np.testing.assert_allclose(head.track(ROWS, times), wanted, atol=2e-4)


@pytest.mark.filterwarnings("ignore:memory is")
@pytest.mark.parametrize("step", [2.0**-17, 1 / 32, 32.0], ids=["hours", "seconds", "milliseconds"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_memory_in_any_unit_of_time_answers_as_one_in_frames_and_its_state_can_be_stored(name, step):
    times = np.arange(2 * len(ROWS)) + np.repeat([0, 40], len(ROWS))  # with a pause
    rows, frames = np.concatenate([ROWS, MIXED]), SETTINGS[name]
    timed = ElasticHead(WEIGHT, BIAS, dataclasses.replace(frames, memory=frames.memory * step, memory_in="time"))
    found = timed.track(rows[: len(ROWS)], step * times[: len(ROWS)])
    np.testing.assert_allclose(found, ElasticHead(WEIGHT, BIAS, frames).track(ROWS), atol=1e-6)
    for row, time in zip(rows, step * times, strict=True):
        timed.step(row, time)
        timed.set_state(timed.get_state())


@pytest.mark.parametrize("times", [np.zeros(96), np.arange(96) // 30, np.repeat(np.arange(48), 2)])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_state_after_frames_with_the_same_time_stamp_can_be_stored(name, times):
    head, rows = ElasticHead(WEIGHT, BIAS, SETTINGS[name]), np.concatenate([ROWS, ROWS])
    for row, time in zip(rows, times, strict=True):
        head.step(row, time)
        state = head.get_state()
        head.set_state(state)
        assert head.get_state() == state


@pytest.mark.parametrize("name", SETTINGS)
def test_steps_give_the_same_answers_as_a_recorded_stream(name):
    head = ElasticHead(WEIGHT, BIAS, SETTINGS[name], centre=CENTRE)
    whole = head.track(ROWS)
    np.testing.assert_array_equal([head.step(row) for row in ROWS], whole)
    assert not np.array_equal(head.track(ROWS), whole), "the head should have moved"
    np.testing.assert_array_equal(head.reset().track(ROWS), whole)


@pytest.mark.parametrize("name", SETTINGS)
def test_silence_returns_every_head_to_the_frozen_answer(name):
    head = ElasticHead(WEIGHT, BIAS, SETTINGS[name], scale=Scale(6.0, 0.7))
    between = ROWS[-1:] + ROWS[0]
    at_rest = head.track(between)
    for row in ROWS:
        head.step(row)
    assert np.abs(head.track(between) - at_rest).max() > 1e-5
    np.testing.assert_allclose(head.relax(5000.0).track(between), at_rest, atol=1e-7)


@pytest.mark.parametrize("name", SETTINGS)
def test_frames_in_random_order_soon_get_the_frozen_answer(name):
    """Centroids have no frozen answer, a head may trust its memory always, and class means need no order."""
    gated, learns = name not in ("always trusted", "centroids"), name.startswith("learning")
    head = ElasticHead(WEIGHT, BIAS, SETTINGS[name], scale=Scale(6.0, 0.7))
    rows = np.concatenate([MIXED, MIXED[::-1], MIXED])
    answers = head.track(rows)
    np.testing.assert_allclose(answers, follow(SETTINGS[name], WEIGHT, BIAS, rows, scale=Scale(6.0, 0.7)), atol=2e-4)
    same = answers.argmax(axis=1) == (rows @ WEIGHT.T + BIAS).argmax(axis=1)
    assert learns or same[30:].all() == gated
    at_rest = np.concatenate([head.track(row[None]) for row in rows[-20:]])
    assert learns or np.allclose(answers[-20:], at_rest, atol=1e-6) == gated


def test_a_stream_of_one_class_is_trusted():
    """All answers agree, which is no evidence for random order."""
    rows = np.abs(RNG.normal(size=(400, 12)))
    weight = np.stack([np.ones(12), -np.ones(12)])
    head = ElasticHead(weight, np.zeros(2), Springs(pull=1.0, memory=3.0))
    for row in rows:
        head.step(row)
    assert head.track(rows[:1])[0, 0] > ElasticHead(weight, np.zeros(2)).track(rows[:1])[0, 0]


def test_a_head_notices_when_its_stream_becomes_continuous():
    mixed, ordered = np.concatenate([MIXED] * 4), np.concatenate([ROWS] * 6)
    settings = Springs(pull=3.0, memory=2.0)
    head, always = (ElasticHead(WEIGHT, BIAS, one) for one in (settings, dataclasses.replace(settings, continuity=0.0)))
    answers, trusted = (one.track(np.concatenate([mixed, ordered])) for one in (head, always))
    assert not np.allclose(answers[len(mixed)], trusted[len(mixed)], atol=1e-3)
    np.testing.assert_allclose(answers[-48:], trusted[-48:], atol=1e-6)


def test_a_frame_unlike_those_remembered_gets_the_frozen_answer():
    head = ElasticHead(WEIGHT, BIAS, Observer(kappa=50.0, novelty_odds=0.01, sharpness=6.0), scale=Scale(6.0, 1.0))
    orthogonal = np.linalg.qr(RNG.normal(size=(12, 12)))[0].astype(np.float32)
    frozen = softmax(orthogonal @ WEIGHT.T + BIAS, axis=1)
    np.testing.assert_allclose(head.track(orthogonal), frozen, atol=1e-6)


def test_a_frame_like_those_remembered_gets_their_answer():
    looks = np.array([[1.0, 0.0, 1.0], [0.9, 0.9, 1.0], [0.5, 1.5, 1.0]])
    head = ElasticHead(4 * np.eye(2, 3), np.zeros(2), Observer(evidence=0.0, novelty_odds=1e-3), scale=Scale(4.0, 1.0))
    assert head.track(looks).argmax(axis=1).tolist() == [0, 0, 0]
    assert looks[:, :2].argmax(axis=1).tolist() == [0, 0, 1]


def test_class_memory_does_not_ask_how_frames_look():
    """The scale is fixed, because it is measured from features."""
    head = ElasticHead(np.eye(2, 4), np.zeros(2), Observer(kappa=0.0), scale=Scale(1.0, 1.0))
    rows = RNG.normal(size=(20, 4)).astype(np.float32)
    other = rows.copy()
    other[:, 2:] = RNG.normal(size=(20, 2))
    np.testing.assert_array_equal(head.track(rows), head.track(other))


def test_averaging_makes_the_memory_of_a_noisy_object_more_alike():
    """One object under heavy noise: with a small gain, the next frame resembles what is remembered more closely."""
    rows = np.full((200, 400), 1.0) + 3 * RNG.normal(size=(200, 400))
    keys = {}
    for gain in (1.0, 0.1):
        head = ElasticHead(RNG.normal(size=(2, 400)), np.zeros(2), Observer(gain=gain, memory=50.0, kappa=1.0))
        for row in rows:
            head.step(row)
        keys[gain] = float((head._state.keys @ (np.ones(400) / 20)).mean())
    assert keys[0.1] > 1.5 * keys[1.0]


def test_the_head_measures_its_own_scale():
    """Logits and features of any size give the same posteriors, because the settings are in units of the stream."""
    small, large = ElasticHead(WEIGHT, BIAS), ElasticHead(7 * WEIGHT, 7 * BIAS)
    np.testing.assert_array_equal(small.track_labels(ROWS), large.track_labels(ROWS))
    for row in ROWS:
        small.step(row)
        large.step(row)
    np.testing.assert_allclose(small._state.posteriors, large._state.posteriors, atol=1e-4)


def test_an_observer_that_remembers_nothing_answers_as_the_network_does():
    head = ElasticHead(WEIGHT, BIAS, Observer(sharpness=1.5))
    answers = np.concatenate([head.reset().track(row[None]) for row in ROWS])
    np.testing.assert_allclose(answers, softmax(ROWS @ WEIGHT.T + BIAS, axis=1), atol=1e-5)


def test_springs_without_pull_are_the_frozen_head_bit_for_bit():
    head = ElasticHead(WEIGHT, BIAS, Springs(pull=0.0))
    alone = np.concatenate([ElasticHead(WEIGHT, BIAS, Springs(pull=0.0)).track(row[None]) for row in ROWS])
    np.testing.assert_array_equal(head.track(ROWS), alone)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory": 0.0}, "Observer.memory must be > 0; got 0.0"),
        ({"gain": 1.5}, "Observer.gain must be"),
        ({"novelty_odds": 0.0}, "Observer.novelty_odds must be > 0; got 0.0"),
        ({"depth": 0}, "Observer.depth must be"),
        ({"evidence": -1.0}, "Observer.evidence must be"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(Observer(), **change)


def test_springs_that_only_the_layer_has_are_refused():
    with pytest.raises(ValueError, match=r"use springback\.torch for these"):
        ElasticHead(WEIGHT, BIAS, Springs(weight_dependence=0.5))
    with pytest.raises(TypeError, match="settings must be Observer, LearningObserver, Springs"):
        ElasticHead(WEIGHT, BIAS, "springs")


def test_a_centre_of_another_width_is_refused():
    with pytest.raises(ValueError, match="centre must have shape"):
        ElasticHead(WEIGHT, BIAS, centre=np.zeros(3))
