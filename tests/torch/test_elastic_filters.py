"""Convolutions with any kernel whose filters are pulled: the equations, and the functions of any elastic layer."""

import numpy as np
import pytest

import torch
from springback.torch import (
    ElasticFilters2d,
    Observer,
    Springs,
    deelasticize,
    elasticize,
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
FORMS = ({"padding": 1}, {"stride": 2, "padding": 2}, {"dilation": 2}, {"bias": False})


def a_convolution(**form):
    torch.manual_seed(0)
    return nn.Conv2d(2, 3, 3, dtype=torch.float64, **form).eval().requires_grad_(False)


def a_stream(steps=6, streams=2):
    return torch.randn(steps, streams, 2, 7, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def patch_by_patch(layer, frames):
    """Answers (T, K, places) to one stream and F (K, n) after it, by the equations alone."""
    weight, rows = layer.weight.flatten(1).numpy(), nn.Unfold(3, layer.dilation, layer.padding, layer.stride)
    bias = np.zeros(3) if layer.bias is None else layer.bias.numpy()
    short_term, answers = np.zeros_like(weight), []
    for frame in frames:
        short_term *= np.exp(-1 / 2.0)
        patches = rows(frame[None])[0].T.numpy()
        answer, pulled = [], np.zeros_like(weight)
        for patch in patches:
            unit = patch / np.linalg.norm(patch)
            output = weight @ patch + bias + short_term @ unit
            share = np.exp(1.5 * (output - output.max()))
            pulled += np.outer(share / share.sum(), unit)
            answer.append(output)
        short_term += 3.0 * pulled / len(patches)
        answers.append(np.transpose(answer))
    return np.array(answers), short_term


@pytest.mark.parametrize("form", FORMS)
def test_each_stream_follows_the_equations_patch_by_patch(form):
    layer = ElasticFilters2d.convert(a_convolution(**form), SPRINGS)
    frames = a_stream()
    answers = track(layer, frames, in_place=True)
    for stream in (0, 1):
        wanted, short_term = patch_by_patch(layer, frames[:, stream])
        np.testing.assert_allclose(answers[:, stream].flatten(-2), wanted, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layer.state_short_term[stream], short_term, rtol=1e-9, atol=1e-12)


def test_without_a_pull_and_at_rest_it_is_the_plain_convolution():
    plain, frames = a_convolution(padding=1), a_stream()
    still = elasticize(plain, Springs(pull=0.0, continuity=0.0), layers="")
    elastic = elasticize(plain, SPRINGS, layers="")
    for frame in frames:
        assert torch.equal(step(still, frame), plain(frame))
        assert torch.allclose(step(reset(elastic), frame), plain(frame))
    assert torch.equal(deelasticize(elastic)(frames[0]), plain(frames[0]))


def test_hidden_filters_of_a_network_have_the_state_functions_of_any_layer():
    torch.manual_seed(0)
    stem = [nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, stride=2), nn.ReLU(), nn.Flatten()]
    network = nn.Sequential(*stem, nn.Linear(36, 3)).double().eval()
    model = elasticize(network, SPRINGS, layers=["0", "2", "5"])
    frames = a_stream()
    whole = track(model, frames)
    assert not torch.allclose(whole[1:], network(frames[1:].flatten(0, 1)).reshape(5, 2, 3))
    for frame in frames[:3]:
        step(model, frame)
    kept = get_state(model)
    assert kept["0.short_term"].shape == (2, 4, 18)
    torch.testing.assert_close(track(model, frames[3:]), whole[3:])
    torch.testing.assert_close(track(set_state(reset(model), kept), frames[3:]), whole[3:])
    relax(model, 1.0, streams=[1])
    torch.testing.assert_close(
        get_state(model)["0.short_term"], kept["0.short_term"] * torch.tensor([1, np.exp(-0.5)]).reshape(2, 1, 1)
    )


def test_a_bad_frame_and_a_huge_one_do_not_spoil_a_stream():
    layer = ElasticFilters2d.convert(a_convolution(padding=1).float(), SPRINGS)
    frames = a_stream().float()
    frames[2, 0, 0, 0, 0], frames[3, 0] = torch.nan, 1e30 * frames[3, 0]
    with torch.no_grad():
        answers = torch.stack([layer(frame) for frame in frames])
    assert answers[2, 0].isnan().any()
    assert answers[3:, :].isfinite().all()
    assert layer.state_short_term.isfinite().all()
    assert layer.state_short_term.abs().max() < 3 / (1 - np.exp(-0.5))


def test_what_filters_cannot_do_is_refused_in_a_sentence(tmp_path):
    plain = a_convolution(padding=1)
    for settings in (None, Observer(), Springs(), Springs(continuity=0.0, posterior_from="output")):
        with pytest.raises(ValueError, match=r"settings must be Springs\(pull=.* and nothing else in filters; got"):
            elasticize(plain, settings, layers="")
    with pytest.raises(ValueError, match=r"Springs\.unit_inputs must be True in filters; got False"):
        elasticize(plain, Springs(continuity=0.0, unit_inputs=False), layers="")
    with pytest.raises(ValueError, match="centre must be None in filters"):
        elasticize(plain, SPRINGS, layers="", centre=torch.zeros(2))
    with pytest.raises(TypeError, match="with a kernel of several pixels, without groups, padded with a number"):
        ElasticFilters2d.convert(nn.Conv2d(2, 4, 3, groups=2), SPRINGS)
    model = elasticize(plain, SPRINGS, layers="")
    with pytest.raises(ValueError, match=r"must have shape \(streams, 2, height, width\); got \(1, 3, 7, 8\)"):
        step(model, torch.ones(1, 3, 7, 8))
    with pytest.raises(ValueError, match="filters cannot be exported"):
        export_onnx(model, tmp_path / "model.onnx", a_stream()[0])
