"""What every export shares: an elastic model as a pure function, its layout, and the check of its answers."""

import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import __version__, check
from springback.heads.memories.memory import State
from springback.heads.onnx.layout import FORMAT, NOVELTY, PROBABILITY, Layer, Layout, Part, Preparation
from springback.torch import algorithm
from springback.torch._model_output import answer_of, class_axis, gives
from springback.torch.elastic_filters import ElasticFilters2d
from springback.torch.elastic_layer import ElasticLayer, Pass
from springback.torch.following import refuse_training, reset, step
from springback.torch.plain import copied, elastic_layers
from torch import Tensor, nn

Run = Callable[[dict[str, NDArray[Any]]], Sequence[NDArray[Any]]]
"""One call of an exported program: inputs by name -> outputs in the order of the layout."""

_CHECKED_GAPS = (1.0, 1.0, 3.5, 0.25, 1.0, 1.0)
_TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-3}
_COARSE = 3e-2
_LOUD = (
    "torch.onnx._internal.exporter._registration",
    "torch._subclasses.fake_tensor",
    "torch.fx.experimental.symbolic_shapes",
    "onnx_ir",
)


class StatelessModel(nn.Module):
    """An elastic model that keeps nothing between two calls.

    `forward(frame, elapsed, *state)` returns `(output, probability, frozen, *next_state)`, and last the novelty of the
    frame if the memory of the head has a measure of it; the state is one tensor for each part of each layer, in the
    order of `part_names`, with the streams first and, if a stream has several positions, the positions second. The last
    elastic layer has to give the output of the model.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.layers = elastic_layers(model)
        self.head = list(self.layers.values())[-1]

    def outputs(self, layout: Layout) -> tuple[str, ...]:
        """Names of what `forward` returns."""
        return (*layout.outputs, NOVELTY) if self.head.settings.measures_novelty else layout.outputs

    def part_names(self) -> list[str]:
        """Names of the tensors of the state: `layer.part`, or `part` if the model is a layer itself."""
        return [
            f"{name}.{part}" if name else part
            for name, layer in self.layers.items()
            for part in layer.settings.State._fields
        ]

    def at_rest(self, n_streams: int) -> list[Tensor]:
        """The state of streams without a past."""
        parts: list[Tensor] = []
        for layer in self.layers.values():
            state = algorithm.init(layer.settings, layer.matrix, n_streams * layer.rows_per_stream)
            parts += self._outside(layer, state, n_streams)
        return parts

    def forward(self, frame: Tensor, elapsed: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        """Answers to a frame (streams, ...) that comes `elapsed` (streams,) after the one before it."""
        n_streams, passes = frame.shape[0], list[Pass]()
        held = self._inside(state)
        for layer, own in zip(self.layers.values(), held, strict=True):
            rows = layer.rows_per_stream
            layer._wait(own, elapsed if rows == 1 else elapsed.repeat_interleave(rows))
        with self._held(held), self.head.reporting(passes.append):
            output = answer_of(self.model, self.model(frame))
        probability, frozen, *novelty = self._answers(passes[0], n_streams)
        after: list[Tensor] = []
        for layer, own in zip(self.layers.values(), held, strict=True):
            after += self._outside(layer, own, n_streams)
        return (output, probability, frozen, *after, *novelty)

    def _answers(self, passed: Pass, n_streams: int) -> list[Tensor]:
        """Probabilities (streams, positions ..., K) with and without memory, and the novelty if it is measured."""
        frozen = nn.functional.linear(passed.rows, self.head.matrix, self.head.bias)
        shape = (n_streams, *self.head.positions, frozen.shape[-1])
        found = [answers.softmax(dim=-1).reshape(shape) for answers in (passed.answers, frozen)]
        return found if passed.novelty is None else [*found, passed.novelty.reshape(shape[:-1])]

    @contextmanager
    def _held(self, states: list[State]) -> Iterator[None]:
        with ExitStack() as stack:
            for layer, state in zip(self.layers.values(), states, strict=True):
                stack.enter_context(layer.holding(state))
            yield

    def _inside(self, state: tuple[Tensor, ...]) -> list[State]:
        """The state of every layer, in memory of its own, with one row for each position of each stream."""
        found, start = [], 0
        for layer in self.layers.values():
            kind = layer.settings.State
            parts = state[start : start + len(kind._fields)]
            start += len(kind._fields)
            several = layer.rows_per_stream > 1
            found.append(kind(*(part.flatten(0, 1).clone() if several else part.clone() for part in parts)))
        return found

    def _outside(self, layer: ElasticLayer, state: State, n_streams: int) -> list[Tensor]:
        if layer.rows_per_stream == 1:
            return list(state)
        return [part.reshape(n_streams, layer.rows_per_stream, *part.shape[1:]) for part in state]


def ready(model: nn.Module, example: Tensor | None) -> tuple[StatelessModel, Tensor]:
    """A copy of the model as a pure function, and the example with at least two streams."""
    refuse_training(model)
    layers = elastic_layers(model)
    check.require(len(layers) > 0, "the model", "be elastic; call elasticize(model) first", type(model).__name__)
    still = [name for name, layer in layers.items() if layer.never_moves]
    must = "not be 0 in an exported layer, which would remember nothing; export deelasticize(model) instead"
    check.require(not still, "Springs.pull", must, still)
    filters = [name for name, layer in layers.items() if isinstance(layer, ElasticFilters2d)]
    check.require(not filters, "the model", "have no elastic filters, because filters cannot be exported", filters)
    if example is None:
        if not isinstance(model, ElasticLayer):
            raise ValueError("example must be given: frames (streams, ...) as the model receives them; got None")
        weight = model.weight
        example = torch.ones((2, *weight.shape[1:]), dtype=weight.dtype, device=weight.device)
    fits = example.ndim >= 2 and len(example) > 0
    check.require(fits, "example", "have shape (streams, ...) and hold at least one frame", tuple(example.shape))
    model = reset(copied(model))
    if len(example) == 1:
        example = torch.cat([example, example])  # torch takes a size of 1 for constant
    passes: list[Any] = []
    head = list(elastic_layers(model).values())[-1]
    with head.reporting(passes.append):
        answer = step(model, example, time=0.0)
    given = len(passes) == 1 and gives(passes[0].returned, answer, class_axis(head))
    must = "return what its last elastic layer gives, directly or after a soft-max, to be exported"
    check.require(given, "the model", must, type(model).__name__)
    return StatelessModel(reset(model)).eval(), example


def elapsed_of(stateless: StatelessModel, n_streams: int, gap: float = 1.0) -> Tensor:
    """The time since the last frame of every stream, in the precision of the state."""
    like = stateless.at_rest(1)[0]
    return torch.full((n_streams,), gap, dtype=like.dtype, device=like.device)


def layout_of(
    stateless: StatelessModel,
    example: Tensor,
    classes: Sequence[str | int] | None,
    preparation: Preparation | None,
) -> Layout:
    """What a runner has to know; for any number of streams."""
    shown = stateless(example, elapsed_of(stateless, len(example)), *stateless.at_rest(len(example)))
    one = stateless.at_rest(1)
    head = stateless.head
    return Layout(
        format=FORMAT,
        springback=__version__,
        frame_shape=tuple(example.shape[1:]),
        frame_dtype=_dtype(example),
        elapsed_dtype=_dtype(one[0]),
        n_streams=None,
        answer_shape=tuple(shown[1].shape[1:]),
        memory=head.settings.memory,
        classes=None if classes is None else tuple(classes),
        preparation=preparation,
        layers=tuple(
            Layer(name=name, kind=type(layer.settings).__name__, settings=dataclasses.asdict(layer.settings))
            for name, layer in stateless.layers.items()
        ),
        state=tuple(_part(name, part) for name, part in zip(stateless.part_names(), one, strict=True)),
    )


def _part(name: str, one: Tensor) -> Part:
    rest = one.flatten()[0].item()
    check.require(bool((one == rest).all()), f"state {name}", "have one value at rest, to be exported", "several")
    return Part(name=name, shape=tuple(one.shape[1:]), dtype=_dtype(one), rest=float(rest))


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def check_answers(stateless: StatelessModel, run: Run, layout: Layout, example: Tensor, frames: Tensor | None) -> None:
    """Refuse an exported program whose answers to a short stream differ from those of the model."""
    if frames is None:
        turned = [example.roll(t // 2, dims=0) if t < 4 else example.flip(-1) for t in range(len(_CHECKED_GAPS))]
        frames = torch.stack(turned)
    fits = frames.ndim == example.ndim + 1 and frames.shape[2:] == example.shape[1:] and len(frames) > 0
    fits = fits and layout.n_streams in (None, frames.shape[1])
    must = f"have shape (time, {layout.n_streams or 'streams'}, {', '.join(map(str, example.shape[1:]))})"
    check.require(fits, "frames", must, tuple(frames.shape))
    state = stateless.at_rest(frames.shape[1])
    theirs = [array(part) for part in state]
    tolerance = _tolerance(stateless)
    for t, frame in enumerate(frames):
        elapsed = elapsed_of(stateless, len(frame), _CHECKED_GAPS[t % len(_CHECKED_GAPS)])
        outputs = dict(zip(stateless.outputs(layout), stateless(frame, elapsed, *state), strict=True))
        wanted, state = outputs[PROBABILITY], [outputs[name] for name in layout.outputs[3:]]
        answers = run(dict(zip(layout.inputs, (array(frame), array(elapsed), *theirs), strict=True)))
        theirs = [np.copy(part) for part in answers[3 : 3 + len(theirs)]]
        own, found = array(wanted), np.asarray(answers[layout.outputs.index(PROBABILITY)])
        apart = float(np.where(np.isnan(own) & np.isnan(found), 0.0, np.abs(own - found)).max())
        if not apart <= tolerance:
            raise RuntimeError(
                f"the exported model must answer as the model does, to {tolerance:g}; frame {t} of the check differs "
                f"by {apart:.3g}, so nothing was written"
            )


def _tolerance(stateless: StatelessModel) -> float:
    """How far answers may be apart in the precision of the network."""
    return max(_TOLERANCE.get(parameter.dtype, _COARSE) for parameter in stateless.parameters())


def array(tensor: Tensor) -> NDArray[Any]:
    """A tensor as an array."""
    found: NDArray[Any] = tensor.detach().cpu().numpy()
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Without the notes of torch's exporter about libraries that are not installed."""
    loggers = [logging.getLogger(name) for name in _LOUD]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def first_line(error: Exception) -> str:
    """What an error says first; torch adds pages to it."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
