"""One search for all methods: settings known to be good, some anywhere, the others ever closer to the best so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from springback import check


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`.

    Parameters
    ----------
    low, high : float
        Both ends, which belong to the range.
    log : bool
        Whether ratios count instead of differences.
    whole : bool
        Whether only whole numbers are meant.
    per_spread : int
        1: a setting is a value times the spread of the logits; -1: divided by it; 0: the value itself.

    Examples
    --------
    >>> Range(0.1, 10.0, log=True, per_spread=1).at(0.5, spread=3.0)
    3.0
    >>> Range(1, 3, whole=True).at(1.0)
    3
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False
    per_spread: int = 0

    def __post_init__(self) -> None:
        check.real("Range.low", self.low, above=0 if self.log else None)
        check.real("Range.high", self.high, above=self.low)
        check.require(self.per_spread in (-1, 0, 1), "Range.per_spread", "be -1, 0 or 1", self.per_spread)

    def at(self, share: float, spread: float = 1.0) -> float | int:
        """The setting at a share of the way from `low` (0) to `high` (1), for a network of this logit spread."""
        check.real("share", share, low=0, high=1)
        check.real("spread", spread, above=0)
        if self.log:
            value = float(np.clip(self.low * (self.high / self.low) ** share, self.low, self.high))
        else:
            value = self.low + (self.high - self.low) * share
        value *= spread**self.per_spread
        return round(value) if self.whole else value

    def share_of(self, setting: float, spread: float = 1.0) -> float:
        """The share of the way at which a setting lies: the inverse of `at`, 0 or 1 for what lies outside."""
        value = setting / spread**self.per_spread
        low, high = (np.log(self.low), np.log(self.high)) if self.log else (self.low, self.high)
        return float(np.clip(((np.log(value) if self.log else value) - low) / (high - low), 0, 1))


@dataclass(frozen=True)
class Choice:
    """One of a few values, all equally good before anything is known.

    Parameters
    ----------
    values : tuple[Any, ...]
        The values.

    Examples
    --------
    >>> Choice(("logits", "probabilities")).at(0.7)
    'probabilities'
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        check.require(len(self.values) > 0, "Choice.values", "hold at least one value", self.values)

    def at(self, share: float, spread: float = 1.0) -> Any:  # noqa: ARG002
        """The value at a share of the way from the first (0) to the last (1); the spread does not matter."""
        check.real("share", share, low=0, high=1)
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def share_of(self, setting: Any, spread: float = 1.0) -> float:  # noqa: ARG002
        """A share of the way that leads to one of the values: the inverse of `at`."""
        return (self.values.index(setting) + 0.5) / len(self.values)


class Tried(NamedTuple):
    """Settings that were tried, by name, and their score."""

    settings: dict[str, Any]
    score: float


def search(
    ranges: Mapping[str, Range | Choice],
    score: Callable[[dict[str, Any]], float],
    *,
    n_trials: int,
    seed: int,
    spread: float = 1.0,
    first: Sequence[Mapping[str, Any]] = (),
) -> list[Tried]:
    """Try settings within their ranges; every method that is compared gets the same number of trials.

    Parameters
    ----------
    ranges : Mapping[str, Range | Choice]
        The ranges of the settings, such as those of a method in `RANGES`.
    score : Callable[[dict[str, Any]], float]
        What is to be made large.
    spread : float
        Of the logits, see `logit_spread`.
    first : Sequence[Mapping[str, Any]]
        Settings that are known to be good elsewhere, as they would be for a spread of 1; they are tried before any that
        are drawn.

    Examples
    --------
    >>> tried = search({"x": Range(0.0, 1.0)}, lambda settings: -abs(settings["x"] - 0.3), n_trials=40, seed=0)
    >>> abs(max(tried, key=lambda one: one.score).settings["x"] - 0.3) < 0.02
    True
    """
    check.integer("n_trials", n_trials, low=1)
    rng = np.random.default_rng(seed)
    places: list[dict[str, float]] = []
    tried: list[Tried] = []
    for number in range(n_trials):
        if number < len(first):
            place = {name: one.share_of(first[number][name]) for name, one in ranges.items()}
        elif number < (n_trials + 1) // 2:
            place = {name: float(rng.random()) for name in ranges}
        else:
            best = max(range(number), key=lambda at: tried[at].score)
            place = _near(places[best], ranges, 0.2 * (1 - number / n_trials) + 0.01, rng)
        settings = {name: one.at(place[name], spread) for name, one in ranges.items()}
        places.append(place)
        tried.append(Tried(settings, score(settings)))
    return tried


def _near(
    place: Mapping[str, float], ranges: Mapping[str, Range | Choice], width: float, rng: np.random.Generator
) -> dict[str, float]:
    """A place about `width` away on each scale; a choice is made afresh with the probability `width`."""
    near = {}
    for name, one in ranges.items():
        step, other, fresh = rng.standard_normal(), rng.random(), rng.random() < width
        moved = place[name] + width * step
        near[name] = float(np.clip(moved, 0, 1)) if isinstance(one, Range) else float(other if fresh else place[name])
    return near
