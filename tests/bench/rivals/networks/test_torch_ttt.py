"""TENT as the package torch-ttt has it and as we have it: where torch-ttt is installed, both move a network alike."""

import sys
from importlib.util import find_spec
from unittest.mock import MagicMock

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from springback_bench.rivals.networks.tent import Tent  # noqa: E402

AUGMENTATIONS = ("torchvision", "torchvision.transforms", "torchvision.transforms.functional")
"""Other methods of torch-ttt use them, TENT does not; they are compiled for one build of torch."""


@pytest.fixture
def tent_engine(monkeypatch):
    if find_spec("torch_ttt") is None:
        pytest.skip("torch-ttt is not installed (make test-optional)")
    for name in AUGMENTATIONS:
        monkeypatch.setitem(sys.modules, name, MagicMock())
    return pytest.importorskip("torch_ttt.engine.tent_engine")


def test_tent_moves_scales_and_shifts_as_torch_ttt_does(tent_engine):
    torch.manual_seed(0)
    layers = torch.nn
    network = layers.Sequential(
        layers.Conv2d(3, 8, 3),
        layers.BatchNorm2d(8),
        layers.ReLU(),
        layers.AdaptiveAvgPool2d(1),
        layers.Flatten(),
        layers.Linear(8, 4),
    ).eval()
    frames = np.random.default_rng(0).normal(size=(20, 3, 8, 8)).astype(np.float32)
    ours = Tent(network, (3, 8, 8), learning_rate=0.01, statistics="stored")
    for frame in frames:
        ours.step(frame)
    settings = {"lr": 0.01, "num_steps": 1, "copy_model": False}
    theirs = tent_engine.TentEngine(network, settings).eval()
    for frame in frames:
        theirs(torch.tensor(frame)[None])
    moved = torch.cat([network[1].weight, network[1].bias]).detach().numpy()
    assert np.abs(moved - np.repeat([1.0, 0.0], 8)).max() > 0.02  # they moved at all
    np.testing.assert_allclose(ours._state.values, moved, atol=1e-5)
