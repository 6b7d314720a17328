"""A linear layer whose weights are pulled by what it sees at inference, and spring back."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from springback import check
from springback.heads.springs import Springs
from springback.layers import algorithm
from springback.layers._clock import NO_FRAME, UNKNOWN
from springback.layers._short_term import MatrixState, State, WindowState
from springback.layers._tracing import refuse_to_lose_state, refuse_to_script
from springback.layers.algorithm import Reading, Streams

_ONE_FRAME = (1.0,)


class ElasticLinear(nn.Linear):
    """`nn.Linear` with short-term plasticity: weights rest at W, are pulled by inputs, and spring back.

    In evaluation mode, for x (streams, n): `F` relaxes, the output is `W x + b + F x` (with `x / |x|` in the last term
    if `springs.unit_inputs`), and then the input pulls, `F += pull * Q x`, where Q is the posterior of that output. The
    output of a frame is therefore the one *before* its own pull. Rows are independent streams, each with its own F. In
    training mode it behaves like `nn.Linear`, and nothing moves. No labels and no gradients are used; autograd sees the
    resting weights only.

    Parameters and `state_dict` are those of `nn.Linear`. The short-term state is separate: it is created by the first
    input or by `reset(n_streams)`, read by `get_state` and replaced by `set_state`.

    Examples
    --------
    >>> layer = ElasticLinear(2, 2, bias=False, springs=Springs(pull=3.0, memory=2.0)).eval()
    >>> layer.load_state_dict({"weight": 5 * torch.eye(2)})
    <All keys matched successfully>
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]])
    >>> with torch.no_grad():
    ...     [int(layer(x.unsqueeze(0)).argmax()) for x in turning]
    [0, 0, 0, 0]
    >>> int((5 * turning[-1]).argmax())
    1
    """

    springs: Springs
    used: bool
    """Whether `forward` was called since this was last set to False."""
    _pending: Reading | None
    _steps: int

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        springs: Springs | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, device, dtype)
        self._attach(springs or Springs())

    def _attach(self, springs: Springs) -> None:
        self.springs = springs
        self.used = False
        self.clock = NO_FRAME
        self._pending = None
        self._gaps: Sequence[float] | None = None
        for name in self._state_type._fields:
            self.register_buffer(f"state_{name}", None, persistent=False)

    def _detach(self) -> None:
        for name in self._state_type._fields:
            delattr(self, f"state_{name}")
        del self.springs, self.used, self.clock, self._pending, self._gaps

    @classmethod
    def convert(cls, linear: nn.Linear, springs: Springs) -> "ElasticLinear":
        """Make a plain `nn.Linear` elastic in place: parameters, hooks and name do not change; see `revert`.

        Examples
        --------
        >>> ElasticLinear.convert(linear := nn.Linear(3, 2), Springs()) is linear
        True
        """
        if type(linear) is not nn.Linear:
            remedy = "; it is elastic already, see deelasticize" if isinstance(linear, cls) else ""
            raise TypeError(f"an elastic layer must be made from an nn.Linear; got {type(linear).__name__}{remedy}")
        linear.__class__ = cls
        layer: ElasticLinear = linear  # type: ignore[assignment]
        layer._attach(springs)
        return layer

    def revert(self) -> nn.Linear:
        """Make this layer a plain `nn.Linear` again, in place.

        Examples
        --------
        >>> type(ElasticLinear(3, 2).revert())
        <class 'torch.nn.modules.linear.Linear'>
        """
        self._detach()
        self.__class__ = nn.Linear  # type: ignore[assignment]
        return self

    @property
    def _state_type(self) -> type[MatrixState] | type[WindowState]:
        return MatrixState if self.springs.window is None else WindowState

    @property
    def _state(self) -> State | None:
        kind, held = self._state_type, self._buffers
        parts = [part for name in kind._fields if (part := held[f"state_{name}"]) is not None]
        return kind(*parts) if parts else None

    @property
    def n_streams(self) -> int | None:
        """How many streams the state follows; None before the first input and after `reset()`.

        Examples
        --------
        >>> ElasticLinear(3, 2).reset(5).n_streams
        5
        """
        state = self._state
        return None if state is None else len(state.total)

    def reset(self, n_streams: int | None = None, streams: Streams | None = None) -> "ElasticLinear":
        """Return to rest: `n_streams` new streams, or only the given `streams`.

        With neither, the layer also forgets how many streams there were, so the next input may have any number.

        Examples
        --------
        >>> ElasticLinear(3, 2).reset(5).reset(streams=[0, 3]).n_streams
        5
        >>> ElasticLinear(3, 2).reset(5).reset().n_streams is None
        True
        """
        if streams is None:
            self.clock = NO_FRAME
        if n_streams is not None:
            check.require(streams is None, "streams", "be None if n_streams is given", streams)
            self._hold(algorithm.init(self.springs, self.weight, n_streams))
        elif streams is None:
            self._hold(None)
        elif (state := self._state) is not None:
            self._write(state, algorithm.reset(state, streams))
        return self

    def relax(self, elapsed: float, streams: Streams | None = None) -> "ElasticLinear":
        """Let `elapsed` frames of silence pass, for all streams or only for those given.

        Examples
        --------
        >>> ElasticLinear(3, 2).reset(5).relax(elapsed=2.0).n_streams
        5
        """
        check.real("elapsed", elapsed, low=0)
        state = self._state
        if state is not None:
            self._write(state, algorithm.relax(self.springs, state, elapsed, streams))
        if streams is None:
            self.clock += elapsed
        return self

    @staticmethod
    def _write(state: State, new: State) -> None:
        # In place: compiled and exported programs hold these tensors.
        for own, part in zip(state, new, strict=True):
            own.copy_(part)

    @contextmanager
    def on_a_copy(self) -> Iterator["ElasticLinear"]:
        """Inside, the layer moves a copy of its state; afterwards its own state is restored.

        Examples
        --------
        >>> layer = ElasticLinear(3, 2).eval()
        >>> with layer.on_a_copy():
        ...     _ = layer(torch.ones(4, 3))
        >>> layer.n_streams is None
        True
        """
        own, clock = self._state, self.clock
        self._hold(None if own is None else algorithm.copy(own))
        try:
            yield self
        finally:
            self._hold(own)
            self.clock = clock

    def get_state(self) -> dict[str, Tensor]:
        """A copy of the short-term state by name; empty before the first input.

        Examples
        --------
        >>> sorted(ElasticLinear(3, 2).reset(5).get_state())
        ['responsibility', 'short_term', 'total']
        """
        state = self._state
        return {} if state is None else algorithm.copy(state)._asdict()

    def set_state(self, state: Mapping[str, Tensor]) -> "ElasticLinear":
        """Replace the state by a copy of one from `get_state`; an empty one has the effect of `reset()`.

        Examples
        --------
        >>> layer = ElasticLinear(3, 2).reset(5)
        >>> ElasticLinear(3, 2).set_state(layer.get_state()).n_streams
        5
        """
        self._hold(self.check_state(state))
        self.clock = NO_FRAME
        return self

    def check_state(self, state: Mapping[str, Tensor]) -> State | None:
        """A copy of a state from `get_state` as this layer would hold it; refused if it does not fit.

        Examples
        --------
        >>> ElasticLinear(3, 2).check_state({}) is None
        True
        """
        if not state:
            return None
        kind = self._state_type
        check.require(
            set(state) == set(kind._fields), "state", f"hold exactly {', '.join(kind._fields)}", sorted(state)
        )
        for name, part in state.items():
            if not isinstance(part, Tensor):
                raise TypeError(f"state {name} must be a tensor, as get_state gives it; got {type(part).__name__}")
        check.require(state["total"].ndim == 2, "state total", "have shape (streams, 1)", tuple(state["total"].shape))
        own = algorithm.init(self.springs, self.weight, len(state["total"]))
        for name, wanted in own._asdict().items():
            got = tuple(state[name].shape)
            check.require(got == tuple(wanted.shape), f"state {name}", f"have shape {tuple(wanted.shape)}", got)
            if state[name].device.type != "meta":
                finite = bool(state[name].isfinite().all())
                check.require(finite, f"state {name}", "be finite everywhere", "NaN or infinity")
            wanted.copy_(state[name])
        if isinstance(own, WindowState) and own.position.device.type != "meta":
            last = len(own.weights) - 1
            position = int(own.position)
            check.require(0 <= position <= last, "state position", f"lie in 0 ... {last}, the window", position)
        return own

    @contextmanager
    def frames_after(self, gaps: Sequence[float]) -> Iterator["ElasticLinear"]:
        """Inside, an input (len(gaps) * streams, n) is that many frames of all streams, one after the other.

        Parameters
        ----------
        gaps : Sequence[float]
            How many frames after the one before it each frame comes.

        Examples
        --------
        >>> layer = ElasticLinear(3, 2).eval()
        >>> with layer.frames_after([1.0, 1.0, 2.5, 1.0]):
        ...     layer(torch.ones(8, 3)).shape, layer.n_streams
        (torch.Size([8, 2]), 2)
        """
        check.require(len(gaps) > 0, "gaps", "hold one number for each frame", gaps)
        self._gaps = gaps
        try:
            yield self
        finally:
            self._gaps = None

    def forward(self, input: Tensor) -> Tensor:
        """The output before the input's own pull, (streams, K); moves the state in evaluation mode.

        If an input is refused, the state does not change.
        """
        self.used = True
        if self.training or self.springs.never_move:
            return super().forward(input)
        state = self._state
        refuse_to_lose_state(started=state is not None)
        gaps = self._gaps or _ONE_FRAME
        self._check_input(input, state, len(gaps))
        if self._gaps is None:
            self.clock = UNKNOWN
        springs, weight, bias = self.springs, self.weight, self.bias
        started = state is not None
        if state is None:
            state = algorithm.init(springs, weight, input.shape[0] // len(gaps))
        if len(gaps) > 1:
            frames = input.reshape(len(gaps), -1, self.in_features)
            _, response = algorithm.track(springs, weight, bias, state, frames, gaps, in_place=True)
            if not started:
                self._hold(state)
            return response.output.flatten(0, 1)
        sensed = algorithm.sense(springs, weight, bias, input, state.total.dtype)
        if not started:
            self._hold(state)
        algorithm.wait(springs, state, gaps[0])
        reading = algorithm.read(springs, weight, bias, state, sensed)
        if springs.posterior_from == "output":
            self._pending = reading
        else:
            algorithm.pull(springs, weight, bias, state, reading, reading.activation)
        return reading.output

    def _check_input(self, input: Tensor, state: State | None, steps: int) -> None:
        if input.ndim != 2 or input.shape[1] != self.in_features or input.shape[0] % steps:
            raise ValueError(
                f"the input of an elastic layer must have shape (streams, {self.in_features}), one row per stream; "
                f"got {tuple(input.shape)}"
            )
        n_streams = input.shape[0] // steps
        if n_streams == 0:
            raise ValueError("the input of an elastic layer must have at least one row, one per stream; got 0")
        if state is not None and len(state.total) != n_streams:
            raise ValueError(
                f"the input of an elastic layer must have {len(state.total)} rows, one per stream, as before; got "
                f"{n_streams}; call reset(model) before a batch of another size"
            )

    def pull_towards(self, activation: Tensor) -> None:
        """Let the last input pull by the posterior of `activation` (streams, K): for `posterior_from="output"`.

        Examples
        --------
        >>> layer = ElasticLinear(3, 2, springs=Springs(posterior_from="output")).eval()
        >>> layer.pull_towards(2 * layer(torch.ones(1, 3)))
        """
        state, reading = self._state, self._pending
        self._pending = None
        if state is None or reading is None:
            return
        wanted = tuple(reading.activation.shape)
        must = f"have shape {wanted}, one number per unit of the elastic layer, if posterior_from='output'"
        check.require(tuple(activation.shape) == wanted, "the output of the model", must, tuple(activation.shape))
        activation = activation.detach().to(reading.activation.dtype)
        algorithm.pull(self.springs, self.weight, self.bias, state, reading, activation)

    def _hold(self, state: State | None) -> None:
        self._pending = None
        for name in self._state_type._fields:
            setattr(self, f"state_{name}", None if state is None else getattr(state, name))

    def _apply(self, fn: Any, recurse: bool = True) -> "ElasticLinear":
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        state = self._state
        if state is not None:
            wanted = algorithm.state_dtype(self.weight.dtype)
            parts = [part.to(wanted) if part.is_floating_point() else part for part in state]
            self._hold(self._state_type(*parts))
        return self

    def __prepare_scriptable__(self) -> None:
        refuse_to_script()

    def extra_repr(self) -> str:
        """The layer's sizes and its springs."""
        return f"{super().extra_repr()}, pull={self.springs.pull}, memory={self.springs.memory:g}"
