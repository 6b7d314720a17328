"""Optional libraries: which extra installs each of them, and the error message if one is missing."""

from importlib.util import find_spec

EXTRAS = {
    "torch": "torch",
    "fastapi": "studio",
    "uvicorn": "studio",
    "websockets": "studio",
    "optuna": "tune",
    "dask": "cluster",
    "distributed": "cluster",
    "river": "river",
    "executorch": "executorch",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
    "tokenizers": "streams",
    "av": "video",
    "soundfile": "audio",
    "sounddevice": "audio",
    "paho": "mqtt",
    "nir": "nir",
    "neo": "neo",
    "pynwb": "nwb",
    "brian2": "brian2",
}
"""The extra of pyproject.toml that installs each optional library."""


class MissingExtraError(ImportError):
    """An optional library is not installed; the message says how to install it."""


def is_installed(library: str) -> bool:
    """Whether an optional library can be imported here, without importing it.

    Examples
    --------
    >>> is_installed("numpy")
    True
    """
    return find_spec(library) is not None


def missing_extra(what: str, library: str) -> MissingExtraError:
    """The error to raise when `what` needs a library that is not installed.

    Examples
    --------
    >>> raise missing_extra("springback.layers", "torch")
    Traceback (most recent call last):
    springback.extras.MissingExtraError: springback.layers needs torch: pip install 'springback[torch]'
    """
    return MissingExtraError(f"{what} needs {library}: pip install 'springback[{EXTRAS[library]}]'", name=library)


def require_extra(what: str, *libraries: str) -> None:
    """Raise an error unless the libraries that `what` needs are installed."""
    for library in libraries:
        if not is_installed(library):
            raise missing_extra(what, library)
