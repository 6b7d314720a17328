"""Parts as the compiled kernel takes them: per-step constants and state together; a part that is absent is None."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Membrane(NamedTuple):
    """The neurons: constants, potentials, excitatory conductances, thresholds above v_threshold, refractory steps."""

    leak: float
    keep_ge: float
    rest: float
    reset: float
    threshold: float
    rev_exc: float
    rev_inh: float
    silent: int
    v: Floats
    ge: Floats
    theta: Floats
    wait: Whole
    inhibition: Floats
    """(1,) the inhibitory conductance that all neurons have in common."""
    activity: Floats
    """(1,) the activity of divisive inhibition in Hz."""


class Escape(NamedTuple):
    """Firing at random: expected spikes per step at threshold, 1 / width, and the key of the random numbers."""

    per_step: float
    inverse_width: float
    key: np.uint64


class Adaptation(NamedTuple):
    """A threshold that rises with each spike."""

    step: float
    keep: float


class Partners(NamedTuple):
    """Inhibitory partners; `own` is the inhibition that a neuron's own partner causes, which it does not feel."""

    weight_to: float
    weight_from: float
    leak: float
    keep_ge: float
    keep_gi: float
    rest: float
    reset: float
    threshold: float
    rev_exc: float
    silent: int
    v: Floats
    ge: Floats
    wait: Whole
    own: Floats


class Pool(NamedTuple):
    """One inhibitory conductance for all."""

    weight: float
    keep: float


class Division(NamedTuple):
    """Divisive inhibition: what a spike adds to the activity in Hz, its decay, and 1 / half_rate."""

    step: float
    keep: float
    inverse_half: float


class Stdp(NamedTuple):
    """Pairs of spikes; `carry` is 1 if all spikes count and 0 if only the nearest does."""

    plus: float
    minus: float
    keep_pre: float
    keep_post: float
    carry: float
    weight_max: float
    pre: Floats
    post: Floats


class Slow(NamedTuple):
    """What triplets add to pairs: amounts and slow traces."""

    plus: float
    minus: float
    keep_pre: float
    keep_post: float
    pre: Floats
    post: Floats


class ShortTerm(NamedTuple):
    """Short-term STDP: F is `short * scale`, with one scale for each neuron.

    A spike pulls if its neuron has been active for `delay` steps, without a pause of more than `pause`; `began` and
    `fired` are the steps in which it became active and in which it last fired, or empty if there is no delay.
    """

    pull: float
    weight_dependence: float
    efficacy_max: float
    keep_trace: float
    keep: Floats
    trace: Floats
    short: Floats
    scale: Floats
    delay: int
    pause: int
    began: Whole
    fired: Whole


class Release(NamedTuple):
    """Tsodyks-Markram synapses: u and x just after the last spike of each input, and when that was.

    `carry` is 1 if they facilitate and 0 if u starts from 0 at every spike.
    """

    release: float
    rate_recovery: float
    rate_facilitation: float
    carry: float
    u: Floats
    x: Floats
    last: Whole


class Parts(NamedTuple):
    """The optional arguments of `_kernel.run_steps`, in their order."""

    escape: Escape | None
    adaptation: Adaptation | None
    partners: Partners | None
    pool: Pool | None
    division: Division | None
    stdp: Stdp | None
    slow: Slow | None
    short_term: ShortTerm | None
    release: Release | None


class Stretch(NamedTuple):
    """A part of a `SpikeTrain`: `n_steps` from step `begin` on; `first_step` have passed before the train began.

    Operations and spikes are counted in frames of `frame_steps`.
    """

    which: NDArray[np.int32]
    first: Whole
    begin: int
    n_steps: int
    frame_steps: int
    first_step: int


class Samples(NamedTuple):
    """What is recorded of m chosen neurons (possibly none) at chosen steps, (samples, m)."""

    neurons: Whole
    every: int
    potential: Floats
    threshold: Floats
    excitation: Floats
    inhibition: Floats


class Log(NamedTuple):
    """What a run writes: output spikes, counts (frames, n_neurons), and operations (frames, what is counted).

    `length` holds the number of output spikes; `fan_out` how many synapses of each input have a weight; `samples` what
    is recorded of chosen neurons.
    """

    which: NDArray[np.int32]
    step: Whole
    length: Whole
    counts: NDArray[np.int32]
    operations: Whole
    fan_out: Whole
    samples: Samples


INPUTS, INHIBITORY, ACCUMULATES, MULTIPLIES, UPDATES = range(5)
"""The columns of `Log.operations`."""
