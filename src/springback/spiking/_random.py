"""Random numbers for compiled code: a stateless stream for each presentation, so that order and workers do not matter.

A stream is a 64-bit key; its i-th number is a well-mixed function of `key + i * GOLDEN` (the SplitMix64 construction of
Steele, Lea & Flood 2014). Nothing has to be saved to resume, and two streams never share a generator.
"""

from typing import Any, NamedTuple

import numpy as np

from springback import check
from springback.compiled import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Draws(NamedTuple):
    """The source of the random numbers of consecutive frames: seed, purpose, and number of the first frame."""

    seed: np.uint64
    purpose: int
    number: int


def seed_of(seed: Any) -> np.uint64:
    """A seed as the compiled loops take it.

    Examples
    --------
    >>> seed_of(-1)
    Traceback (most recent call last):
    ValueError: seed must be >= 0; got -1
    """
    return np.uint64(check.integer("seed", seed, low=0, high=2**64 - 1))


@njit(cache=True, inline="always")
def mix(z):  # type: ignore[no-untyped-def]
    """Turn a counter into 64 random bits."""
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def stream_key(seed, purpose, number, attempt):  # type: ignore[no-untyped-def]
    """The key of one presentation: a function of the run's seed, its purpose, its number and the attempt."""
    key = mix(np.uint64(seed) + GOLDEN)
    key = mix(key ^ (np.uint64(purpose) + GOLDEN))
    key = mix(key ^ (np.uint64(number) + GOLDEN))
    return mix(key ^ (np.uint64(attempt) + GOLDEN))
