"""What every export of an elastic model shares: what is recorded, its layout, and the check of its answers."""

import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import __version__, check
from springback.heads.onnx.layout import FORMAT, PROBABILITY, Layer, Layout, Part, Preparation
from springback.torch._answers import class_axis, gives
from springback.torch._stateless import StatelessModel
from springback.torch._watch import answer_of
from springback.torch.elastic_layer import ElasticLayer
from springback.torch.following import refuse_training, reset
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


def ready(model: nn.Module, example: Tensor | None) -> tuple[StatelessModel, Tensor]:
    """A copy of the model as a pure function, and the example with at least two streams."""
    refuse_training(model)
    layers = elastic_layers(model)
    check.require(len(layers) > 0, "the model", "be elastic; call elasticize(model) first", type(model).__name__)
    still = [name for name, layer in layers.items() if layer.never_moves]
    must = "not be 0 in an exported layer, which would remember nothing; export deelasticize(model) instead"
    check.require(not still, "Springs.pull", must, still)
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
        answer = answer_of(model, model(example))
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
        _, wanted, _, *state = stateless(frame, elapsed, *state)
        answers = run(dict(zip(layout.inputs, (array(frame), array(elapsed), *theirs), strict=True)))
        theirs = [np.copy(part) for part in answers[3:]]
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
