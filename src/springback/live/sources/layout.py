"""Which parts of a row of a table or of a JSON object are the features, the time, the label and the key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from springback import check
from springback.check import DataError
from springback.live.frames import Frames
from springback.live.sources.stamps import seconds_of

TIME = "time"
"""A column of this name is the time stamp, unless the user says otherwise."""

_MANY = 12


@dataclass(frozen=True, kw_only=True)
class RowLayout:
    """Which columns are used.

    Parameters
    ----------
    columns : tuple[str, ...] | None
        Names of the features, or their numbers counted from 0; None: all but time, label and what is ignored.
    ignore : tuple[str, ...]
        Columns that are not used.
    time : str | None
        Column of the time stamps; None: the column "time", if there is one. An empty name: none.
    label : str | None
        Column of the labels; None: there is none.
    key : str | None
        Column that says to which of several streams a row belongs; None: all rows are one stream.
    width : int | None
        Number of features that the model takes; None: any.
    usual : tuple[str, ...] | None
        Names of the features that the model was fitted with; columns that have names must include them, in any order.

    Examples
    --------
    >>> RowLayout(label="activity").places(("time", "x", "y", "activity"))
    Places(features=(1, 2), time=0, label=3, key=None)
    """

    columns: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    time: str | None = None
    label: str | None = None
    key: str | None = None
    width: int | None = None
    usual: tuple[str, ...] | None = None

    def is_header(self, fields: Sequence[str]) -> bool:
        """Whether a first line names the columns.

        It does if none of its entries is a number, if they are 0, 1, 2, ..., which pandas writes if columns have no
        names, or if a column that is asked for by a name in words is among them, or all features of the model are.

        Examples
        --------
        >>> RowLayout(key="track").is_header(("track", "01", "02")), RowLayout().is_header(("01", "02"))
        (True, False)
        """
        if not any(map(is_number, fields)) or list(fields) == [str(number) for number in range(len(fields))]:
            return True
        asked = (TIME if self.time is None else self.time, self.label, self.key, *self.ignore, *(self.columns or ()))
        in_words = {one for one in asked if one and not is_number(one)}
        return not in_words.isdisjoint(fields) or (self.usual is not None and set(self.usual) <= set(fields))

    def places(self, names: Sequence[str]) -> "Places":
        """Where features, time, label and key are among columns of these names; refused if one is missing."""
        place = {name: number for number, name in enumerate(names)}
        if len(place) < len(names):
            twice = next(name for number, name in enumerate(names) if place[name] != number)
            raise DataError(f"two columns are called {twice!r}; give each its own name")
        time = place.get(TIME) if self.time is None else self._one("the time", self.time, place) if self.time else None
        label = None if self.label is None else self._one("the label", self.label, place)
        key = None if self.key is None else self._one("the key", self.key, place)
        unused = {time, label, key, *(self._one("what is ignored", name, place) for name in self.ignore)}
        wanted = self._wanted(names)
        if wanted is not None:
            features = tuple(self._one("the features", name, place) for name in wanted)
        else:
            features = tuple(number for number in range(len(names)) if number not in unused)
        if self.width is not None and len(features) != self.width:
            raise DataError(
                f"the model takes {self.width} features; these rows have {len(features)} "
                f"({listed([names[one] for one in features])}): name the columns "
                "of the features, or those of the time, the label and what is to be ignored"
            )
        return Places(features, time, label, key)

    def _wanted(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The names of the features, if they are known."""
        if self.columns is not None or self.usual is None or list(names) == [str(one) for one in range(len(names))]:
            return self.columns
        missing = [name for name in self.usual if name not in names]
        if missing:
            raise DataError(
                f"the model was fitted with the column {missing[0]!r}, which these rows do not have: name the "
                "columns of the features in the order of the model's"
            )
        return self.usual

    def _one(self, what: str, name: str, place: dict[str, int]) -> int:
        if name not in place:
            raise DataError(f"{what} must be among the columns {listed(list(place))}; got {name!r}")
        return place[name]


class Places(NamedTuple):
    """Positions of features, time, label and key in a row."""

    features: tuple[int, ...]
    time: int | None
    label: int | None
    key: int | None = None

    def frames(self, rows: Sequence[Sequence[Any]]) -> Frames:
        """Frames from rows of numbers (and text, where it is time, label or key); a bad row raises a `ValueError`."""
        plain = self.time is None and self.label is None and self.key is None
        whole = plain and self.features == tuple(range(len(rows[0])))
        features = rows if whole else [[row[one] for one in self.features] for row in rows]
        try:
            values = np.array(features, np.float64)
        except OverflowError:
            raise ValueError("features must be at most 1.8e308; got a larger number") from None
        except (TypeError, ValueError):
            odd = next((one for row in features for one in row if not is_number(one)), features[0])
            raise ValueError(f"features must be numbers; got {check.shown(odd)}") from None
        if not np.isfinite(values).all():
            raise ValueError("features must be finite; got NaN or infinity")
        keys = None if self.key is None else [row[self.key] for row in rows]
        if keys is not None and any(one in (None, "") for one in keys):
            raise ValueError("the key must say to which stream the row belongs; it is empty")
        stamps = None if self.time is None else [row[self.time] for row in rows]
        return Frames(
            values=values,
            stamps=stamps,
            seconds=None if stamps is None else np.array([seconds_of(one) for one in stamps]),
            labels=None if self.label is None else [row[self.label] for row in rows],
            keys=None if keys is None else [str(one) for one in keys],
        )


def listed(names: Sequence[str]) -> str:
    """The first names, separated by commas."""
    return ", ".join(names[:_MANY]) + (", ..." if len(names) > _MANY else "")


def is_number(one: Any) -> bool:
    """Whether something is a number, or the text of one."""
    try:
        float(one)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
