"""Layers whose pull and memory are learned: the same arithmetic as untrained springs, with gradients through time."""

import copy

import numpy as np
import pytest

import torch
from springback.heads import KeyedStreams
from springback.heads.onnx import OnnxStream
from springback.torch import (
    ElasticLinear,
    Observer,
    Springs,
    deelasticize,
    export_onnx,
    get_state,
    relax,
    reset,
    set_state,
    step,
    track,
)
from torch import nn

SPRINGS = Springs(pull=3.0, memory=2.0, kappa=1.5, continuity=0.0)


def layer_and_twin(learned, settings=SPRINGS, dtype=torch.float32, **others):
    """A layer that learns and one that does not, with the same weights."""
    torch.manual_seed(0)
    layer = ElasticLinear(5, 3, dtype=dtype, settings=settings, learned=learned, **others)
    twin = ElasticLinear(5, 3, dtype=dtype, settings=settings, **others)
    twin.load_state_dict({name: layer.state_dict()[name] for name in ("weight", "bias")})
    return layer.eval(), twin.eval()


def a_stream(steps=12, streams=2, dtype=torch.float32):
    return torch.randn(steps, streams, 5, dtype=dtype, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("learned", ["unit", "synapse"])
@pytest.mark.parametrize("unit_inputs", [True, False])
def test_before_it_has_learned_it_is_the_untrained_layer(learned, unit_inputs):
    settings = Springs(pull=3.0, memory=2.0, kappa=1.5, continuity=0.0, unit_inputs=unit_inputs)
    layer, twin = layer_and_twin(learned, settings, centre=torch.full((5,), 0.3))
    frames, times = a_stream(), torch.arange(12.0).square()
    torch.testing.assert_close(track(layer, frames, times), track(twin, frames, times), rtol=1e-5, atol=1e-5)
    for model in (layer, twin):
        step(model, frames[0])
        relax(model, 1.5)
        relax(model, 0.5, streams=[1])
    torch.testing.assert_close(layer.state_short_term, twin.state_short_term, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(step(layer, frames[1]), step(twin, frames[1]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("learned", ["unit", "synapse"])
def test_gradients_are_those_of_finite_differences(learned):
    layer = layer_and_twin(learned, dtype=torch.float64)[0].train()
    names = [name for name, _ in layer.named_parameters()]
    assert names == ["weight", "bias", "pull", "log_memory"]

    def answers(frames, *values):
        reset(layer)
        return torch.stack(
            [torch.func.functional_call(layer, dict(zip(names, values, strict=True)), x) for x in frames]
        )

    values = [parameter.detach().clone().requires_grad_(True) for parameter in layer.parameters()]
    assert torch.autograd.gradcheck(answers, (a_stream(4, dtype=torch.float64).requires_grad_(True), *values))


def test_training_follows_as_evaluation_does_and_learns_how_long_to_remember():
    layer, _ = layer_and_twin("unit")
    torch.manual_seed(3)
    cue, blank = torch.randn(2, 200, 5), torch.zeros(200, 5)
    cue[0, :100, 0], cue[0, 100:, 0] = 4.0, -4.0
    labels = (torch.arange(200) >= 100).long()
    probe = torch.ones(200, 5)
    frames = [cue[0], blank, blank, probe]

    def loss():
        reset(layer)
        answers = [layer(frame) for frame in frames]
        return nn.functional.cross_entropy(answers[-1], labels)

    torch.testing.assert_close(layer.train()(cue[0]), reset(layer).eval()(cue[0]))
    layer.train()
    optimiser, before = torch.optim.Adam(layer.parameters(), 0.2), loss().item()
    for _ in range(100):
        optimiser.zero_grad()
        found = loss()
        found.backward()
        optimiser.step()
    assert before > 0.5
    assert found.item() < 0.2
    assert (layer.log_memory.exp() != 2.0).all()


def test_it_is_stable_over_ten_thousand_frames():
    layer, _ = layer_and_twin("synapse")
    with torch.no_grad():
        layer.log_memory.uniform_(-3, 3)
        layer.pull.uniform_(-5, 5)
    answers = track(layer, a_stream(10_000), in_place=True)
    assert answers.isfinite().all()
    assert layer.state_short_term.abs().max() <= 5 / (1 - np.exp(-np.exp(-3)))


def test_the_state_functions_are_those_of_any_elastic_layer():
    layer, _ = layer_and_twin("synapse")
    with torch.no_grad():
        layer.log_memory.uniform_(-1, 2)
    frames = a_stream()
    whole = track(layer, frames)
    track(layer, frames[:7], in_place=True)
    kept = get_state(layer)
    torch.testing.assert_close(track(layer, frames[7:]), whole[7:])
    torch.testing.assert_close(track(set_state(reset(layer), kept), frames[7:]), whole[7:])
    streams = KeyedStreams(reset(layer))
    answers = [streams.step("left", frame[:1]) for frame in frames]
    torch.testing.assert_close(
        torch.from_numpy(np.stack(answers)), whole[:, 0].double().softmax(-1), atol=1e-5, rtol=1e-4
    )
    plain = deelasticize(layer)
    assert type(plain) is nn.Linear
    assert list(plain.state_dict()) == ["weight", "bias"]


def test_a_bad_frame_lets_time_pass_and_other_streams_go_on():
    layer, twin = layer_and_twin("unit")
    frames = a_stream()
    frames[3, 0] = torch.nan
    with torch.no_grad():
        answers, wanted = (torch.stack([model(frame) for frame in frames]) for model in (layer, twin))
    torch.testing.assert_close(answers, wanted, equal_nan=True, rtol=1e-5, atol=1e-5)


def test_after_training_the_model_can_be_copied_and_gradients_end_where_the_mode_changes():
    layer, _ = layer_and_twin("unit")
    layer.train()
    assert layer(a_stream()[0]).requires_grad
    layer(a_stream()[1])
    assert layer.state_short_term.requires_grad
    assert not copy.deepcopy(layer.eval()).state_short_term.requires_grad


@pytest.mark.parametrize("settings", [None, Observer(), Springs(), Springs(continuity=0.0, constant=0.5)])
def test_only_plain_springs_are_learned(settings):
    with pytest.raises(ValueError, match=r"settings must be Springs\(pull=..., .* if they are learned; got"):
        ElasticLinear(5, 3, settings=settings, learned="unit")


def test_what_is_learned_is_named():
    with pytest.raises(ValueError, match="learned must be one of 'unit', 'synapse'; got 'layer'"):
        ElasticLinear(5, 3, settings=SPRINGS, learned="layer")


def test_it_is_exported_with_what_it_learned(tmp_path):
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    layer, _ = layer_and_twin("synapse")
    with torch.no_grad():
        layer.log_memory.uniform_(-1, 2)
    frames, times = a_stream(streams=1), torch.arange(12.0).square()
    export_onnx(layer, tmp_path / "layer.onnx", classes=["a", "b", "c"])
    answers = OnnxStream(tmp_path / "layer.onnx").track(frames[:, 0].numpy(), times.numpy())
    wanted = track(layer, frames, times)[:, 0].double().softmax(dim=-1)
    np.testing.assert_allclose(answers, wanted, atol=1e-5)


@pytest.mark.parametrize("learned", ["unit", "synapse"])
@pytest.mark.parametrize("unit_inputs", [True, False])
def test_the_compiled_frames_are_those_of_torch_and_see_what_training_changes(learned, unit_inputs):
    settings = Springs(pull=3.0, memory=2.0, kappa=1.5, continuity=0.0, unit_inputs=unit_inputs)
    layer, _ = layer_and_twin(learned, settings, centre=torch.full((5,), 0.3))
    other = copy.deepcopy(layer)
    frames = a_stream()
    frames[4, 1], frames[7, 0] = torch.inf, 0.0
    for model in (layer, other):
        for _ in range(2):
            with torch.no_grad():
                model.log_memory.add_(torch.linspace(-0.5, 0.5, model.log_memory.numel()).reshape_as(model.log_memory))
                model.pull.data.mul_(1.2)
            answers = []
            for frame in frames:
                with torch.set_grad_enabled(model is other):
                    answers.append(model(frame).detach())
        model.answers = torch.stack(answers)
    torch.testing.assert_close(layer.answers, other.answers, equal_nan=True, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer.state_short_term, other.state_short_term, rtol=1e-5, atol=1e-6)
