"""A convolution with any kernel whose filters are pulled by what a stream shows and spring back."""

import math
from collections.abc import Sequence
from typing import Any, Self

from torch.nn.functional import conv2d, hardshrink
from torch.nn.grad import conv2d_weight

import torch
from springback import check
from springback.heads.memories.memory import State
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.torch import algorithm
from springback.torch.elastic_layer import Centre, ElasticLayer
from springback.torch.learned_springs import plain_springs
from springback.torch.memories.frame import moderating, without_autocast
from springback.torch.memories.pull import FLUSH_BELOW
from torch import Tensor, nn


class ElasticFilters2d(ElasticLayer, nn.Conv2d):
    """`nn.Conv2d` with a kernel of several pixels whose filters adapt to a stream: F is a second set of filters.

    At each position p with the patch x_p, the output is `(W + F / |x_p|) * x_p + b`, and Q_p its soft-max over the
    filters. Then all positions of the image pull together, `F += pull * mean_p(Q_p x_p / |x_p|)`. A stream has one F
    for all positions, with as many numbers as the layer has weights, whatever the size of the image.

    It takes `Springs` with `continuity=0`. A kernel of one pixel has a memory of its own at each position instead; see
    `ElasticConv2d`.

    Examples
    --------
    >>> from springback.torch import Springs
    >>> springs = Springs(pull=1.0, memory=2.0, continuity=0.0)
    >>> layer = ElasticFilters2d.convert(nn.Conv2d(3, 8, 5, padding=2), springs).eval()
    >>> layer(torch.ones(2, 3, 28, 28)).shape, layer.get_state()["short_term"].shape
    (torch.Size([2, 8, 28, 28]), torch.Size([2, 8, 75]))
    """

    plain = nn.Conv2d
    condition = " with a kernel of several pixels, without groups, padded with a number of zeros"

    @classmethod
    def takes(cls, layer: Any) -> bool:
        """Whether a layer is such a convolution."""
        if not super().takes(layer) or layer.groups != 1 or layer.padding_mode != "zeros":
            return False
        return not isinstance(layer.padding, str) and math.prod(layer.kernel_size) > 1

    @classmethod
    def convert(
        cls,
        layer: nn.Module,
        settings: Settings | None = None,
        *,
        centre: Centre | None = None,
        scale: Scale | None = None,
    ) -> Self:
        """Make a plain layer elastic in place; see `ElasticLayer.convert`."""
        check.require(
            plain_springs(settings, "in filters").unit_inputs, "Springs.unit_inputs", "be True in filters", False
        )
        check.require(centre is None, "centre", "be None in filters", "a centre")
        return super().convert(layer, settings, scale=scale)

    def _as_rows(self, input: Tensor) -> tuple[Tensor, tuple[int, ...]]:
        if input.ndim != 4 or input.shape[1] != self.in_channels:
            must = f"have shape (streams, {self.in_channels}, height, width)"
            raise ValueError(f"the input of an elastic layer must {must}; got {tuple(input.shape)}")
        return input, ()

    def _as_output(self, answers: Tensor, input: Tensor) -> Tensor:  # noqa: ARG002 - they have the form already
        return answers

    def _answer(
        self, state: State, frames: Tensor, gaps: Sequence[float | Tensor], *, held: bool
    ) -> tuple[Tensor, None]:
        outputs = []
        for gap, x in zip(gaps, frames if len(gaps) > 1 else [frames], strict=True):
            outputs.append(self._conv_forward(x, self.weight, self.bias))  # refuses before anything moves
            if not held:
                self._hold(state)
            held = True
            algorithm.wait(self.settings, state, gap)
            outputs[-1] = self._moved(state.short_term, x, outputs[-1])
        return torch.stack(outputs) if len(gaps) > 1 else outputs[0], None

    def _moved(self, matrix: Tensor, x: Tensor, rest: Tensor) -> Tensor:
        """The output for one frame, whose resting output is given; moves F, (B, K, n), in place."""
        springs: Any = self.settings
        filters, where = (len(x) * len(self.weight), *self.weight.shape[1:]), (self.stride, self.padding, self.dilation)
        with torch.no_grad(), without_autocast(x):
            images = x.detach().to(matrix.dtype).flatten(1)
            seen = images.isfinite().all(dim=-1).reshape(-1, 1, 1, 1)
            images = torch.where(seen, (images / moderating(images)).reshape(x.shape), 0.0)
            ones = torch.ones_like(images[:1, :1, :1, :1]).expand(1, 1, *self.kernel_size)
            length = conv2d(images.square().sum(dim=1, keepdim=True), ones, None, *where).clamp_min(0).sqrt()  # type: ignore[arg-type]
            inverse = torch.where(length > 0, 1 / length, 0.0)
            side_by_side = images.reshape(1, -1, *images.shape[2:])
            matrix.mul_(springs.decay)
            along = conv2d(side_by_side, matrix.reshape(filters), None, *where, groups=len(x))  # type: ignore[arg-type]
            added = along.reshape(rest.shape) * inverse
            posterior = (springs.kappa * torch.where(seen, rest.detach().to(matrix.dtype) + added, 0.0)).softmax(dim=1)
            share = (posterior * inverse * seen).reshape(1, -1, *rest.shape[2:])
            drawn = conv2d_weight(side_by_side, filters, share, *where, groups=len(x))  # type: ignore[no-untyped-call]
            matrix.add_(drawn.reshape(matrix.shape), alpha=springs.pull / math.prod(rest.shape[2:]))
            hardshrink(matrix, FLUSH_BELOW, out=matrix)
        return rest + added.to(rest.dtype)
