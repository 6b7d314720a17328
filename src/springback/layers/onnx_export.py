"""Writing an elastic model as an ONNX file: one frame of any number of streams, with the state in and out."""

import dataclasses
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from springback import check
from springback.atomic import atomic_file
from springback.extras import require_extra
from springback.layers._answers import class_axis, gives
from springback.layers._stateless import StatelessModel
from springback.layers._watch import answer_of
from springback.layers.elastic_layer import ElasticLayer
from springback.layers.following import reset
from springback.layers.plain import copied, elastic_layers
from springback.onnx.layout import FORMAT, METADATA_KEY, PROBABILITY, Layer, Layout, Part, Preparation
from springback.version import __version__

OPSET = 18
_LARGEST_FILE = 2**31 - 2**20
_CHECKED_GAPS = (1.0, 1.0, 3.5, 0.25, 1.0, 1.0)
_TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-3}
_COARSE = 3e-2


@torch.no_grad()
def export_onnx(
    model: nn.Module,
    path: str | Path,
    example: Tensor | None = None,
    *,
    classes: Sequence[str | int] | None = None,
    preparation: Preparation | None = None,
    frames: Tensor | None = None,
) -> Layout:
    """Write an elastic model as an ONNX file that carries its state as inputs and outputs, and check it.

    The file holds one frame of one or more streams; `springback.onnx.layout` describes its inputs and outputs, and
    `springback.onnx.OnnxStream` follows a stream with it, without PyTorch. Before it is written, it follows a short
    stream with onnxruntime and has to give the answers of the model. The model itself does not change. Needs the extra
    `onnx`.

    Parameters
    ----------
    model : nn.Module
        An elastic model in evaluation mode, whose last elastic layer gives its output.
    path : str | Path
        The file to write.
    example : Tensor | None
        Frames of one or more streams, (B, ...), as the model receives them; not needed if the model is an
        `ElasticLinear` itself.
    classes : Sequence[str | int] | None
        Names of the classes, which are stored in the file.
    preparation : Preparation | None
        How a frame is made from a picture or a sound, stored as it is.
    frames : Tensor | None
        A recorded stream (T, B, ...) on which to check the file; None: the example, moved about.

    Returns
    -------
    Layout
        What is in the file; it is also in the metadata of the file.

    Examples
    --------
    >>> import tempfile
    >>> from springback.layers import elasticize
    >>> from springback.onnx import OnnxStream
    >>> model = elasticize(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     layout = export_onnx(model, f"{folder}/model.onnx", torch.ones(1, 4), classes=["left", "right"])
    ...     OnnxStream(f"{folder}/model.onnx").track(np.ones((5, 4))).shape
    (5, 2)
    """
    require_extra("springback.layers.export_onnx", "onnx", "onnxscript", "onnxruntime")
    model, example = _ready(model, example)
    stateless = StatelessModel(model).eval()
    shown = stateless(example, _elapsed(stateless, len(example)), *stateless.at_rest(len(example)))
    layout = _layout(stateless, example, shown, classes, preparation)
    program, layout = _recorded(stateless, example, layout)
    content = _file(program, layout)
    _check_answers(stateless, content, layout, example, frames)
    with atomic_file(Path(path)) as file:
        file.write(content)
    return layout


def _ready(model: nn.Module, example: Tensor | None) -> tuple[nn.Module, Tensor]:
    """A copy of the model at rest that has seen the example, and the example with at least two streams."""
    if model.training:
        raise ValueError("the model must be in evaluation mode; it is in training mode, call model.eval() first")
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
    return reset(model), example


def _elapsed(stateless: StatelessModel, n_streams: int, gap: float = 1.0) -> Tensor:
    """The time since the last frame of every stream, in the precision of the state."""
    like = stateless.at_rest(1)[0]
    return torch.full((n_streams,), gap, dtype=like.dtype, device=like.device)


def _layout(
    stateless: StatelessModel,
    example: Tensor,
    shown: tuple[Tensor, ...],
    classes: Sequence[str | int] | None,
    preparation: Preparation | None,
) -> Layout:
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
        state=tuple(
            _part(name, part, shared)
            for name, part, shared in zip(stateless.part_names(), one, stateless.is_shared(), strict=True)
        ),
    )


def _part(name: str, one: Tensor, shared: bool) -> Part:
    rest = one.flatten()[0].item()
    check.require(bool((one == rest).all()), f"state {name}", "have one value at rest, to be exported", "several")
    shape = tuple(one.shape if shared else one.shape[1:])
    return Part(name=name, shape=shape, per_stream=not shared, dtype=_dtype(one), rest=float(rest))


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _recorded(stateless: StatelessModel, example: Tensor, layout: Layout) -> tuple[Any, Layout]:
    """The graph for any number of streams; for that of the example if the network cannot be recorded otherwise."""
    arguments = (example, _elapsed(stateless, len(example)), *stateless.at_rest(len(example)))
    streams = torch.export.Dim("streams")
    parts = tuple({0: streams} if part.per_stream else None for part in layout.state)
    with _quiet():
        try:
            program = torch.export.export(
                stateless, arguments, dynamic_shapes=({0: streams}, {0: streams}, parts), strict=False
            )
        except Exception as dynamic:  # torch raises many kinds of errors here
            try:
                program = torch.export.export(stateless, arguments, strict=False)
            except Exception as error:
                raise RuntimeError(f"torch.export cannot record the model: {_first_line(error)}") from dynamic
            layout = dataclasses.replace(layout, n_streams=len(example))
        try:
            recorded = torch.onnx.export(
                program,
                (),
                input_names=layout.inputs,
                output_names=layout.outputs,
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
        except Exception as error:
            raise RuntimeError(f"torch.onnx.export cannot write the model: {_first_line(error)}") from error
    return recorded, layout


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the notes of torch's exporter about libraries that are not installed."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx._internal.exporter._registration", "onnx_ir")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _file(program: Any, layout: Layout) -> bytes:
    """The content of the file, with the layout in its metadata."""
    proto = program.model_proto
    have = [value.name for value in proto.graph.input], [value.name for value in proto.graph.output]
    wanted = list(layout.inputs), list(layout.outputs)
    if have != wanted:
        raise RuntimeError(
            f"this version of torch names the tensors of the graph otherwise: {have} instead of {wanted}"
        )
    entry = proto.metadata_props.add()
    entry.key, entry.value = METADATA_KEY, layout.to_json()
    size = proto.ByteSize()
    must = f"be smaller than {_LARGEST_FILE:,} bytes in one ONNX file; use torch.export.export"
    check.require(0 <= size < _LARGEST_FILE, "the model", must, size)
    content: bytes = proto.SerializeToString()
    return content


def _check_answers(
    stateless: StatelessModel, content: bytes, layout: Layout, example: Tensor, frames: Tensor | None
) -> None:
    """Refuse a file whose answers to a short stream differ from those of the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    if frames is None:
        frames = torch.stack(
            [example.roll(t // 2, dims=0) if t < 4 else example.flip(-1) for t in range(len(_CHECKED_GAPS))]
        )
    fits = frames.ndim == example.ndim + 1 and frames.shape[2:] == example.shape[1:] and len(frames) > 0
    must = f"have shape (time, streams, {', '.join(map(str, example.shape[1:]))})"
    check.require(fits, "frames", must, tuple(frames.shape))
    state = stateless.at_rest(frames.shape[1])
    theirs = [_array(part) for part in state]
    names = [given.name for given in session.get_inputs()]
    tolerance = max(_TOLERANCE.get(one.dtype, _COARSE) for one in (stateless.head.weight, state[0]))
    for t, frame in enumerate(frames):
        elapsed = _elapsed(stateless, len(frame), _CHECKED_GAPS[t % len(_CHECKED_GAPS)])
        _, wanted, _, *state = stateless(frame, elapsed, *state)
        given = dict(zip(layout.inputs, (_array(frame), _array(elapsed), *theirs), strict=True))
        answers = session.run(list(layout.outputs), {name: given[name] for name in names})
        theirs = answers[3:]
        apart = float(np.nanmax(np.abs(answers[layout.outputs.index(PROBABILITY)] - _array(wanted)), initial=0.0))
        if not apart <= tolerance:
            raise RuntimeError(
                f"the exported model must answer as the model does, to {tolerance:g}; frame {t} of the check differs "
                f"by {apart:.3g}, so nothing was written"
            )


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().cpu().numpy()
