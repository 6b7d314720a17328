"""The exact observer: a head that remembers its last inputs and what it thought of them."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from springback import check
from springback.heads.memories.memory import Memory, Part, cosines, count, floats, gate_parts, place, shares, sums
from springback.heads.scale import Scale
from springback.streaming.pace import UNITS, MemoryIn


class ObserverState(NamedTuple):
    """What an observer remembers; B streams, D frames, K classes, n features.

    Parameters
    ----------
    keys : Any
        What each remembered object looked like, of unit length, (B, D, n).
    posteriors : Any
        The answers to the remembered frames, (B, D, K).
    odds : Any
        f(t - t_i) of each remembered frame, (B, D); 0 where there is none yet.
    position : Any
        Where the next frame is written, (B, 1).
    seen : Any
        Frames since rest, (B, 1); counted if the scale is measured, as are the next two.
    spread : Any
        Running mean of the spread of the logits, which no single frame moves far, (B, 1).
    direction : Any
        Running mean of the directions of the features, (B, n).
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
    answered: Any
    shares: Any
    agreement: Any


@dataclass(frozen=True, kw_only=True)
class Observer(Memory):
    """How a head weighs the present frame against the frames that it remembers (Theorem S2.1).

    At any time the object in view is either new, with `novelty_odds`, or the object of an earlier frame i, with the
    odds f(t - t_i) = exp(-(t - t_i) / memory). In the second case it has the class it had then, and it looks much
    as it did then. So the posterior of class k is

        P_k ~ novelty_odds s_k(x_t) + sum_i f(t - t_i) exp(kappa (cos(x_t, m_i) - 1)) Q_i(k) (K s_k(x_t))^evidence

    where s is the answer of the frozen head, Q_i the posterior of frame i, and m_i what the head believed the object
    looked like at that time. A frame that resembles none of those remembered gets the answer of the frozen head.

    P is what is remembered, at the temperature that `sharpness` sets. The head answers with the same posterior at the
    temperature of the network, P_k^(1 / (sharpness / spread)), which is the network's own answer if nothing is
    remembered; the most probable class is the same.

    `kappa` and `sharpness` are in units of the stream: the mean distance 1 - cos between unrelated frames, and the
    spread of the logits. A head measures both; see `springback.heads.Scale`.

    The defaults were chosen on validation streams of objects, photographs, voices, topics and digits together.

    Parameters
    ----------
    memory : float
        Time constant of f, in frames.
    memory_in : MemoryIn
        "frames": time stamps are counted in usual steps of the stream. "time": the memory is in their unit, which is
        seconds for dates.
    kappa : float
        How fast the odds fall as frames differ. 0: class memory, which ignores how frames look.
    novelty_odds : float
        Odds of a new object, beta, on the scale of f.
    evidence : float
        How much a further frame of the same object tells about its class. 0: nothing, the object has the class it had.
        1: as much as an independent frame, as in a Markov filter.
    gain : float
        How much of a frame enters the belief about the looks of its object. 1: all of it, m_i = x_i. Less: noisy
        frames are averaged, m_t = (1 - gain) * (what was remembered) + gain * x_t.
    sharpness : float
        Spread of the logits, largest minus smallest, of a usual frame when s is computed.
    depth : int
        How many frames are remembered.
    centred : bool
        Subtract the mean of the features before they are compared, if the head knows it.
    continuity : float
        How sure the head must be that its stream is continuous before it uses what it remembers: the memory counts in
        full if neighbouring frames agree by twice this many standard errors more than in random order, and not at all
        below this many, where the answer is that of the frozen head; see `springback.heads.continuity`. 0: the memory
        always counts.

    Examples
    --------
    >>> Observer(memory=2.0).decay
    0.6065306597126334
    """

    State: ClassVar[Any] = ObserverState
    fading: ClassVar[tuple[str, ...]] = ("odds",)
    shown: ClassVar[str] = "kappa"
    searched: ClassVar[tuple[str, ...]] = ("memory", "kappa", "novelty_odds", "evidence", "gain", "sharpness")
    answers_with: ClassVar[Literal["logits", "logarithms"]] = "logarithms"
    measures_novelty: ClassVar[bool] = True

    memory: float = 3.0
    memory_in: MemoryIn = "frames"
    kappa: float = 5.0
    novelty_odds: float = 0.2
    evidence: float = 0.3
    gain: float = 1.0
    sharpness: float = 2.2
    depth: int = 48
    centred: bool = True
    continuity: float = 2.0

    def __post_init__(self) -> None:
        name = type(self).__name__
        check.reals(self, "memory", above=0)
        check.one_of(f"{name}.memory_in", self.memory_in, UNITS)
        check.reals(self, "kappa", "continuity", low=0, high=1e6)
        check.reals(self, "novelty_odds", "sharpness", above=0, high=1e6)
        check.reals(self, "evidence", low=0, high=10)
        check.reals(self, "gain", above=0, high=1)
        check.integer(f"{name}.depth", self.depth, low=1, high=100_000)

    @property
    def variant(self) -> str:
        """The kind of memory in words."""
        return "observer" if self.kappa > 0 else "classes"

    def parts(self, n_classes: int, n_features: int) -> dict[str, Part]:
        """The parts of the state of one stream."""
        return {
            "keys": Part((self.depth, n_features), dtype="float32"),
            "posteriors": shares(self.depth, n_classes),
            "odds": shares(self.depth),
            "position": place(self.depth),
            "seen": count(),
            "spread": sums(1),
            "direction": cosines(n_features),
            **gate_parts(n_classes),
        }

    def numbers(self, scale: Scale | None) -> tuple[float, ...]:
        """The settings as the compiled kernel takes them.

        Examples
        --------
        >>> Observer().numbers(None)
        (3.0, 5.0, 0.2, 0.3, 1.0, 2.2, 2.0, 0.0, 0.0, 1.0)
        """
        spread, distance = (0.0, 0.0) if scale is None else (scale.spread, scale.distance)
        weighed = (self.memory, self.kappa, self.novelty_odds, self.evidence, self.gain)
        return floats(*weighed, self.sharpness, self.continuity, spread, distance, self.memory_in == "frames")
