"""Filters that learn what they see from unlabelled images, without gradients or feedback: SoftHebb.

The rules are those of Moraitis et al. (2022, arXiv 2107.05747) and Journe et al. (2023, arXiv 2209.11883).
"""

from torch.nn.functional import one_hot
from torch.nn.grad import conv2d_weight

import torch
from springback import check
from springback.check import FrameError
from torch import Tensor, nn

_TINY = 1e-30


class SoftHebbConv2d(nn.Conv2d):
    """A convolution whose filters compete at every position: each training-mode pass over a batch is one lesson.

    The input is brought to mean 0 and variance 1 in each of its channels. Filters w_k see a patch x with
    `u_k = w_k x`, and share it by a soft-max, `y = softmax(u / temperature)`. In training mode they learn,

        dw_k ~ s_k y_k (x - u_k w_k),    s_k = 1 for the likeliest filter of the patch, -1 for all others,

    so the winner comes closer to the patch and the losers move away from it (anti-Hebbian), in proportion to
    `abs(|w_k| - 1) ** 0.5`: filters slow down as their length approaches 1, where they stay. The changes of a batch are
    summed over its patches and scaled, before the last factor, so that the largest change of a weight is `rate`; a
    layer learns at the same speed whatever the scale of its input.

    Either way the layer answers with `max(0, u_k - mean of u)` at every position, a rectification that a share of the
    filters passes ("triangle"). The next layer is usually `nn.MaxPool2d` or `nn.AvgPool2d`. In evaluation mode nothing
    moves. No parameter needs a gradient. A network of such layers learns in one pass:

        for batch in batches: network.train()(batch)

    Parameters
    ----------
    temperature : float
        Of the soft-max; the smaller, the closer to a single winner.
    rate : float
        The largest change of a weight in a batch, for a filter of length 0 or 2; 0: filters stay as they were drawn.
    length : float
        Mean length of the filters before they have learned.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> layer, images = SoftHebbConv2d(1, 4, 3), torch.rand(50, 10, 1, 12, 12)
    >>> for batch in images:
    ...     seen = layer(batch)
    >>> seen.shape, [round(length, 1) for length in layer.weight.flatten(1).norm(dim=1).tolist()]
    (torch.Size([10, 4, 10, 10]), [1.3, 1.3, 1.1, 1.2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        temperature: float = 0.25,
        rate: float = 0.02,
        length: float = 2.0,
    ) -> None:
        check.integer("out_channels", out_channels, low=2)
        self.temperature = check.real("temperature", temperature, above=0)
        self.rate = check.real("rate", rate, low=0, high=1)
        self.length = check.real("length", length, above=0)
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, bias=False, device=device, dtype=dtype
        )
        self.scaled = nn.BatchNorm2d(in_channels, affine=False, device=device, dtype=dtype)
        self.weight.requires_grad_(False)

    def reset_parameters(self) -> None:
        """Draw the filters from a normal distribution."""
        with torch.no_grad():
            self.weight.normal_().mul_(self.length / self.weight[0].numel() ** 0.5)

    def forward(self, input: Tensor) -> Tensor:
        """What the filters answer to images (n, channels, height, width); in training mode they learn from them."""
        if input.ndim != 4 or input.shape[1] != self.in_channels:
            must = f"have shape (images, {self.in_channels}, height, width)"
            raise ValueError(f"the input must {must}; got {tuple(input.shape)}")
        if self.training and not bool(input.isfinite().all()):
            raise FrameError("images that filters learn from must be finite; got NaN or infinity")
        before = {name: part.clone() for name, part in self.scaled.state_dict().items()} if self.training else {}
        try:
            patches: Tensor = self.scaled(input)
            seen = super().forward(patches)
            if self.training and not bool(self.scaled.running_var.isfinite().all()):  # type: ignore[union-attr]
                raise FrameError("images that filters learn from must be scaled down; got an infinite variance")
        except Exception:
            self.scaled.load_state_dict(before, strict=False)
            raise
        output = (seen - seen.mean(dim=1, keepdim=True)).relu()
        if self.training:
            self._learn(patches, seen)
        return output

    @torch.no_grad()
    def _learn(self, patches: Tensor, seen: Tensor) -> None:
        share = (seen / self.temperature).softmax(dim=1)
        winner = one_hot(seen.argmax(dim=1), self.out_channels).movedim(-1, 1).to(share.dtype)
        signed = share * (2 * winner - 1)
        drawn = conv2d_weight(patches, self.weight.shape, signed, self.stride, self.padding)  # type: ignore[no-untyped-call]
        change = drawn - (signed * seen).sum(dim=(0, 2, 3)).reshape(-1, 1, 1, 1) * self.weight
        slowness = (torch.linalg.vector_norm(self.weight, dim=(1, 2, 3), keepdim=True) - 1).abs().sqrt()
        self.weight += self.rate * slowness * change / change.abs().amax().clamp_min(_TINY)
