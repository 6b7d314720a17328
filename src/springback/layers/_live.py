"""Frames that need no calls of torch but the plain layer: the state as arrays, moved by compiled loops.

They serve the usual case, which is inference on the processor in the precision of the state. Everything else, such as
gradients, autocast, other devices, `torch.compile` and exports, is left to the same arithmetic in torch.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear

from springback.heads.observer import Observer
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.springs import Springs
from springback.layers._short_term import MatrixState
from springback.layers.algorithm import State

_ONE_FRAME = np.ones(1)
_NEVER_NOVEL = -2.0
_NO_TUNING = -1.0


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


def is_compiled(settings: Settings) -> bool:
    """Whether the compiled loops know these settings.

    Examples
    --------
    >>> is_compiled(Observer()), is_compiled(Springs(window=5)), is_compiled(Springs(weight_dependence=0.5))
    (True, True, False)
    """
    if isinstance(settings, Observer):
        return True
    usual = settings.likelihood == "layer" and settings.posterior_from == "layer" and settings.weight_dependence == 1
    return usual and settings.posterior_rule == "softmax"


class Live:
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
        self._first, self._address = state[0], state[0].data_ptr()
        self.n_rows, self.dtype, self._width = state[0].shape[0], state[0].dtype, width
        own = state[0].numpy().dtype
        self._no_bias = np.zeros(0, own)
        self._run: Callable[..., Any] | None = None
        is_centred = centre is not None and (isinstance(settings, Springs) or settings.centred)
        centring = centre.numpy() if centre is not None and is_centred else np.zeros(width, own)
        # What the loop gets of the weights: those of each call if this is None.
        self._resting: tuple[NDArray[Any], ...] | None = ()
        # Numba is loaded with the first frame, so that importing the layers stays quick.
        if isinstance(settings, Observer):
            from springback.layers._compiled_observer import observe_streams

            self._loop: Any = observe_streams
            chosen = (settings.memory, settings.kappa, settings.novelty, settings.evidence, settings.gain)
            numbers = _numbers(*chosen, settings.sharpness, settings.continuity)
            units = (0.0, 0.0) if scale is None else (float(scale.spread), float(scale.distance))
            self._state: tuple[Any, ...] = (tuple(part.numpy() for part in state),)
            self._given: tuple[Any, ...] = (centring, numbers, units)
            return
        from springback.layers._compiled_springs import pull_streams

        self._loop = pull_streams
        at_rest = settings.beta is None and settings.novelty is None
        self._resting = (np.zeros((0, 0), own), self._no_bias) if at_rest else None
        pull = -1.0 if settings.pull is None else settings.pull
        novelty = _NEVER_NOVEL if settings.novelty is None else settings.novelty
        tuning = _NO_TUNING if settings.tuning is None else settings.tuning
        distance = None if scale is None else scale.distance
        pulled = (settings.memory, pull, settings.kappa, settings.beta, novelty)
        numbers = _numbers(*pulled, settings.constant, settings.continuity, tuning, distance)
        self._state = _springs_in_parts(state)
        self._given = (centring, numbers, settings.unit_inputs)

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
        stretch = _ONE_FRAME if len(gaps) == 1 and gaps[0] == 1 else np.array(gaps, np.float64)
        resting = self._resting
        if resting is None:
            offset = self._no_bias if bias is None else bias.detach().contiguous().numpy()
            resting = weight.detach().contiguous().numpy(), offset
        given = (*self._state, rows.contiguous().numpy(), answers.numpy(), stretch, *resting, *self._given)
        if self._run is None:
            from springback.compiled import for_types_of

            # The types of all frames are those of the first: `fits` compares their dtype, and all are contiguous.
            self._run = for_types_of(self._loop, *given)
        self._run(*given)
        return answers


def _numbers(*chosen: float | None) -> tuple[float, ...]:
    """Settings as the compiled loops take them: zero for those that are None."""
    return tuple(float(one or 0.0) for one in chosen)


def _springs_in_parts(state: State) -> tuple[Any, Any, tuple[NDArray[Any], ...]]:
    """F as a matrix or as a window, and the parts that both forms have."""
    arrays = [part.numpy() for part in state]
    if isinstance(state, MatrixState):
        return arrays[0], None, tuple(arrays[1:])
    inputs, strengths, weights, position, responsibility, total, seen, direction, *gate = arrays
    return None, (inputs, strengths, weights, position, seen, direction), (responsibility, total, *gate)
