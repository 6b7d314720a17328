"""What a rival is: a method, the settings that a search may choose from, and those that it tries first.

A file of this package that defines `RIVALS` registers itself. Some settings are as large as the logits of the network,
or as small: `pull`, `strength` and `sharpness` that suit one network are wrong for another. Their ranges are in units
of the spread of its logits (`logit_spread`), and `per_spread` says how a value becomes a setting: 1, times the spread;
-1, divided by the spread; 0, as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.extras import collect
from springback.heads.search import Choice, Range
from springback.streaming.stream_classifier import StreamClassifier

MEMORY = Range(0.2, 50.0, log=True)
STRENGTH = Range(0.03, 30.0, log=True, per_spread=1)
SHARPNESS = Range(0.03, 10.0, log=True, per_spread=-1)
KERNEL = Range(0.1, 100.0, log=True)
RATE = Range(1e-6, 0.1, log=True)

_READS = ("logits", "features", "frames")


@dataclass(frozen=True, kw_only=True)
class Rival:
    """A method of the comparison on streams.

    Parameters
    ----------
    name : str
        In the results.
    title : str
        On the page.
    about : str
        What it does, in one line.
    method : type[StreamClassifier]
        The class.
    ranges : Mapping[str, Range | Choice]
        The settings among which a search chooses, by name.
    first : tuple[tuple[Any, ...], ...]
        The settings that are tried first, in the order of `ranges` and as for logits of spread 1;
        `python -m springback_bench.comparison.first_settings NAME` finds them.
    reads : Literal["logits", "features", "frames"]
        What of the network the method reads; one that reads frames adapts the network itself.
    informed : bool
        Of a filter: whether its transitions are counted on the labels of the validation streams.
    slow : bool
        Whether it is so slow that fewer frames are used for validation.
    microseconds : float
        What a frame takes, roughly, with ten classes: only to begin with what takes longest.
    """

    name: str
    title: str
    about: str
    method: type[StreamClassifier]
    ranges: Mapping[str, Range | Choice]
    first: tuple[tuple[Any, ...], ...] = ()
    reads: Literal["logits", "features", "frames"] = "features"
    informed: bool = False
    slow: bool = False
    microseconds: float = 5.0

    @property
    def kind(self) -> Literal["rival", "network"]:
        """Whether it follows features or logits, or adapts the network itself."""
        return "network" if self.reads == "frames" else "rival"

    @property
    def first_settings(self) -> list[dict[str, Any]]:
        """The settings that are tried first, by name."""
        return [dict(zip(self.ranges, row, strict=True)) for row in self.first]


@cache
def all_rivals() -> tuple[Rival, ...]:
    """Every rival: first those that read logits, then features, then frames (where PyTorch is installed).

    Examples
    --------
    >>> [one.name for one in all_rivals()][:2]
    ['class-feedback', 'learned-transitions']
    """
    found = [one for some in collect("springback_bench.rivals", "RIVALS") for one in some]
    return tuple(sorted(found, key=lambda one: _READS.index(one.reads)))


def logit_spread(logits: NDArray[Any]) -> float:
    """How far the logits of a network lie apart: the standard deviation among the classes of a frame, on average.

    Examples
    --------
    >>> logit_spread(np.array([[1.0, -1.0], [3.0, -3.0]]))
    2.0
    """
    values = check.array("logits", np.asarray(logits, np.float64), shape=(None, None), dtype=np.float64)
    check.require(values.size > 0, "logits", "have at least one frame", values.shape)
    spread = float(values.std(axis=1).mean())
    check.require(spread > 0, "logits", "differ among the classes", "the same logit for every class")
    return spread
