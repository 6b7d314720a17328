"""Numbers and lists in words."""

from typing import Any


def percent(fraction: float, digits: int = 2) -> str:
    """A fraction in percent, without the sign.

    Examples
    --------
    >>> percent(0.88623), percent(0.5, 0)
    ('88.62', '50')
    """
    return f"{100 * fraction:.{digits}f}"


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
