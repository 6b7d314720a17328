"""Writing an elastic model as an ONNX file: one frame of any number of streams, with the state in and out."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from springback import check
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback.heads.onnx.layout import METADATA_KEY, Layout, Preparation
from springback.heads.onnx.session import open_session
from springback.torch._exporting import (
    Run,
    StatelessModel,
    check_answers,
    elapsed_of,
    first_line,
    layout_of,
    quiet,
    ready,
)
from torch import Tensor, nn

OPSET = 18
_OLDEST_TORCH = (2, 5)
_LARGEST_FILE = 2**31 - 2**20


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

    The file holds one frame of one or more streams; `springback.heads.onnx.layout` describes its inputs and outputs,
    and `springback.heads.onnx.OnnxStream` follows a stream with it, without PyTorch. Before it is written, it follows a
    short stream with onnxruntime and has to give the answers of the model. The model itself does not change. Needs the
    extra `onnx`.

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
    >>> from springback.torch import elasticize
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     layout = export_onnx(elasticize(nn.Linear(4, 2)), f"{folder}/model.onnx", classes=["left", "right"])
    >>> layout.inputs[:4]
    ('frame', 'elapsed', 'state.keys', 'state.posteriors')
    """
    require_extra("springback.torch.export_onnx", "onnx", "onnxscript", "onnxruntime")
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    check.require(version >= _OLDEST_TORCH, "torch", "be version 2.5 or later to export ONNX files", torch.__version__)
    stateless, example = ready(model, example)
    program, layout = _recorded(stateless, example, layout_of(stateless, example, classes, preparation))
    content = _file(program, stateless, layout)
    check_answers(stateless, _runner(content, layout), layout, example, frames)
    with atomic_file(Path(path)) as file:
        file.write(content)
    return layout


def _recorded(stateless: StatelessModel, example: Tensor, layout: Layout) -> tuple[Any, Layout]:
    """The graph for any number of streams; for that of the example if the network cannot be recorded otherwise."""
    streams = torch.export.Dim("streams")
    parts = tuple({0: streams} for _ in layout.state)
    fixed = dataclasses.replace(layout, n_streams=len(example))
    try:
        return _graph(stateless, example, layout, ({0: streams}, {0: streams}, parts)), layout
    except Exception:  # torch raises many kinds of errors here
        try:
            return _graph(stateless, example, fixed, None), fixed
        except Exception as error:
            raise RuntimeError(f"torch cannot record the model for ONNX: {first_line(error)}") from error


def _graph(stateless: StatelessModel, example: Tensor, layout: Layout, dynamic_shapes: Any) -> Any:
    arguments = (example, elapsed_of(stateless, len(example)), *stateless.at_rest(len(example)))
    with quiet():
        program = torch.export.export(stateless, arguments, dynamic_shapes=dynamic_shapes, strict=False)
        return torch.onnx.export(
            program,
            (),
            input_names=layout.inputs,
            output_names=stateless.outputs(layout),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )


def _file(program: Any, stateless: StatelessModel, layout: Layout) -> bytes:
    """The content of the file, with the layout in its metadata."""
    proto = program.model_proto
    have = [value.name for value in proto.graph.input], [value.name for value in proto.graph.output]
    wanted = list(layout.inputs), list(stateless.outputs(layout))
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


def _runner(content: bytes, layout: Layout) -> Run:
    session = open_session(content, "the exported model")
    names = [given.name for given in session.get_inputs()]
    return lambda given: session.run(list(layout.outputs), {name: given[name] for name in names})
