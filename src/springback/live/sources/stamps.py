"""Time stamps of a text file or a message as numbers."""

import math
from datetime import UTC, datetime
from typing import Any

from springback import check


def seconds_of(stamp: Any) -> float:
    """A number as it is; a date as ISO 8601 writes it, in seconds since 1970 (without a time zone: UTC).

    Examples
    --------
    >>> seconds_of("1970-01-01T00:01:00+00:00"), seconds_of("2.5"), seconds_of(7)
    (60.0, 2.5, 7.0)
    """
    if isinstance(stamp, bool) or not isinstance(stamp, int | float | str):
        raise ValueError(f"a time stamp must be a number or a date; got {check.shown(stamp)}")
    try:
        number = float(stamp)
    except ValueError:
        number = _of_date(str(stamp))
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"a time stamp must be finite; got {check.shown(stamp)}")
    if isinstance(stamp, int) and not -(2**63) <= stamp < 2**63:
        raise ValueError(f"a time stamp that is a whole number must fit in 64 bits; got {check.shown(stamp)}")
    return number


def _of_date(text: str) -> float:
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"a time stamp must be a number or a date such as 2024-05-01T12:00:00; got {check.shown(text)}"
        ) from None
    return (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
