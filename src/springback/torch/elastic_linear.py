"""A linear layer that remembers what it sees at inference: as the exact observer, or by springs."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import torch
from springback.heads.memories.memory import State
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.torch import algorithm
from springback.torch._kernel_state import LearnedKernelState
from springback.torch.elastic_layer import Centre, ElasticLayer, centre_of, checked
from springback.torch.learned_springs import Learned, follow, left_after, parameters_of, plain_springs
from springback.torch.memories.frame import without_autocast
from springback.torch.memories.pull import FLUSH_BELOW
from torch import Tensor, nn


class ElasticLinear(ElasticLayer, nn.Linear):
    """`nn.Linear` with a short-term memory of what it sees, online and without labels.

    In evaluation mode, rows of the input x (streams, n) are independent streams, each with a memory of its own. An
    input (streams, positions ..., n) has a row for each position (a token, a box), which has its own memory, too.

    * With an `Observer`, such as the default `LearningObserver`, the output is the logarithm of the posterior given
      this frame and those that
      the stream remembers. Its soft-max is the posterior.
    * With `Springs`, weights rest at W: F relaxes, the output is `W x + b + F x` (with `x / |x|` in the last term if
      `unit_inputs`), and then the input pulls, `F += pull * Q x`, where Q is the posterior of that output.

    The output of a frame is the one *before* the frame enters the memory. In training mode the layer behaves like
    `nn.Linear`, and nothing moves. No labels and no gradients are used; autograd sees the resting weights only.

    Parameters and `state_dict` are those of `nn.Linear`, unless pull and memory are learned. The short-term state is
    separate: it is created by the first input or by `reset(n_streams)`, read by `get_state`, replaced by `set_state`.

    Parameters
    ----------
    settings : Settings | None
        Such as `Observer` or `Springs`; None: the default `LearningObserver`, which measures its own scale.
    centre : Centre | None
        Mean of the features, (n,), which is subtracted before frames are remembered or compared, unless the settings
        say otherwise. W sees features as they are.
    scale : Scale | None
        Units of an `Observer` and of `WindowSprings.tuning`; None: each stream measures its own.

    learned : Learned | None
        None: `settings` say how the layer remembers. "unit", "synapse": `pull` and `log_memory` are parameters, one for
        each output or each weight, which begin as the settings say (`Springs` with `continuity=0`). In training mode
        such a layer follows its streams as in evaluation mode, and gradients flow through everything that it remembers,
        until `reset`, `set_state` or a change of mode: backpropagation through time.

    Examples
    --------
    >>> from springback.torch import Springs
    >>> layer = ElasticLinear(2, 2, bias=False, settings=Springs(pull=3.0, memory=2.0)).eval()
    >>> layer.load_state_dict({"weight": 5 * torch.eye(2)})
    <All keys matched successfully>
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]])
    >>> with torch.no_grad():
    ...     [int(layer(x.unsqueeze(0)).argmax()) for x in turning]
    [0, 0, 0, 0]
    >>> int((5 * turning[-1]).argmax())
    1
    """

    plain: ClassVar[type[nn.Module]] = nn.Linear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        settings: Settings | None = None,
        centre: Centre | None = None,
        scale: Scale | None = None,
        learned: Learned | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, device, dtype)
        self._attach(checked(settings, scale), centre_of(centre, self), scale)
        if learned is not None:
            self.pull, self.log_memory = parameters_of(
                plain_springs(settings, "if they are learned"), learned, self.weight
            )
            self.learns = True

    def train(self, mode: bool = True) -> Self:
        """Change the mode; what is remembered stays, without its gradients."""
        state = self._state
        if self.learns and state is not None:
            self._hold(algorithm.copy(state))
        return super().train(mode)

    def revert(self) -> nn.Module:
        """Make this a plain layer again, in place; what was learned of pull and memory is gone."""
        if self.learns:
            del self.pull, self.log_memory, self.learns
        return super().revert()

    def _answer(
        self, state: State, frames: Tensor, gaps: Sequence[float | Tensor], *, held: bool
    ) -> tuple[Tensor, Tensor | None]:
        if not self.learns:
            return super()._answer(state, frames, gaps, held=held)
        springs: Any = self.settings
        if self._fits_kernel(state, frames, gaps):
            kernel = LearnedKernelState(springs, state, frames.shape[-1], self.centre, self._parameters)
            answers = kernel.follow(self.weight, self.bias, frames.flatten(0, -2), gaps)  # type: ignore[arg-type]
            if not held:
                self._hold(state)
            self._kernel_state = kernel
            return answers.reshape(*frames.shape[:-1], -1), None
        matrix, outputs = state.short_term, []
        for gap, x in zip(gaps, frames if len(gaps) > 1 else [frames], strict=True):
            rest = nn.functional.linear(x, self.weight, self.bias)  # refuses before anything moves
            with without_autocast(x), nullcontext() if self.training else torch.no_grad():
                left, pull = left_after(self.log_memory, gap).to(matrix.dtype), self.pull.to(matrix.dtype)
                relaxed = left * matrix if self.training else matrix.mul_(left)
                added, matrix = follow(springs, rest, x, self.centre, pull, relaxed, in_place=not self.training)
            outputs.append(rest + added.to(rest.dtype))
        if self.training:
            self._hold(state._replace(short_term=matrix))
        else:
            torch.hardshrink(matrix, FLUSH_BELOW, out=matrix)
            if not held:
                self._hold(state)
        return torch.stack(outputs) if len(gaps) > 1 else outputs[0], None

    def _wait(self, state: State, gap: Tensor) -> None:
        if not self.learns:
            super()._wait(state, gap)
            return
        with torch.no_grad():
            left = left_after(self.log_memory, gap.clamp_min(0) - self.settings.unit)
            state.short_term.mul_(left.to(state.short_term.dtype))

    def _relaxed(self, state: State, elapsed: float, rows: Tensor | None) -> State:
        if not self.learns:
            return super()._relaxed(state, elapsed, rows)
        with torch.no_grad():
            left = left_after(self.log_memory, elapsed).to(state.short_term.dtype) * state.short_term
        return state._replace(
            short_term=left if rows is None else torch.where(rows[:, None, None], left, state.short_term)
        )

    def _as_rows(self, input: Tensor) -> tuple[Tensor, tuple[int, ...]]:
        if input.ndim < 2 or input.shape[-1] != self.in_features:
            raise ValueError(
                f"the input of an elastic layer must have shape (streams, {self.in_features}), one row per stream, or "
                f"(streams, positions, {self.in_features}); got {tuple(input.shape)}"
            )
        positions = tuple(input.shape[1:-1])
        return (input.flatten(0, -2) if positions else input), positions

    def _as_output(self, answers: Tensor, input: Tensor) -> Tensor:
        return answers if input.ndim == 2 else answers.reshape(*input.shape[:-1], answers.shape[-1])
