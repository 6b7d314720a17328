"""Compiled functions: where their machine code is cached, and how to observe that one is being compiled.

Numba recompiles a cached function when its own file changes, but not when a compiled function that it calls from
another file changes, nor when a constant that it takes from another file does. The cache of a module is therefore in a
folder that is named by the digest of its source and of every source that it imports, link by link. The first of these
folders that is writable is used: `NUMBA_CACHE_DIR` if it is set, the package's own `__pycache__`, the user's cache
folder. If none is writable (a read-only installation without a home folder), every process compiles for itself.

Compiling takes seconds. Each function is logged to the logger `springback` at level INFO, and `watch_compiling` lets a
progress display say so.
"""

import contextlib
import hashlib
import logging
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
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
PACKAGES = ("springback", "springback_paper", "springback_bench")
"""The import packages of this distribution, whose sources are followed."""

_IMPORT = re.compile(r"^(?:from ([\w.]+) import (\([^)]*\)|.*)|import (.*))", re.MULTILINE)


def njit(
    *, cache: bool = False, inner: bool = False, makes_arrays: bool = False, **options: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`numba.njit` with a disk cache that follows all sources the function can see; no cache if no folder is writable.

    Compiling is what a user waits for first, so only what is needed is compiled.

    Parameters
    ----------
    inner : bool
        Only compiled functions call it: there is no way in from Python.
    makes_arrays : bool
        It makes arrays, or calls what returns one. References to arrays are then counted, which every argument that
        is a tuple of arrays makes longer. Numba refuses to compile a function that needs this and does not say so.

    Examples
    --------
    >>> @njit()
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        needed: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner, "_nrt": makes_arrays}
        compiled: Any = numba.njit(**needed, **options)(function)
        if cache and hasattr(compiled, "enable_caching"):  # absent under NUMBA_DISABLE_JIT
            source = Path(function.__code__.co_filename).absolute()
            folder = cache_folder(source, function.__module__ or "", _SETTINGS.CACHE_DIR)
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
def cache_folder(source: Path, module: str, wanted: str = "") -> Path | None:
    """The cache folder for the compiled functions of a source file, or None; code of older sources is removed from it.

    Safe with many processes: code that was removed is compiled again.

    Parameters
    ----------
    module : str
        The name by which the source file is imported.
    wanted : str
        The user's own cache folder (`NUMBA_CACHE_DIR`), or an empty string.
    """
    if not source.is_file():
        return None
    digest = hashlib.sha256()
    for name, content in sorted(_imported_sources(source, module).items()):
        digest.update(name.encode() + b"\0" + content + b"\0")
    for place in _places(source, wanted):
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


def _imported_sources(source: Path, module: str) -> dict[str, bytes]:
    """The content of a source file and of all that it imports, link by link, by the names of the modules.

    Compiled code sees what a module imports at its top level; modules outside of springback and of the package that the
    file itself is in belong to installed libraries, whose changes Numba does not follow either.
    """
    above = source.parents[: module.count(".") + 1]
    roots = {**dict.fromkeys(PACKAGES, Path(__file__).parent.parent), module.partition(".")[0]: above[-1]}
    content, waiting = _read(source)
    found, waiting = {module: content}, list(waiting)
    while waiting:
        name = waiting.pop()
        root = roots.get(name.partition(".")[0])
        if root is None or name in found:
            continue
        place = root.joinpath(*name.split("."))
        for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if path.is_file():
                found[name], names = _read(path)
                waiting += names
    return found


@cache
def _read(source: Path) -> tuple[bytes, list[str]]:
    """A source file, and the names it may import modules by at its top level; names of other things are among them."""
    content = source.read_bytes()
    names: list[str] = []
    for module, parts, plain in _IMPORT.findall(content.decode(errors="replace")):
        names += [module, *(f"{module}.{part}" for part in re.findall(r"\w+", parts))] if module else []
        names += re.findall(r"[\w.]+", plain)
    return content, names


def _places(source: Path, wanted: str) -> Iterator[Path]:
    own = f"{source.parent.name}-{source.stem}-{hashlib.sha256(str(source).encode()).hexdigest()[:16]}"
    if wanted:
        yield Path(wanted).absolute() / "springback" / own
    yield source.parent / "__pycache__" / "compiled" / source.stem
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
        if (function.__module__ or "").partition(".")[0] in PACKAGES:  # that of a function made by `exec` is None
            _LOGGER.info("compiling %s.%s (once)", function.__module__, function.__qualname__)

    def on_end(self, event: Any) -> None:
        """Nothing is logged at the end."""


event.register(_COMPILE, _Log())  # type: ignore[no-untyped-call]
