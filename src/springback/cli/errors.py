"""Every error as one sentence and an exit code.

0    success
1    an internal error, or a failed task of a run
2    the request cannot be fulfilled: a wrong option, value or file, a missing library, too little memory or disk
130  interrupted
"""

import os
from typing import NamedTuple

import typer

from springback.extras import MissingExtraError

FAULT, REFUSED, INTERRUPTED = 1, 2, 130

TRACEBACK = "SPRINGBACK_TRACEBACK"
"""Set this environment variable to see where an error came from."""


class Refusal(NamedTuple):
    """The message, which may be empty, and the exit code."""

    sentence: str
    code: int


OPTIONS = {
    "the features must be among": "--columns",
    "the time must be": "--time",
    "the label must be": "--label",
    "what is ignored must be": "--ignore",
    "name the columns of the features, or": "--columns, --time, --label and --ignore",
    "name the columns of the features in": "--columns",
    "a name for each of the": "--classes",
    "which names no classes": "--classes",
    "how pictures are scaled": "--mean and --std",
    "the array must be one of": "--tensor",
    "has several arrays": "--tensor",
    "sound is followed in windows": "--window",
    "window_s must": "--window",
    "hop_s must": "--hop",
    "unless remote access is allowed": "--allow-remote",
    "choose another port": "--port",
    "choose another host or port": "--host and --port",
    "for the trials": "--storage",
    "a folder for data": "--data-home",
    "original files, plain or gzipped": "--data-home",
    "name another folder, or set": "--data-home",
}
"""Which option sets what a message of the library is about; the library knows no options."""


def with_option(sentence: str) -> str:
    """A message with the option that sets what it is about.

    Examples
    --------
    >>> with_option("the label must be among the columns x, y; got 'z'")
    "the label must be among the columns x, y; got 'z' (--label)"
    """
    option = next((option for words, option in OPTIONS.items() if words in sentence), None)
    return sentence if option is None else f"{sentence} ({option})"


def refusal_of(error: BaseException) -> Refusal:  # noqa: PLR0911
    """The message for an error, and the exit code.

    Examples
    --------
    >>> refusal_of(ValueError("--seed must be >= 0; got -1"))
    Refusal(sentence='--seed must be >= 0; got -1', code=2)
    >>> refusal_of(FileNotFoundError(2, "No such file or directory", "video")).sentence
    'video: no such file or directory'
    """
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return Refusal("interrupted", INTERRUPTED)
    if isinstance(error, BrokenPipeError):
        return Refusal("", FAULT)
    format_message = getattr(error, "format_message", None)
    if format_message is not None:  # a wrong command or option
        return Refusal(one_line(format_message()), int(getattr(error, "exit_code", REFUSED)))
    if isinstance(error, OSError):
        return Refusal(one_line(_about_the_system(error)), REFUSED)
    if isinstance(error, MemoryError):
        return Refusal(
            one_line(f"there is not enough memory for this{_in_brackets(error)}; try smaller numbers"), REFUSED
        )
    if isinstance(error, OverflowError):
        return Refusal(one_line(f"a number is too large{_in_brackets(error)}"), REFUSED)
    if isinstance(error, ValueError | TypeError | MissingExtraError):
        return Refusal(one_line(with_option(str(error))), REFUSED)
    fault = f"internal error: {type(error).__name__}: {error}"
    return Refusal(one_line(f"{fault} (set {TRACEBACK}=1 to see where, and please report it)"), FAULT)


def one_line(text: str) -> str:
    r"""Text without line breaks or control characters, so that nothing in a file name can disturb a terminal.

    Examples
    --------
    >>> one_line("a name" + chr(10) + "of two lines" + chr(27))
    'a name of two lines\\x1b'
    """
    words = " ".join(text.split())
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in words)


def reason_of(error: OSError) -> str:
    """The reason given by the operating system, for use in the middle of a sentence.

    Examples
    --------
    >>> reason_of(OSError(28, "No space left on device"))
    'no space left on device'
    """
    number = error.errno or 0
    text = os.strerror(number) if number > 0 else error.strerror or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _about_the_system(error: OSError) -> str:
    place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{place}{reason_of(error)}"


def refuse_vanished_folder() -> None:
    """Refuse to work in a folder that was removed, because some libraries end the process there."""
    try:
        os.getcwd()
    except OSError:
        raise ValueError("the current folder no longer exists; change to another one") from None


def _in_brackets(error: BaseException) -> str:
    return f" ({error})" if str(error) else ""
