"""How numbers and names of the results are written in a table."""

from statistics import mean, stdev
from typing import Any

from springback.streaming.wording import percent
from springback_bench.comparison.verdicts import has, points

Results = dict[str, Any]


def score_cell(found: Results, stream: str, method: str, score: str = "accuracy") -> str:
    """Mean and standard deviation over the splits in percent; empty if it was not measured."""
    if not has(found, stream, method):
        return ""
    values = found["results"][stream][method][score]
    return percent(mean(values), 1) + (f" ± {percent(stdev(values), 1)}" if len(values) > 1 else "")


def titles_of(found: Results) -> dict[str, str]:
    """The title of each method by name."""
    return {one["name"]: one["title"] for one in found["methods"]}


def link(stream: str) -> str:
    """The name of a stream, which leads to its description."""
    return f"[`{stream}`](#{stream})"


def bold(text: str, wanted: bool) -> str:
    """Bold if wanted."""
    return f"**{text}**" if wanted else text


def signed(difference: float) -> str:
    """A difference in points; a zero has no sign.

    >>> signed(-0.0001), signed(0.012)
    ('0.0', '+1.2')
    """
    text = points(difference, signed=True)
    return text[1:] if float(text) == 0 else text


def between(counts: list[int]) -> str:
    """A number, or from which to which.

    >>> between([2000, 1500]), between([7, 7])
    ('1,500 to 2,000', '7')
    """
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def size(n_bytes: int) -> str:
    """An amount of memory.

    >>> size(80), size(20480)
    ('80 B', '20 KiB')
    """
    return f"{n_bytes:,} B" if n_bytes < 1024 else f"{n_bytes / 1024:,.0f} KiB"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "split"), counted(3, "split")
    ('1 split', '3 splits')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
