"""What an ONNX file says about itself: the graph stays as it is, and its metadata are spoilt."""

import tempfile
from pathlib import Path

import numpy as np
import onnx

import torch
from springback.heads.onnx import OnnxStream
from springback.heads.onnx.layout import METADATA_KEY
from springback.torch import Observer, elasticize, export_onnx
from tests.fuzz.formats.format import Format, require_finite


def onnx_metadata() -> Format:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.onnx")
        export_onnx(elasticize(torch.nn.Linear(4, 3), Observer(depth=3)), path, torch.ones(1, 4), classes=list("abc"))
        graph = onnx.load(path)
    entry = next(one for one in graph.metadata_props if one.key == METADATA_KEY)
    whole = entry.value.encode()

    def load(path: Path) -> OnnxStream:
        entry.value = path.read_bytes().decode(errors="replace")
        path.write_bytes(graph.SerializeToString())
        return OnnxStream(path)

    def use(stream: OnnxStream) -> None:
        require_finite(stream.track(np.ones((2, *stream.layout.frame_shape))))
        stream.set_state(stream.get_state())

    return Format("ONNX metadata", (whole,), load, use, sealed=False)
