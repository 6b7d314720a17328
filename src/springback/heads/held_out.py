"""What the later part of recorded streams says about a choice that was made on the first part, without labels."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Head = Literal["frozen", "default", "searched"]

NOT_TESTED = (
    "Agreement is not accuracy: without labels nothing can tell whether an answer that lasts as long as its object is "
    "right, nor how the head does on other streams; label some frames of such a stream and compare (--label, or labels "
    "in Python)."
)
"""What a choice without labels cannot know."""


class Gain(NamedTuple):
    """How much higher one head scores than another: the mean, and its standard error between stretches of frames.

    Examples
    --------
    >>> Gain(0.03, 0.01).is_above(errors=2.0), Gain(0.03, 0.02).is_above(errors=2.0)
    (True, False)
    """

    mean: float
    error: float

    def is_above(self, errors: float) -> bool:
        """Whether the mean is above this number of standard errors; a negative number allows for a loss by chance."""
        return self.mean > errors * self.error


def measure_gain(gained: NDArray[np.float64], n_stretches: int) -> Gain:
    """The gain of frames (T,) in time order, with the standard error between this number of stretches of them.

    Examples
    --------
    >>> measure_gain(np.array([0.0, 0.0, 1.0, 1.0]), 2)
    Gain(mean=0.5, error=0.5)
    """
    parts = [float(part.mean()) for part in np.array_split(gained, n_stretches) if len(part)]
    if len(parts) < 2:
        return Gain(float(gained.mean()) if len(gained) else 0.0, float("inf"))
    return Gain(float(gained.mean()), float(np.std(parts, ddof=1) / np.sqrt(len(parts))))


class Compared(NamedTuple):
    """One head beside another on the later part.

    Parameters
    ----------
    score : float
        Its agreement with the two judges, on average.
    gain : Gain
        Over the other head, on average over the judges.
    best_views, vote : Gain
        The same by each judge alone.
    """

    score: float
    gain: Gain
    best_views: Gain
    vote: Gain


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Frozen head, untuned default and the best settings of the search, compared on frames that chose none of them.

    `str` of it is a short report.

    Parameters
    ----------
    choice : Head
        The head that is used.
    n_frames, n_frames_in_all, n_stretches : int
        Number of frames of the later part, and of all frames, and of the stretches between which standard errors are
        taken.
    frozen : float
        Score of the frozen head on the later part.
    default : Compared | None
        The untuned default beside the frozen head; None if the search was not to use an `Observer`. Its gains are those
        on all frames, because it was chosen on none of them.
    searched : Compared
        The settings with the highest score on the first part, beside `reference`.
    reference : Head
        What the searched settings had to beat: the untuned default if it is used rather than the frozen head.

    Examples
    --------
    >>> equal = Compared(0.6, Gain(0.0, 0.01), Gain(0.0, 0.01), Gain(0.0, 0.01))
    >>> found = HeldOut(
    ...     choice="frozen",
    ...     n_frames=500,
    ...     n_frames_in_all=1000,
    ...     n_stretches=10,
    ...     frozen=0.6,
    ...     default=equal,
    ...     searched=equal,
    ...     reference="frozen",
    ... )
    >>> print(str(found).splitlines()[-2])
    The frozen head is used: neither the untuned default nor the best settings are clearly better.
    """

    choice: Head
    n_frames: int
    n_frames_in_all: int
    n_stretches: int
    frozen: float
    default: Compared | None
    searched: Compared
    reference: Head

    def __str__(self) -> str:
        lines = [
            f"Agreement on the later {self.n_frames:,} frames, on which nothing was chosen (gains in points, ± the "
            f"standard error between {self.n_stretches} stretches):",
            f"  frozen head: {_percent(self.frozen)}",
        ]
        if self.default is not None:
            lines.append(f"  untuned default: {_line(self.default, 'frozen')} on all {self.n_frames_in_all:,} frames")
        lines.append(f"  best settings of the first part: {_line(self.searched, self.reference)}")
        return "\n".join([*lines, self._verdict(), NOT_TESTED])

    def _verdict(self) -> str:
        if self.choice == "searched":
            return f"The best settings are used: both judges find them better than {_NAMES[self.reference]}."
        if self.choice == "default":
            return (
                "The untuned default is used: it is better than the frozen head, neither judge finds it clearly worse, "
                "and the best settings are not clearly better than it."
            )
        if self.default is None:
            return "The frozen head is used: the best settings are not clearly better."
        return "The frozen head is used: neither the untuned default nor the best settings are clearly better."


_NAMES: dict[Head, str] = {
    "frozen": "the frozen head",
    "default": "the untuned default",
    "searched": "the best settings",
}


def _line(one: Compared, other: Head) -> str:
    return (
        f"{_percent(one.score)}, {_points(one.gain)} over {_NAMES[other]} "
        f"(best views {_points(one.best_views)}, vote {_points(one.vote)})"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(gain: Gain) -> str:
    return f"{100 * gain.mean:+.1f} ± {100 * gain.error:.1f}"
