"""Frames that need no calls of torch but the plain layer: compiled kernels of the heads move the state as arrays.

They serve the usual case, which is inference on the processor in the precision of the state. Everything else, such as
gradients, autocast, other devices, `torch.compile` and exports, is left to the same arithmetic in torch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from torch.nn.functional import linear

import torch
from springback.heads.memories.memory import State
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.torch.learned_springs import left_after
from torch import Tensor


def is_plain(rows: Tensor) -> bool:
    """Whether a call with these rows is plain inference on the processor, which nobody records.

    Examples
    --------
    >>> with torch.no_grad():
    ...     is_plain(torch.ones(2, 3))
    True
    """
    return (
        type(rows) is Tensor
        and rows.is_cpu
        and not rows.requires_grad
        and not torch.is_grad_enabled()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
        and not torch.is_autocast_enabled("cpu")
    )


class KernelState:
    """What a layer remembers, as arrays in the memory of its tensors; it serves as long as the layer holds these.

    Parameters
    ----------
    state : State
        The state that moves, on the processor.
    centre : Tensor | None
        Mean of the features, (n,).
    """

    def __init__(
        self, settings: Settings, state: State, width: int, centre: Tensor | None, scale: Scale | None
    ) -> None:
        self._first: Tensor = state[0]
        self._address = self._first.data_ptr()
        self.n_rows, self.dtype, self._width = state[0].shape[0], state[0].dtype, width
        own = state[0].numpy().dtype
        self._state = tuple(part.numpy() for part in state)
        self._one_frame = np.ones((1, self.n_rows))
        self._no_bias = np.zeros(0, own)
        # What the kernel gets of the weights: those of each call if this is None.
        self._resting = None if settings.reads_weights else (np.zeros((0, 0), own), self._no_bias)
        centring = np.zeros(width, own) if centre is None or not settings.centred else centre.numpy()
        self._given = (centring, settings.numbers(scale), np.empty(0))
        self._kernel = settings.form("springback.heads.compiled").follow
        self._run: Callable[..., Any] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        """A copied layer has tensors of its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def fits(self, rows: Tensor, held: Tensor | None, n_frames: int = 1) -> bool:
        """Whether these rows are `n_frames` frames of this state, which is the one that the layer holds."""
        held_here = held is self._first and self._first.data_ptr() == self._address
        return held_here and rows.shape == (n_frames * self.n_rows, self._width) and rows.dtype is self.dtype

    def follow(self, weight: Tensor, bias: Tensor | None, rows: Tensor, gaps: Sequence[float]) -> Tensor:
        """Answers (T * B, K) to rows (T * B, n), T frames of all streams; moves the state.

        Parameters
        ----------
        gaps : Sequence[float]
            How many frames after the one before it each frame comes, (T,).
        """
        answers = linear(rows, weight, bias).contiguous()
        stretch = self._one_frame
        if len(gaps) > 1 or gaps[0] != 1:
            stretch = np.repeat(np.array(gaps, np.float64)[:, None], self.n_rows, axis=1)
        resting = self._resting
        if resting is None:
            offset = self._no_bias if bias is None else bias.detach().contiguous().numpy()
            resting = weight.detach().contiguous().numpy(), offset
        given = (self._state, rows.contiguous().numpy(), answers.numpy(), stretch, *resting, *self._given)
        if self._run is None:
            from springback.compiled import for_types_of

            # The types of all frames are those of the first: `fits` compares their dtype, and all are contiguous.
            self._run = for_types_of(self._kernel, *given)
        self._run(*given)
        return answers


class LearnedKernelState(KernelState):
    """The same for springs whose pull and memory are parameters, which are looked up in every call.

    Parameters
    ----------
    parameters : Mapping[str, Tensor | None]
        Of the layer, by name.
    """

    def __init__(
        self,
        settings: Any,
        state: State,
        width: int,
        centre: Tensor | None,
        parameters: Mapping[str, Tensor | None],
    ) -> None:
        super().__init__(settings, state, width, centre, None)
        from springback.torch._learned_kernel import follow

        self._kernel = follow
        self._parameters = parameters
        self._centring = self._given[0] if centre is None else centre.contiguous().numpy()
        self._numbers = (float(settings.kappa), bool(settings.unit_inputs))
        self._left: tuple[Tensor, float, Any] | None = None

    def follow(self, weight: Tensor, bias: Tensor | None, rows: Tensor, gaps: Sequence[float]) -> Tensor:
        """Answers (T * B, K) to rows (T * B, n), T frames of all streams; moves the state."""
        answers = linear(rows, weight, bias).contiguous()
        pull, frames = self._own("pull").contiguous().numpy(), rows.contiguous().numpy()
        for t, gap in enumerate(gaps):
            at = slice(t * self.n_rows, (t + 1) * self.n_rows)
            given = (self._state[0], frames[at], answers.numpy()[at], self._left_after(gap), pull, self._centring)
            if self._run is None:
                from springback.compiled import for_types_of

                self._run = for_types_of(self._kernel, *given, *self._numbers)
            self._run(*given, *self._numbers)
        return answers

    def _own(self, name: str) -> Tensor:
        parameter = self._parameters[name]
        assert parameter is not None
        return parameter.detach().to(self.dtype)

    def _left_after(self, gap: float) -> Any:
        """What is left of F, as an array; it is computed again when the memory or the gap has changed."""
        log_memory = self._own("log_memory")
        if self._left is None or self._left[1] != gap or not torch.equal(self._left[0], log_memory):
            left = left_after(log_memory, gap).contiguous().numpy()
            self._left = log_memory.clone(), gap, left
        return self._left[2]
