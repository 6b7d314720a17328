"""Statistics and lists as they stand in a sentence or a table."""

from typing import Any

from springback.streaming.wording import percent


def spread(stat: dict[str, Any] | None, *, missing: str = "not run", digits: int = 2) -> str:
    """A statistic of fractions, in percent, with its deviation if there is more than one value.

    Examples
    --------
    >>> spread({"mean": 0.88123, "std": 0.0, "n": 1, "values": [0.88123]}), spread(None)
    ('88.12', 'not run')
    """
    if stat is None:
        return missing
    return percent(stat["mean"], digits) + (f" ± {percent(stat['std'], digits)}" if stat["n"] != 1 else "")


def repeated(n: int, what: str) -> str:
    """What a number comes from: one of something, or the mean and the spread of several.

    Examples
    --------
    >>> repeated(1, "run"), repeated(5, "video")
    ('one run', 'mean and std of 5 videos')
    """
    return f"one {what}" if n == 1 else f"mean and std of {n} {what}s"


def listed(words: list[str]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
