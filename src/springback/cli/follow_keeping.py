"""What `springback follow` keeps on disk: the state, where in the stream it was, and the file of answers."""

import os
import time
from pathlib import Path
from typing import IO, Any, Self

from springback.check import DataError
from springback.cli.display import note
from springback.cli.file_checks import new_file, readable_file, writing
from springback.live.follower import Follower
from springback.live.frames import Answers
from springback.live.position import Position, load_state, position_of, save_state


class Keeper:
    """Continues from the state of an earlier run, and writes it now and then and at the end.

    Parameters
    ----------
    follower : Follower
        Whose state it is.
    identity : str
        Identifies the file of the model.
    step_s : float | None
        Length of a step, which is part of the state.
    kept_in : Path | None
        Where the state is written.
    every_s : float
        Seconds from one time to the next.
    """

    def __init__(
        self, follower: Follower, identity: str, step_s: float | None, kept_in: Path | None, every_s: float
    ) -> None:
        self._follower, self._identity, self._step_s = follower, identity, step_s
        self._path, self._every_s = kept_in, every_s
        self._position: Position | None = None
        self._source = ""
        self._file: IO[bytes] | None = None
        self._out: str | None = None
        self._last: Answers | None = None
        self._saved_at = time.monotonic()

    def load(self, state: Path) -> None:
        """Continue from a state; one that is written for the first time need not exist."""
        if state == self._path and not state.exists():
            note(f"{state} does not exist yet: starting from rest")
            return
        readable_file("--state", state)
        try:
            self._position = load_state(state, self._follower, model=self._identity, step_s=self._step_s)
        except DataError as error:
            raise DataError(f"--state {error}") from None

    @property
    def since_s(self) -> float | None:
        """Time stamp of the last frame that the state has seen."""
        return None if self._position is None else self._position.seconds

    def begin(self, source: str, *, recorded: bool, from_start: bool) -> Position | None:
        """Say where the state stands; returns from where a source that can be read again goes on."""
        self._source, found = source, self._position
        if found is None or not found.frames:
            return None
        where = f"the state was saved {_stand(found)} of {found.source}"
        if found.source != source:
            note(f"{where}; {source} is read from its beginning")
        elif not recorded:
            note(f"{where}, which must now send what comes after that")
        elif from_start:
            note(f"{where}, which is now read from its beginning")
        else:
            note(f"{where}: continuing from there")
            return found
        return None

    def open_out(self, path: Path, *, resumed: bool, recorded: bool, is_json: bool, overwrite: bool) -> IO[bytes]:
        """The file of answers; what an earlier run wrote there after its last state is cut off, and answered again."""
        before, name = self._position, str(path.resolve())
        is_ours = before is not None and before.out == name and before.source == self._source and path.exists()
        goes_on = is_ours and (resumed or not recorded or (before is not None and not before.frames))
        new_file("--out", path, overwrite=overwrite or goes_on or (path.exists() and not path.stat().st_size))
        with writing("--out", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._file = path.open("r+b" if goes_on else "wb")
            end = file.seek(0, os.SEEK_END)
            if goes_on and before is not None:
                _refuse_other_answers(path, file, before.out_bytes, end, is_json)
                file.seek(before.out_bytes)
                later = b"" if recorded else file.read()  # of a run that was killed, maybe in the middle of a line
                file.truncate(before.out_bytes + later.rfind(b"\n") + 1)
                file.seek(0, os.SEEK_END)
        self._out = name
        if not goes_on:
            seconds = self.since_s
            self._position = Position(source=self._source, frames=0, taken=0, digest="", seconds=seconds, out=name)
            self.save()
        return file

    def note_answers(self, given: Answers | None) -> None:
        """Take note of answers that were written, and write the state if it is time."""
        self._last = given or self._last
        if time.monotonic() - self._saved_at >= self._every_s and self._last is not None:
            self.save()

    def save(self) -> None:
        """Write the state now, and with it where the stream is."""
        if self._path is None:
            return
        size = 0
        if self._file is not None:
            size = self._file.tell()
            os.fsync(self._file.fileno())
        if self._last is not None:
            self._position = position_of(self._last, self._source, out=self._out, out_bytes=size)
        save_state(self._path, self._follower, model=self._identity, step_s=self._step_s, position=self._position)
        self._saved_at = time.monotonic()

    def say_where(self) -> None:
        """Say where the state stands at the end."""
        if self._path is not None and self._position is not None and self._position.frames:
            note(f"{self._path} was saved {_stand(self._position)} of {self._position.source}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        try:
            if kind is None or self._last is not None:
                self.save()
        finally:
            if self._file is not None:
                self._file.close()


def _stand(position: Position) -> str:
    at = "" if position.stamp is None else f" (time {position.stamp})"
    return f"after frame {position.frames - 1:,}{at}"


def _refuse_other_answers(path: Path, file: IO[bytes], wanted: int, found: int, is_json: bool) -> None:
    if found < wanted:
        raise DataError(
            f"--out {path} has {found:,} bytes, and had {wanted:,} when the state was written; name another file"
        )
    file.seek(0)
    if wanted and (file.read(1) == b"{") != is_json:
        raise DataError(f"--out {path} holds {'a table' if is_json else 'JSON lines'}; continue with the same form")
