"""Entropy minimisation in a network, against PyTorch's own optimiser."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from springback_bench.rivals.networks.tent import Tent  # noqa: E402
from torch import nn  # noqa: E402


def by_optimiser(network, frames, learning_rate):
    """Answers of a network whose normalisation layers follow the entropy by `torch.optim.Adam`."""
    network.eval().requires_grad_(False)
    norms = [one for one in network.modules() if isinstance(one, (nn.BatchNorm2d, nn.GroupNorm))]
    for one in norms:
        one.requires_grad_(True)
        if isinstance(one, nn.BatchNorm2d):
            one.train()
    adam = torch.optim.Adam([part for one in norms for part in one.parameters()], lr=learning_rate)
    answers = []
    for frame in frames:
        logits = network(torch.from_numpy(frame)[None])
        answers.append(logits.detach().softmax(dim=1)[0].numpy())
        adam.zero_grad()
        torch.distributions.Categorical(logits=logits).entropy().mean().backward()
        adam.step()
    return np.array(answers)


@pytest.mark.parametrize("norm", [nn.BatchNorm2d(6), nn.GroupNorm(3, 6)])
def test_it_follows_the_entropy_as_the_optimiser_of_torch_does(norm):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Conv2d(2, 6, 3), norm, nn.ReLU(), nn.Flatten(), nn.Linear(54, 4))
    frames = np.random.default_rng(0).normal(size=(15, 2, 5, 5)).astype(np.float32)
    answers = Tent(network, (2, 5, 5), learning_rate=0.01).track(frames)
    frozen = Tent(network, (2, 5, 5), learning_rate=0.0).track(frames)
    assert np.abs(answers - frozen).max() > 0.02
    assert np.allclose(answers, by_optimiser(network, frames, 0.01), atol=1e-4)
