"""Streams join and leave, have clocks of their own, and are told apart by keys."""

import numpy as np
import pytest

import torch
from springback.heads import KeyedStreams
from springback.torch import (
    Observer,
    Springs,
    WindowSprings,
    add_streams,
    deelasticize,
    elasticize,
    get_state,
    relax,
    remove_streams,
    reset,
    step,
    track,
)
from torch import nn

SETTINGS = pytest.mark.parametrize(
    "settings",
    [
        Observer(depth=6),
        Springs(pull=5.0, memory=2.0),
        Springs(pull=5.0, memory=2.0, beta=1.0),
        WindowSprings(window=5),
    ],
    ids=["observer", "springs", "biases", "window"],
)


def a_model(settings, seed=0):
    torch.manual_seed(seed)
    return elasticize(nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4)), settings)


def a_stream(steps=9, streams=3, seed=1):
    return torch.randn(steps, streams, 6, generator=torch.Generator().manual_seed(seed))


@SETTINGS
def test_streams_that_join_and_leave_do_not_disturb_the_others(settings):
    model, frames = a_model(settings), a_stream()
    alone = torch.stack([track(a_model(settings), frames[:, n : n + 1])[:, 0] for n in range(3)], dim=1)
    late = track(a_model(settings), frames[3:, 2:])[:, 0]
    for t in range(3):
        torch.testing.assert_close(step(model, frames[t, :2]), alone[t, :2])
    add_streams(model)
    for t in range(3, 6):
        wanted = torch.cat([alone[t, :2], late[None, t - 3]])
        torch.testing.assert_close(step(model, frames[t]), wanted)
    remove_streams(model, [0])
    for t in range(6, 9):
        wanted = torch.stack([alone[t, 1], late[t - 3]])
        torch.testing.assert_close(step(model, frames[t, 1:]), wanted)
    remove_streams(model, torch.tensor([True, True]))
    assert get_state(model) == {}
    assert add_streams(model, 2)[2].n_streams == 2


@SETTINGS
def test_every_stream_has_its_own_clock(settings):
    model, frames = a_model(settings), a_stream(steps=6, streams=2)
    times = torch.tensor([[0.0, 5.0], [1.0, 5.5], [4.0, 7.5], [5.0, 7.5], [5.5, 12.0], [6.5, 13.0]]).numpy()
    alone = [track(a_model(settings), frames[:, n : n + 1], times[:, n])[:, 0] for n in range(2)]
    together = track(model, frames, times)
    torch.testing.assert_close(together, torch.stack(alone, dim=1))
    stepped = torch.stack([step(model, frame, time) for frame, time in zip(frames, times, strict=True)])
    torch.testing.assert_close(stepped, together)
    with pytest.raises(
        ValueError, match=r"time must be >= the time of the last frame of each stream \(the latest is 13\)"
    ):
        step(model, frames[0], [7.0, 12.5])
    with pytest.raises(ValueError, match=r"time must be >= the time of the last frame"):
        step(model, frames[0], 12.5)
    assert step(model, frames[0], 13.0).shape == (2, 4)
    with pytest.raises(
        ValueError, match=r"times must hold one time stamp for each of 6 frames, or for each of 2 streams"
    ):
        track(model, frames, times[:, :1] + 20.0)


def test_a_silence_of_one_stream_is_its_own():
    settings, frames = Springs(pull=5.0, memory=2.0), a_stream(steps=4, streams=2)
    model = a_model(settings)
    for t in range(2):
        step(model, frames[t], time=float(t))
    relax(model, 3.0, streams=[1])
    found = step(model, frames[2], time=[2.0, 5.0])
    alone = [
        track(a_model(settings), frames[:3, n : n + 1], times)[-1, 0] for n, times in ((0, [0, 1, 2]), (1, [0, 1, 5]))
    ]
    torch.testing.assert_close(found, torch.stack(alone))
    reset(model, streams=[0])
    fresh = track(a_model(settings), frames[3:, :1])[0, 0]
    torch.testing.assert_close(step(model, frames[3], time=[0.5, 6.0])[0], fresh)


@pytest.mark.parametrize("unit", [1.0, 0.04])
def test_a_stream_that_joins_takes_the_time_and_the_pace_of_the_others(unit):
    model, frames = a_model(Springs(pull=5.0, memory=2.0)), a_stream(steps=4)
    for t in range(2):
        step(model, frames[t, :2], time=1.7e9 + unit * t)
    add_streams(model)
    step(model, frames[2])
    in_steps = Springs(pull=5.0, memory=2.0, memory_in="time")
    alone = track(a_model(in_steps), frames[2:, 2:], [12.0, 14.0])[1, 0]
    others = track(a_model(in_steps), frames[:, :2], [10.0, 11.0, 12.0, 14.0])[3]
    found = step(model, frames[3], time=1.7e9 + unit * 4)
    torch.testing.assert_close(found[2], alone)
    torch.testing.assert_close(found[:2], others)


def test_a_stream_that_joins_with_a_time_stamp_has_a_pace_of_its_own():
    model, frames = a_model(Springs(pull=5.0, memory=2.0)), a_stream(steps=4)
    for t in range(2):
        step(model, frames[t, :2], time=10.0 + t)
    add_streams(model)
    step(model, frames[2], time=12.0)
    alone = track(a_model(Springs(pull=5.0, memory=2.0)), frames[2:, 2:])[1, 0]
    torch.testing.assert_close(step(model, frames[3], time=14.0)[2], alone)


def test_mistakes_about_streams_are_answered_in_one_sentence():
    model = a_model(Springs())
    with pytest.raises(ValueError, match="streams must exist before they can leave"):
        remove_streams(model, [0])
    reset(model, 2)
    with pytest.raises(ValueError, match=r"streams must be indices or a mask of 2 streams; got \[2\]"):
        remove_streams(model, [2])
    with pytest.raises(ValueError, match="n_streams must be >= 1; got 0"):
        add_streams(model, 0)
    with pytest.raises(ValueError, match=r"the model must be elastic; call elasticize"):
        KeyedStreams(nn.Linear(2, 2))


@SETTINGS
def test_keys_tell_streams_apart(settings):
    frames, streams = a_stream(steps=12), KeyedStreams(a_model(settings))
    seen = {"a": [0, 1, 2, 5, 6, 11], "b": [2, 3, 4, 5], "c": [0, 5, 11]}
    wanted = {
        key: track(a_model(settings), frames[times, n : n + 1], times)[:, 0]
        for n, (key, times) in enumerate(seen.items())
    }
    for t in range(12):
        here = [key for key in ("c", "a", "b") if t in seen[key]]
        rows = frames[t, [list(seen).index(key) for key in here]]
        found = streams.follow_mixed(here, rows, float(t))
        assert found.output.shape == (len(here), 4)
        for key, output, posterior in zip(here, found.output, found.posterior, strict=True):
            answer = wanted[key][seen[key].index(t)]
            torch.testing.assert_close(torch.from_numpy(output), answer, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(torch.from_numpy(posterior).float(), answer.softmax(0), rtol=1e-4, atol=1e-5)
        if t == 5:
            resumed = KeyedStreams(a_model(settings))
            for key in streams:
                resumed.restore(key, streams.snapshot(key))
            streams = resumed
    assert set(streams) == {"a", "b", "c"}


@SETTINGS
def test_frames_of_a_log_are_followed_in_one_call(settings):
    frames, model = a_stream(steps=4, streams=1)[:, 0], a_model(settings)
    mixed, single = KeyedStreams(model), KeyedStreams(model)
    together = mixed.follow_mixed(["a", "b", "a", "a"], frames, [0, 0, 1, 5])
    alone = [single.step(*one) for one in zip("abaa", frames, [0, 0, 1, 5], strict=True)]
    torch.testing.assert_close(together.posterior, np.array(alone), rtol=1e-5, atol=1e-7)
    assert get_state(model) == {}
    static = deelasticize(model)(frames).softmax(-1).detach().numpy()
    torch.testing.assert_close(together.frozen, static, rtol=1e-5, atol=1e-6, check_dtype=False)


def test_keys_of_boxes_and_of_nothing():
    settings, frames = Springs(pull=5.0, memory=2.0), a_stream(steps=4, streams=6).reshape(4, 2, 3, 6)
    streams, alone = KeyedStreams(a_model(settings)), a_model(settings)
    for frame in frames:
        found = torch.from_numpy(streams.follow_mixed([1, None, 2, 3, 4, None], frame).output)
        wanted = step(alone, frame)
        static = track(a_model(settings), frame[None])[0]
        torch.testing.assert_close(found[[0, 2]], wanted[0, [0, 2]])
        torch.testing.assert_close(found[1], static[0, 1])
    assert len(streams) == 4
    with pytest.raises(ValueError, match="must have 3 rows, one for each stream whose state is given; got 6"):
        streams.follow_mixed([1, 2, 3], frames[0])
    with pytest.raises(ValueError, match="keys must name each stream of a frame at most once"):
        streams.follow_mixed([1, 1, 2, 3, 4, 5], frames[0])
    assert streams.follow_mixed([], frames[0, :0, 0]).output.shape == (0, 4)


def test_what_a_keyed_network_refuses_changes_nothing():
    streams, other = KeyedStreams(a_model(Springs())), KeyedStreams(a_model(Observer(depth=6)))
    streams.step("a", torch.ones(6), time=3.0)
    other.step("a", torch.ones(6))
    before, missing = streams.snapshot("a"), torch.full((6,), torch.nan)
    for refused, sentence in (
        (lambda: streams.step("a", missing), "X must be finite everywhere; got NaN or infinity in row 0"),
        (lambda: streams.step("a", torch.ones(6), time=2.0), "times must never run backwards"),
        (lambda: streams.restore("a", other.snapshot("a")), "state must fit this model"),
        (lambda: streams.restore("a", before[:-1]), "state must be bytes from get_state"),
    ):
        with pytest.raises(ValueError, match=sentence):
            refused()
        assert streams.snapshot("a") == before


def test_a_memory_far_from_the_usual_step_is_said_once():
    model = elasticize(nn.Linear(4, 2), Springs(memory=2.0, memory_in="time"))
    hours = 3600.0 * torch.arange(5).numpy()
    with pytest.warns(UserWarning, match="memory is 2, but time stamps are usually"):
        track(model, torch.ones(5, 1, 4), hours)
    track(model, torch.ones(5, 1, 4), hours)
    track(elasticize(nn.Linear(4, 2)), torch.ones(5, 1, 4), [0, 1, 2, 3, 4])
