"""ECAPA-TDNN (Desplanques, Thienpondt & Demuynck 2020): a speaker encoder that was trained on VoxCeleb.

Convolutions over time with dilation, each channel scaled by what the whole window is like (squeeze and excitation), and
a mean and spread over time in which attention says what counts. Modules are named as in SpeechBrain's weights.
"""

import io

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.stream_sets", "torch") from None

from torch.nn import functional

from springback_bench.stream_sets._speech import Encoder, hamming, power_spectra, symmetric_filters, windows
from torch import Tensor, nn

FEATURES = 192
_MELS, _CHANNELS, _ALL_CHANNELS, _NARROW, _SCALE = 80, 1024, 3072, 128, 8
_FLOOR_DB = 80.0
_NOTHING = 1e-30
"""Many weights of channels that training has switched off are denormal numbers, which are slow; they are set to 0."""


class _Convolution(nn.Module):
    """A convolution over time that keeps the length; what lies beyond an end is its mirror image."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        padding = dilation * (kernel - 1) // 2
        self.conv = nn.Conv1d(inputs, outputs, kernel, dilation=dilation)
        self.padding = (padding, padding)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.conv(functional.pad(x, self.padding, mode="reflect") if any(self.padding) else x)
        return out


class _Norm(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(x)
        return out


class _Layer(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.conv, self.norm = _Convolution(inputs, outputs, kernel, dilation), _Norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.norm(torch.relu(self.conv(x)))
        return out


class _Res2Net(nn.Module):
    """Channels in eight groups; every group also receives what the group before it gave."""

    def __init__(self, dilation: int) -> None:
        super().__init__()
        width = _CHANNELS // _SCALE
        self.blocks = nn.ModuleList(_Layer(width, width, 3, dilation) for _ in range(_SCALE - 1))

    def forward(self, x: Tensor) -> Tensor:
        first, *groups = x.chunk(_SCALE, dim=1)
        given = [first]
        for number, (block, group) in enumerate(zip(self.blocks, groups, strict=True)):
            given.append(block(group + given[-1] if number else group))
        return torch.cat(given, dim=1)


class _SqueezeExcitation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = _Convolution(_CHANNELS, _NARROW), _Convolution(_NARROW, _CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.conv2(torch.relu(self.conv1(x.mean(dim=2, keepdim=True)))))


class _Block(nn.Module):
    def __init__(self, dilation: int) -> None:
        super().__init__()
        self.tdnn1, self.res2net_block = _Layer(_CHANNELS, _CHANNELS), _Res2Net(dilation)
        self.tdnn2, self.se_block = _Layer(_CHANNELS, _CHANNELS), _SqueezeExcitation()

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.se_block(self.tdnn2(self.res2net_block(self.tdnn1(x))))
        return x + out


class _AttentiveStatistics(nn.Module):
    """Mean and spread over time, (N, C, T) -> (N, 2 C, 1), weighted by attention to each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.tdnn, self.conv = _Layer(3 * _ALL_CHANNELS, _NARROW), _Convolution(_NARROW, _ALL_CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        alike = torch.full_like(x[:, :1], 1 / x.shape[2])
        context = [one.expand_as(x) for one in _mean_and_spread(x, alike)]
        attention = torch.softmax(self.conv(torch.tanh(self.tdnn(torch.cat([x, *context], dim=1)))), dim=2)
        return torch.cat(_mean_and_spread(x, attention), dim=1)


def _mean_and_spread(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    mean = (weights * x).sum(dim=2, keepdim=True)
    return mean, (weights * (x - mean) ** 2).sum(dim=2, keepdim=True).clamp(min=1e-12).sqrt()


class EcapaTdnn(nn.Module):
    """Log-mel windows (N, 80, T) -> features (N, 192)."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([_Layer(_MELS, _CHANNELS, 5), *(_Block(dilation) for dilation in (2, 3, 4))])
        self.mfa = _Layer(3 * _CHANNELS, _ALL_CHANNELS)
        self.asp, self.asp_bn = _AttentiveStatistics(), _Norm(2 * _ALL_CHANNELS)
        self.fc = _Convolution(2 * _ALL_CHANNELS, FEATURES)

    def forward(self, x: Tensor) -> Tensor:
        given = []
        for block in self.blocks:
            x = block(x)
            given.append(x)
        pooled = self.asp_bn(self.asp(self.mfa(torch.cat(given[1:], dim=1))))
        out: Tensor = self.fc(pooled)
        return out.squeeze(2)


def log_mels(mels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Windows of mel powers (N, T, 80) in decibel, at most 80 below the loudest, minus their mean over time."""
    decibel = 10 * np.log10(np.maximum(mels, 1e-10))
    decibel = np.maximum(decibel, decibel.max(axis=(1, 2), keepdims=True) - _FLOOR_DB)
    return np.asarray(decibel - decibel.mean(axis=1, keepdims=True), np.float32)


def pretrained(weights: bytes) -> EcapaTdnn:
    """The network with published weights: the content of a file of PyTorch, in which nothing but tensors is read."""
    network = EcapaTdnn()
    state = torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True)
    for values in state.values():
        values[values.abs() < _NOTHING] = 0
    network.load_state_dict(state)
    return network.eval()


def encoder(network: EcapaTdnn) -> Encoder:
    """The network with the log-mels that it was trained on."""
    filters, taper = symmetric_filters(_MELS), hamming()

    @torch.inference_mode()
    def features(samples: NDArray[np.float32]) -> NDArray[np.float32]:
        mels = windows(power_spectra(samples, taper) @ filters.T)
        inputs = torch.tensor(log_mels(mels)).transpose(1, 2)
        return np.concatenate([network(some).numpy() for some in torch.split(inputs, 8)])

    return features
