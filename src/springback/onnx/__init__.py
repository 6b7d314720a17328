"""Networks with an elastic head in ONNX files: follow a stream with onnxruntime, without PyTorch (extra: onnx).

`springback.layers.export_onnx` writes such a file; `OnnxStream` follows a stream with it. `layout` says what is in the
file, for runners that know nothing of springback.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from springback.onnx.layout import Layer, Layout, Part
    from springback.onnx.stream import OnnxResponse, OnnxStream

_MODULES = {
    "Layer": "layout",
    "Layout": "layout",
    "OnnxResponse": "stream",
    "OnnxStream": "stream",
    "Part": "layout",
}

__all__ = ["Layer", "Layout", "OnnxResponse", "OnnxStream", "Part"]


if not TYPE_CHECKING:  # type checkers would otherwise believe that every name exists

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(f"springback.onnx.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
