"""A linear layer that remembers what it sees at inference: as the exact observer, or by springs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from springback import check
from springback.heads.observer import Observer
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.springs import Springs
from springback.layers import algorithm
from springback.layers._clock import NO_FRAME, UNKNOWN
from springback.layers._sensing import sense, state_dtype
from springback.layers._short_term import MatrixState, WindowState
from springback.layers._springs import SpringReading
from springback.layers._tracing import refuse_to_lose_state, refuse_to_script
from springback.layers.algorithm import State, Streams

Centre = NDArray[Any] | Tensor
"""Mean of the features, (n,)."""

_ONE_FRAME = (1.0,)


class ElasticLinear(nn.Linear):
    """`nn.Linear` with a short-term memory of what it sees, online and without labels.

    In evaluation mode, rows of the input x (streams, n) are independent streams, each with a memory of its own:

    * With an `Observer` (the default), the output is the logarithm of the posterior given this frame and those that
      the stream remembers. Its soft-max is the posterior.
    * With `Springs`, weights rest at W: F relaxes, the output is `W x + b + F x` (with `x / |x|` in the last term if
      `unit_inputs`), and then the input pulls, `F += pull * Q x`, where Q is the posterior of that output.

    The output of a frame is the one *before* the frame enters the memory. In training mode the layer behaves like
    `nn.Linear`, and nothing moves. No labels and no gradients are used; autograd sees the resting weights only.

    Parameters and `state_dict` are those of `nn.Linear`. The short-term state is separate: it is created by the first
    input or by `reset(n_streams)`, read by `get_state` and replaced by `set_state`.

    Parameters
    ----------
    settings : Settings | None
        `Observer` or `Springs`; None: the default `Observer`, which measures its own scale.
    centre : Centre | None
        Mean of the features, (n,), which is subtracted before frames are remembered or compared, unless the settings
        say otherwise. W sees features as they are.
    scale : Scale | None
        Units of an `Observer` and of `Springs.tuning`; None: each stream measures its own.

    Examples
    --------
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

    settings: Settings
    scale: Scale | None
    centre: Tensor | None
    used: bool
    """Whether `forward` was called since this was last set to False."""
    _pending: SpringReading | None
    _steps: int

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
    ) -> None:
        super().__init__(in_features, out_features, bias, device, dtype)
        self._attach(checked(settings, scale), centre_of(centre, self), scale)

    def _attach(self, settings: Settings, centre: Tensor | None, scale: Scale | None) -> None:
        self.settings = settings
        self.scale = scale
        self.register_buffer("centre", centre, persistent=False)
        self.used = False
        self.clock = NO_FRAME
        self._pending = None
        self._gaps: Sequence[float] | None = None
        for name in algorithm.state_type(settings)._fields:
            self.register_buffer(f"state_{name}", None, persistent=False)

    def _detach(self) -> None:
        for name in algorithm.state_type(self.settings)._fields:
            delattr(self, f"state_{name}")
        del self.settings, self.scale, self.centre, self.used, self.clock, self._pending, self._gaps

    @classmethod
    def convert(
        cls,
        linear: nn.Linear,
        settings: Settings | None = None,
        *,
        centre: Centre | None = None,
        scale: Scale | None = None,
    ) -> "ElasticLinear":
        """Make a plain `nn.Linear` elastic in place: parameters, hooks and name do not change; see `revert`.

        Examples
        --------
        >>> ElasticLinear.convert(linear := nn.Linear(3, 2)) is linear
        True
        """
        if type(linear) is not nn.Linear:
            remedy = "; it is elastic already, see deelasticize" if isinstance(linear, cls) else ""
            raise TypeError(f"an elastic layer must be made from an nn.Linear; got {type(linear).__name__}{remedy}")
        settings, mean = checked(settings, scale), centre_of(centre, linear)
        linear.__class__ = cls
        layer: ElasticLinear = linear  # type: ignore[assignment]
        layer._attach(settings, mean, scale)
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
    def _state(self) -> State | None:
        kind, held = algorithm.state_type(self.settings), self._buffers
        parts = [part for name in kind._fields if (part := held[f"state_{name}"]) is not None]
        return kind(*parts) if parts else None

    @property
    def pulled_by_output(self) -> bool:
        """Whether the posterior of the whole model's output decides what this layer remembers.

        Examples
        --------
        >>> ElasticLinear(3, 2).pulled_by_output
        False
        """
        return isinstance(self.settings, Springs) and self.settings.posterior_from == "output"

    @property
    def n_streams(self) -> int | None:
        """How many streams the state follows; None before the first input and after `reset()`.

        Examples
        --------
        >>> ElasticLinear(3, 2).reset(5).n_streams
        5
        """
        state = self._state
        return None if state is None else len(state[0])

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
            self._hold(algorithm.init(self.settings, self.weight, n_streams))
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
            self._write(state, algorithm.relax(self.settings, state, elapsed, streams))
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
        ['agreement', 'answered', 'direction', 'keys', 'odds', 'position', 'posteriors', 'seen', 'shares', 'spread']
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
        fields = algorithm.state_type(self.settings)._fields
        check.require(set(state) == set(fields), "state", f"hold exactly {', '.join(fields)}", sorted(state))
        for name, part in state.items():
            if not isinstance(part, Tensor):
                raise TypeError(f"state {name} must be a tensor, as get_state gives it; got {type(part).__name__}")
        first = tuple(state[fields[0]].shape)
        check.require(len(first) > 0 and first[0] > 0, f"state {fields[0]}", "have a row for each stream", first)
        own = algorithm.init(self.settings, self.weight, first[0])
        for name, wanted in own._asdict().items():
            got = tuple(state[name].shape)
            check.require(got == tuple(wanted.shape), f"state {name}", f"have shape {tuple(wanted.shape)}", got)
            if state[name].device.type != "meta":
                finite = bool(state[name].isfinite().all())
                check.require(finite, f"state {name}", "be finite everywhere", "NaN or infinity")
            wanted.copy_(state[name])
        if not isinstance(own, MatrixState) and own.position.device.type != "meta":
            last = (len(own.weights) if isinstance(own, WindowState) else own.odds.shape[1]) - 1
            for position in own.position.flatten().tolist():
                check.require(0 <= position <= last, "state position", f"lie in 0 ... {last}", position)
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
        """The output before the input is remembered, (streams, K); moves the state in evaluation mode.

        If an input is refused, the state does not change.
        """
        self.used = True
        settings, weight, bias = self.settings, self.weight, self.bias
        if self.training or (isinstance(settings, Springs) and settings.never_move):
            return super().forward(input)
        state = self._state
        refuse_to_lose_state(started=state is not None)
        gaps = self._gaps or _ONE_FRAME
        self._check_input(input, state, len(gaps))
        if self._gaps is None:
            self.clock = UNKNOWN
        started = state is not None
        if state is None:
            state = algorithm.init(settings, weight, input.shape[0] // len(gaps))
        if len(gaps) > 1:
            frames = input.reshape(len(gaps), -1, self.in_features)
            _, response = algorithm.track(
                settings, weight, bias, state, frames, gaps, centre=self.centre, scale=self.scale, in_place=True
            )
            if not started:
                self._hold(state)
            return response.output.flatten(0, 1)
        sensed = sense(settings, weight, bias, input, state[0].dtype, self.centre)
        if not started:
            self._hold(state)
        algorithm.wait(settings, state, gaps[0])
        reading = algorithm.read(settings, weight, bias, state, sensed, self.scale)
        if self.pulled_by_output and isinstance(reading, SpringReading):
            self._pending = reading
        else:
            algorithm.move(settings, weight, bias, state, reading)
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
        if state is not None and len(state[0]) != n_streams:
            raise ValueError(
                f"the input of an elastic layer must have {len(state[0])} rows, one per stream, as before; got "
                f"{n_streams}; call reset(model) before a batch of another size"
            )

    def pull_towards(self, activation: Tensor) -> None:
        """Let the last input pull by the posterior of `activation` (streams, K): for `posterior_from="output"`.

        Examples
        --------
        >>> layer = ElasticLinear(3, 2, settings=Springs(posterior_from="output")).eval()
        >>> layer.pull_towards(2 * layer(torch.ones(1, 3)))
        """
        state, reading = self._state, self._pending
        self._pending = None
        if state is None or reading is None:
            return
        wanted = tuple(reading.activation.shape)
        must = f"have shape {wanted}, one number per unit of the elastic layer, if posterior_from='output'"
        check.require(tuple(activation.shape) == wanted, "the output of the model", must, tuple(activation.shape))
        reading = reading._replace(activation=activation.detach().to(reading.activation.dtype))
        algorithm.move(self.settings, self.weight, self.bias, state, reading)

    def _hold(self, state: State | None) -> None:
        self._pending = None
        for name in algorithm.state_type(self.settings)._fields:
            setattr(self, f"state_{name}", None if state is None else getattr(state, name))

    def _apply(self, fn: Any, recurse: bool = True) -> "ElasticLinear":
        centre = self.centre
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        wanted = state_dtype(self.weight.dtype)
        if centre is not None:
            self.centre = centre.to(self.weight.device, wanted)
        state = self._state
        if state is not None:
            parts = [part.to(wanted) if part.is_floating_point() else part for part in state]
            self._hold(algorithm.state_type(self.settings)(*parts))
        return self

    def __prepare_scriptable__(self) -> None:
        refuse_to_script()

    def extra_repr(self) -> str:
        """The layer's sizes and its settings."""
        settings = self.settings
        first = f"kappa={settings.kappa:g}" if isinstance(settings, Observer) else f"pull={settings.pull}"
        return f"{super().extra_repr()}, {first}, memory={settings.memory:g}"


def checked(settings: Settings | None, scale: Scale | None) -> Settings:
    """The settings, the default `Observer` if there are none; refused if they or the scale are something else.

    Examples
    --------
    >>> checked(None, None) == Observer()
    True
    """
    if not isinstance(settings, Observer | Springs | None):
        raise TypeError(f"settings must be Observer or Springs; got {settings!r}")
    if not isinstance(scale, Scale | None):
        raise TypeError(f"scale must be a springback.heads.Scale or None; got {scale!r}")
    return Observer() if settings is None else settings


def centre_of(centre: Centre | None, linear: nn.Linear) -> Tensor | None:
    """A copy of a centre that fits the inputs of a layer, on its device and in the precision of its state.

    Examples
    --------
    >>> centre_of(torch.zeros(3), nn.Linear(2, 1))
    Traceback (most recent call last):
    ValueError: centre must have shape (2,), one number per feature; got (3,)
    """
    if centre is None:
        return None
    mean = torch.as_tensor(centre).detach()
    must = f"have shape ({linear.in_features},), one number per feature"
    check.require(tuple(mean.shape) == (linear.in_features,), "centre", must, tuple(mean.shape))
    finite = mean.device.type == "meta" or bool(mean.isfinite().all())
    check.require(finite, "centre", "be finite everywhere", "NaN or infinity")
    return mean.to(linear.weight.device, state_dtype(linear.weight.dtype), copy=True)
