"""Convolutions with a kernel of one pixel that remember what they see at inference, at every position."""

from typing import Any, ClassVar

from springback.torch.elastic_layer import ElasticLayer
from torch import Tensor, nn


class ElasticPointwise(ElasticLayer):
    """A convolution with a kernel of one pixel: a linear layer at every position, (streams, n, positions ...)."""

    condition: ClassVar[str] = " with a kernel of one pixel, without stride, groups or padding"
    in_channels: int

    @classmethod
    def takes(cls, layer: Any) -> bool:
        """Whether a layer is such a convolution: one pixel, no stride, groups or padding."""
        if not super().takes(layer):
            return False
        padded = layer.padding not in ("valid", "same") and any(layer.padding)
        return {*layer.kernel_size, *layer.stride, layer.groups} == {1} and not padded

    def _as_rows(self, input: Tensor) -> tuple[Tensor, tuple[int, ...]]:
        if input.ndim != self.weight.ndim or input.shape[1] != self.in_channels:
            axes = ", positions" * (self.weight.ndim - 2)
            raise ValueError(
                f"the input of an elastic layer must have shape (streams, {self.in_channels}{axes}); "
                f"got {tuple(input.shape)}"
            )
        return input.movedim(1, -1).flatten(0, -2), tuple(input.shape[2:])

    def _as_output(self, answers: Tensor, input: Tensor) -> Tensor:
        return answers.reshape(input.shape[0], *input.shape[2:], answers.shape[-1]).movedim(-1, 1)

    def _rows_of_output(self, output: Tensor) -> Tensor:
        return output if output.ndim == 2 else output.movedim(1, -1).flatten(0, -2)


class ElasticConv1d(ElasticPointwise, nn.Conv1d):
    """`nn.Conv1d` with a kernel of size 1 and a short-term memory at every position; see `ElasticLinear`.

    Examples
    --------
    >>> ElasticConv1d.convert(nn.Conv1d(8, 3, 1)).revert()
    Conv1d(8, 3, kernel_size=(1,), stride=(1,))
    """

    plain = nn.Conv1d


class ElasticConv2d(ElasticPointwise, nn.Conv2d):
    """`nn.Conv2d` with a kernel of size 1 and a short-term memory at every pixel; see `ElasticLinear`.

    Examples
    --------
    >>> import torch
    >>> layer = ElasticConv2d.convert(nn.Conv2d(8, 3, 1)).eval()
    >>> layer(torch.ones(2, 8, 5, 5)).shape, layer.n_streams
    (torch.Size([2, 3, 5, 5]), 2)
    """

    plain = nn.Conv2d


class ElasticConv3d(ElasticPointwise, nn.Conv3d):
    """`nn.Conv3d` with a kernel of size 1 and a short-term memory at every position; see `ElasticLinear`.

    Examples
    --------
    >>> ElasticConv3d.convert(nn.Conv3d(8, 3, 1)).revert()
    Conv3d(8, 3, kernel_size=(1, 1, 1), stride=(1, 1, 1))
    """

    plain = nn.Conv3d


KINDS = (ElasticConv1d, ElasticConv2d, ElasticConv3d)
