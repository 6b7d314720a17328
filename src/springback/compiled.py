"""Compiled functions: where their machine code is cached, and how to observe that one is being compiled.

Numba recompiles a cached function when its own file changes, but not when a compiled function that it calls from
another file changes. The cache of a package is therefore in a folder that is named by the digest of all sources of that
package. The first of these folders that is writable is used: `NUMBA_CACHE_DIR` if it is set, the package's own
`__pycache__`, the user's cache folder. If none is writable (a read-only installation without a home folder), every
process compiles for itself.

Compiling takes seconds. Each function is logged to the logger `springback` at level INFO, and `watch_compiling` lets a
progress display say so.
"""

import contextlib
import hashlib
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")

_SETTINGS: Any = numba.config
_LOGGER = logging.getLogger("springback")
_ROOM_BYTES = 50_000_000
_COMPILE = "numba:compile"


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`numba.njit` with a disk cache that depends on all sources of the package; no cache if no folder is writable.

    Examples
    --------
    >>> @njit()
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        compiled: Any = numba.njit(**options)(function)
        if cache and hasattr(compiled, "enable_caching"):  # absent under NUMBA_DISABLE_JIT
            folder = cache_folder(Path(function.__code__.co_filename).absolute().parent, _SETTINGS.CACHE_DIR)
            if folder is not None:
                with _cached_below(folder):
                    compiled.enable_caching()
        return cast(Callable[P, R], compiled)

    return decorate


def for_types_of(function: Callable[P, R], *args: Any) -> Callable[P, R]:
    """The compiled code of a function for arguments of the types of these, without choosing it in every call.

    Choosing takes longer than a short function if an argument is a tuple of many arrays. Only for callers whose
    arguments always have these types: the code does not look at them.

    Examples
    --------
    >>> @njit()
    ... def double(x):
    ...     return 2 * x
    >>> for_types_of(double, 1.0)(21.0)
    42.0
    """
    if not hasattr(function, "compile"):  # absent under NUMBA_DISABLE_JIT
        return function
    types = tuple(numba.typeof(arg) for arg in args)  # type: ignore[no-untyped-call]
    return cast(Callable[P, R], function.compile(types))


@lru_cache
def cache_folder(sources: Path, wanted: str = "") -> Path | None:
    """The cache folder for the code of a folder of sources, or None. The code of older sources is removed from it.

    Safe with many processes: code that was removed is compiled again.

    Parameters
    ----------
    wanted : str
        The user's own cache folder (`NUMBA_CACHE_DIR`), or an empty string.
    """
    if not sources.is_dir():
        return None
    digest = hashlib.sha256()
    for source in sorted(sources.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    for place in _places(sources, wanted):
        folder = place / digest.hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            if shutil.disk_usage(folder).free < _ROOM_BYTES:
                continue
            others = [one for one in place.iterdir() if one.name != folder.name]
        except OSError:
            continue
        for stale in others:
            shutil.rmtree(stale, ignore_errors=True)
        return folder
    return None


def _places(sources: Path, wanted: str) -> Iterator[Path]:
    own = f"{sources.name}-{hashlib.sha256(str(sources).encode()).hexdigest()[:16]}"
    if wanted:
        yield Path(wanted).absolute() / "springback" / own
    yield sources / "__pycache__" / "compiled"
    import pooch

    home = Path(pooch.os_cache("springback"))
    if home.is_absolute():  # it is relative for a user without a home folder
        yield home / "compiled" / own


@contextlib.contextmanager
def _cached_below(folder: Path) -> Iterator[None]:
    """Set Numba's cache folder, which Numba reads when caching is enabled for a function."""
    before = _SETTINGS.CACHE_DIR
    _SETTINGS.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _SETTINGS.CACHE_DIR = before


@contextlib.contextmanager
def watch_compiling(on_change: Callable[[bool], None]) -> Iterator[None]:
    """Within this context, `on_change` is called with True when compiling starts and with False when it ends.

    Code that is loaded from the disk cache is not compiled, so it causes no call.
    """
    with event.install_listener(_COMPILE, _Watcher(on_change)):
        yield


class _Watcher(event.Listener):
    def __init__(self, on_change: Callable[[bool], None]) -> None:
        self._on_change, self._depth = on_change, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        self._depth += 1
        if self._depth == 1:
            self._on_change(True)

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0:
            self._on_change(False)


class _Log(event.Listener):
    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if (function.__module__ or "").startswith("springback."):  # that of a function made by `exec` is None
            _LOGGER.info("compiling %s.%s (once)", function.__module__, function.__qualname__)

    def on_end(self, event: Any) -> None:
        """Nothing is logged at the end."""


event.register(_COMPILE, _Log())  # type: ignore[no-untyped-call]
