"""A layer that remembers what it sees at inference: the forward pass, in any form that a plain layer `W x + b` has."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

from numpy.typing import NDArray

import torch
from springback import check
from springback.check import overflow
from springback.heads.memories.memory import State
from springback.heads.scale import Scale
from springback.heads.settings import Settings, require_settings
from springback.streaming.one_at_a_time import end_turns, turn_of
from springback.streaming.pace import require_times
from springback.torch import algorithm
from springback.torch._clock import UNKNOWN, Gap
from springback.torch._kernel_state import KernelState, is_plain
from springback.torch._layer_calls import COMPILED, Use, this_pass
from springback.torch._tracing import refuse_to_lose_state, refuse_to_script
from springback.torch.memories.frame import sense, state_dtype
from springback.torch.short_term_state import LayerState
from torch import Tensor, nn

Centre = NDArray[Any] | Tensor
"""Mean of the features, (n,)."""

_ONE_FRAME = (1.0,)


class Pass(NamedTuple):
    """What a forward pass read and answered: rows (streams * positions, n) -> (streams * positions, K).

    Parameters
    ----------
    rows : Tensor
        The input.
    answers : Tensor
        The elastic output.
    returned : Tensor
        The same, in the form in which the layer returned it.
    novelty : Tensor | None
        How new each row of one frame is, (streams * positions,); None if the memory has no measure of it.
    """

    rows: Tensor
    answers: Tensor
    returned: Tensor
    novelty: Tensor | None


class ElasticLayer(LayerState):
    """A layer `W x + b` with a short-term memory of what it sees; `ElasticLinear` is the usual one.

    The first axis of an input counts the streams. If a stream has several rows (tokens, boxes, the pixels of a 1x1
    convolution), each position has a memory of its own.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> isinstance(elasticize(nn.Linear(3, 2)), ElasticLayer)
    True
    """

    plain: ClassVar[type[nn.Module]]
    """The class of the layer when it is not elastic."""

    condition: ClassVar[str] = ""
    """What such a layer has to fulfil, in words."""

    learns: bool = False
    """Whether pull and memory are parameters, so that the layer remembers in training mode, too."""

    scale: Scale | None
    use: Use

    may_overflow: bool
    """Whether finite rows may have answers that are not finite, which are refused."""

    reports: list[Callable[[Pass], None]]
    """Each receives every forward pass that answers from memory."""

    def _attach(self, settings: Settings, centre: Tensor | None, scale: Scale | None) -> None:
        self._begin(settings, centre)
        self.scale = scale
        self.use = Use()
        self.reports = []
        self._gaps: Sequence[Gap] | None = None
        self._first: int | None = None
        self.may_overflow = not settings.unit_inputs
        self._first_part = f"state_{settings.State._fields[0]}"

    @classmethod
    def convert(
        cls,
        layer: nn.Module,
        settings: Settings | None = None,
        *,
        centre: Centre | None = None,
        scale: Scale | None = None,
    ) -> Self:
        """Make a plain layer elastic in place: parameters, hooks and name do not change; see `revert`.

        A layer with `torch.nn.utils.weight_norm` or a parametrization keeps it.
        """
        if not cls.takes(layer):
            remedy = "; it is elastic already, see deelasticize" if isinstance(layer, ElasticLayer) else ""
            must = f"be made from an nn.{cls.plain.__name__}{cls.condition}"
            raise TypeError(f"an elastic layer must {must}; got {type(layer).__name__}{remedy}")
        settings, mean = checked(settings, scale), centre_of(centre, layer)
        made: Any = layer
        made.__class__ = cls if type(layer) is cls.plain else _derived(cls, type(layer))  # type: ignore[arg-type]
        made._attach(settings, mean, scale)
        elastic: Self = made
        return elastic

    @classmethod
    def takes(cls, layer: nn.Module) -> bool:
        """Whether a layer can become one of this class: it computes what the plain class computes."""
        plain = isinstance(layer, cls.plain) and not isinstance(layer, ElasticLayer)
        return plain and type(layer).forward is cls.plain.forward

    def revert(self) -> nn.Module:
        """Make this a plain layer again, in place."""
        self._end()
        end_turns(self)
        del self.scale, self.use, self.reports, self._gaps, self._first, self.may_overflow, self._first_part
        self.__class__ = self.plain  # type: ignore[assignment]
        return self

    def _as_rows(self, input: Tensor) -> tuple[Tensor, tuple[int, ...]]:
        """The input as rows (streams * positions, n), and the positions of a stream; refused if it does not fit."""
        raise NotImplementedError

    def _as_output(self, answers: Tensor, input: Tensor) -> Tensor:
        """Rows (streams * positions, K) in the form in which the plain layer answers the input."""
        raise NotImplementedError

    def _rows_of_output(self, output: Tensor) -> Tensor:
        """An output of the plain layer, or of the same form, as rows (streams * positions, K)."""
        return output.flatten(0, -2) if output.ndim > 2 else output

    @property
    def pulled_by_output(self) -> bool:
        """Whether the posterior of the whole model's output decides what this layer remembers."""
        return self.settings.posterior_from == "output"

    @property
    def never_moves(self) -> bool:
        """Whether the layer is plain and stays plain."""
        return self.settings.never_moves and not self.learns

    @contextmanager
    def frames_after(self, gaps: Sequence[Gap], first: int | None = None) -> Iterator[Self]:
        """Inside, an input (len(gaps) * streams, ...) is that many frames of all streams, one after the other.

        Parameters
        ----------
        gaps : Sequence[Gap]
            How long after the one before it each frame comes, in the unit of the memory: in all streams or in each of
            them, (B,).
        first : int | None
            Number of the first frame in a recorded stream, for messages; None: it is no recorded stream.
        """
        check.require(len(gaps) > 0, "gaps", "hold one number for each frame", gaps)
        self._gaps, self._first = gaps, first
        try:
            yield self
        finally:
            self._gaps = self._first = None

    @property
    def is_followed(self) -> bool:
        """Whether the present frames come from `frames_after`."""
        return self._gaps is not None

    @contextmanager
    def reporting(self, report: Callable[[Pass], None]) -> Iterator[Self]:
        """Inside, `report` receives every forward pass that answers from memory."""
        self.reports.append(report)
        try:
            yield self
        finally:
            self.reports.remove(report)

    def forward(self, input: Tensor) -> Tensor:
        """The output before the input is remembered; moves the state in evaluation mode.

        If an input is refused, the state does not change.
        """
        if torch.compiler.is_compiling():
            return self._pass(input)
        with turn_of(self):
            return self._unless_it_overflows(input) if self.may_overflow else self._follow(input)

    def _follow(self, input: Tensor) -> Tensor:
        if self._gaps is None and not (self._carried or self.training):
            require_times(None, self.settings.memory_in)
        if (kernel := self._kernel_state_for(input)) is None:
            return self._pass(input)
        own = self._parameters
        return kernel.follow(own["weight"], own["bias"], input, self._gaps or _ONE_FRAME)  # type: ignore[arg-type]

    def _unless_it_overflows(self, input: Tensor) -> Tensor:
        """The forward pass; finite rows whose answers are not finite are refused, and the state is as before."""
        if self.training or self._carried or input.device.type == "meta":
            return self._follow(input)
        before = self.kept()
        output = self._follow(input)
        rows, answers = self._as_rows(input)[0].detach(), self._rows_of_output(output.detach())
        bad = rows.isfinite().all(dim=-1) & ~answers.isfinite().all(dim=-1)
        if bool(bad.any()):
            n_frames, per_stream = len(self._gaps or _ONE_FRAME), max(1, self.rows_per_stream)
            frame, row = divmod(int(bad.int().argmax()), len(bad) // n_frames)
            self.give_back(before)
            stream = row // per_stream
            raise overflow(f"row {stream}" if self._first is None else f"row {self._first + frame}, stream {stream}")
        return output

    def _pass(self, input: Tensor) -> Tensor:
        """The forward pass in torch."""
        self.use.note()
        if (self.training and not self.learns) or self.never_moves:
            output: Tensor = super().forward(input)
            return output
        refuse_to_lose_state(started=self._state is not None, carried=self._carried)
        gaps = self._gaps or (self.settings.unit,)
        rows, positions = self._as_rows(input)
        state, started = self._state_for(rows, positions, len(gaps)), self._state is not None
        n_rows = state[0].shape[0]
        frames = rows if len(gaps) == 1 else rows.reshape(len(gaps), n_rows, *rows.shape[1:])
        waits = [self._of_rows(gap, n_rows, state[0]) for gap in gaps]
        answers, novelty = self._answer(state, frames, waits, held=started)
        self.positions, self._at_rest = positions, False
        if self._gaps is None:
            self.clock = UNKNOWN
        answers = answers if len(gaps) == 1 else answers.flatten(0, 1)
        returned = self._as_output(answers, input)
        if self.reports and (self._carried or not torch.compiler.is_compiling()):
            for report in list(self.reports):
                report(Pass(rows, answers, returned, novelty))
        return returned

    def _answer(
        self, state: State, frames: Tensor, gaps: Sequence[float | Tensor], *, held: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Answers to one frame (rows, n) or to many (T, rows, n); moves the state, and holds it from now on.

        Of one frame, it also says how new it is, (rows,), if torch follows it and the memory has a measure.
        """
        settings, weight, bias = self.settings, self.matrix, self.bias
        if self._fits_kernel(state, frames, gaps):
            kernel = KernelState(settings, state, weight.shape[1], self.centre, self.scale)
            answers = kernel.follow(weight, bias, frames.flatten(0, -2), gaps)  # type: ignore[arg-type]
            if not held:
                self._hold(state)
            self._kernel_state = kernel
            return answers.reshape(*frames.shape[:-1], -1), None
        if len(gaps) > 1:
            _, response = algorithm.track(
                settings, weight, bias, state, frames, gaps, centre=self.centre, scale=self.scale, in_place=True
            )
            if not held:
                self._hold(state)
            return response.output, None
        sensed = sense(settings, weight, bias, frames, state[0].dtype, self.centre)
        if not held:
            self._hold(state)
        algorithm.wait(settings, state, gaps[0])
        reading = algorithm.read(settings, weight, bias, state, sensed, self.scale)
        if self.pulled_by_output:
            self._pending[this_pass()] = reading
        else:
            algorithm.move(settings, weight, bias, state, reading)
        return reading.output, getattr(reading, "novelty", None)

    def _kernel_state_for(self, input: Tensor) -> KernelState | None:
        """What follows this input without torch, if it is what this layer has just followed, or None."""
        kernel, gaps = self._kernel_state, self._gaps
        if kernel is None or self.training or self.reports or not is_plain(input):
            return None
        if gaps is not None and not _are_numbers(gaps):
            return None
        held, n_frames = self._buffers[self._first_part], 1 if gaps is None else len(gaps)
        if self.positions or "weight" not in self._parameters or not kernel.fits(input, held, n_frames):
            return None
        self.use.note()
        if gaps is None and self.clock is not UNKNOWN:
            self.clock = UNKNOWN
        return kernel

    def _fits_kernel(self, state: State, frames: Tensor, gaps: Sequence[float | Tensor]) -> bool:
        """Whether these frames can be followed without torch."""
        if torch.compiler.is_compiling() or self._carried or not is_plain(frames) or not self.settings.is_compiled:
            return False
        own = self.weight.dtype == frames.dtype == state[0].dtype
        return own and state[0].is_cpu and self.weight.is_cpu and _are_numbers(gaps)

    def _state_for(self, rows: Tensor, positions: tuple[int, ...], steps: int) -> State:
        """The state that these rows move; a new one at rest if there is none yet."""
        n_rows = rows.shape[0] // steps
        if n_rows == 0 or rows.shape[0] % steps:
            raise ValueError(
                "the input of an elastic layer must have at least one row, one per stream; "
                f"got {rows.shape[0]} for {steps} frames"
            )
        state = self._state
        if state is None:
            return algorithm.init(self.settings, self.matrix, n_rows)
        if self._carried or self.positions == positions:
            known = True
        elif self._at_rest:
            state, known = self._begin_again(positions), True
        else:
            known = not self.positions
        if self._carried and state[0].shape[0] != n_rows:
            must = f"have {state[0].shape[0]} rows, one for each stream whose state is given"
            raise ValueError(f"the input of an elastic layer must {must}; got {n_rows}")
        if state[0].shape[0] != n_rows or not known:
            raise ValueError(
                f"the input of an elastic layer must have {state[0].shape[0]} rows, one per stream, as before; got "
                f"{n_rows}; call reset(model) before a batch of another size"
            )
        return state

    def _begin_again(self, positions: tuple[int, ...]) -> State:
        """As many streams at rest as there are, with another number of rows; `reset(n_streams)` could not know it."""
        refuse_to_lose_state(started=False)
        n_streams = self.n_streams or 1
        self.positions = positions
        self._start(n_streams)
        state = self._state
        assert state is not None
        return state

    def _of_rows(self, gap: Gap, n_rows: int, like: Tensor) -> float | Tensor:
        """A gap of each stream as one of each row of the state."""
        if isinstance(gap, float | int):
            return float(gap)
        check.require(n_rows % len(gap) == 0, "times", f"hold one time stamp for each of {self.n_streams} streams", gap)
        each = torch.as_tensor(gap, dtype=like.dtype, device=like.device)
        return each.repeat_interleave(n_rows // len(gap))

    def pull_towards(self, activation: Tensor) -> None:
        """Let the last input pull by the posterior of `activation` (streams, K): for `posterior_from="output"`."""
        state, reading = self._state, self._pending.pop(this_pass(), None) or self._pending.pop(COMPILED, None)
        if state is None or reading is None:
            return
        activation = self._rows_of_output(activation)
        wanted = tuple(reading.activation.shape)
        must = f"have shape {wanted}, one number per unit of the elastic layer, if posterior_from='output'"
        check.require(tuple(activation.shape) == wanted, "the output of the model", must, tuple(activation.shape))
        reading = reading._replace(activation=activation.detach().to(reading.activation.dtype))
        if torch.compiler.is_compiling():
            algorithm.move(self.settings, self.matrix, self.bias, state, reading)
        else:
            with turn_of(self):
                algorithm.move(self.settings, self.matrix, self.bias, state, reading)

    def __prepare_scriptable__(self) -> None:
        refuse_to_script()

    def extra_repr(self) -> str:
        """The layer's sizes and its settings."""
        name = self.settings.shown
        return f"{super().extra_repr()}, {name}={getattr(self.settings, name)}, memory={self.settings.memory:g}"


def _are_numbers(gaps: Sequence[object]) -> bool:
    """Whether gaps are those of all streams, not one for each of them."""
    return all(type(gap) is float for gap in gaps)


@cache
def _derived(kind: type[ElasticLayer], plain: type[nn.Module]) -> type[ElasticLayer]:
    """An elastic class for one that torch derived from the plain class, as parametrizations do."""
    return type(f"Elastic{plain.__name__}", (kind, plain), {"plain": plain, "__module__": __name__})


def checked(settings: Settings | None, scale: Scale | None) -> Settings:
    """The settings, the default `LearningObserver` if there are none; refused if they or the scale are something else.

    Examples
    --------
    >>> checked(None, None).memory
    1.5
    """
    if not isinstance(scale, Scale | None):
        raise TypeError(f"scale must be a springback.heads.Scale or None; got {scale!r}")
    return require_settings(settings)


def centre_of(centre: Centre | None, layer: nn.Module) -> Tensor | None:
    """A copy of a centre that fits the inputs of a layer, on its device and in the precision of its state.

    Examples
    --------
    >>> centre_of(torch.zeros(3), nn.Linear(2, 1))
    Traceback (most recent call last):
    ValueError: centre must have shape (2,), one number per feature; got (3,)
    """
    if centre is None:
        return None
    weight: Tensor = layer.weight  # type: ignore[assignment]
    n = weight.shape[1]
    mean = torch.as_tensor(centre).detach()
    check.require(tuple(mean.shape) == (n,), "centre", f"have shape ({n},), one number per feature", tuple(mean.shape))
    finite = mean.device.type == "meta" or bool(mean.isfinite().all())
    check.require(finite, "centre", "be finite everywhere", "NaN or infinity")
    return mean.to(weight.device, state_dtype(weight.dtype), copy=True)
