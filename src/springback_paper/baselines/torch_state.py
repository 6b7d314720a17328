"""Temporary settings of PyTorch: one thread, a seed for its random numbers (extra: torch)."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from springback import check
from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_paper.baselines.torch_state", "torch") from None


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch computes on one thread, so that bits do not depend on how many cores there are.

    Examples
    --------
    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(*numbers: int) -> Iterator[None]:
    """Inside, torch's random numbers follow from the numbers alone; outside, they are as if nothing had been drawn.

    Examples
    --------
    >>> with seeded(3, 1):
    ...     first = torch.rand(2)
    >>> with seeded(3, 1):
    ...     torch.equal(first, torch.rand(2))
    True
    """
    for number in numbers:
        check.integer("seed", number, low=0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1))
        yield
