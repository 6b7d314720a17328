"""The two plasticities as the compiled kernel takes them: constants and state together, or None if there is none.

The state is modified in place, so the code that builds these tuples copies it first.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from springback.spiking._state import LongTermState, ShortTermState
from springback.spiking.constants import (
    DelayConstants,
    Floats,
    IntrinsicConstants,
    LongTermConstants,
    ShortTermConstants,
    delay_constants,
    long_term_constants,
    short_term_constants,
)
from springback.spiking.params import Circuit, LongTermStdp, ShortTermStdp
from springback.spiking.weights import CheckedWeights

_Constants = tuple[ShortTermConstants, Floats | None, IntrinsicConstants | None]

_KNOWN: WeakKeyDictionary[ShortTermStdp, tuple[CheckedWeights, Circuit, _Constants]] = WeakKeyDictionary()
"""The last constants of each plasticity, as long as it exists; computing them takes as long as a frame."""


class LongTerm(NamedTuple):
    """Long-term STDP: constants and traces."""

    constants: LongTermConstants
    state: LongTermState


class ShortTerm(NamedTuple):
    """Short-term STDP: constants, F and its traces; each synapse's own decay, the plastic soma, the delay: or None."""

    constants: ShortTermConstants
    state: ShortTermState
    synapse_rates: Floats | None
    soma: IntrinsicConstants | None
    delay: DelayConstants | None


def prepare_long_term(stdp: LongTermStdp, state: LongTermState, circuit: Circuit, dtype: str) -> LongTerm:
    """Long-term STDP that writes to the given traces."""
    return LongTerm(long_term_constants(stdp, circuit, dtype), state)


def prepare_short_term(
    stdp: ShortTermStdp, state: ShortTermState, circuit: Circuit, weights: CheckedWeights, theta: Floats
) -> ShortTerm:
    """Short-term STDP that writes to the given F; `theta`: the thresholds that a plastic soma springs back to.

    The constants of the last call with the same plasticity are reused if weights and circuit are the same. Time
    constants in an array are not cached, because an array can be modified.
    """
    known = _KNOWN.get(stdp)
    if known is None or known[0] is not weights or known[1] != circuit:
        constants = short_term_constants(stdp, circuit, *weights, weights.resting.dtype.name)
        known = (weights, circuit, constants)
        if not isinstance(stdp.memory_ms, np.ndarray):
            _KNOWN[stdp] = known
    pulling, synapse_rates, soma = known[2]
    soma = None if soma is None else soma._replace(theta=theta)
    return ShortTerm(pulling, state, synapse_rates, soma, delay_constants(stdp, circuit))
