"""Frames that need no calls of torch but the plain layer: the state as arrays, moved by compiled loops.

They serve the usual case, which is inference on the processor in the precision of the state. Everything else, such as
gradients, autocast, other devices, `torch.compile` and exports, is left to the same arithmetic in torch.
"""

from collections.abc import Sequence
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
from springback.layers.algorithm import State

_ONE_FRAME = np.ones(1)
_NEVER_NOVEL = -2.0


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
        and not torch.is_grad_enabled()
        and not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
        and not torch.is_autocast_enabled("cpu")
    )


def is_compiled(settings: Settings) -> bool:
    """Whether the compiled loops know these settings.

    Examples
    --------
    >>> is_compiled(Observer()), is_compiled(Springs()), is_compiled(Springs(window=5))
    (True, True, False)
    """
    if isinstance(settings, Observer):
        return True
    usual = settings.likelihood == "layer" and settings.posterior_from == "layer" and settings.weight_dependence == 1
    return usual and settings.window is None and settings.posterior_rule == "softmax"


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
        self._settings, self._first, self._address = settings, state[0], state[0].data_ptr()
        arrays: Any = [part.numpy() for part in state]
        self._state = type(state)(*arrays)
        self.n_rows, self.dtype = state[0].shape[0], state[0].dtype
        self._shape = (self.n_rows, width)
        own = arrays[0].dtype
        self._nothing = np.zeros(0, own), np.zeros((0, 0), own)
        is_centred = centre is not None and (isinstance(settings, Springs) or settings.centred)
        self._centre = centre.numpy() if centre is not None and is_centred else np.zeros(width, own)
        chosen: tuple[float | None, ...]
        self._loop: Any
        # Numba is loaded with the first frame, so that importing the layers stays quick.
        if isinstance(settings, Observer):
            from springback.layers._compiled_observer import observe_streams

            self._loop = observe_streams
            chosen = (settings.memory, settings.kappa, settings.novelty, settings.evidence, settings.gain)
            chosen = (*chosen, settings.sharpness, settings.continuity)
            self._scale = (0.0, 0.0) if scale is None else (float(scale.spread), float(scale.distance))
        else:
            from springback.layers._compiled_springs import pull_streams

            self._loop = pull_streams
            pull = -1.0 if settings.pull is None else settings.pull
            novelty = _NEVER_NOVEL if settings.novelty is None else settings.novelty
            chosen = (settings.memory, pull, settings.kappa, settings.beta or 0.0, novelty)
            chosen = (*chosen, settings.constant, settings.continuity)
        self._numbers = tuple(float(one or 0.0) for one in chosen)

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        """A copied layer has tensors of its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def fits(self, rows: Tensor, held: Tensor | None, n_frames: int = 1) -> bool:
        """Whether these rows are so many frames of this state, which is the one that the layer holds."""
        shape = self._shape if n_frames == 1 else (n_frames * self.n_rows, self._shape[1])
        held_here = held is self._first and self._first.data_ptr() == self._address
        return held_here and rows.shape == shape and rows.dtype is self.dtype

    def follow(self, weight: Tensor, bias: Tensor | None, rows: Tensor, gaps: Sequence[float]) -> Tensor:
        """Answers (T * B, K) to rows (T * B, n), T frames of all streams; moves the state.

        Parameters
        ----------
        gaps : Sequence[float]
            How many frames after the one before it each frame comes, (T,).
        """
        answers = linear(rows, weight, bias)
        stretch = _ONE_FRAME if len(gaps) == 1 and gaps[0] == 1 else np.array(gaps, np.float64)
        what = (self._state, rows.contiguous().numpy(), answers.numpy(), stretch)
        settings = self._settings
        if isinstance(settings, Observer):
            self._loop(*what, self._centre, self._numbers, self._scale)
            return answers
        resting: tuple[NDArray[Any], NDArray[Any]] = self._nothing[1], self._nothing[0]
        if settings.beta is not None or settings.novelty is not None:
            at_rest = self._nothing[0] if bias is None else bias.detach().numpy()
            resting = weight.detach().contiguous().numpy(), at_rest
        self._loop(*what, *resting, self._centre, self._numbers, settings.unit_inputs)
        return answers
