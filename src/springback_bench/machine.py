"""The machine at hand and the versions on it: what a measured number depends on."""

import os
import platform
import resource
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from springback.extras import missing_extra

try:
    import psutil
except ImportError:
    raise missing_extra("springback_bench.machine", "psutil") from None

PACKAGES = ("numpy", "numba", "llvmlite", "scikit-learn", "river", "torch")


def describe_machine() -> dict[str, str | int | float]:
    """Processor, cores, caches, memory, system."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": os.cpu_count() or 1,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "caches": ", ".join(_caches()) or "unknown",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


class OtherWork:
    """How many cores other programs have kept busy, on average, since this object was made."""

    def __init__(self) -> None:
        self._begun, self._theirs = time.perf_counter(), _busy_seconds() - _own_seconds()

    def cores(self) -> float:
        """Processor time of the whole machine less that of this process and its finished children, per second."""
        theirs = _busy_seconds() - _own_seconds() - self._theirs
        return max(theirs, 0.0) / (time.perf_counter() - self._begun)


def describe_versions() -> dict[str, str]:
    """Versions of what springback runs on here; peers report their own."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def today() -> str:
    """The date, UTC."""
    return datetime.now(UTC).date().isoformat()


def _busy_seconds() -> float:
    spent = psutil.cpu_times()
    return float(sum(spent) - spent.idle - getattr(spent, "iowait", 0.0) - getattr(spent, "guest", 0.0))


def _own_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)


def _caches() -> list[str]:
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = (_read(folder / name) for name in ("type", "level", "size"))
        if kind != "Instruction" and size:
            found.append(f"L{level} {size}")
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
