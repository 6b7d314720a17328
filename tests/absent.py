"""Libraries that are installed here, made to be absent in a new interpreter."""

_BLOCKER = """
import sys
from importlib.machinery import PathFinder

class _Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {libraries!r} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = _Without
"""


def without(*libraries: str) -> str:
    """Code that comes first in an interpreter for which the libraries are not installed."""
    return _BLOCKER.format(libraries=libraries)
