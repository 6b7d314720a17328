"""One damaged file: made, loaded, used, and judged."""

import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from springback.check import DataError
from tests.fuzz.formats import Format, fingerprint
from tests.fuzz.mutations import (
    flipped,
    resealed,
    resealed_json,
    spoil_bytes,
    spoil_header,
    spoil_json,
    spoil_tensors,
)

PATIENCE_S = 60.0


class Outcome(IntEnum):
    """What became of a file."""

    REFUSED = 0
    UNCHANGED = 1
    VALID = 2
    TRACEBACK = 3
    HANG = 4
    DAMAGE = 5


class HangError(BaseException):
    """A case took too long."""


class Case(NamedTuple):
    """A file, and whether someone who knows the format has sealed it again: then what it says may be taken as meant."""

    content: bytes
    meant: bool


def make_case(form: Format, number: int) -> Case:
    """Case `number` of a format: always the same."""
    rng = Random(f"{form.name} {number}")
    content = rng.choice(form.content)
    how = number % 4
    if form.is_json:
        if how == 0:
            return Case(spoil_bytes(content, rng), not form.sealed)
        text = spoil_json(content.decode(), rng) if how < 3 else spoil_bytes(content, rng).decode("latin-1")
        if form.sealed:
            text = _laid_out(text)
        spoilt = text.encode("utf-8", "surrogatepass")
        return Case(resealed_json(spoilt) if form.sealed else spoilt, True)
    if how == 0 or not form.sealed:
        return Case(spoil_bytes(content, rng), not form.sealed)
    if how == 1:
        return Case(resealed(spoil_bytes(content, rng)), True)
    return Case((spoil_header if how == 2 else spoil_tensors)(content, rng), True)


def flip_case(form: Format, number: int) -> Case:
    """A whole file with one bit changed."""
    rng = Random(f"{form.name} flip {number}")
    content = rng.choice(form.content)
    return Case(flipped(content, rng.randrange(8 * len(content))), not form.sealed)


def _laid_out(text: str) -> str:
    """JSON in the layout in which springback writes it, so that a seal has its place."""
    import json

    try:
        return json.dumps(json.loads(text), indent=1) + "\n"
    except (ValueError, RecursionError):
        return text


class Judge:
    """Loads and uses cases of one format in a folder of its own."""

    def __init__(self, form: Format, folder: Path, *, use: bool) -> None:
        self.form, self.path, self._use = form, folder / "file", use
        self._whole = {content: fingerprint(self._loaded(content)) for content in form.content}
        for content in form.content if use else ():
            form.use(self._loaded(content))  # compiles what every case will need

    def __call__(self, case: Case) -> tuple[Outcome, str]:
        """What became of the case, and the reason if it is a failure."""
        if case.content in self._whole:
            return Outcome.UNCHANGED, ""
        try:
            with at_most(PATIENCE_S), warnings.catch_warnings():
                warnings.simplefilter("error")
                return self._outcome(case)
        except HangError:
            return Outcome.HANG, f"no answer within {PATIENCE_S:g} s of the processor"
        except Exception as error:
            return Outcome.TRACEBACK, f"{type(error).__name__}: {str(error)[:200]} {_place(error)}"

    def _outcome(self, case: Case) -> tuple[Outcome, str]:
        try:
            found = self._loaded(case.content)
        except DataError as error:
            one_line = "\n" not in str(error) and len(str(error)) < 3000
            return (Outcome.REFUSED, "") if one_line else (Outcome.TRACEBACK, f"no one sentence: {str(error)[:200]}")
        if fingerprint(found) in self._whole.values():
            return Outcome.UNCHANGED, ""
        if not case.meant:
            return Outcome.DAMAGE, "a changed file was taken for whole"
        if self._use:
            try:
                self.form.use(found)
            except (TypeError, ValueError):
                return Outcome.REFUSED, ""
        return Outcome.VALID, ""

    def _loaded(self, content: bytes) -> Any:
        self.path.write_bytes(content)
        return self.form.load(self.path)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Inside, what needs more time of the processor is ended by `HangError`, and so is what waits ten times as long.

    On a busy machine, a case may wait for the processor for minutes without hanging.
    """

    def ring(_signal: int, _frame: Any) -> None:
        raise HangError

    bells = ((signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, 10 * seconds))
    before = [signal.signal(bell, ring) for bell, _, _ in bells]
    for _, timer, after in bells:
        signal.setitimer(timer, after)
    try:
        yield
    finally:
        for (bell, timer, _), handler in zip(bells, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(bell, handler)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A temporary folder in memory, if the machine has one."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"


CaseMaker = Callable[[Format, int], Case]
