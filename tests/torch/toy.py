"""A small world for the tests: objects that are gradually hidden, and a network that only knows them whole."""

import functools

import torch
from torch import nn

FEATURES, CLASSES = 24, 4


def some_objects(count, rng):
    """Objects (count, 24) of four kinds: bright in one place of their own, and less clear elsewhere."""
    labels = torch.randint(0, CLASSES, (count,), generator=rng)
    means = torch.zeros(CLASSES, FEATURES)
    for kind in range(CLASSES):
        means[kind, kind * 4 : kind * 4 + 4] = 1.0
        means[kind, 16:] = torch.rand(8, generator=torch.Generator().manual_seed(kind)) * 0.8
    return means[labels] + 0.25 * torch.randn(count, FEATURES, generator=rng), labels


@functools.cache
def trained_network():
    """A two-layer network trained on whole objects."""
    rng = torch.Generator().manual_seed(10)
    torch.manual_seed(10)
    model = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, CLASSES))
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    x, labels = some_objects(800, rng)
    for _ in range(120):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(x), labels).backward()
        optimiser.step()
    return model.eval().requires_grad_(False)


def occluded_world(seed, streams=4, objects=20, shown=8):
    """The network, frames (T, streams, 24) of objects that are hidden bit by bit, and labels (T, streams)."""
    rng = torch.Generator().manual_seed(seed)
    x, labels = some_objects(objects * streams, rng)
    hidden = torch.linspace(0, 0.8, shown) * FEATURES
    frames = torch.stack([torch.where(torch.arange(FEATURES) < n, 0.0, x) for n in hidden])
    frames = frames.reshape(shown, objects, streams, FEATURES).transpose(0, 1).flatten(0, 1)
    return trained_network(), frames, labels.reshape(objects, 1, streams).expand(-1, shown, -1).flatten(0, 1)
