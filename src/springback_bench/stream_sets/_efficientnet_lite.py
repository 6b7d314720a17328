"""EfficientNet-lite0 (Tan & Le 2019, in the variant for small devices): a network that was trained on ImageNet.

Seven stages of inverted bottlenecks (expand by a 1 x 1 convolution, filter each channel, project), with ReLU6 and
without squeeze-and-excitation. Modules are named as in the published weights.
"""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.stream_sets", "torch") from None

from torch.nn import functional

from torch import Tensor, nn

FEATURES = 1280
_STAGES = (
    # repeats, kernel, stride, expansion, channels in, channels out
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)
_SIDE = 96
"""Photographs are enlarged to this many pixels; the features of small photographs are poor at 32 pixels."""


class _Convolution(nn.Conv2d):
    """Pads as TensorFlow does: the output has the size of the input over the stride, rounded up."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, groups: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride=stride, groups=groups, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        rows, columns = (max((-(-n // stride) - 1) * stride + kernel - n, 0) for n in x.shape[-2:])
        sides = (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2)
        return super().forward(functional.pad(x, sides) if any(sides) else x)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3)


class _Bottleneck(nn.Module):
    def __init__(self, kernel: int, stride: int, expansion: int, inputs: int, outputs: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expands, self.skips = expansion > 1, stride == 1 and inputs == outputs
        if self.expands:
            self._expand_conv, self._bn0 = _Convolution(inputs, wide, 1), _norm(wide)
        self._depthwise_conv = _Convolution(wide, wide, kernel, stride=stride, groups=wide)
        self._bn1 = _norm(wide)
        self._project_conv, self._bn2 = _Convolution(wide, outputs, 1), _norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        wide = functional.relu6(self._bn0(self._expand_conv(x))) if self.expands else x
        wide = functional.relu6(self._bn1(self._depthwise_conv(wide)))
        out: Tensor = self._bn2(self._project_conv(wide))
        return x + out if self.skips else out


class EfficientNetLite0(nn.Module):
    """The network without dropout, because it is never trained here."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem, self._bn0 = _Convolution(3, 32, 3, stride=2), _norm(32)
        self._blocks = nn.ModuleList(
            _Bottleneck(kernel, 1 if repeat else stride, expansion, outputs if repeat else inputs, outputs)
            for repeats, kernel, stride, expansion, inputs, outputs in _STAGES
            for repeat in range(repeats)
        )
        self._conv_head, self._bn1 = _Convolution(320, FEATURES, 1), _norm(FEATURES)
        self._fc = nn.Linear(FEATURES, 1000)

    def features(self, x: Tensor) -> Tensor:
        """What the last layer receives, (N, 1280), from pixels (N, 3, height, width) between -1 and 1."""
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return functional.relu6(self._bn1(self._conv_head(x))).mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self._fc(self.features(x))
        return out


def pretrained(weights: bytes) -> EfficientNetLite0:
    """The network with published weights: the content of a file of PyTorch, in which nothing but tensors is read."""
    network = EfficientNetLite0()
    network.load_state_dict(torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True))
    return network.eval()


@torch.inference_mode()
def features_of(network: EfficientNetLite0, pixels: NDArray[Any], *, batch: int = 100) -> NDArray[np.float32]:
    """Features of photographs, uint8 (n, height, width, 3) -> float32 (n, 1280)."""
    found = []
    for start in range(0, len(pixels), batch):
        some = (torch.tensor(pixels[start : start + batch]).permute(0, 3, 1, 2).float() - 127) / 128
        found.append(network.features(functional.interpolate(some, size=_SIDE, mode="bilinear")).numpy())
    return np.concatenate(found)
