"""Instance-aware batch normalisation and the memory with all classes, each against its rule written plainly."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from springback_bench.rivals.networks.normalisation import InstanceAwareNorm  # noqa: E402
from springback_bench.rivals.networks.note import Note  # noqa: E402
from torch import nn  # noqa: E402


def shrunk(x, by):
    return np.sign(x) * np.maximum(np.abs(x) - by, 0)


def aware(x, mean, variance, tolerance, epsilon):
    """Frames (N, C, L), each channel of each normalised on its own."""
    out = np.empty_like(x)
    for n, c in np.ndindex(x.shape[:2]):
        size, wide = x.shape[2], variance[c] + epsilon
        m = mean[c] + shrunk(x[n, c].mean() - mean[c], tolerance * np.sqrt(wide / size))
        v = variance[c] + shrunk(x[n, c].var(ddof=1) - variance[c], tolerance * wide * np.sqrt(2 / (size - 1)))
        out[n, c] = (x[n, c] - m) / np.sqrt(max(v, 0) + epsilon)
    return out


@pytest.fixture
def layer():
    norm = nn.BatchNorm1d(3)
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for part in (norm.weight, norm.bias, norm.running_mean):
            part.copy_(torch.from_numpy(rng.normal(size=3)))
        norm.running_var.copy_(torch.from_numpy(rng.uniform(0.5, 2, size=3)))
    return norm


@pytest.mark.parametrize("tolerance", [0.0, 0.5, 4.0])
def test_a_frame_that_clearly_differs_is_normalised_by_its_own_statistics_too(layer, tolerance):
    x = np.random.default_rng(1).normal(1.0, 3.0, size=(4, 3, 10))
    mean, variance = layer.running_mean.numpy().astype(float), layer.running_var.numpy().astype(float)
    weight, bias = layer.weight.detach().numpy()[:, None], layer.bias.detach().numpy()[:, None]
    expected = aware(x, mean, variance, tolerance, layer.eps) * weight + bias
    changed = InstanceAwareNorm(layer, tolerance=tolerance, momentum=0.1).eval()
    assert np.allclose(changed(torch.from_numpy(x).float()).detach(), expected, atol=1e-4)


def test_a_frame_that_hardly_differs_is_normalised_as_usual(layer):
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(4, 3, 10))).float()
    changed = InstanceAwareNorm(layer, tolerance=1e9, momentum=0.1).eval()
    assert torch.allclose(changed(x), layer.eval()(x), atol=1e-5)


def test_while_it_learns_it_uses_the_batch_and_averages_what_is_stored(layer):
    x = np.random.default_rng(1).normal(1.0, 3.0, size=(4, 3, 10))
    mean, variance = x.mean(axis=(0, 2)), x.transpose(1, 0, 2).reshape(3, -1).var(axis=1, ddof=1)
    stored = layer.running_mean.numpy().copy(), layer.running_var.numpy().copy()
    weight, bias = layer.weight.detach().numpy()[:, None], layer.bias.detach().numpy()[:, None]
    changed = InstanceAwareNorm(layer, tolerance=0.5, momentum=0.1).train()
    expected = aware(x, mean, variance, 0.5, layer.eps) * weight + bias
    assert np.allclose(changed(torch.from_numpy(x).float()).detach(), expected, atol=1e-4)
    assert np.allclose(changed.running_mean, 0.9 * stored[0] + 0.1 * mean, atol=1e-5)
    assert np.allclose(changed.running_var, 0.9 * stored[1] + 0.1 * variance, atol=1e-5)


def identity(n_memory, **settings):
    """A network whose logits are the frames but for their mean and size, so that labels can be written as frames."""
    return Note(nn.Sequential(nn.LayerNorm(4)), (4,), n_memory=n_memory, learning_rate=0.0, **settings)


def test_the_memory_keeps_all_classes_of_a_stream_with_long_runs():
    labels = np.repeat([0, 1, 2, 3], 50)
    model = identity(12)
    for frame in 5.0 * np.eye(4)[labels]:
        model.step(frame)
    held = np.bincount(model._state.classes, minlength=4)
    assert np.array_equal(held, [3, 3, 3, 3])
    assert np.array_equal(model._state.met, [50, 50, 50, 50])
    assert np.array_equal(model._state.frames.argmax(axis=1), model._state.classes)


def test_frames_of_one_class_are_a_fair_sample_of_all_its_frames():
    kept = np.zeros(40)
    for seed in range(150):
        model = identity(8, seed=seed)
        frames = np.tile([5.0, 0.0, 0.0, 0.0], (40, 1))
        frames[:, 3] = np.arange(40) / 100
        for frame in frames:
            model.step(frame)
        kept[np.rint(100 * model._state.frames[:, 3]).astype(int)] += 1
    assert kept.sum() == 150 * 8
    assert kept[:20].sum() == pytest.approx(kept.sum() / 2, rel=0.15)
    assert kept.min() > 10


def test_it_learns_from_the_memory_each_time_as_many_frames_have_passed():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(12, 3))
    frames = np.random.default_rng(0).normal(1.0, 2.0, size=(8, 2, 6)).astype(np.float32)
    model = Note(network, (2, 6), learning_rate=0.1, n_memory=8, momentum=0.25)
    steps = []
    for frame in frames:
        model.step(frame)
        steps.append(int(model._state.steps[0]))
    assert steps == [0] * 7 + [1]
    network.eval()
    features = network[0](torch.from_numpy(frames)).detach()
    expected = 0.75 * network[1].running_mean + 0.25 * features.mean(dim=(0, 2))
    assert np.allclose(model._state.statistics[:3], expected, atol=1e-5)
    # The first step of Adam moves each value by the learning rate, against the sign of its gradient.
    moved = np.abs(model._state.values - model._source)
    assert np.allclose(moved, 0.1, atol=1e-3)
    layer = InstanceAwareNorm(network[1], tolerance=4.0, momentum=0.0).train()
    entropy = torch.distributions.Categorical(logits=network[3](layer(features).flatten(1))).entropy().mean()
    gradients = torch.cat(torch.autograd.grad(entropy, [layer.weight, layer.bias])).numpy()
    assert np.array_equal(np.sign(model._source - model._state.values), np.sign(gradients))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_memory": 1}, "n_memory must be >= 2; got 1"),
        ({"tolerance": -1}, "tolerance must be >= 0; got -1"),
        ({"momentum": 2}, "momentum must be <= 1; got 2"),
        ({"seed": -1}, "seed must be >= 0; got -1"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        Note(nn.LayerNorm(4), (4,), **wrong)
