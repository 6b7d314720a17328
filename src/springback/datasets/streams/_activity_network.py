"""A small convolutional network for 1.28 s of acceleration and turning, trained here on one thread (extra: torch)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback.datasets.streams.activities", "torch") from None

from torch import Tensor, nn
from torch.nn import functional

from springback.datasets.streams.record import Head
from springback.torch_state import one_thread, seeded

_EPOCHS = 3
_BATCH = 256
_LEARNING_RATE = 2e-3


@dataclass(frozen=True, eq=False)
class ActivityNetwork:
    """A trained network: what it subtracts from its input and divides it by, its body, and its last layer."""

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    body: nn.Sequential
    last: nn.Linear

    @torch.inference_mode()
    def features(self, windows: NDArray[np.float32]) -> NDArray[np.float32]:
        """What the last layer receives from windows (n, channels, samples)."""
        with one_thread():
            return np.asarray(self.body(self._input(windows)).numpy())

    def head(self, windows: NDArray[np.float32]) -> Head:
        """The last layer, with the mean of the features of these windows."""
        weight, bias = (one.detach().numpy().copy() for one in (self.last.weight, self.last.bias))
        return Head(weight=weight, bias=bias, centre=self.features(windows).mean(axis=0))

    def _input(self, windows: NDArray[np.float32]) -> Tensor:
        return torch.tensor((windows - self.mean) / self.scale)


def trained(windows: NDArray[np.float32], labels: NDArray[np.int64], n_classes: int, *, seed: int) -> ActivityNetwork:
    """A network for windows (n, channels, samples), trained on labelled ones."""
    mean = windows.mean(axis=(0, 2), keepdims=True)
    scale = windows.std(axis=(0, 2), keepdims=True)
    with one_thread(), seeded(seed):
        body = nn.Sequential(
            nn.Conv1d(windows.shape[1], 32, 5, 2),
            nn.ReLU(),
            nn.Conv1d(32, 48, 5, 2),
            nn.ReLU(),
            nn.Conv1d(48, 48, 3, 1),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(2),
            nn.Flatten(),
            nn.Linear(96, 64),
            nn.ReLU(),
        )
        network = ActivityNetwork(mean, scale, body, nn.Linear(64, n_classes))
        weights = [*network.body.parameters(), *network.last.parameters()]
        optimiser = torch.optim.Adam(weights, _LEARNING_RATE)
        inputs, known = network._input(windows), torch.tensor(labels)
        for _ in range(_EPOCHS):
            for some in torch.split(torch.randperm(len(inputs)), _BATCH):
                optimiser.zero_grad()
                functional.cross_entropy(network.last(network.body(inputs[some])), known[some]).backward()  # type: ignore[no-untyped-call]
                optimiser.step()
    return network
