"""Packages whose names are imported when they are first used, so that importing the package itself costs nothing.

Such a package imports its names under `if TYPE_CHECKING:`, where type checkers and editors find them. That block is
also the table from which a name is imported at run time.
"""

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    Examples
    --------
    >>> import springback.heads
    >>> find, names = lazy_names("springback.heads")
    >>> find("Observer").__module__, "Observer" in names()
    ('springback.heads.memories.observer', True)
    >>> find("Oracle")
    Traceback (most recent call last):
    AttributeError: module 'springback.heads' has no attribute 'Oracle'
    """

    def find(name: str) -> Any:
        module = None if name.startswith("__") else _modules(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = None if module == package else getattr(import_module(module), name, None)
        return import_module(f"{module}.{name}") if found is None else found  # a module, not yet imported

    def names() -> list[str]:
        return sorted(vars(sys.modules[package])["__all__"])

    return find, names


@lru_cache
def _modules(package: str) -> dict[str, str]:
    """The module of each name that the package imports for type checkers."""
    import ast  # here, because it would take half of the time of `import springback`

    spec = sys.modules[package].__spec__
    source = spec.loader.get_source(package) if spec and spec.loader else None  # type: ignore[attr-defined]
    blocks = [node for node in ast.parse(source or "").body if isinstance(node, ast.If)]
    imports = [one for block in blocks if ast.unparse(block.test) == "TYPE_CHECKING" for one in block.body]
    found = [one for one in imports if isinstance(one, ast.ImportFrom) and one.module]
    return {alias.name: str(one.module) for one in found for alias in one.names}
