"""An observer that also learns its deployment: a slow memory of how each class looks there, under the fast one."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from springback import check
from springback.heads.continuity import FORGETTING
from springback.heads.earning import MOST_CALM, MOST_SHARP, NEAR, RECENT
from springback.heads.memories.memory import Part, cosines, floats, shares, sums
from springback.heads.memories.observer import Observer
from springback.heads.scale import Scale


class LearningState(NamedTuple):
    """What a learning observer remembers; B streams, D frames, K classes, n features.

    Parameters
    ----------
    keys, posteriors, odds, position, seen, spread, direction : Any
        As in `ObserverState`.
    lessons : Any
        How much each remembered frame is to teach when it leaves the window, (B, D); fades as visits do.
    means : Any
        What each class has looked like, on average, (B, K, n).
    visits : Any
        How many frames each mean stands for, (B, K); fades.
    recent : Any
        Answers of the last frames, fading in two stages, (B, 7, K): those of the frozen head, and those of memory minus
        those of the frozen head; then what was believed of the last frame, minus what would be without memory; then the
        two answers to frames on which they differed, in two stages.
    excess : Any
        Running share of each class among the answers of memory, minus that among the frozen answers, (B, K).
    earned : Any
        The sums S_slow and S_fast by which learning and memory earn their weights, then A - C and A + C, (B, 4); see
        `springback.heads.earning`.
    near : Any
        The sum S_near, (B, 1).
    calm : Any
        The logarithm of the temperature of the answers, in units of that of the network, (B, 1).
    answered, shares, agreement : Any
        A `Gate`.
    """

    keys: Any
    posteriors: Any
    odds: Any
    position: Any
    seen: Any
    spread: Any
    direction: Any
    lessons: Any
    means: Any
    visits: Any
    recent: Any
    excess: Any
    earned: Any
    near: Any
    calm: Any
    answered: Any
    shares: Any
    agreement: Any


@dataclass(frozen=True, kw_only=True)
class LearningObserver(Observer):
    """An `Observer` that learns how the classes look where it is deployed.

    When a frame leaves the window of remembered frames, it teaches the classes of its posterior, as much as the answer
    agreed with that of the frozen head: it moves the mean m_k of a class, and N_k, the number of frames that the mean
    stands for, grows. The means are read as class-conditional Gaussians with a common width, whose prior is the frozen
    head: to the logits z_k, in spreads of the logits, is added

        strength (c_k (m_k - M).(x - M) - 1/2 c_k^2 |m_k - M|^2) / distance,   c_k = N_k / (prior_frames + N_k)

    where x is the frame as it is compared, M the mean of the m_k weighted by c_k, and `distance` that of unrelated
    frames. This counts as far as it has earned it in its stream, as does memory itself; see
    `springback.heads.earning`. A class that was never seen keeps its frozen weights, and over a long silence all return
    to them. It takes the parameters of `Observer`, and:

    Parameters
    ----------
    strength : float
        How much class means add to the logits. 0: nothing is learned.
    prior_frames : float
        How many frames the frozen weights stand for.
    slowness : float
        How many times slower class means are forgotten than frames: their time constant is `slowness * memory`.

    Examples
    --------
    >>> LearningObserver(strength=1.0).parts(3, 8)["means"].shape
    (3, 8)
    """

    State: ClassVar[Any] = LearningState
    searched: ClassVar[tuple[str, ...]] = (*Observer.searched, "strength")

    memory: float = 1.5
    kappa: float = 3.5
    novelty_odds: float = 0.07
    evidence: float = 0.15
    sharpness: float = 4.0
    depth: int = 32
    strength: float = 0.5
    prior_frames: float = 1.0
    slowness: float = 2000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.reals(self, "strength", low=0, high=1e3)
        check.reals(self, "prior_frames", "slowness", above=0)

    @property
    def variant(self) -> str:
        """The kind of memory in words."""
        return "learning"

    @property
    def lasting(self) -> dict[str, float]:
        """What is left after one `unit` of the parts that fade, but not with the time constant of the memory."""
        return dict.fromkeys(("visits", "lessons", "calm"), self.decay ** (1 / self.slowness))

    @property
    def counting(self) -> dict[str, float]:
        """What is left after one frame of the parts that count frames, whatever the unit of the memory."""
        return {**super().counting, "recent": RECENT, "earned": FORGETTING, "near": NEAR}

    def parts(self, n_classes: int, n_features: int) -> dict[str, Part]:
        """The parts of the state of one stream."""
        own = {
            "lessons": shares(self.depth),
            "means": Part((n_classes, n_features), -1.002, 1.002, dtype="float32"),
            "visits": sums(n_classes),
            "recent": cosines(7, n_classes),
            "excess": cosines(n_classes),
            "earned": Part((4,)),
            "near": Part((1,)),
            "calm": Part((1,), MOST_SHARP, MOST_CALM),
        }
        parts = {**super().parts(n_classes, n_features), **own}
        return {name: parts[name] for name in LearningState._fields}

    def numbers(self, scale: Scale | None) -> tuple[float, ...]:
        """The settings as the compiled kernel takes them."""
        return (*super().numbers(scale), *floats(self.strength, self.prior_frames, self.memory * self.slowness))
