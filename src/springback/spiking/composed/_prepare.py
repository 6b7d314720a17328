"""The parts of a circuit as the compiled kernel takes them: per-step constants and state; an absent part is None.

This is the only place where the milliseconds of composed circuits become per-step factors.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.spiking._random import seed_of, stream_key
from springback.spiking.composed.composition import Composition
from springback.spiking.composed.parts import (
    AdaptiveLif,
    DivisiveInhibition,
    GlobalInhibition,
    PairStdp,
    PartnerInhibition,
    StochasticLif,
    TripletStdp,
    TsodyksMarkram,
)
from springback.spiking.constants import steps
from springback.spiking.params import ShortTermStdp

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


class ThresholdAdaptation(NamedTuple):
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
    exact: bool
    silent: int
    v: Floats
    ge: Floats
    wait: Whole
    own: Floats


class GlobalPool(NamedTuple):
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


class ShortTermPart(NamedTuple):
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


class KernelParts(NamedTuple):
    """The optional arguments of `_kernel.run_steps`, in their order."""

    escape: Escape | None
    adaptation: ThresholdAdaptation | None
    partners: Partners | None
    pool: GlobalPool | None
    division: Division | None
    stdp: Stdp | None
    slow: Slow | None
    short_term: ShortTermPart | None
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


class SampleBuffers(NamedTuple):
    """What is recorded of m chosen neurons (possibly none) at chosen steps, (samples, m); F: (samples, n_inputs, m)."""

    neurons: Whole
    every: int
    potential: Floats
    threshold: Floats
    excitation: Floats
    inhibition: Floats
    short_term: Floats


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
    samples: SampleBuffers


INPUTS, INHIBITORY, ACCUMULATES, MULTIPLIES, UPDATES = range(5)
"""The columns of `Log.operations`."""


Arrays = dict[str, NDArray[Any]]

_FIRING = 7
"""The purpose of the random numbers by which stochastic neurons fire."""

_LONG_AGO = -(1 << 40)
_NEVER = np.zeros(0, np.int64)


def rest_arrays(circuit: Composition) -> Arrays:
    """What the parts of a circuit keep, at rest."""
    n, k = circuit.weights.shape
    arrays: Arrays = {
        "weights": circuit.weights.copy(),
        "v": np.full(k, circuit.neurons.v_rest_mv, np.float64),
        "ge": np.zeros(k),
        "theta": circuit.thresholds_mv.copy(),
        "wait": np.zeros(k, np.int64),
        "inhibition": np.zeros(1),
        "activity": np.zeros(1),
    }
    if isinstance(circuit.inhibition, PartnerInhibition):
        arrays["partner_v"] = np.full(k, circuit.inhibition.partner.v_rest_mv, np.float64)
        arrays |= {"partner_ge": np.zeros(k), "partner_wait": np.zeros(k, np.int64), "own": np.zeros(k)}
    if circuit.long_term is not None:
        arrays |= {"pre": np.zeros(n), "post": np.zeros(k)}
    if isinstance(circuit.long_term, TripletStdp):
        arrays |= {"slow_pre": np.zeros(n), "slow_post": np.zeros(k)}
    if isinstance(circuit.short_term, ShortTermStdp):
        arrays |= {"trace": np.zeros(n), "short": np.zeros((n, k)), "scale": np.ones(k)}
        if circuit.short_term.delay_ms is not None:
            arrays |= {"began": np.full(k, _LONG_AGO, np.int64), "fired": np.full(k, _LONG_AGO, np.int64)}
    if isinstance(circuit.short_term, TsodyksMarkram):
        arrays |= {"u": np.zeros(n), "x": np.ones(n), "last": np.full(n, _LONG_AGO, np.int64)}
    return arrays


def silent_steps(refractory_ms: float, dt_ms: float) -> int:
    """How many steps after its spike a neuron is held; it may fire again in the step after these."""
    return max(steps(refractory_ms, dt_ms, "refractory_ms") - 1, 0)


def membrane_of(circuit: Composition, arrays: Arrays) -> Membrane:
    """The neurons, with the state in `arrays`."""
    neuron, dt = circuit.neurons, circuit.dt_ms
    return Membrane(
        leak=dt / neuron.tau_membrane_ms,
        keep_ge=1 - dt / circuit.tau_excitatory_ms,
        rest=float(neuron.v_rest_mv + neuron.drive_mv),
        reset=float(neuron.v_reset_mv),
        threshold=float(neuron.v_threshold_mv),
        rev_exc=float(neuron.e_excitatory_mv),
        rev_inh=float(neuron.e_inhibitory_mv),
        silent=silent_steps(neuron.refractory_ms, dt),
        v=arrays["v"],
        ge=arrays["ge"],
        theta=arrays["theta"],
        wait=arrays["wait"],
        inhibition=arrays["inhibition"],
        activity=arrays["activity"],
    )


def parts_of(circuit: Composition, arrays: Arrays, seed: int) -> KernelParts:
    """All parts that a circuit may have, with the state in `arrays`; those that it does not have are None."""
    neuron, dt = circuit.neurons, circuit.dt_ms
    escape = adaptation = None
    if isinstance(neuron, StochasticLif):
        key = np.uint64(stream_key(seed_of(seed), _FIRING, 0, 0))
        escape = Escape(neuron.rate_at_threshold_hz * dt * 1e-3, 1 / neuron.width_mv, key)
    if isinstance(neuron, AdaptiveLif):
        adaptation = ThresholdAdaptation(float(neuron.threshold_step_mv), math.exp(-dt / neuron.tau_threshold_ms))
    stdp, slow, short_term, release = _plasticity_of(circuit, arrays)
    partners, pool, division = _inhibition_of(circuit, arrays)
    return KernelParts(escape, adaptation, partners, pool, division, stdp, slow, short_term, release)


def _inhibition_of(circuit: Composition, arrays: Arrays) -> tuple[Partners | None, GlobalPool | None, Division | None]:
    how, dt = circuit.inhibition, circuit.dt_ms
    partners = pool = division = None
    if isinstance(how, PartnerInhibition):
        partners = Partners(
            weight_to=float(how.weight_to),
            weight_from=float(how.weight_from),
            leak=dt / how.partner.tau_membrane_ms,
            keep_ge=1 - dt / how.tau_to_ms,
            keep_gi=1 - dt / how.tau_from_ms,
            rest=float(how.partner.v_rest_mv),
            reset=float(how.partner.v_reset_mv),
            threshold=float(how.partner.v_threshold_mv),
            rev_exc=float(how.partner.e_excitatory_mv),
            exact=bool(how.partner.exact_step),
            silent=silent_steps(how.partner.refractory_ms, dt),
            v=arrays["partner_v"],
            ge=arrays["partner_ge"],
            wait=arrays["partner_wait"],
            own=arrays["own"],
        )
    elif isinstance(how, GlobalInhibition):
        pool = GlobalPool(float(how.weight), 1 - dt / how.tau_ms)
    elif isinstance(how, DivisiveInhibition):
        division = Division(1000 / how.tau_ms, 1 - dt / how.tau_ms, 1 / how.half_rate_hz)
    return partners, pool, division


def _plasticity_of(
    circuit: Composition, arrays: Arrays
) -> tuple[Stdp | None, Slow | None, ShortTermPart | None, Release | None]:
    dt = circuit.dt_ms
    stdp = slow = short_term = release = None
    rule, brief = circuit.long_term, circuit.short_term
    if rule is not None:
        stdp = Stdp(
            plus=float(rule.potentiation if isinstance(rule, PairStdp) else rule.pair_potentiation),
            minus=float(rule.depression if isinstance(rule, PairStdp) else rule.pair_depression),
            keep_pre=math.exp(-dt / rule.tau_pre_ms),
            keep_post=math.exp(-dt / rule.tau_post_ms),
            carry=0.0 if rule.nearest else 1.0,
            weight_max=float(rule.weight_max),
            pre=arrays["pre"],
            post=arrays["post"],
        )
        if isinstance(rule, TripletStdp):
            slow = Slow(
                plus=float(rule.triplet_potentiation),
                minus=float(rule.triplet_depression),
                keep_pre=math.exp(-dt / rule.tau_pre_slow_ms),
                keep_post=math.exp(-dt / rule.tau_post_slow_ms),
                pre=arrays["slow_pre"],
                post=arrays["slow_post"],
            )
    if isinstance(brief, ShortTermStdp):
        memory_ms = np.broadcast_to(np.asarray(brief.memory_ms, np.float64), circuit.thresholds_mv.shape)
        short_term = ShortTermPart(
            pull=float(brief.pull),
            weight_dependence=float(brief.weight_dependence),
            efficacy_max=math.inf if brief.efficacy_max is None else float(brief.efficacy_max),
            keep_trace=math.exp(-dt / brief.tau_trace_ms),
            keep=np.exp(-dt / memory_ms),
            trace=arrays["trace"],
            short=arrays["short"],
            scale=arrays["scale"],
            delay=steps(brief.delay_ms or 0.0, dt, "ShortTermStdp.delay_ms"),
            pause=steps(brief.pause_ms, dt, "ShortTermStdp.pause_ms"),
            began=arrays.get("began", _NEVER),
            fired=arrays.get("fired", _NEVER),
        )
    elif isinstance(brief, TsodyksMarkram):
        tau = brief.tau_facilitation_ms
        release = Release(
            release=float(brief.release),
            rate_recovery=dt / brief.tau_recovery_ms,
            rate_facilitation=dt / tau if tau > 0 else 0.0,
            carry=1.0 if tau > 0 else 0.0,
            u=arrays["u"],
            x=arrays["x"],
            last=arrays["last"],
        )
    return stdp, slow, short_term, release
