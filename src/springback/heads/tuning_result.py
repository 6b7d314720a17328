"""What a search for settings has found, and how it does on frames on which nothing was chosen.

It needs no compiled code, because `springback.torch` shares it.
"""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.heads.memories.springs import Springs
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.significance import Gain

Variant = Literal["springs", "classes", "observer", "learning"]
VARIANTS: tuple[Variant, ...] = ("springs", "classes", "observer", "learning")
"""Springs; class memory, which ignores how frames look; the exact observer; and the one that learns its deployment."""


Head = Literal["frozen", "default", "searched"]

NOT_TESTED = (
    "Agreement is not accuracy: without labels nothing can tell whether an answer that lasts as long as its object is "
    "right, nor how the head does on other streams; label some frames of such a stream and compare."
)
"""What a choice without labels cannot know."""


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
        The untuned default beside the frozen head; None if the search was not to use a `LearningObserver`. Its gains
        are those on all frames, because it was chosen on none of them.
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


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, whether features were centred (None: they never are), and their score.

    Examples
    --------
    >>> Trial(Springs(pull=2.0, memory=3.0), True, 0.5).values
    {'pull': 2.0, 'memory': 3.0, 'kappa': 1.0, 'constant': 0.0, 'centred': True}
    """

    settings: Settings
    centred: bool | None
    score: float

    @property
    def values(self) -> dict[str, Any]:
        """What was searched, by name."""
        found = {name: getattr(self.settings, name) for name in self.settings.searched}
        return found if self.centred is None else {**found, "centred": self.centred}


@dataclass(frozen=True, eq=False)
class TuningResult:
    """The settings that a search has chosen, and all that it tried.

    Parameters
    ----------
    settings : Settings | None
        The settings; None: no memory is better than the frozen head.
    centre : NDArray[np.float32] | None
        What is subtracted from features before they are compared.
    scale : Scale | None
        The units of an `Observer`; None: measured from the frames as they come, as in the untuned default.
    score, score_at_rest : float
        Of these settings and of the frozen head, on the frames on which settings were chosen.
    criterion : str
        What the score is: "accuracy", or without labels "agreement" ("log-likelihood" for an `ElasticClassifier`).
    trials : tuple[Trial, ...]
        All that was tried, in order.
    held_out : HeldOut | None
        Without labels: frozen head, untuned default and best settings on the later part of the streams, on which
        nothing was chosen, and what was not tested. `print` it before you use the head.
    layer : str | None
        Name of the layer that the settings are for, in a network of PyTorch.

    Examples
    --------
    >>> frozen = TuningResult(None, None, Scale(9.6, 0.9), 0.8, 0.8, "accuracy", ())
    >>> frozen.variant, frozen.in_use.pull
    ('frozen', 0.0)
    """

    settings: Settings | None
    centre: NDArray[np.float32] | None
    scale: Scale | None
    score: float
    score_at_rest: float
    criterion: str
    trials: tuple[Trial, ...]
    held_out: HeldOut | None = field(default=None, kw_only=True)
    layer: str | None = field(default=None, kw_only=True)

    @property
    def variant(self) -> str:
        """The kind of memory: "springs", "classes", "observer", "learning" or "frozen"."""
        return "frozen" if self.settings is None else self.settings.variant

    @property
    def in_use(self) -> Settings:
        """The best settings, or those of a head that stays frozen."""
        return Springs(pull=0.0) if self.settings is None else self.settings

    def head(self, weight: NDArray[Any], bias: NDArray[Any]) -> Any:
        """An `ElasticHead` with these settings, or one that stays frozen."""
        from springback.heads.elastic_head import ElasticHead

        return ElasticHead(weight, bias, self.in_use, centre=self.centre, scale=self.scale)

    def elasticize(self, model: Any, *, copy: bool = True) -> Any:
        """A copy of a network of PyTorch whose layer has these settings; see `springback.torch.elasticize`.

        If no memory was better than the frozen model, the answers of the copy are those of the model, bit for bit.
        """
        layers = import_module("springback.torch")  # which needs PyTorch, and is above this package
        found = {"centre": self.centre, "scale": self.scale, "layers": self.layer}
        return layers.elasticize(model, self.in_use, **found, copy=copy)
