"""What a search for settings of a saved model has found."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from springback.heads.tuning_result import HeldOut


class Tried(NamedTuple):
    """Settings that were tried: the kind of memory, their values by name, and their score."""

    variant: str
    settings: dict[str, Any]
    score: float


@dataclass(frozen=True, kw_only=True, eq=False)
class TunedModel:
    """The best model, and all that was tried.

    Parameters
    ----------
    model : Any
        The model with the best settings, at rest; it can be saved.
    score, score_at_rest : float
        Of the chosen settings, and of the model without memory, on the frames on which settings were chosen.
    criterion : str
        What the score is: "accuracy", "agreement" or "log-likelihood".
    tried : tuple[Tried, ...]
        All that was tried, in order.
    helps : bool
        Whether memory is better than none on these streams.
    held_out : HeldOut | None
        How a head that was chosen without labels does on frames on which nothing was chosen; None for other models.
    """

    model: Any
    score: float
    score_at_rest: float
    criterion: str
    tried: tuple[Tried, ...]
    helps: bool
    held_out: HeldOut | None = None
