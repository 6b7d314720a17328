"""Springs whose pull and memory are parameters, of each unit or each synapse: for backpropagation through time.

The equations are those of `Springs`. Here nothing is a constant for autograd: neither F, nor the posterior that pulls,
nor the input. Plasticity that is trained in this way is that of Rodriguez, Guo & Moraitis (2022, arXiv 2206.14048).
"""

import math
from dataclasses import replace
from typing import Any, Literal

import torch
from springback import check
from springback.heads.memories.springs import Springs
from springback.torch.memories.frame import moderating
from torch import Tensor, nn

Learned = Literal["unit", "synapse"]
"""What has a pull and a memory of its own."""


def plain_springs(settings: Any, where: str) -> Springs:
    """The settings, if they are springs of which nothing but pull, memory, kappa and unit inputs is chosen.

    Examples
    --------
    >>> plain_springs(Springs(continuity=0.0, beta=1.0), "if they are learned")
    Traceback (most recent call last):
    ValueError: settings must be Springs(pull=..., memory=..., kappa=..., unit_inputs=..., continuity=0.0) and nothing \
else if they are learned; got Springs with other settings
    """
    kind = type(settings).__name__
    if isinstance(settings, Springs) and settings.pull is not None:
        own = {name: getattr(settings, name) for name in ("pull", "memory", "memory_in", "kappa", "unit_inputs")}
        if replace(settings, inference=settings.posterior_rule) == Springs(**own, inference="softmax", continuity=0.0):
            return settings
        kind += " with other settings"
    must = f"be Springs(pull=..., memory=..., kappa=..., unit_inputs=..., continuity=0.0) and nothing else {where}"
    raise ValueError(f"settings must {must}; got {kind}")


def parameters_of(springs: Springs, learned: Learned, weight: Tensor) -> tuple[nn.Parameter, nn.Parameter]:
    """The pull and the logarithm of the memory to begin with, each (K, 1) or (K, n).

    Examples
    --------
    >>> [part.shape for part in parameters_of(Springs(continuity=0.0), "unit", torch.ones(3, 8))]
    [torch.Size([3, 1]), torch.Size([3, 1])]
    """
    check.one_of("learned", learned, ("unit", "synapse"))
    shape = (len(weight), 1 if learned == "unit" else weight.shape[1])
    assert springs.pull is not None
    ones = torch.ones(shape, dtype=weight.dtype, device=weight.device)
    return nn.Parameter(springs.pull * ones), nn.Parameter(math.log(springs.memory) * ones)


def left_after(log_memory: Tensor, elapsed: float | Tensor) -> Tensor:
    """What is left of F, (K, 1 or n), or of each stream's, (B, K, 1 or n), if elapsed is (B,).

    Examples
    --------
    >>> left_after(torch.zeros(2, 1), 1.0).flatten()
    tensor([0.3679, 0.3679])
    """
    passed = elapsed.reshape(-1, 1, 1) if isinstance(elapsed, Tensor) else elapsed
    return (-passed / log_memory.exp()).exp()


def follow(
    springs: Springs, rest: Tensor, x: Tensor, centre: Tensor | None, pull: Tensor, matrix: Tensor, *, in_place: bool
) -> tuple[Tensor, Tensor]:
    """What F adds to the resting output (B, K) of frames x (B, n), and F after them, of the relaxed F, (B, K, n).

    A frame with NaN or infinity pulls nothing.
    """
    wide = x.to(matrix.dtype)
    seen = wide.isfinite().all(dim=-1, keepdim=True)
    direction = torch.where(seen, wide if centre is None else wide - centre, 0.0)
    if springs.unit_inputs:
        scaled = direction / moderating(direction.detach())
        length = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
        direction = scaled / torch.where(length > 0, length, 1.0)
    added = torch.bmm(matrix, direction.unsqueeze(-1)).squeeze(-1)
    posterior = (springs.kappa * torch.where(seen, rest.to(matrix.dtype) + added, 0.0)).softmax(dim=-1)
    strength = pull * (seen * posterior).unsqueeze(-1)
    if in_place:
        return added, matrix.addcmul_(strength, direction.unsqueeze(1))
    return added, matrix.addcmul(strength, direction.unsqueeze(1))
