"""A small residual network with group normalisation for CIFAR-10, which is trained here (extra: torch).

Group normalisation (Wu & He 2018) does the same to single frames as to batches, so that the network can be adapted
frame by frame. Three residual blocks (He et al. 2016), each of which halves the picture and doubles the channels.
"""

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.stream_sets", "torch") from None

from torch.nn import functional

from springback.data.catalogue import Report
from springback_bench.stream_sets.cifar import CLASSES, Photographs
from springback_paper.baselines.torch_state import one_thread, seeded
from torch import Tensor, nn

_WIDTH, _GROUPS = 24, 4
FEATURES = 8 * _WIDTH
_EPOCHS, _BATCH, _MOST_RATE, _DECAY = 8, 64, 0.1, 5e-4
_MARGIN, _SMALL_SIDE = 4, 24
_PIXEL_MEAN, _PIXEL_SPREAD = (0.491, 0.482, 0.447), (0.247, 0.243, 0.262)


def _norm(channels: int) -> nn.GroupNorm:
    return nn.GroupNorm(_GROUPS, channels)


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False), _norm(outputs)
        self.conv2, self.norm2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), _norm(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        inner = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(inner)) + self.shortcut(x))


class GroupNormResNet(nn.Module):
    """Frames (N, 3, 32, 32) between 0 and 1 -> logits (N, 10).

    Examples
    --------
    >>> GroupNormResNet()(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """

    mean: Tensor
    spread: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(_PIXEL_MEAN).view(3, 1, 1), persistent=False)
        self.register_buffer("spread", torch.tensor(_PIXEL_SPREAD).view(3, 1, 1), persistent=False)
        self.stem, self.norm = nn.Conv2d(3, _WIDTH, 3, padding=1, bias=False), _norm(_WIDTH)
        self.blocks = nn.Sequential(*(_Block(_WIDTH << number, _WIDTH << number + 1) for number in range(3)))
        self.last = nn.Linear(FEATURES, CLASSES)

    def features(self, x: Tensor) -> Tensor:
        """What the last layer receives, (N, 192)."""
        x = torch.relu(self.norm(self.stem((x - self.mean) / self.spread)))
        found: Tensor = self.blocks(x).mean(dim=(2, 3))
        return found

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.last(self.features(x))
        return out


def as_input(frames: NDArray[np.uint8]) -> Tensor:
    """Frames, uint8 (N, 32, 32, 3), as the network receives them.

    Examples
    --------
    >>> as_input(np.full((1, 32, 32, 3), 255, np.uint8))[0, 0, 0, 0].item()
    1.0
    """
    return torch.tensor(frames).permute(0, 3, 1, 2).float() / 255


@torch.inference_mode()
def features_of(network: GroupNormResNet, frames: NDArray[np.uint8], *, batch: int = 256) -> NDArray[np.float32]:
    """Features of frames, (N, 192), on one thread."""
    starts = range(0, len(frames), batch)
    with one_thread():
        return np.concatenate([network.features(as_input(frames[at : at + batch])).numpy() for at in starts])


def get_weights(network: GroupNormResNet) -> dict[str, NDArray[np.float32]]:
    """All weights by name."""
    return {name: values.detach().numpy().copy() for name, values in network.state_dict().items()}


def with_weights(weights: dict[str, NDArray[np.float32]]) -> GroupNormResNet:
    """A network with these weights.

    Examples
    --------
    >>> weights = get_weights(GroupNormResNet())
    >>> bool((get_weights(with_weights(weights))["last.weight"] == weights["last.weight"]).all())
    True
    """
    network = GroupNormResNet()
    network.load_state_dict({name: torch.tensor(values) for name, values in weights.items()})
    return network.eval()


def trained(photographs: Photographs, report: Report, *, seed: int = 0, epochs: int = _EPOCHS) -> GroupNormResNet:
    """A network that has learned from photographs, shifted and mirrored at random; on one thread.

    Stochastic gradient descent with momentum; the learning rate rises and falls once (Smith & Topin 2019). The first
    half of the epochs sees smaller parts of the photographs, which is faster.
    """
    rng = np.random.default_rng(seed)
    padded = np.pad(photographs.pixels, ((0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0)), mode="reflect")
    labels = torch.tensor(photographs.labels)
    with one_thread(), seeded(seed):
        network = GroupNormResNet().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        optimiser = torch.optim.SGD(network.parameters(), momentum=0.9, nesterov=True, weight_decay=_DECAY)
        steps = epochs * -(-len(labels) // _BATCH)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _MOST_RATE, total_steps=steps, pct_start=0.25)
        for epoch in range(epochs):
            report(f"training a residual network on {len(labels):,} photographs, epoch {epoch + 1} of {epochs}")
            side = _SMALL_SIDE if epoch < epochs // 2 else photographs.pixels.shape[1]
            for some in np.split(rng.permutation(len(labels)), range(_BATCH, len(labels), _BATCH)):
                optimiser.zero_grad()
                inputs = as_input(varied(padded[some], side, rng)).contiguous(memory_format=torch.channels_last)
                functional.cross_entropy(network(inputs), labels[some]).backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
    return with_weights(get_weights(network))


def varied(photographs: NDArray[np.uint8], side: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A random square of each photograph, mirrored with probability one half."""
    count = len(photographs)
    starts = rng.integers(0, photographs.shape[1] - side + 1, (2, count, 1))
    rows, columns = starts + np.arange(side)
    columns = np.where(rng.random((count, 1)) < 0.5, columns, columns[:, ::-1])
    return np.asarray(photographs[np.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]])
