"""Which class a label names: labels are the correct answers that a source gives, classes are what a model answers."""

from collections.abc import Iterable
from typing import Any

_MOST_KEPT = 10_000
"""Different labels whose class is remembered; further ones are looked up each time."""


def same_label(label: Any, named: Any) -> bool:
    """Whether a label as a source gives it is a class of a model.

    Text is compared exactly as it stands, unless the class is a number: "3", "03" and 3.0 are the class 3, but "01" is
    not the class "1".

    Examples
    --------
    >>> same_label("03", 3), same_label(3.0, 3), same_label(3.0, "3"), same_label("01", "1")
    (True, True, True, False)
    """
    if label == named:
        return True
    if isinstance(label, str):
        return (_is_number(named) and _number(label) == named) or str(named) == label
    if not _is_number(label) or (isinstance(label, int) and label.bit_length() > 64):
        return False
    return str(int(label) if float(label).is_integer() else label) == str(named)


class KnownLabels:
    """The classes that labels may name.

    Parameters
    ----------
    classes : Iterable[Any]
        What a model can answer.

    Examples
    --------
    >>> known = KnownLabels(["01", "02"])
    >>> known.place("02"), known.place("2"), known.is_missing("")
    (1, None, True)
    """

    def __init__(self, classes: Iterable[Any]) -> None:
        self._classes = tuple(classes)
        self._found: dict[tuple[type, Any], int | None] = {}

    @staticmethod
    def is_missing(label: Any) -> bool:
        """Whether a frame has no label."""
        return label is None or label == ""

    def place(self, label: Any) -> int | None:
        """The number of the class that a label names; None: no such class."""
        if not isinstance(label, str | int | float):
            return None
        key = type(label), label
        if key not in self._found:
            found = next((k for k, named in enumerate(self._classes) if same_label(label, named)), None)
            if len(self._found) >= _MOST_KEPT:
                return found
            self._found[key] = found
        return self._found[key]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
