"""The normalisation layers of a network: their scales and shifts, and batch normalisation that uses single frames."""

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from numpy.typing import NDArray
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

import torch
from torch import nn


class InstanceAwareNorm(nn.Module):
    """Batch normalisation whose statistics move towards those of a frame that clearly differs (after NOTE).

        mean <- mean + shrink(mean of the frame - mean, tolerance * sqrt(variance / L))
        variance <- variance + shrink(variance of the frame - variance, tolerance * variance sqrt(2 / (L - 1)))

    for each channel of each frame, where L is the number of places of a channel and shrink moves a number towards 0 by
    its second argument, but not beyond. Mean and variance are the stored ones, or while `training`, those of the batch,
    of which the stored ones then become a running average. A layer that sees one place per channel has no statistics of
    a frame and normalises as batch normalisation does.

    Parameters
    ----------
    layer : nn.Module
        The batch normalisation to replace.
    tolerance : float
        How many standard errors of the mean or variance a frame may differ before it counts.
    momentum : float
        Weight of a batch in the running averages.

    Examples
    --------
    >>> layer = InstanceAwareNorm(nn.BatchNorm1d(1, affine=False), tolerance=4.0, momentum=0.01).eval()
    >>> layer(torch.tensor([[[-1.0, 1.0, -1.0, 1.0]]])).numpy().round(2)
    array([[[-1.,  1., -1.,  1.]]], dtype=float32)
    >>> layer(torch.tensor([[[9.0, 11.0, 9.0, 11.0]]])).numpy().round(2)
    array([[[1., 3., 1., 3.]]], dtype=float32)
    """

    def __init__(self, layer: Any, *, tolerance: float, momentum: float) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self.running_mean, self.running_var = layer.running_mean, layer.running_var
        self.epsilon, self.tolerance, self.momentum = layer.eps, tolerance, momentum

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise a batch (N, C, ...)."""
        places = tuple(range(2, x.ndim))
        column = (1, -1) + (1,) * len(places)
        size = prod(x.shape[2:])
        if self.training:
            variance, mean = torch.var_mean(x, dim=(0, *places))
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(variance, self.momentum)
        else:
            mean, variance = self.running_mean, self.running_var
        mean, variance = mean.reshape(column), variance.reshape(column)
        if size > 1:
            own_variance, own_mean = torch.var_mean(x, dim=places, keepdim=True)
            wide = variance + self.epsilon
            mean = mean + _shrink(own_mean - mean, self.tolerance * torch.sqrt(wide / size))
            moved = _shrink(own_variance - variance, self.tolerance * wide * sqrt(2 / (size - 1)))
            variance = (variance + moved).clamp(min=0)
        normal: torch.Tensor = (x - mean) * torch.rsqrt(variance + self.epsilon)
        if self.weight is not None:
            normal = normal * self.weight.reshape(column) + self.bias.reshape(column)
        return normal


def _shrink(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    return torch.sign(x) * torch.relu(x.abs() - by)


_LAYERS = (_BatchNorm, _InstanceNorm, nn.GroupNorm, nn.LayerNorm, InstanceAwareNorm)


def scales_and_shifts(network: nn.Module) -> list[nn.Parameter]:
    """The parameters of all normalisation layers, in the order of the network.

    Examples
    --------
    >>> [tuple(one.shape) for one in scales_and_shifts(nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2)))]
    [(2,), (2,)]
    """
    found = [
        one
        for layer in network.modules()
        if isinstance(layer, _LAYERS)
        for one in (layer.weight, layer.bias)
        if one is not None
    ]
    return list(dict.fromkeys(found))


def forget_statistics(network: nn.Module) -> None:
    """Let batch normalisation use the statistics of the frames it is given."""
    for layer in network.modules():
        if isinstance(layer, _BatchNorm):
            layer.track_running_stats = False
            layer.running_mean = layer.running_var = None


def use_single_frames(network: nn.Module, tolerance: float, momentum: float) -> nn.Module:
    """Replace batch normalisation with stored statistics by `InstanceAwareNorm`; returns the network."""
    whole = nn.Sequential(network)
    for parent in list(whole.modules()):
        for name, layer in parent.named_children():
            if isinstance(layer, _BatchNorm) and layer.running_mean is not None:
                setattr(parent, name, InstanceAwareNorm(layer, tolerance=tolerance, momentum=momentum).eval())
    return whole


def write(tensors: Sequence[torch.Tensor], vector: NDArray[Any]) -> None:
    """Give tensors the values of one vector, in order."""
    start = 0
    with torch.no_grad():
        for one in tensors:
            part = torch.from_numpy(vector[start : start + one.numel()])
            one.copy_(part.reshape(one.shape))
            start += one.numel()
