"""The torch layer gives the answers of `springback.heads`, the plain and the compiled one, for every kind of memory."""

import dataclasses

import numpy as np
import pytest
from scipy.special import softmax

import torch
from springback.heads import ElasticHead, LearningObserver, Scale, follow
from springback.torch import (
    ElasticLinear,
    Observer,
    Springs,
    WindowSprings,
    elasticize,
    get_state,
    relax,
    reset,
    step,
    track,
)
from tests.heads.test_elastic_head import BIAS, CENTRE, GAPS, MIXED, ROWS, SETTINGS, WEIGHT
from torch import nn

SCALES = [None, Scale(6.0, 0.7)]
MORE = SETTINGS | {"a long window": WindowSprings(pull=3.0, memory=2.0, constant=0.3, window=len(ROWS))}
STREAMS = np.stack([ROWS, ROWS[::-1], MIXED], axis=1).astype(np.float64)
TIMES = 10 + np.cumsum(GAPS)
SINCE = np.diff(TIMES, prepend=TIMES[0] - 1)


def a_model(settings, centre=None, scale=None, dtype=torch.float64):
    plain = nn.Linear(WEIGHT.shape[1], WEIGHT.shape[0], dtype=dtype)
    with torch.no_grad():
        plain.weight.copy_(torch.from_numpy(WEIGHT))
        plain.bias.copy_(torch.from_numpy(BIAS))
    return elasticize(plain, settings, centre=centre, scale=scale)


def posteriors(model, frames, times=None, **given):
    frames = torch.from_numpy(np.ascontiguousarray(frames)).to(model.weight.dtype)
    return softmax(track(model, frames, times, **given).double().numpy(), axis=-1)


@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_streams_side_by_side_with_gaps_get_the_answers_of_the_plain_head(name, centred, scale):
    centre = CENTRE if centred else None
    settings = dataclasses.replace(MORE[name], memory_in="time")
    got = posteriors(a_model(settings, centre, scale), STREAMS, TIMES)
    for stream in range(STREAMS.shape[1]):
        rows = STREAMS[:, stream]
        wanted = follow(settings, WEIGHT, BIAS, rows, gaps=SINCE, centre=centre, scale=scale)
        np.testing.assert_allclose(got[:, stream], wanted, atol=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("scale", SCALES)
def test_single_precision_agrees_with_the_compiled_head_frame_by_frame(name, scale):
    head = ElasticHead(WEIGHT, BIAS, SETTINGS[name], centre=CENTRE, scale=scale)
    model = a_model(SETTINGS[name], torch.from_numpy(CENTRE), scale, torch.float32)
    for row, time in zip(ROWS, TIMES, strict=True):
        answer = step(model, torch.from_numpy(row).unsqueeze(0), time)[0].softmax(dim=0)
        np.testing.assert_allclose(answer, head.step(row, time), atol=5e-4)


@pytest.mark.parametrize("name", MORE)
def test_silence_passes_as_in_the_head_and_only_in_the_streams_that_are_named(name):
    model = a_model(MORE[name], CENTRE)
    track(model, torch.from_numpy(STREAMS[:20]), in_place=True)
    got = posteriors(relax(model, 2.5, streams=[1]), STREAMS[20:])
    for stream, waited in enumerate((0, 2.5, 0)):
        gaps = np.ones(len(ROWS))
        gaps[20] += waited
        wanted = follow(MORE[name], WEIGHT, BIAS, STREAMS[:, stream], gaps=gaps, centre=CENTRE)
        np.testing.assert_allclose(got[:, stream], wanted[20:], atol=1e-9)


@pytest.mark.parametrize("name", MORE)
def test_a_stream_that_ends_begins_again_at_rest_and_the_others_go_on(name):
    model = a_model(MORE[name], CENTRE)
    track(model, torch.from_numpy(STREAMS[:20]), in_place=True)
    got = posteriors(reset(model, streams=[1]), STREAMS[20:])
    for stream in range(3):
        rows = STREAMS[20:, stream] if stream == 1 else STREAMS[:, stream]
        wanted = follow(MORE[name], WEIGHT, BIAS, rows, centre=CENTRE)[-len(got) :]
        np.testing.assert_allclose(got[:, stream], wanted, atol=1e-9)


def test_the_output_of_an_observer_is_the_logarithm_of_its_answer():
    model = a_model(Observer())
    output = track(model, torch.from_numpy(STREAMS))
    torch.testing.assert_close(output.exp().sum(dim=-1), torch.ones(output.shape[:2], dtype=torch.float64))
    np.testing.assert_allclose(output[:, 0].exp(), follow(Observer(), WEIGHT, BIAS, ROWS), atol=1e-9)


def test_the_default_is_the_observer_that_learns_and_measures_its_own_scale():
    small, large = a_model(None), a_model(None)
    with torch.no_grad():
        large.weight.mul_(7)
        large.bias.mul_(7)
    assert small.settings == LearningObserver()
    assert ElasticLinear(3, 2).settings == LearningObserver()
    np.testing.assert_array_equal(posteriors(small, STREAMS).argmax(-1), posteriors(large, STREAMS).argmax(-1))


def test_class_memory_alone_keeps_one_number_per_class():
    model = a_model(Springs(pull=3.0, memory=2.0, constant=1.0))
    track(model, torch.from_numpy(STREAMS), in_place=True)
    pulled = get_state(model)[".short_term"]
    assert pulled.shape == (3, 5, 1)
    assert pulled.min() > 0
