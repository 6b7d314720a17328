"""Numbers and lists in words."""

from typing import Any


def spread(stat: dict[str, Any] | None, *, missing: str = "not run") -> str:
    """A statistic in percent, with its deviation if there is more than one value.

    Examples
    --------
    >>> spread({"mean": 88.123, "std": 0.0, "n": 1, "values": [88.123]}), spread(None)
    ('88.12', 'not run')
    """
    if stat is None:
        return missing
    deviation = f" ± {stat['std']:.2f}" if stat["n"] != 1 else ""
    return f"{stat['mean']:.2f}{deviation}"


def duration(seconds: float) -> str:
    """A time in words.

    Examples
    --------
    >>> duration(75), duration(9.6), duration(4000)
    ('1 min 15 s', '10 s', '1 h 6 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def listed(words: list[str]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
