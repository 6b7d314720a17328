"""What a search for settings has found; it needs no compiled code, because `springback.layers` shares it."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from springback.heads.held_out import HeldOut
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.springs import Springs

Variant = Literal["springs", "classes", "observer"]
VARIANTS: tuple[Variant, ...] = ("springs", "classes", "observer")
"""Springs; class memory, which ignores how frames look; and the exact observer."""


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, whether features were centred, and their score."""

    settings: Settings
    centred: bool
    score: float


@dataclass(frozen=True, eq=False)
class Found:
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
        "accuracy", or "agreement" if there were no labels.
    trials : tuple[Trial, ...]
        All that was tried, in order.
    held_out : HeldOut | None
        Without labels: frozen head, untuned default and best settings on the later part of the streams, on which
        nothing was chosen, and what was not tested. `print` it before you use the head.

    Examples
    --------
    >>> frozen = Found(None, None, Scale(9.6, 0.9), 0.8, 0.8, "accuracy", ())
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

    @property
    def variant(self) -> str:
        """The kind of memory: "springs", "classes", "observer" or "frozen"."""
        if self.settings is None:
            return "frozen"
        if isinstance(self.settings, Springs):
            return "classes" if self.settings.constant == 1 else "springs"
        return "observer" if self.settings.kappa > 0 else "classes"

    @property
    def in_use(self) -> Settings:
        """The best settings, or those of a head that stays frozen."""
        return Springs(pull=0.0) if self.settings is None else self.settings
