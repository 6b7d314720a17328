"""What all methods that adapt a network promise: the network passed in stays as it is, and bad input is refused."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from springback_bench.rivals.networks.note import Note  # noqa: E402
from springback_bench.rivals.networks.roid import Roid  # noqa: E402
from springback_bench.rivals.networks.tent import Tent  # noqa: E402
from torch import nn  # noqa: E402

METHODS = (Tent, Note, Roid)


def network(norm=nn.BatchNorm1d, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Conv1d(2, 6, 3), norm(6), nn.ReLU(), nn.Flatten(), nn.Linear(24, 4))


def group_norm(channels):
    return nn.GroupNorm(2, channels)


def frames(length=20):
    return np.random.default_rng(0).normal(size=(length, 2, 6)).astype(np.float32)


def quick(method):
    return {Note: {"n_memory": 4}, Roid: {"window": 4}}.get(method, {})


@pytest.mark.parametrize("norm", [nn.BatchNorm1d, group_norm])
@pytest.mark.parametrize("method", METHODS)
def test_the_network_passed_in_never_changes(method, norm):
    given = network(norm).train()
    before = copy.deepcopy(given.state_dict())
    model = method(given, (2, 6), learning_rate=0.1, **quick(method))
    model.track(frames())
    for frame in frames():
        model.step(frame)
    assert given.training
    assert all(torch.equal(before[name], now) for name, now in given.state_dict().items())
    assert all(one.requires_grad and one.grad is None for one in given.parameters())


@pytest.mark.parametrize("norm", [nn.BatchNorm1d, group_norm])
@pytest.mark.parametrize("method", METHODS)
def test_only_scales_and_shifts_and_statistics_move(method, norm):
    given = network(norm)
    model = method(given, (2, 6), learning_rate=0.1, **quick(method))
    for frame in frames():
        model.step(frame)
    model._load(model._state)
    (inner,) = model._network if method is Note else (model._network,)
    assert torch.equal(inner[0].weight, given[0].weight)
    assert torch.equal(inner[4].weight, given[4].weight)
    assert not torch.equal(inner[1].weight, given[1].weight)
    assert not torch.equal(inner[1].bias, given[1].bias)


@pytest.mark.parametrize("norm", [nn.BatchNorm1d, group_norm])
@pytest.mark.parametrize(
    "frozen",
    [
        (Tent, {"statistics": "stored"}),
        (Note, {"tolerance": 1e9, "momentum": 0.0}),
        (Roid, {"statistics": "stored", "correct_prior": False}),
    ],
)
def test_without_learning_it_is_the_frozen_network(frozen, norm):
    method, settings = frozen
    given = network(norm)
    with torch.no_grad():
        expected = given.eval()(torch.from_numpy(frames())).softmax(dim=1).numpy()
    model = method(given, (2, 6), learning_rate=0.0, **settings, **quick(method))
    assert np.allclose(model.track(frames()), expected, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_stream_can_be_followed_while_gradients_are_off(method):
    model = method(network(), (2, 6), learning_rate=0.1, **quick(method))
    expected = model.track(frames())
    with torch.no_grad():
        assert np.array_equal(model.track(frames()), expected)


@pytest.mark.parametrize("method", METHODS)
def test_networks_with_nothing_to_adapt_are_refused_in_one_sentence(method):
    plain = nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
    message = "network must have normalisation layers with scale and shift, because the method adapts nothing else"
    with pytest.raises(ValueError, match=message):
        method(plain, (2, 6))
    with pytest.raises(ValueError, match=message):
        method(nn.Sequential(nn.Flatten(), nn.LayerNorm(12, elementwise_affine=False), nn.Linear(12, 3)), (2, 6))


@pytest.mark.parametrize("method", METHODS)
def test_bad_input_is_refused_in_one_sentence(method):
    with pytest.raises(TypeError, match=r"network must be a torch\.nn\.Module; got str"):
        method("a network", (2, 6))
    with pytest.raises(ValueError, match="frame_shape must be >= 1; got 0"):
        method(network(), (2, 0))
    with pytest.raises(ValueError, match=r"^network must map frames \(1, 3, 6\) to logits \(1, K\)[^\n]*; got [^\n]*$"):
        method(network(), (3, 6))
    with pytest.raises(ValueError, match=r"network must map frames \(1, 2, 6\) to logits \(1, K\); got \(1, 2, 6\)"):
        method(nn.LayerNorm(6), (2, 6))
    with pytest.raises(ValueError, match="learning_rate must be >= 0; got -1"):
        method(network(), (2, 6), learning_rate=-1)
    with pytest.raises(ValueError, match=r"X must have shape \(any, 2, 6\); got \(5, 2, 5\)"):
        method(network(), (2, 6)).track(np.zeros((5, 2, 5)))


def test_batch_normalisation_of_single_numbers_cannot_use_what_it_sees():
    flat = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    with pytest.raises(ValueError, match=r"^network must map frames \(1, 3\) to logits .* with statistics 'seen'; got"):
        Tent(flat, (3,))
    assert Tent(flat, (3,), statistics="stored").track(np.ones((2, 3))).shape == (2, 2)
    assert Note(flat, (3,), n_memory=2).track(np.random.default_rng(0).normal(size=(5, 3))).shape == (5, 2)


def test_statistics_are_stored_or_seen():
    with pytest.raises(ValueError, match="statistics must be one of 'stored', 'seen'; got 'both'"):
        Tent(network(), (2, 6), statistics="both")
