"""Writing an elastic model as an ExecuTorch program, for phones and microcontrollers, with the state in and out."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from springback import check
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback.heads.onnx.layout import METADATA_KEY, Layout, Preparation
from springback.torch._exporting import Run, array, check_answers, elapsed_of, first_line, layout_of, quiet, ready
from torch import Tensor, nn


@torch.no_grad()
def export_executorch(
    model: nn.Module,
    path: str | Path,
    example: Tensor,
    *,
    classes: Sequence[str | int] | None = None,
    preparation: Preparation | None = None,
) -> Layout:
    """Write an elastic model as an ExecuTorch program (`.pte`) that carries its state as inputs and outputs.

    Inputs and outputs of the method `forward` are those of `springback.heads.onnx.layout`, in the same order, for
    exactly as many streams as the example has. The method `springback` returns the layout as JSON. Before it is
    written, the program follows a short stream and has to give the answers of the model. Needs the extra `executorch`.

    Parameters
    ----------
    model : nn.Module
        An elastic model in evaluation mode, whose last elastic layer gives its output.
    path : str | Path
        The file to write.
    example : Tensor
        Frames of all streams, (B, ...), as the model receives them.
    classes : Sequence[str | int] | None
        Names of the classes, which are stored in the file.
    preparation : Preparation | None
        How a frame is made from a picture or a sound, stored as it is.

    Examples
    --------
    >>> from springback.torch import elasticize
    >>> layout = export_executorch(elasticize(nn.Linear(4, 2)), "model.pte", torch.ones(1, 4))  # doctest: +SKIP
    """
    require_extra("springback.torch.export_executorch", "executorch")
    from executorch.exir import to_edge

    stateless, _ = ready(model, example)
    layout = dataclasses.replace(layout_of(stateless, example, classes, preparation), n_streams=len(example))
    arguments = (example, elapsed_of(stateless, len(example)), *stateless.at_rest(len(example)))
    try:
        with quiet():
            program = torch.export.export(stateless, arguments, strict=False)
            edge = to_edge(program, constant_methods={METADATA_KEY: layout.to_json()})
            content = bytes(edge.to_executorch().buffer)
    except Exception as error:  # torch and ExecuTorch raise many kinds of errors here
        raise RuntimeError(f"ExecuTorch cannot record the model: {first_line(error)}") from error
    check_answers(stateless, _runner(content, layout), layout, example, None)
    with atomic_file(Path(path)) as file:
        file.write(content)
    return layout


def _runner(content: bytes, layout: Layout) -> Run:
    from executorch.runtime import Runtime

    method: Any = Runtime.get().load_program(content).load_method("forward")
    check.require(method is not None, "the exported program", "have a method forward", None)

    def run(given: dict[str, Any]) -> list[Any]:
        return [array(one) for one in method.execute([torch.from_numpy(given[name]) for name in layout.inputs])]

    return run
