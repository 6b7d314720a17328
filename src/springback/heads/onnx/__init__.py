"""Networks with an elastic head in ONNX files: follow a stream with onnxruntime, without PyTorch (extra: onnx).

`springback.torch.export_onnx` writes such a file; `OnnxStream` follows a stream with it. `layout` says what is in the
file, for runners that know nothing of springback.
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names

if TYPE_CHECKING:
    from springback.heads.onnx.layout import Layer, Layout, Part
    from springback.heads.onnx.stream import OnnxStream

__all__ = ["Layer", "Layout", "OnnxStream", "Part"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
