"""A layer that observes keeps the protocol of elastic layers, and its centre and scale stay with it."""

import copy

import numpy as np
import pytest

import torch
from springback.heads.memories.observer import ObserverState
from springback.torch import ElasticLinear, Observer, Scale, Springs, algorithm
from tests.torch.test_elastic_linear import a_stream, digest, follow
from torch import nn

SETTINGS = [
    Observer(depth=5, continuity=0.0),
    Observer(depth=4, gain=0.3, evidence=1.0, kappa=3.0, continuity=0.0),
    Observer(kappa=0.0, continuity=0.0),
]


def a_layer(settings=SETTINGS[1], dtype=torch.float32, centre=None, scale=None):
    torch.manual_seed(0)
    return ElasticLinear(6, 4, dtype=dtype, settings=settings, centre=centre, scale=scale).eval()


def as_plain(layer):
    plain = nn.Linear(6, 4, dtype=layer.weight.dtype)
    plain.load_state_dict(layer.state_dict())
    return plain


@pytest.mark.parametrize("settings", SETTINGS)
def test_frame_by_frame_it_is_the_pure_function_in_stretches_too(settings):
    layer, frames = a_layer(settings, centre=np.full(6, 0.3)), a_stream()
    state = algorithm.init(settings, layer.weight, 3)
    end, response = algorithm.track(settings, layer.weight, layer.bias, state, frames, centre=layer.centre)
    torch.testing.assert_close(follow(layer, frames), response.output)
    torch.testing.assert_close(response.output.argmax(dim=-1), response.posterior.argmax(dim=-1))
    torch.testing.assert_close(response.output.exp().sum(dim=-1), torch.ones(response.output.shape[:2]))
    for name, part in layer.get_state().items():
        torch.testing.assert_close(part, getattr(end, name))
    layer.reset()
    for part, wanted in ((slice(0, 5), response.output[:5]), (slice(5, 12), response.output[5:])):
        with layer.frames_after([1.0] * len(wanted)), torch.no_grad():
            got = layer(frames[part].flatten(0, 1)).unflatten(0, wanted.shape[:2])
        torch.testing.assert_close(got, wanted)


def test_the_first_answers_have_the_order_of_the_plain_layer():
    layer, x = a_layer(), a_stream()[0]
    with torch.no_grad():
        order = as_plain(layer)(x).argsort(dim=-1)
        assert torch.equal(layer(x).argsort(dim=-1), order)


def test_in_training_mode_it_is_the_plain_layer_and_nothing_moves():
    layer, frames = a_layer(), a_stream()
    follow(layer, frames)
    state = layer.get_state()
    assert torch.equal(layer.train()(frames), nn.functional.linear(frames, layer.weight, layer.bias))
    assert all(torch.equal(state[name], part) for name, part in layer.get_state().items())


def test_a_state_can_be_taken_out_and_put_back_and_does_not_enter_the_state_dict():
    layer, frames = a_layer(), a_stream()
    before = digest(layer)
    follow(layer, frames[:7])
    assert digest(layer) == before
    assert list(layer.state_dict()) == ["weight", "bias"]
    state = layer.get_state()
    assert state["position"].flatten().tolist() == [3, 3, 3]
    wanted = follow(layer, frames[7:])
    assert torch.equal(follow(a_layer().set_state(state), frames[7:]), wanted)
    with pytest.raises(ValueError, match=r"state\.position must lie in 0 \.\.\. 3; got \(4\.0, 4\.0\)"):
        layer.set_state({**state, "position": torch.full((3, 1), 4)})
    with pytest.raises(ValueError, match=r"state keys must have shape \(3, 4, 6\); got \(3, 5, 6\)"):
        layer.set_state({**state, "keys": torch.zeros(3, 5, 6)})
    with pytest.raises(ValueError, match=r"state keys must have a row for each stream; got \(\)"):
        layer.set_state({**state, "keys": torch.tensor(1.0)})


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("scale", [None, Scale(3.0, 0.8)])
def test_a_frame_that_is_not_a_number_passes_time_in_its_own_stream_and_leaves_the_others_alone(settings, bad, scale):
    frames = a_stream()
    broken = frames.clone()
    broken[7, 1, 2] = bad
    got = follow(a_layer(settings, scale=scale), broken)
    wanted = follow(a_layer(settings, scale=scale), frames)
    assert torch.equal(got[:, [0, 2]], wanted[:, [0, 2]])
    assert not got[7, 1].isfinite().all()
    alone = a_layer(settings, scale=scale)
    follow(alone, frames[:7, 1:2])
    torch.testing.assert_close(follow(alone.relax(1.0), frames[8:, 1:2]), got[8:, 1:2])


def test_autograd_sees_the_resting_weights_and_takes_the_rest_for_constant():
    layer, frames = a_layer(Observer(), torch.float64), a_stream().double()
    follow(layer, frames[:-1])
    before = layer.get_state()
    weight = layer.weight.detach().clone().requires_grad_()

    def answer(weight):
        state, bias = ObserverState(**before), layer.bias.detach()
        return algorithm.step(layer.settings, weight, bias, state, frames[-1], scale=Scale(2.0, 0.9))[1].output

    assert torch.autograd.gradcheck(answer, (weight,))
    layer(frames[-1])[:, 0].sum().backward()
    assert layer.weight.grad.isfinite().all()
    assert layer.weight.grad.abs().max() > 0
    assert not any(part.requires_grad for part in layer.get_state().values())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_under_autocast_the_stream_is_that_of_float32_and_so_is_the_state(dtype):
    layer, frames = a_layer(centre=np.full(6, 0.3)), a_stream()
    wanted, state = follow(layer, frames), layer.get_state()
    layer.reset()
    with torch.autocast("cpu", dtype=dtype):
        got = follow(layer, frames)
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), wanted, rtol=0.02, atol=0.05)
    for name, part in layer.get_state().items():
        assert part.dtype == state[name].dtype
        torch.testing.assert_close(part, state[name], rtol=0.05, atol=0.05)


@pytest.mark.parametrize("settings", [Observer(), Springs(pull=3.0)])
def test_centre_and_scale_stay_with_the_layer_in_full_precision(settings):
    centre, scale = torch.linspace(0.001, 0.7, 6), Scale(3.0, 0.8)
    layer = a_layer(settings, centre=centre, scale=scale)
    centre.mul_(0)
    for other in (copy.deepcopy(layer), copy.deepcopy(layer).to(torch.bfloat16)):
        assert torch.equal(other.centre, torch.linspace(0.001, 0.7, 6))
        assert other.scale == scale
    assert layer.to(torch.float64).centre.dtype == torch.float64
    assert "centre" not in layer.state_dict()
    assert layer.to("meta").centre.device.type == "meta"


def test_a_layer_made_plain_again_keeps_nothing():
    plain = nn.Linear(6, 4).eval()
    attributes = set(vars(plain))
    layer = ElasticLinear.convert(plain, Observer(), centre=np.zeros(6), scale=Scale(3.0, 0.8))
    follow(layer, a_stream())
    layer.revert()
    assert (set(vars(plain)), plain._buffers) == (attributes, {})


def test_a_refused_centre_leaves_the_layer_plain():
    plain = nn.Linear(6, 4)
    with pytest.raises(ValueError, match=r"centre must have shape \(6,\), one number per feature; got \(5,\)"):
        ElasticLinear.convert(plain, centre=np.zeros(5))
    with pytest.raises(ValueError, match="centre must be finite everywhere"):
        ElasticLinear.convert(plain, centre=np.full(6, np.nan))
    with pytest.raises(TypeError, match=r"scale must be a springback.heads.Scale or None; got 3.0"):
        ElasticLinear.convert(plain, scale=3.0)
    assert type(plain) is nn.Linear


def test_a_state_of_the_other_kind_is_refused():
    weight, x = torch.eye(6)[:4], a_stream()[0]
    with pytest.raises(TypeError, match="state must come from init with Observer; got SpringState"):
        algorithm.step(Observer(), weight, None, algorithm.init(Springs(), weight, 3), x)
    with pytest.raises(TypeError, match="state must come from init with Springs; got ObserverState"):
        algorithm.step(Springs(), weight, None, algorithm.init(Observer(), weight, 3), x)


def test_extreme_settings_give_finite_answers():
    extreme = Observer(sharpness=1e6, evidence=10.0, gain=0.01, kappa=1e6, novelty_odds=1e-30, memory=1e-3)
    layer = a_layer(extreme)
    assert follow(layer, torch.cat([a_stream(), a_stream()[:1].repeat(5, 1, 1)])).isfinite().all()
    assert all(part.isfinite().all() for part in layer.get_state().values())
