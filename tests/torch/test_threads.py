"""Threads that share an elastic model of torch lose no frame."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import torch
from springback.heads import KeyedStreams
from springback.torch import Observer, Springs, deelasticize, elasticize, get_state, reset, step, track
from tests.streaming.test_one_at_a_time import STEPS, THREADS, in_threads
from torch import nn

SETTINGS = {
    "observer": Observer(),
    "springs": Springs(pull=2.0, memory=3.0),
    "in torch": Springs(pull=2.0, memory=3.0, weight_dependence=0.5),
    "pulled by the output": Springs(pull=2.0, memory=3.0, posterior_from="output"),
}
X = torch.tensor([[1.0, 0.5, -0.3]])


def a_model(settings):
    torch.manual_seed(0)
    return reset(elasticize(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2)), settings), 1)


@torch.no_grad()
def call(model):
    return model(X)


def assert_same_state(found, wanted):
    assert found.keys() == wanted.keys()
    for name, part in wanted.items():
        torch.testing.assert_close(found[name], part, rtol=0, atol=0, msg=name)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_step_of_every_thread_counts(name):
    model, alone = a_model(SETTINGS[name]), a_model(SETTINGS[name])
    in_threads(lambda: step(model, X))
    for _ in range(THREADS * STEPS):
        step(alone, X)
    assert_same_state(get_state(model), get_state(alone))
    assert model[2].clock == alone[2].clock == THREADS * STEPS - 1


@pytest.mark.parametrize("name", list(SETTINGS)[:3])
def test_every_call_of_every_thread_counts(name):
    model, alone = a_model(SETTINGS[name]), a_model(SETTINGS[name])
    in_threads(lambda: call(model))
    for _ in range(THREADS * STEPS):
        call(alone)
    assert_same_state(get_state(model), get_state(alone))


def test_the_first_calls_of_a_model_may_come_together():
    for model in [a_model(SETTINGS["pulled by the output"]) for _ in range(20)]:
        in_threads(partial(call, model), steps=3)
        assert model[2].n_streams == 1


def test_a_recorded_stream_does_not_disturb_a_live_one():
    model, alone, frames = a_model(None), a_model(None), torch.randn(4, 1, 3)
    with ThreadPoolExecutor(1) as pool:
        tracking = pool.submit(lambda: [track(model, frames) for _ in range(20)])
        in_threads(lambda: step(model, X))
        tracking.result()
    for _ in range(THREADS * STEPS):
        step(alone, X)
    assert_same_state(get_state(model), get_state(alone))


def test_every_frame_of_a_keyed_stream_counts():
    streams, alone = (KeyedStreams(a_model(None)) for _ in range(2))
    in_threads(lambda: streams.follow_mixed(["door"], X), steps=40)
    for _ in range(THREADS * 40):
        alone.follow_mixed(["door"], X)
    assert streams.snapshot("door") == alone.snapshot("door")


def test_two_registries_of_one_model_do_not_disturb_each_other():
    model = a_model(None)
    registries, alone = [KeyedStreams(model) for _ in range(THREADS)], KeyedStreams(a_model(None))
    left = list(registries)

    def follow():
        own = left.pop()
        for _ in range(40):
            own.follow_mixed(["door"], X)

    in_threads(follow, steps=1)
    for _ in range(40):
        alone.follow_mixed(["door"], X)
    for streams in registries:
        assert streams.snapshot("door") == alone.snapshot("door")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_model_that_was_used_can_be_copied(copied):
    model = a_model(None)
    step(model, X)
    other = copied(model)
    torch.testing.assert_close(step(other, X), step(model, X), rtol=0, atol=0)


def test_a_plain_layer_keeps_nothing_of_the_lock():
    model = a_model(None)
    step(model, X)
    assert vars(deelasticize(model)[2]).keys() == vars(nn.Linear(3, 2).eval()).keys()
