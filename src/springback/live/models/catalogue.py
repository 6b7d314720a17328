"""All kinds of model files. A file of this package that defines `MODEL` registers itself."""

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from springback.check import DataError
from springback.live.models.follower import Follower, ModelKind, ModelOptions


@cache
def model_kinds() -> tuple[ModelKind, ...]:
    """Every kind of model file.

    Examples
    --------
    >>> [one.suffixes for one in model_kinds() if one.name == "saved model"]
    [('.safetensors',)]
    """
    names = sorted(module.name for module in iter_modules([str(Path(__file__).parent)]))
    modules = [import_module(f"{__package__}.{name}") for name in names]
    return tuple(found for one in modules if isinstance(found := getattr(one, "MODEL", None), ModelKind))


def open_model(path: str | os.PathLike[str], options: ModelOptions | None = None) -> Follower:
    """The model in a file, ready to follow a stream.

    Examples
    --------
    >>> open_model("model.pickle")
    Traceback (most recent call last):
    springback.check.DataError: a model must be a file ending in ...; got 'model.pickle'
    """
    place = Path(path)
    kind = next((one for one in model_kinds() if place.suffix.lower() in one.suffixes), None)
    if kind is None:
        known = ", ".join(f"{ending} ({one.name})" for one in model_kinds() for ending in one.suffixes)
        raise DataError(f"a model must be a file ending in {known}; got {place.name!r}")
    return kind.open(place, options or ModelOptions())
