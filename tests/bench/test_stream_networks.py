"""Methods that adapt the network itself read the frames of the same stream."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from springback_bench.comparison import networks
from springback_bench.rivals import all_rivals
from springback_bench.stream_sets import Head, Stream, StreamSplit
from springback_bench.stream_sets.corruptions import CorruptedFrames, ShownPhotographs
from tests.bench.small_streams import SMALL


class TinyNetwork(torch.nn.Module):
    """Two numbers per channel, normalised, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.last = torch.nn.GroupNorm(1, 3), torch.nn.Linear(3, 2)

    def features(self, x):
        return self.norm(x).mean(dim=(2, 3))

    def forward(self, x):
        return self.last(self.features(x))


@pytest.fixture
def film():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    parts = [
        ShownPhotographs(
            rng.integers(0, 256, (count, 32, 32, 3)).astype(np.uint8), rng.integers(2, size=count), np.arange(count)
        )
        for count in (24, 30)
    ]
    return CorruptedFrames(TinyNetwork(), *parts)


def split_of(film):
    streams = []
    for frames in (film.validation, film.test):
        pixels = torch.tensor(frames.pixels).permute(0, 3, 1, 2).float() / 255
        with torch.no_grad():
            features = film.model.features(pixels).numpy()
        times = np.arange(len(features), dtype=np.float64)
        streams.append(Stream(features=features, labels=frames.labels, times=times, objects=frames.objects))
    weight, bias = (one.detach().numpy() for one in (film.model.last.weight, film.model.last.bias))
    head = Head(weight=weight, bias=bias, centre=np.zeros(3, np.float32))
    return StreamSplit(name="corruptions-iid", split=0, head=head, validation=streams[:1], test=streams[1:])


@pytest.mark.parametrize("method", [one.name for one in all_rivals() if one.kind == "network"])
def test_every_method_that_adapts_a_network_is_measured(film, method):
    found = networks.network_on(split_of(film), film, method, replace(SMALL, timed=5))
    assert found.microseconds > 0
    assert found.state_bytes > 0
    assert found.validation_static == split_of(film).head.accuracy([_beginning(split_of(film).validation[0], 20)])


def test_the_frames_are_those_of_the_features(film, monkeypatch):
    fixed = {"settings": {"learning_rate": 0.0, "statistics": "stored"}}
    monkeypatch.setattr(networks, "chosen", lambda *_, **__: fixed)
    found = networks.network_on(split_of(film), film, "tent", replace(SMALL, timed=5))
    assert found.accuracy == found.shuffled == split_of(film).head.accuracy(split_of(film).test)


def _beginning(stream, frames):
    parts = (stream.features, stream.labels, stream.times, stream.objects)
    return Stream(**dict(zip(("features", "labels", "times", "objects"), (one[:frames] for one in parts), strict=True)))
