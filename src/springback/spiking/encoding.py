"""Frames -> spikes: each pixel spikes in each step with probability rate * dt, independently.

This takes no coin flip per pixel and step. The number of candidate spikes in a step is Poisson with the summed rate,
each candidate picks a pixel in proportion to its rate (alias method), and a pixel that is picked twice in a step spikes
once. With rates -ln(1 - p), the result has exactly the distribution of independent coin flips with probability p, at a
cost per spike instead of per pixel.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.spiking._random import GOLDEN, mix

MOST_SPIKES = 1 << 28
"""The largest number of spikes of one frame; they take 2 GiB."""


class SpikeTrain(NamedTuple):
    """Input spikes sorted by step: those of step t are `which[first[t] : first[t + 1]]`.

    Parameters
    ----------
    which : NDArray[np.int32]
        Int32, which input.
    first : NDArray[np.int64]
        Int64 (n_steps + 1,), where each step begins.
    """

    which: NDArray[np.int32]
    first: NDArray[np.int64]


class AliasTable(NamedTuple):
    """Work space of the encoder for one frame of `n` inputs.

    Parameters
    ----------
    pixel, alias : NDArray[np.int32]
        Int32 (n,): the lit pixels, and each one's alias.
    share : NDArray[np.uint64]
        Uint64 (n,): 2^32 times the probability of keeping the pixel instead of its alias.
    weight : NDArray[np.float64]
        Float64 (n,): rates, consumed while the table is filled.
    small, large : NDArray[np.int32]
        Int32 (n,): stacks of the alias method.
    cumulative : NDArray[np.float64]
        Float64: distribution function of the number of candidates in a step.
    seen : NDArray[np.int64]
        Int64 (n,): last step in which a pixel was picked.
    moment : NDArray[np.int32]
        Int32: the step of each candidate.
    """

    pixel: NDArray[np.int32]
    alias: NDArray[np.int32]
    share: NDArray[np.uint64]
    weight: NDArray[np.float64]
    small: NDArray[np.int32]
    large: NDArray[np.int32]
    cumulative: NDArray[np.float64]
    seen: NDArray[np.int64]
    moment: NDArray[np.int32]


def new_alias_table(n_inputs: int, rate_max: float, n_candidates: int) -> AliasTable:
    """Work space for frames of `n_inputs` pixels whose rates sum to at most `rate_max` per step.

    A frame has at most `n_candidates`, see `spikes_bound`.
    """
    span = int(2 * (12 * np.sqrt(rate_max) + 40)) + 2
    return AliasTable(
        pixel=np.zeros(n_inputs, np.int32),
        alias=np.zeros(n_inputs, np.int32),
        share=np.zeros(n_inputs, np.uint64),
        weight=np.zeros(n_inputs, np.float64),
        small=np.zeros(n_inputs, np.int32),
        large=np.zeros(n_inputs, np.int32),
        cumulative=np.zeros(span, np.float64),
        seen=np.zeros(n_inputs, np.int64),
        moment=np.zeros(n_candidates, np.int32),
    )


@njit(cache=True)
def fill_alias_table(frame, rates, alias_table):  # type: ignore[no-untyped-def]
    """Prepare to draw pixels of a frame in proportion to their rates; returns (number lit, summed rate per step)."""
    n, total = 0, 0.0
    for j in range(frame.shape[0]):
        if frame[j] > 0 and rates[frame[j]] > 0.0:
            alias_table.pixel[n] = j
            alias_table.weight[n] = rates[frame[j]]
            total += alias_table.weight[n]
            n += 1
    n_small, n_large = 0, 0
    for i in range(n):
        alias_table.weight[i] *= n / total
        if alias_table.weight[i] < 1.0:
            alias_table.small[n_small] = i
            n_small += 1
        else:
            alias_table.large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        low, high = alias_table.small[n_small], alias_table.large[n_large - 1]
        alias_table.share[low] = np.uint64(alias_table.weight[low] * 4294967296.0)
        alias_table.alias[low] = alias_table.pixel[high]
        alias_table.weight[high] -= 1.0 - alias_table.weight[low]
        if alias_table.weight[high] < 1.0:
            n_large -= 1
            alias_table.small[n_small] = high
            n_small += 1
    for i in range(n_small):
        alias_table.share[alias_table.small[i]] = np.uint64(4294967296)
    for i in range(n_large):
        alias_table.share[alias_table.large[i]] = np.uint64(4294967296)
    return n, total


@njit(cache=True)
def poisson_distribution(mean, cumulative):  # type: ignore[no-untyped-def]
    """Distribution function of a Poisson count, from the smallest count that matters; returns (that count, entries)."""
    mode = int(mean)
    spread = int(12.0 * np.sqrt(mean) + 40.0)
    lowest = max(mode - spread, 0)
    n = min(mode + spread - lowest + 1, cumulative.shape[0])
    at = mode - lowest
    cumulative[at] = 1.0
    for i in range(at - 1, -1, -1):
        cumulative[i] = cumulative[i + 1] * (lowest + i + 1) / mean
    for i in range(at + 1, n):
        cumulative[i] = cumulative[i - 1] * mean / (lowest + i)
    total = 0.0
    for i in range(n):
        total += cumulative[i]
        cumulative[i] = total
    for i in range(n):
        cumulative[i] /= total
    return lowest, n


@njit(cache=True, inner=True)
def draw_moments(n_steps, key, lowest, n_entries, cumulative, moment):  # type: ignore[no-untyped-def]
    """Fill `moment` with the step of every candidate; returns how many there are. Those that do not fit are dropped.

    A step uses one random number for its count, and leaves one for the pixel of each candidate. The usual counts are
    found and written without branching on them, because the processor could not predict such a branch.
    """
    room, scale = moment.shape[0], 1.0 / 9007199254740992.0
    n_usual = min(n_entries - 1, 16)
    n = 0
    for step in range(n_steps):
        key += GOLDEN
        level = (mix(key) >> np.uint64(11)) * scale
        count = 0
        for i in range(n_usual):
            count += level >= cumulative[i]
        while n_usual <= count < n_entries - 1 and level >= cumulative[count]:
            count += 1
        count += lowest
        key += np.uint64(count) * GOLDEN
        if count <= 8 and n + 8 <= room:
            for i in range(8):
                moment[n + i] = step
            n += count
        else:
            last = min(n + count, room)
            moment[n:last] = step
            n = last
    return n


@njit(cache=True)
def draw_spikes(frame, rates, n_steps, key, alias_table, index, first):  # type: ignore[no-untyped-def]
    """Fill `index` and `first` with the spikes of one frame; returns how many there are.

    Spikes that do not fit into `index` are dropped; callers size it, and the alias table, with `spikes_bound`.
    """
    n_lit, total = fill_alias_table(frame, rates, alias_table)
    first[: n_steps + 1] = 0
    if n_lit == 0:
        return 0
    pixel, alias, share, seen = alias_table.pixel, alias_table.alias, alias_table.share, alias_table.seen
    moment = alias_table.moment[: index.shape[0]]
    seen[:] = -1
    lowest, n_entries = poisson_distribution(total, alias_table.cumulative)
    n_candidates = draw_moments(n_steps, key, lowest, n_entries, alias_table.cumulative, moment)
    low_half, half, lit = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(n_lit)
    n_spikes = 0
    for i in range(n_candidates):
        step = moment[i]
        bits = mix(key + np.uint64(i + step + 2) * GOLDEN)
        at = ((bits >> half) * lit) >> half
        mine, other = pixel[at], alias[at]
        j = mine if (bits & low_half) < share[at] else other
        index[n_spikes] = j
        is_new = seen[j] != step
        seen[j] = step
        n_spikes += is_new
        first[step + 1] += is_new
    for step in range(n_steps):
        first[step + 1] += first[step]
    return n_spikes


def spikes_bound(rate_sum: float, n_steps: int) -> int:
    """A number of spikes that a frame with this summed rate per step will not exceed (twelve standard deviations)."""
    mean = rate_sum * n_steps
    most = mean + 12 * np.sqrt(mean) + 100
    check.require(
        bool(most <= MOST_SPIKES),
        "the brightest frame",
        f"give at most {MOST_SPIKES:,} input spikes (lower the rate, the number of inputs or show_ms)",
        float(most),
    )
    return int(most)


def check_whole_numbers(name: str, value: object) -> None:
    """Refuse what is not a one-dimensional array of integers."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a one-dimensional array of whole numbers; got {type(value).__name__}")
    fits = value.ndim == 1 and (np.issubdtype(value.dtype, np.integer) or value.size == 0)
    what = f"{value.dtype} of shape {value.shape}"
    check.require(bool(fits), name, "be a one-dimensional array of whole numbers", what)


def spike_train(index: NDArray[np.integer], step: NDArray[np.integer], n_steps: int) -> SpikeTrain:
    """A spike train from external data (which input, in which step); the order within a step is kept.

    Examples
    --------
    >>> spike_train(np.array([5, 2, 7]), np.array([1, 0, 1]), 3).which
    array([2, 5, 7], dtype=int32)
    """
    check.integer("n_steps", n_steps, low=0)
    for name, value in (("index", index), ("step", step)):
        check_whole_numbers(name, value)
    check.require(len(index) == len(step), "index and step", "have the same length", (len(index), len(step)))
    inside = bool(((step >= 0) & (step < n_steps)).all())
    check.require(inside, "step", f"lie within 0 ... {n_steps - 1}", step)
    order = np.argsort(step, kind="stable")
    first = np.searchsorted(step[order], np.arange(n_steps + 1), side="left")
    return SpikeTrain(np.ascontiguousarray(index[order], dtype=np.int32), first.astype(np.int64))


def check_train(train: SpikeTrain, n_inputs: int) -> int:
    """Refuse a spike train of other inputs, or one that is not in order; returns its number of steps.

    Examples
    --------
    >>> check_train(spike_train(np.array([5]), np.array([0]), 3), n_inputs=4)
    Traceback (most recent call last):
    ValueError: SpikeTrain.which must lie within 0 ... 3; got 5
    """
    if not isinstance(train, SpikeTrain):
        raise TypeError(f"a spike train must be a SpikeTrain; got {type(train).__name__}")
    which = check.array("SpikeTrain.which", train.which, shape=(None,), dtype=np.int32)
    first = check.array("SpikeTrain.first", train.first, shape=(None,), dtype=np.int64)
    orderly = len(first) > 0 and first[0] == 0 and first[-1] == len(which) and bool((np.diff(first) >= 0).all())
    check.require(orderly, "SpikeTrain.first", "rise from 0 to the number of spikes", first)
    for extreme in (which.min(initial=0), which.max(initial=0)):
        inside = 0 <= extreme < n_inputs
        check.require(bool(inside), "SpikeTrain.which", f"lie within 0 ... {n_inputs - 1}", int(extreme))
    return len(first) - 1
