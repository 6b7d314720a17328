"""Numbers as people read them."""


def percent(fraction: float, digits: int = 2) -> str:
    """A fraction in percent, without the sign.

    Examples
    --------
    >>> percent(0.88623), percent(0.5, 0)
    ('88.62', '50')
    """
    return f"{100 * fraction:.{digits}f}"


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
