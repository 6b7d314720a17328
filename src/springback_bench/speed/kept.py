"""What is measured in a long run, kept piece by piece, so that a run that was stopped continues."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from springback.files.atomic import atomic_file
from springback_bench.machine import OtherWork

COSTS = ("seconds", "busy")


class Once(Protocol):
    """Measures a piece of work that has this name, if it has not been measured yet."""

    def __call__(self, name: str, measure: Callable[[], Any], /) -> Any:
        """What was measured."""
        ...


def always(_name: str, measure: Callable[[], Any], /) -> Any:
    """Measure it, whatever has been measured before."""
    return measure()


class Kept:
    """Pieces that are kept in a file as soon as they are measured, if they are about the same things.

    A piece may consist of pieces; its own seconds do not count theirs.

    Parameters
    ----------
    file : Path
        It need not exist.
    about : dict[str, Any]
        What results depend on: date, versions, machine. A file about other things is begun anew.
    """

    def __init__(self, file: Path, about: dict[str, Any]) -> None:
        self._file = file
        found = json.loads(file.read_text()) if file.is_file() else {}
        self._found = found if found.get("about") == about else {"about": about, "pieces": {}}

    def once(self, name: str, measure: Callable[[], Any], /) -> Any:
        """What was measured under this name, now or earlier."""
        pieces = self._found["pieces"]
        if name not in pieces:
            begun, others, within = time.perf_counter(), OtherWork(), {what: self.total(what) for what in COSTS}
            measured = measure()
            seconds = time.perf_counter() - begun
            spent = {"seconds": seconds, "busy": seconds * others.cores()}
            own = {what: spent[what] - (self.total(what) - within[what]) for what in COSTS}
            pieces[name] = {"measured": measured, **own}
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(self._file) as file:
                file.write(json.dumps(self._found).encode())
        return pieces[name]["measured"]

    def __contains__(self, name: str) -> bool:
        return name in self._found["pieces"]

    def total(self, what: str) -> float:
        """The `seconds` of all pieces, or how long other programs kept a core `busy` meanwhile."""
        return float(sum(one[what] for one in self._found["pieces"].values()))

    def forget(self) -> None:
        """Remove the file."""
        self._file.unlink()
