"""Optional libraries: which extra installs each of them, the error if one is missing, and what files register."""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

EXTRAS = {
    "torch": "torch",
    "fastapi": "studio",
    "uvicorn": "studio",
    "websockets": "studio",
    "optuna": "tune",
    "dask": "cluster",
    "distributed": "cluster",
    "river": "river",
    "psutil": "bench",
    "executorch": "executorch",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
    "tokenizers": "streams",
    "av": "video",
    "soundfile": "audio",
    "sounddevice": "audio",
    "paho": "mqtt",
    "pyspark": "spark",
    "supervision": "supervision",
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
    >>> raise missing_extra("springback.torch", "torch")
    Traceback (most recent call last):
    springback.extras.MissingExtraError: springback.torch needs torch: pip install 'springback[torch]'
    """
    return MissingExtraError(f"{what} needs {library}: pip install 'springback[{EXTRAS[library]}]'", name=library)


def require_extra(what: str, *libraries: str) -> None:
    """Raise an error unless the libraries that `what` needs are installed."""
    for library in libraries:
        if not is_installed(library):
            raise missing_extra(what, library)


def collect(package: str, name: str) -> list[Any]:
    """What the files of a package define under a name: this is how a source, a figure or a rival registers itself.

    Packages inside it are walked, too. Left out are files whose name starts with an underscore, and those that need
    an extra that is not installed.

    Examples
    --------
    >>> len(collect("springback.live.sources", "SOURCE")) > 5
    True
    """
    found: list[Any] = []
    for file in iter_modules(import_module(package).__path__):
        if file.name.startswith("_"):
            continue
        try:
            module = import_module(f"{package}.{file.name}")
        except MissingExtraError:
            continue
        found += collect(module.__name__, name) if file.ispkg else [vars(module)[name]] if name in vars(module) else []
    return found
