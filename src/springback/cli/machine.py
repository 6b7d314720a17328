"""The limits of this machine: refuse work that does not fit, and announce work that will take long."""

import os
import sys
from pathlib import Path

from springback.check import DataError
from springback.cli.display import note
from springback.streaming.wording import duration

_LONG_S = 600.0
_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_PER_CORE = 32

PROCESS_BYTES = 2.5e8
"""Memory of an idle process of a pool."""


def n_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_bytes() -> int:
    """Memory that is available to a process: the installed memory, or less if a limit is set."""
    built_in = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else sys.maxsize
    try:
        limit = _GROUP_LIMIT.read_text().strip()
    except OSError:
        limit = "max"
    return min(built_in, int(limit)) if limit.isdigit() else built_in


def refuse_too_many(option: str, count: int, *, n_bytes: float = 0.0) -> None:
    """Refuse more threads or processes than the machine could ever use; a process takes `n_bytes` of memory."""
    cores, memory = n_cores(), memory_bytes()
    most = max(1, min(_PER_CORE * cores, int(memory / n_bytes) if n_bytes else sys.maxsize))
    if count > most:
        has = f"which has {cores} {'core' if cores == 1 else 'cores'} and {_gigabytes(memory)} of memory"
        raise ValueError(f"{option} must be <= {most} on this machine, {has}; got {count}")


def refuse_too_large(what: str, n_bytes: float, seconds: float = 0.0) -> None:
    """Refuse work that does not fit in memory; if it will take long, print an estimate."""
    has = memory_bytes()
    if n_bytes > has:
        raise DataError(f"{what} takes about {_gigabytes(n_bytes)} of memory; this machine has {_gigabytes(has)}")
    if seconds > _LONG_S:
        note(f"{what} takes about {duration(seconds)} and {_gigabytes(n_bytes)} of memory")


def network_bytes(neurons: int, images: int, inputs: int = 784) -> float:
    """Memory for training a circuit and testing it on this many images at once: mostly their spike counts."""
    return 3e8 + neurons * (inputs * 40.0 + 8.0 * images)


def network_seconds(neurons: int, images: int) -> float:
    """How long a circuit of 784 inputs takes to learn this many images, as measured with 400 and 1,600 neurons."""
    return 0.15 * neurons * images / 60_000


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB"
