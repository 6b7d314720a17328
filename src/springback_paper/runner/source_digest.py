"""The code that a result depends on: a digest over the sources of a module and of all that it imports.

Only modules of springback, of its applications, and of the package that the module itself is in, are followed; imports
inside functions count, too. Of the numerical libraries the versions are taken.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("springback", "springback_paper", "springback_studio", "springback_bench")
"""The import packages of this distribution."""

LIBRARIES = {"numpy": "numpy", "numba": "numba", "scipy": "scipy", "sklearn": "scikit-learn", "torch": "torch"}
"""The libraries that can change a number, by the name they are imported by, and the name they are installed by."""


class Code(NamedTuple):
    """What some modules run.

    Parameters
    ----------
    sources : dict[str, str]
        SHA-256 of the source of every module, by its name.
    versions : dict[str, str]
        Of the `LIBRARIES` that one of them imports, by the name they are installed by.
    """

    sources: dict[str, str]
    versions: dict[str, str]

    @property
    def digest(self) -> str:
        """One number for all of it; it does not depend on where the files are."""
        return hashlib.sha256(json.dumps([self.sources, self.versions], sort_keys=True).encode()).hexdigest()[:16]


def code_of(modules: Iterable[str]) -> Code:
    """The modules and, link by link, all that they import.

    Examples
    --------
    >>> sorted(code_of(["springback.streaming.records"]).sources)
    ['springback', 'springback.check', 'springback.lazy', 'springback.streaming', 'springback.streaming.records']
    >>> list(code_of(["springback.streaming.records"]).versions)
    ['numpy']
    """
    return _closure(frozenset(modules))


@cache
def _closure(modules: frozenset[str]) -> Code:
    waiting = list(modules)
    roots = {*PACKAGES, *(name.partition(".")[0] for name in waiting)}
    sources: dict[str, str] = {}
    libraries: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        found = _read(name)
        if found is None:
            continue
        sources[name] = found.sha256
        libraries |= found.imports & LIBRARIES.keys()
        waiting += [one for one in found.imports if one.partition(".")[0] in roots]
        waiting += [name.rpartition(".")[0]] if "." in name else []
    return Code(dict(sorted(sources.items())), {LIBRARIES[one]: _version(LIBRARIES[one]) for one in sorted(libraries)})


class _Module(NamedTuple):
    """A source file: its SHA-256, and every name that it may import a module by."""

    sha256: str
    imports: frozenset[str]


@cache
def _read(name: str) -> _Module | None:
    """None if there is no source of that name: an attribute of a module, or compiled code."""
    path = _path(name)
    if path is None:
        return None
    content = path.read_bytes()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return _Module(hashlib.sha256(content).hexdigest(), frozenset(_imports(ast.parse(content), package)))


def _statements(within: ast.AST, *, typing: bool) -> Iterator[ast.AST]:
    """Every statement, at any depth; expressions hold no imports, and leaving them out is most of the speed.

    Without `typing`, what stands under `if TYPE_CHECKING` is left out.
    """
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(within, part, ()):
            if not typing and isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
                continue
            yield statement
            yield from _statements(statement, typing=typing)


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    # A top-level package that loads its parts lazily names all of them for type checkers; that uses none of them.
    for node in _statements(tree, typing="." in package):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                yield alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield module.partition(".")[0]
            for alias in node.names:
                yield f"{module}.{alias.name}"


def _path(name: str) -> Path | None:
    """The source file of a module; the module itself is not imported."""
    root, *rest = name.split(".")
    top = _top(root)
    if top is None or not rest:
        return top
    place = top.parent.joinpath(*rest)
    for candidate in (place.with_name(place.name + ".py"), place / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _top(root: str) -> Path | None:
    """The source file of a module that is in no package, or the `__init__.py` of a package."""
    loaded = sys.modules.get(root)
    if loaded is not None:
        file = getattr(loaded, "__file__", None)
    else:
        spec = find_spec(root)
        file = spec.origin if spec else None
    return Path(file) if file and file.endswith(".py") else None


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
