"""Small networks that are trained here, on one thread, and then frozen: a body, and a last layer (extra: torch)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.stream_sets", "torch") from None

from torch.nn import functional

from springback_bench.stream_sets.record import Head
from springback_paper.baselines.torch_state import one_thread, seeded
from torch import Tensor, nn

_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class SmallNetwork:
    """A network: what it subtracts from its input and divides it by, its body, and its last layer.

    Examples
    --------
    >>> zero, one = np.zeros(1, np.float32), np.ones(1, np.float32)
    >>> network = SmallNetwork(zero, one, nn.Sequential(nn.ReLU()), nn.Linear(2, 3))
    >>> network.features(np.array([[-1.0, 2.0]], np.float32))
    array([[0., 2.]], dtype=float32)
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    body: nn.Sequential
    last: nn.Linear

    @torch.inference_mode()
    def features(self, inputs: NDArray[Any]) -> NDArray[np.float32]:
        """What the last layer receives, (n, width); dropout is off."""
        self.body.eval()
        starts = range(0, len(inputs), _AT_ONCE)
        with one_thread():
            return np.concatenate([self.body(self._scaled(inputs[at : at + _AT_ONCE])).numpy() for at in starts])

    def head(self, examples: NDArray[Any]) -> Head:
        """The last layer, and the mean of the features of training examples."""
        weight, bias = (one.detach().numpy().copy() for one in (self.last.weight, self.last.bias))
        return Head(weight=weight, bias=bias, centre=self.features(examples).mean(axis=0))

    def _scaled(self, inputs: NDArray[Any]) -> Tensor:
        return torch.tensor((inputs - self.mean) / self.scale)

    def train(
        self,
        inputs: NDArray[Any],
        labels: NDArray[np.int64],
        *,
        epochs: int,
        batch: int,
        learning_rate: float,
        seed: int,
    ) -> None:
        """Lower the cross-entropy of labelled examples with Adam."""
        known = torch.tensor(labels)
        self.body.train()
        with one_thread(), seeded(seed):
            optimiser = torch.optim.Adam([*self.body.parameters(), *self.last.parameters()], learning_rate)
            for _ in range(epochs):
                for some in torch.split(torch.randperm(len(known)), batch):
                    optimiser.zero_grad()
                    logits = self.last(self.body(self._scaled(inputs[some.numpy()])))
                    functional.cross_entropy(logits, known[some]).backward()  # type: ignore[no-untyped-call]
                    optimiser.step()
        self.body.eval()


def activity_network(windows: NDArray[np.float32], n_classes: int, *, seed: int) -> SmallNetwork:
    """A network for windows of signals, (n, channels, samples), of which it takes mean and spread; not trained yet.

    Examples
    --------
    >>> windows = np.random.default_rng(0).normal(size=(5, 6, 64)).astype(np.float32)
    >>> activity_network(windows, 12, seed=0).features(windows).shape
    (5, 64)
    """
    mean = windows.mean(axis=(0, 2), keepdims=True)
    scale = windows.std(axis=(0, 2), keepdims=True)
    with seeded(seed):
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
        return SmallNetwork(mean, scale, body, nn.Linear(64, n_classes))


def digit_network(*, seed: int = 0) -> SmallNetwork:
    """The paper's CNN for frames, uint8 (n, 1, 28, 28), with eleven outputs; not trained yet.

    Examples
    --------
    >>> digit_network().features(np.zeros((2, 1, 28, 28), np.uint8)).shape
    (2, 400)
    """
    with seeded(seed):
        body = nn.Sequential(
            nn.Conv2d(1, 8, 5, padding=2),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(8, 8, 5, padding=2),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(392, 400),
            nn.ReLU(),
            nn.Dropout(0.4),
        )
        return SmallNetwork(np.zeros(1, np.float32), np.full(1, 255, np.float32), body, nn.Linear(400, 11))


def get_weights(network: SmallNetwork) -> dict[str, NDArray[np.float32]]:
    """All weights by the number of their layer, such as "0.weight"; the last layer comes after those of the body."""
    return {name: one.detach().numpy().copy() for name, one in _layers(network).named_parameters()}


def set_weights(network: SmallNetwork, weights: dict[str, NDArray[np.float32]]) -> None:
    """Take over weights.

    Examples
    --------
    >>> first, second = digit_network(seed=0), digit_network(seed=1)
    >>> set_weights(second, get_weights(first))
    >>> bool((get_weights(second)["10.weight"] == get_weights(first)["10.weight"]).all())
    True
    """
    _layers(network).load_state_dict({name: torch.tensor(one) for name, one in weights.items()})


def _layers(network: SmallNetwork) -> nn.Sequential:
    return nn.Sequential(*network.body, network.last)
