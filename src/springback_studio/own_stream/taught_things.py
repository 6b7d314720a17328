"""Things that are taught by showing them: a mean of each, and a head made of these means that follows the stream."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.elastic_head import ElasticHead
from springback.heads.memories.observer import Observer
from springback_studio.own_stream.answers import FrameAnswer, remembered

THINGS_MAX = 6
NAME_MAX = 24
MEMORY_FRAMES = 15.0
"""Time constant of the memory to begin with; at ten frames per second, 1.5 seconds."""

_MARGIN = 4.0
"""How far apart the logits of two things are, on average, if a frame is the mean of one of them."""


@dataclass
class Thing:
    """One thing: its name, how many frames of it were shown, and their sum, (n,)."""

    name: str
    shown: int
    total: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the frames shown."""
        return np.asarray(self.total / self.shown)


class Things:
    """What was taught in one tab; memory does not grow with the number of frames.

    A frame x belongs to the thing k with the nearest mean m_k: the frozen head has the logits `x . m_k - |m_k|^2 / 2`,
    times a factor that makes the answers neither timid nor certain.

    Parameters
    ----------
    n_features : int
        Width of a row of features.
    names : tuple[str, ...]
        Of the things to begin with.

    Examples
    --------
    >>> things = Things(2, ("left", "right"))
    >>> things.answer(np.zeros(2, np.float32)) is None
    True
    >>> for thing, x in enumerate(([-1.0, 0.0], [1.0, 0.0])):
    ...     things.teach(thing, np.array(x, np.float32))
    >>> things.answer(np.array([0.9, 0.1], np.float32)).posterior.argmax()
    np.int64(1)
    """

    def __init__(self, n_features: int, names: tuple[str, ...]) -> None:
        self._n_features = n_features
        self.things = [self._new(name) for name in names]
        self.memory = MEMORY_FRAMES
        self._head: ElasticHead | None = None

    def _new(self, name: str) -> Thing:
        return Thing(name, 0, np.zeros(self._n_features))

    def add(self) -> None:
        """One more thing that can be taught."""
        fits = len(self.things) < THINGS_MAX
        check.require(fits, "things", f"be at most {THINGS_MAX}", len(self.things) + 1)
        self.things.append(self._new(f"Thing {len(self.things) + 1}"))

    def rename(self, thing: int, name: str) -> None:
        """Give a thing another name."""
        self._thing(thing).name = name

    def teach(self, thing: int, features: NDArray[np.float32]) -> None:
        """The frame shows this thing; the memory of the stream starts again."""
        one = self._thing(thing)
        one.total += features
        one.shown += 1
        self._head = None

    def forget(self, thing: int) -> None:
        """Forget how a thing looks or sounds."""
        name = self._thing(thing).name
        self.things[thing] = self._new(name)
        self._head = None

    def reset(self) -> None:
        """Forget the stream, but not the things."""
        if self._head is not None:
            self._head.reset()

    def set_memory(self, frames: float) -> None:
        """Time constant of the memory, in frames; the stream starts again."""
        self.memory = Observer(memory=frames).memory
        self._head = None

    def _thing(self, thing: int) -> Thing:
        check.integer("thing", thing, low=0, high=len(self.things) - 1)
        return self.things[thing]

    @property
    def known(self) -> list[int]:
        """The numbers of the things that were shown."""
        return [number for number, one in enumerate(self.things) if one.shown]

    def answer(self, features: NDArray[np.float32]) -> FrameAnswer | None:
        """Which thing a frame shows; None until two things were shown."""
        known = self.known
        if len(known) < 2:
            return None
        if self._head is None:
            self._head = nearest_mean_head(np.stack([self.things[one].mean for one in known]), self.memory)
        followed = self._head.track_response(features[None], in_place=True)

        def of_all(values: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.zeros(len(self.things))
            found[known] = values
            return found

        memory = remembered(self._head)
        return FrameAnswer(
            of_all(followed.posterior[0]),
            of_all(followed.frozen[0]),
            float(followed.novelty[0]),
            None if memory is None else of_all(memory),
        )


def nearest_mean_head(means: NDArray[np.float64], memory: float) -> ElasticHead:
    """An elastic head that answers with the nearest of means (K, n)."""
    centre = means.mean(axis=0)
    centred = means - centre
    squared = (centred**2).sum(axis=1)
    apart = 2 * squared.sum() * len(means) / (len(means) * (len(means) - 1))
    factor = 2 * _MARGIN / apart if apart > 0 else 0.0
    bias = -factor * (squared / 2 + centred @ centre)
    return ElasticHead(factor * centred, bias, Observer(memory=memory), centre=centre)


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Compile what the head needs, once, so that the first answer appears at once."""
    nearest_mean_head(np.eye(2), MEMORY_FRAMES).track_response(np.eye(2, dtype=np.float32), in_place=True)
