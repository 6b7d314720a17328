"""The small residual network."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
resnet = pytest.importorskip("springback_bench.stream_sets._resnet")

from springback_bench.stream_sets.cifar import Photographs  # noqa: E402


def coloured(count, seed):
    """Photographs of two kinds: reddish or bluish, with noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    pixels = rng.integers(0, 60, (count, 32, 32, 3))
    pixels[labels == 0, ..., 0] += 150
    pixels[labels == 1, ..., 2] += 150
    return Photographs(pixels.astype(np.uint8), labels)


def test_the_same_seed_gives_the_same_network(monkeypatch):
    monkeypatch.setattr(resnet, "_BATCH", 2)
    photographs, reports = coloured(8, 0), []
    first, second = (resnet.get_weights(resnet.trained(photographs, reports.append, epochs=2)) for _ in range(2))
    other = resnet.get_weights(resnet.trained(photographs, reports.append, epochs=2, seed=1))
    assert len(reports) == 6
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    assert (first["last.weight"] != other["last.weight"]).any()


def test_the_network_learns(monkeypatch):
    monkeypatch.setattr(resnet, "_BATCH", 4)
    network = resnet.trained(coloured(64, 0), lambda _: None, epochs=2)
    unseen = coloured(60, 1)
    with torch.inference_mode():
        answers = network(resnet.as_input(unseen.pixels)).argmax(dim=1).numpy()
    assert (answers == unseen.labels).mean() > 0.8


def test_a_frame_has_the_same_features_alone_and_among_others():
    frames = np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), np.uint8)
    network = resnet.GroupNormResNet()
    together = resnet.features_of(network, frames)
    assert together.shape == (5, resnet.FEATURES)
    np.testing.assert_allclose(resnet.features_of(network, frames, batch=1), together, atol=1e-5)


def test_all_that_adapts_is_normalised_in_groups():
    kinds = {type(module) for module in resnet.GroupNormResNet().modules()}
    assert torch.nn.GroupNorm in kinds
    assert torch.nn.BatchNorm2d not in kinds


def test_parts_of_photographs_are_random_and_half_are_mirrored():
    rows, columns = np.mgrid[:40, :40]
    whole = np.repeat(np.stack([rows, columns, columns], axis=2)[None], 400, axis=0).astype(np.uint8)
    found = resnet.varied(whole, 32, np.random.default_rng(0))
    assert found.shape == (400, 32, 32, 3)
    assert (np.diff(found[..., 0], axis=1) == 1).all()
    mirrored = found[:, 0, 0, 1] > found[:, 0, 1, 1]
    assert 0.4 < mirrored.mean() < 0.6
    left = np.where(mirrored, found[:, 0, -1, 1], found[:, 0, 0, 1])
    assert set(left.tolist()) == set(found[:, 0, 0, 0].tolist()) == set(range(9))
