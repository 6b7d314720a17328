"""Keeps the disk cache of compiled code true to its source.

Numba renews a cached function when its own file changes, but not when a compiled function that it calls from another
file does. So each room whose compiled code calls across files has its cache dropped when any of its sources changed.
"""

import hashlib
from pathlib import Path

_STAMP = "springback-sources.sha256"


def discard_stale_code(package_file: str) -> None:
    """Remove cached compiled code of a package folder if any of its sources changed since it was made.

    Called in the package's `__init__`, with `__file__`. Safe with many processes: what vanishes is compiled again.
    """
    folder = Path(package_file).parent
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    now, cache = digest.hexdigest(), folder / "__pycache__"
    stamp = cache / _STAMP
    try:
        if stamp.is_file() and stamp.read_text() == now:
            return
        cache.mkdir(exist_ok=True)
        for pattern in ("*.nbi", "*.nbc"):
            for stale in cache.glob(pattern):
                stale.unlink(missing_ok=True)
        stamp.write_text(now)
    except OSError:
        return  # An installation that cannot be written to was not edited either.
