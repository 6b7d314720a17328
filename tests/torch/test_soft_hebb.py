"""Filters that learn without gradients: the rule, patch by patch, and what they find."""

import numpy as np
import pytest

import torch
from springback.check import FrameError
from springback.torch import SoftHebbConv2d
from torch import nn


def lesson_patch_by_patch(layer, images):
    """The filters after one lesson and the answers, (K, n) and (images, K, places), by the equations alone."""
    weight = layer.weight.double().flatten(1).numpy()
    scaled = (images - images.mean(axis=(0, 2, 3), keepdims=True)) / np.sqrt(
        images.var(axis=(0, 2, 3), keepdims=True) + 1e-5
    )
    change, answers = np.zeros_like(weight), []
    for image in scaled:
        padded = np.pad(image, [(0, 0), (1, 1), (1, 1)])
        for top in range(0, padded.shape[1] - 2, 2):
            for left in range(0, padded.shape[2] - 2, 2):
                patch = padded[:, top : top + 3, left : left + 3].ravel()
                seen = weight @ patch
                share = np.exp(seen / layer.temperature - np.max(seen / layer.temperature))
                share /= share.sum()
                for k in range(len(weight)):
                    sign = 1 if k == seen.argmax() else -1
                    change[k] += sign * share[k] * (patch - seen[k] * weight[k])
                answers.append(np.maximum(seen - seen.mean(), 0))
    slowness = np.abs(np.linalg.norm(weight, axis=1, keepdims=True) - 1) ** 0.5
    return weight + layer.rate * slowness * change / np.abs(change).max(), np.array(answers)


def test_a_lesson_follows_the_equations_patch_by_patch():
    torch.manual_seed(0)
    layer = SoftHebbConv2d(2, 5, 3, stride=2, padding=1, temperature=0.7, rate=0.1, dtype=torch.float64)
    images = torch.rand(4, 2, 7, 7, dtype=torch.float64)
    weight, answers = lesson_patch_by_patch(layer, images.numpy())
    answered = layer(images).movedim(1, -1).reshape(-1, 5)
    np.testing.assert_allclose(layer.weight.flatten(1), weight, rtol=1e-9)
    np.testing.assert_allclose(answered, answers, rtol=1e-9, atol=1e-12)
    assert not any(parameter.requires_grad for parameter in layer.parameters())


def test_a_filter_becomes_each_pattern_of_the_images_and_has_length_one():
    torch.manual_seed(2)
    patterns = torch.nn.functional.one_hot(torch.tensor([0, 4, 8]), 9).float().reshape(3, 1, 3, 3)
    images = patterns.repeat(200, 1, 1, 1)[torch.randperm(600)] + 0.05 * torch.rand(600, 1, 3, 3)
    layer = SoftHebbConv2d(1, 8, 3, rate=0.2)
    wanted = nn.functional.normalize((patterns - patterns.mean()).flatten(1))

    def closest():
        return (nn.functional.normalize(layer.weight.flatten(1)) @ wanted.T).max(dim=0)

    assert closest().values.max() < 0.6
    for batch in images.split(10):
        layer(batch)
    found = closest()
    assert found.values.min() > 0.99
    assert torch.allclose(layer.weight.flatten(1)[found.indices].norm(dim=1), torch.ones(3), atol=0.01)


def test_nothing_moves_in_evaluation_mode_or_at_rate_zero_and_a_blank_batch_is_no_lesson():
    torch.manual_seed(0)
    for layer in (SoftHebbConv2d(1, 4, 3).eval(), SoftHebbConv2d(1, 4, 3, rate=0.0)):
        before = layer.weight.clone()
        layer(torch.rand(5, 1, 6, 6))
        assert torch.equal(layer.weight, before)
    layer = SoftHebbConv2d(1, 4, 3)
    layer(torch.zeros(5, 1, 6, 6))
    assert layer.weight.isfinite().all()


def test_a_saved_layer_answers_as_the_one_that_learned():
    torch.manual_seed(0)
    layer, other = SoftHebbConv2d(1, 4, 3), SoftHebbConv2d(1, 4, 3)
    layer(torch.rand(5, 1, 6, 6))
    other.load_state_dict(layer.state_dict())
    images = torch.rand(2, 1, 6, 6)
    assert torch.equal(layer.eval()(images), other.eval()(images))


def test_what_filters_cannot_learn_from_is_refused_and_moves_nothing():
    layer = SoftHebbConv2d(1, 4, 3)
    before = {name: part.clone() for name, part in layer.state_dict().items()}
    with pytest.raises(FrameError, match="images that filters learn from must be finite; got NaN or infinity"):
        layer(torch.full((2, 1, 6, 6), torch.nan))
    with pytest.raises(ValueError, match=r"must have shape \(images, 1, height, width\); got \(2, 3, 6, 6\)"):
        layer(torch.ones(2, 3, 6, 6))
    assert all(torch.equal(part, before[name]) for name, part in layer.state_dict().items())
    with pytest.raises(ValueError, match="out_channels must be >= 2; got 1"):
        SoftHebbConv2d(1, 1, 3)
    with pytest.raises(ValueError, match="temperature must be > 0; got 0"):
        SoftHebbConv2d(1, 4, 3, temperature=0.0)


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (1e30 * torch.ones(4, 1, 6, 6).cumsum(dim=-1), "images that filters learn from must be scaled down"),
        (torch.rand(4, 1, 2, 2), "Kernel size can't be greater than actual input size"),
    ],
    ids=["too bright", "too small"],
)
def test_a_batch_that_is_refused_changes_nothing(images, sentence):
    torch.manual_seed(0)
    layer = SoftHebbConv2d(1, 4, 3)
    layer(torch.rand(4, 1, 6, 6))
    before = {name: part.clone() for name, part in layer.state_dict().items()}
    with pytest.raises((ValueError, RuntimeError), match=sentence):
        layer(images)
    for name, part in layer.state_dict().items():
        torch.testing.assert_close(part, before[name], rtol=0, atol=0, msg=name)
