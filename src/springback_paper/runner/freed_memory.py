"""A worker keeps the memory it has freed for the arrays to come, and gives it back after each task.

By default the C library of Linux hands the memory of a large array back to the system as soon as it is freed, and the
system clears every page of it before the next array has it. The training of a network makes and frees the same large
arrays in every step; a fifth of its time went into such pages.
"""

import ctypes
import sys
from functools import cache
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # man 3 mallopt
_LARGEST_KEPT = 2**30


def keep_freed_memory() -> bool:
    """From now on, this process uses the memory of arrays of up to 1 GiB again; False where that cannot be asked for.

    Results are the same, bit for bit.
    """
    library = _c_library()
    if library is None or not library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT):
        return False  # The C library of another system, or one before glibc 2.34, which knows a lower limit.
    return bool(library.mallopt(_M_TRIM_THRESHOLD, 2 * _LARGEST_KEPT - 1))


def give_back_freed_memory() -> None:
    """Hand what is kept but not used to the system."""
    library = _c_library()
    if library is not None:
        library.malloc_trim(0)


@cache
def _c_library() -> Any:
    """The C library, if it is that of GNU/Linux."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
