"""params -> constants: the only place where milliseconds become per-step factors."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.params import MOST_STEPS, Circuit, LongTermStdp, Presentation, ShortTermStdp, check_steps

Floats = NDArray[Any]

NEGLIGIBLE = {"float32": 1e-6, "float64": 1e-18}
"""A number smaller than this, relative to 1, has no effect on a potential or weight of that dtype."""


class CircuitConstants(NamedTuple):
    """Per-step factors of the circuit; the numbers are of the network's dtype.

    Parameters
    ----------
    leak_e, leak_i : float
        The ratio dt / tau_membrane.
    keep_ge, keep_gi : float
        1 - dt / tau: the share of a conductance that is left after a step; it makes a spike's total charge exact.
    rest_e ... thr_i
        Potentials in mV.
    to_inh, from_inh : float
        Weight from a neuron to its partner, and from a partner to all other neurons.
    refractory_e/_i
        Number of steps for which a neuron stays silent after a spike.
    exact_i : bool
        Whether partners advance by the exact solution for a constant conductance.
    negligible : float
        Conductances below this are set to zero.
    """

    leak_e: float
    leak_i: float
    keep_ge: float
    keep_gi: float
    rest_e: float
    reset_e: float
    offset_e: float
    rev_exc_e: float
    rev_inh_e: float
    rest_i: float
    reset_i: float
    thr_i: float
    rev_exc_i: float
    to_inh: float
    from_inh: float
    refractory_e: int
    refractory_i: int
    exact_i: bool
    negligible: float


class LongTermConstants(NamedTuple):
    """Per-step factors of long-term STDP; `decay_*` are tables of exp(-steps * dt / tau), ending in 0."""

    rate_pre: float
    rate_post: float
    decay_pre: Floats
    decay_post_1: Floats
    decay_post_2: Floats
    weight_max: float
    weight_total: float
    by_length: bool
    theta_step: float
    keep_theta: float
    keep_theta_rest: float


class ShortTermConstants(NamedTuple):
    """Per-step factors of short-term STDP.

    Parameters
    ----------
    gain : Floats
        (n_neurons, n_inputs) pull * max(0, c + (1 - c) W), transposed so that a neuron's row is contiguous.
    headroom : Floats
        (n_neurons, n_inputs) efficacy_max - W, or infinity.
    keep_trace : float
        The share of an input trace that is left after a step.
    keep : Floats
        (n_neurons,) the share of F that is left after a step.
    """

    gain: Floats
    headroom: Floats
    keep_trace: float
    keep: Floats
    negligible: float


class IntrinsicConstants(NamedTuple):
    """Per-step factors of the soma's short-term excitability; `theta` are the thresholds at rest."""

    theta: Floats
    step: float
    keep: float
    top: float


class DelayConstants(NamedTuple):
    """For how many steps a neuron must be active before it is pulled, and the longest pause in its activity."""

    steps: int
    pause: int


def circuit_constants(circuit: Circuit, dtype: str) -> CircuitConstants:
    """Per-step factors of the circuit in the given dtype ("float32" or "float64")."""
    kind = np.dtype(check.one_of("dtype", dtype, tuple(NEGLIGIBLE))).type
    dt, exc, inh = circuit.dt_ms, circuit.excitatory, circuit.inhibitory
    return CircuitConstants(
        leak_e=kind(dt / exc.tau_membrane_ms),
        leak_i=kind(dt / inh.tau_membrane_ms),
        keep_ge=kind(1 - dt / circuit.tau_excitatory_ms),
        keep_gi=kind(1 - dt / circuit.tau_inhibitory_ms),
        rest_e=kind(exc.v_rest_mv),
        reset_e=kind(exc.v_reset_mv),
        offset_e=kind(exc.threshold_offset_mv),
        rev_exc_e=kind(exc.e_excitatory_mv),
        rev_inh_e=kind(exc.e_inhibitory_mv),
        rest_i=kind(inh.v_rest_mv),
        reset_i=kind(inh.v_reset_mv),
        thr_i=kind(inh.v_threshold_mv),
        rev_exc_i=kind(inh.e_excitatory_mv),
        to_inh=kind(circuit.weight_to_inhibitory),
        from_inh=kind(circuit.weight_from_inhibitory),
        refractory_e=max(steps(exc.refractory_ms, dt, "refractory_ms") - 1, 0),
        refractory_i=max(steps(inh.refractory_ms, dt, "refractory_ms") - 1, 0),
        exact_i=bool(inh.exact_step),
        negligible=kind(NEGLIGIBLE[dtype]),
    )


def long_term_constants(stdp: LongTermStdp, circuit: Circuit, dtype: str) -> LongTermConstants:
    """Per-step factors of long-term STDP."""
    kind, dt = np.dtype(check.one_of("dtype", dtype, tuple(NEGLIGIBLE))).type, circuit.dt_ms
    keep = math.exp(-dt / stdp.tau_theta_ms)
    return LongTermConstants(
        rate_pre=kind(stdp.rate_pre),
        rate_post=kind(stdp.rate_post),
        decay_pre=_decay_table("tau_pre_ms", stdp, dt, NEGLIGIBLE[dtype], dtype),
        decay_post_1=_decay_table("tau_post_1_ms", stdp, dt, 1e-4 if dtype == "float32" else 1e-18, dtype),
        decay_post_2=_decay_table("tau_post_2_ms", stdp, dt, NEGLIGIBLE[dtype], dtype),
        weight_max=kind(stdp.weight_max),
        weight_total=kind(stdp.weight_sum if stdp.weight_length is None else stdp.weight_length),
        by_length=stdp.weight_length is not None,
        theta_step=kind(stdp.theta_step_mv),
        keep_theta=keep,
        keep_theta_rest=keep if stdp.theta_decays_at_rest else 1.0,
    )


def short_term_constants(
    short_term: ShortTermStdp, circuit: Circuit, resting: Floats, theta: Floats, dtype: str
) -> tuple[ShortTermConstants, Floats | None, IntrinsicConstants | None]:
    """Per-step factors of short-term STDP, of each synapse's own decay or None, and of the soma or None."""
    kind, dt = np.dtype(dtype).type, circuit.dt_ms
    tau = np.asarray(short_term.memory_ms, np.float64)
    n, k = circuit.n_inputs, circuit.n_neurons
    check.require(tau.shape in ((), (k,), (n, k)), "memory_ms", f"have shape (), ({k},) or ({n}, {k})", tau.shape)
    columns, c = np.ascontiguousarray(resting.T), short_term.weight_dependence
    cap = np.inf if short_term.efficacy_max is None else short_term.efficacy_max
    constants = ShortTermConstants(
        gain=(short_term.pull * np.maximum(0.0, c + (1 - c) * columns)).astype(dtype),
        headroom=np.maximum(cap - columns, 0).astype(dtype),
        keep_trace=math.exp(-dt / short_term.tau_trace_ms),
        keep=np.ones(k) if tau.ndim == 2 else np.broadcast_to(np.exp(-dt / tau), (k,)).copy(),
        negligible=kind(NEGLIGIBLE[dtype]),
    )
    rates = np.ascontiguousarray(-dt / tau).astype(dtype) if tau.ndim == 2 else None
    soma = short_term.intrinsic
    if soma is None:
        return constants, rates, None
    keep = kind(math.exp(-dt / soma.tau_ms))
    return constants, rates, IntrinsicConstants(theta, kind(soma.step_mv), keep, kind(soma.max_mv))


def delay_constants(short_term: ShortTermStdp, circuit: Circuit) -> DelayConstants | None:
    """The delay of the pull in steps; None if there is none."""
    if short_term.delay_ms is None:
        return None
    dt = circuit.dt_ms
    return DelayConstants(
        steps(short_term.delay_ms, dt, "ShortTermStdp.delay_ms"),
        steps(short_term.pause_ms, dt, "ShortTermStdp.pause_ms"),
    )


def spike_odds(presentation: Presentation, intensity: float, dt_ms: float) -> NDArray[np.float64]:
    """For each brightness 0 ... 255, the mean of a Poisson count per step that is non-zero as often as a pixel spikes.

    A pixel spikes in a step with probability p = rate * dt; -ln(1 - p) is the mean of that Poisson count.
    """
    brightest = 255 * float(presentation.rate_hz_per_level) * float(intensity) * dt_ms * 1e-3
    check.require(brightest < 1, "intensity", "keep the brightest pixel below one spike per step", float(intensity))
    chance = np.arange(256) * presentation.rate_hz_per_level * intensity * dt_ms * 1e-3
    rates: NDArray[np.float64] = -np.log1p(-chance)
    return rates


def steps(duration_ms: float, dt_ms: float, name: str = "the duration in ms") -> int:
    """A duration in whole steps; more than `MOST_STEPS` are refused with a message that contains `name`.

    Examples
    --------
    >>> steps(350.0, 0.5)
    700
    """
    check_steps(name, duration_ms, dt_ms)
    return round(duration_ms / dt_ms)


def _decay_table(name: str, stdp: LongTermStdp, dt_ms: float, negligible: float, dtype: str) -> Floats:
    tau_ms: float = getattr(stdp, name)
    lasting = -math.log(negligible) * tau_ms / dt_ms
    check.require(
        lasting <= MOST_STEPS,
        f"LongTermStdp.{name}",
        f"leave a trace for at most {MOST_STEPS:,} steps of dt_ms = {dt_ms:g} (here {lasting:,.0f})",
        tau_ms,
    )
    horizon = math.ceil(lasting)
    table = np.exp(-np.arange(horizon + 1) * dt_ms / tau_ms)
    table[-1] = 0.0
    decay: Floats = table.astype(dtype)
    return decay
