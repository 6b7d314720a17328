"""Springs that keep the last inputs instead of a matrix."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from springback import check
from springback.heads.memories.memory import Part, cosines, count, gate_parts, place, shares, sums
from springback.heads.memories.springs import NEVER_NOVEL, NOT_TUNED, LayerSprings
from springback.heads.scale import Scale


class WindowState(NamedTuple):
    """F as the last D inputs and how strongly each pulled: F = sum_d odds_d strength_d x_d^T.

    Parameters
    ----------
    keys : Any
        The inputs, (B, D, n), with a constant component as in `SpringState`.
    strengths : Any
        Pull times posterior, (B, D, K).
    odds : Any
        What is left of the pull of each input, (B, D); 0 where there is none yet.
    position : Any
        Where the next input is written, (B, 1).
    responsibility, total : Any
        As in `SpringState`.
    seen : Any
        Frames since rest, (B, 1); counted if the distance of unrelated frames is measured, as is the next.
    direction : Any
        Running mean of the directions of the features, (B, n).
    answered, shares, agreement : Any
        A `Gate`.
    """

    keys: Any
    strengths: Any
    odds: Any
    position: Any
    responsibility: Any
    total: Any
    seen: Any
    direction: Any
    answered: Any
    shares: Any
    agreement: Any


@dataclass(frozen=True, kw_only=True)
class WindowSprings(LayerSprings):
    """Springs that keep F as the last inputs and their posteriors, which takes far less memory for many classes.

    It takes the parameters of `LayerSprings`, and:

    Parameters
    ----------
    window : int
        How many inputs are kept.
    tuning : float | None
        None: an input adds to F x in proportion to its similarity x.x_i to the present one. A number: in proportion to
        exp(tuning (cos(x, x_i) - 1) / distance), a tuning curve around each remembered input, where `distance` is the
        mean 1 - cos of unrelated frames (`springback.heads.Scale`), which is measured unless it is given. 0: whatever
        the inputs look like. It needs unit inputs.

    Examples
    --------
    >>> WindowSprings(pull=5.0, memory=2.0, window=12, tuning=3.0).window
    12
    """

    window: int = 48
    tuning: float | None = None

    State: ClassVar[Any] = WindowState
    fading: ClassVar[tuple[str, ...]] = ("odds", "responsibility", "total")

    def __post_init__(self) -> None:
        super().__post_init__()
        check.sizes(self, window=1)
        check.reals(self, "tuning", low=0, high=1e6, or_none=True)
        fits = self.tuning is None or self.unit_inputs
        check.require(fits, "WindowSprings.tuning", "be None without unit inputs", self.tuning)

    def parts(self, n_classes: int, n_features: int) -> dict[str, Part]:
        """The parts of the state of one stream."""
        return {
            "keys": Part((self.window, self.width(n_features)), dtype="float32"),
            "strengths": Part((self.window, n_classes)),
            "odds": shares(self.window),
            "position": place(self.window),
            "responsibility": sums(n_classes),
            "total": sums(1),
            "seen": count(),
            "direction": cosines(n_features),
            **gate_parts(n_classes),
        }

    def numbers(self, scale: Scale | None) -> tuple[float, ...]:
        """The settings as the compiled kernel takes them."""
        tuning, distance = NOT_TUNED if self.tuning is None else self.tuning, 0.0 if scale is None else scale.distance
        return (*self.numbers_of_pull(), NEVER_NOVEL, float(tuning), float(distance))
