"""Large arrays made and freed, and what that costs; in a module that workers can import."""

import gc
import resource
from pathlib import Path

N_BYTES = 40_000_000


def pages_cleared(n: int = 10) -> int:
    """How many pages the system clears for `n` large arrays that are made and freed one after the other.

    The first array is not counted.
    """
    gc.collect()
    assert len(b"x" * N_BYTES) == N_BYTES
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(n):
        assert len(b"x" * N_BYTES) == N_BYTES
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def bytes_held() -> int:
    """The memory that this process has, in bytes."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()
