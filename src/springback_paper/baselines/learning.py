"""What all trainings share: the optimiser, the next lesson made while this one is learned."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

import torch
from springback import check
from torch import Tensor, nn

OnProgress = Callable[[int, float], None]
"""Receives how many frames were just done, and the accuracy on them (NaN if unknown)."""

Lesson = TypeVar("Lesson")

OPTIMISERS = ("adam", "sgd")
"""Adam with torch's defaults beyond the learning rate, and plain gradient descent on batches."""

_MOMENTS = {"adam": ("step", "exp_avg", "exp_avg_sq"), "sgd": ()}


def ignore_progress(_done: int, _accuracy: float) -> None:
    """Say nothing."""


class Learner:
    """A model and its optimiser.

    Parameters
    ----------
    optimiser : str
        One of `OPTIMISERS`.

    Examples
    --------
    >>> model = nn.Linear(2, 3)
    >>> learner = Learner(model, learning_rate=0.1)
    >>> learner.learn(model(torch.ones(5, 2)), torch.full((5,), 1)) <= 5
    True
    >>> sorted(learner.moments())[:3]
    ['bias.exp_avg', 'bias.exp_avg_sq', 'bias.step']
    """

    def __init__(self, model: nn.Module, learning_rate: float, optimiser: str = "adam") -> None:
        self.kind = check.one_of("optimiser", optimiser, OPTIMISERS)
        self.weights = {name: one for name, one in model.named_parameters() if one.requires_grad}
        make = torch.optim.Adam if self.kind == "adam" else torch.optim.SGD
        self.optimiser = make(self.weights.values(), lr=learning_rate, fused=True)

    def learn(self, logits: Tensor, labels: Tensor) -> int:
        """One step down the mean cross-entropy of logits (n, 11); how many answers were right before it."""
        self.optimiser.zero_grad()
        functional.cross_entropy(logits, labels).backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return int((logits.argmax(1) == labels).sum())

    def moments(self) -> dict[str, NDArray[np.float32]]:
        """The optimiser's memory: `WEIGHTS.step`, `WEIGHTS.exp_avg`, `WEIGHTS.exp_avg_sq` of Adam."""
        return {
            f"{name}.{part}": self.optimiser.state[one][part].contiguous().numpy()
            for name, one in self.weights.items()
            for part in _MOMENTS[self.kind]
            if part in self.optimiser.state[one]
        }

    def set_moments(self, moments: Mapping[str, NDArray[np.float32]]) -> None:
        """Take up the memory that `moments` gave, in the layout that the weights have."""
        for name, one in self.weights.items():
            for part in _MOMENTS[self.kind]:
                shape = () if part == "step" else tuple(one.shape)
                array = check.array(f"{name}.{part}", moments.get(f"{name}.{part}"), shape=shape, dtype=np.float32)
                if part != "exp_avg":
                    check.require(bool((array >= 0).all()), f"{name}.{part}", "be >= 0", float(array.min()))
                like = torch.empty(()) if part == "step" else torch.empty_like(one)
                self.optimiser.state[one][part] = like.copy_(torch.from_numpy(array))


def ahead(make: Callable[[int], Lesson], first: int, last: int) -> Iterator[tuple[int, Lesson]]:
    """`(number, make(number))` for `first ... last - 1`, each made in the background while the one before is used.

    Examples
    --------
    >>> list(ahead(lambda number: number**2, 2, 5))
    [(2, 4), (3, 9), (4, 16)]
    """
    with ThreadPoolExecutor(1) as pool:
        coming = [pool.submit(make, number) for number in range(first, min(first + 1, last))]
        for number in range(first, last):
            lesson = coming.pop().result()
            coming += [pool.submit(make, later) for later in range(number + 1, min(number + 2, last))]
            yield number, lesson
