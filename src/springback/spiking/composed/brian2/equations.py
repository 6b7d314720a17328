"""The parts of a circuit in Brian2's language: equations, statements, and the numbers they name.

Potentials are plain numbers in mV, conductances are relative to that of the leak. With the method "implicit" the step
of springback is written out as statements that run once per step; with another method, Brian2 integrates the equations.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from springback.spiking.composed.circuit import ComposedCircuit
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

IMPLICIT = "implicit"


@dataclass
class Group:
    """A group of neurons: equations, statements of every step (implicit), threshold and reset."""

    equations: list[str] = field(default_factory=list)
    step: list[str] = field(default_factory=list)
    threshold: str = ""
    reset: list[str] = field(default_factory=list)


@dataclass
class InputSynapses:
    """The plastic synapses from the inputs."""

    model: list[str] = field(default_factory=list)
    on_pre: list[str] = field(default_factory=list)
    on_post: list[str] = field(default_factory=list)


Names = dict[str, float | str]
"""The numbers that equations name; a string is an expression with a unit, such as "20.0 * ms"."""


def neurons_of(circuit: ComposedCircuit, names: Names, *, implicit: bool) -> Group:
    """The neurons, with what their inhibition does to them."""
    neuron, how = circuit.neurons, circuit.inhibition
    names |= {
        "rest": neuron.v_rest_mv + neuron.drive_mv,
        "reset": neuron.v_reset_mv,
        "threshold": neuron.v_threshold_mv,
        "rev_exc": neuron.e_excitatory_mv,
        "rev_inh": neuron.e_inhibitory_mv,
    }
    group = Group(threshold="v > threshold + theta", reset=["v = reset"])
    excitation = "ge"
    inhibition = "gi" if isinstance(how, PartnerInhibition | GlobalInhibition) else ""
    tau_gi_ms = 0.0
    if isinstance(how, PartnerInhibition):
        tau_gi_ms = how.tau_from_ms
    elif isinstance(how, GlobalInhibition):
        tau_gi_ms = how.tau_ms
    elif isinstance(how, DivisiveInhibition):
        divided = "ge / (1 + activity / half_rate)"
        names["half_rate"] = how.half_rate_hz
        excitation = "felt" if implicit else divided
        group.step += [f"felt = {divided}"] if implicit else []
    decays = [("ge", circuit.tau_excitatory_ms)]
    decays += [("gi", tau_gi_ms)] if inhibition else []
    decays += [("activity", how.tau_ms)] if isinstance(how, DivisiveInhibition) else []
    if isinstance(neuron, AdaptiveLif):
        names["theta_step"] = neuron.threshold_step_mv
        group.reset.append("theta += theta_step")
        if implicit:
            names["keep_theta"] = math.exp(-circuit.dt_ms / neuron.tau_threshold_ms)
            group.step.append("theta *= keep_theta")
        else:
            decays.append(("theta", neuron.tau_threshold_ms))
    if isinstance(neuron, StochasticLif):
        names |= {"per_step": neuron.rate_at_threshold_hz * circuit.dt_ms * 1e-3, "width": neuron.width_mv}
        group.threshold = "rand() < 1 - exp(-per_step * exp((v - threshold - theta) / width))"
    if implicit:
        names["leak"] = circuit.dt_ms / neuron.tau_membrane_ms
        drive = f"rest + {excitation} * rev_exc" + (" + gi * rev_inh" if inhibition else "")
        load = f"1 + {excitation}" + (" + gi" if inhibition else "")
        group.step += _held(f"(v + leak * ({drive})) / (1 + leak * ({load}))")
        for name, tau_ms in decays:
            names[f"keep_{name}"] = 1 - circuit.dt_ms / tau_ms
            group.step.append(f"{name} *= keep_{name}")
        group.equations = ["v : 1", "theta : 1", *(f"{name} : 1" for name, _ in decays)]
        return group
    names["tau_v"] = f"{neuron.tau_membrane_ms!r} * ms"
    pulled = f"rest - v + {excitation} * (rev_exc - v)" + (" + gi * (rev_inh - v)" if inhibition else "")
    group.equations = [f"dv/dt = ({pulled}) / tau_v : 1 (unless refractory)", *_decaying(decays, names, "")]
    if not isinstance(neuron, AdaptiveLif):
        group.equations.append("theta : 1")
    return group


def partners_of(how: PartnerInhibition, names: Names, dt_ms: float, *, implicit: bool) -> Group:
    """The inhibitory partners."""
    partner = how.partner
    names |= {
        "partner_rest": partner.v_rest_mv,
        "partner_reset": partner.v_reset_mv,
        "partner_threshold": partner.v_threshold_mv,
        "partner_rev_exc": partner.e_excitatory_mv,
        "weight_to": how.weight_to,
        "weight_from": how.weight_from,
    }
    group = Group(threshold="v > partner_threshold", reset=["v = partner_reset"])
    if implicit:
        names |= {"partner_leak": dt_ms / partner.tau_membrane_ms, "partner_keep_ge": 1 - dt_ms / how.tau_to_ms}
        drive, load = "(partner_rest + ge * partner_rev_exc)", "(1 + ge)"
        now = f"(v + partner_leak * {drive}) / (1 + partner_leak * {load})"
        if partner.exact_step:
            now = f"{drive} / {load} + (v - {drive} / {load}) * exp(-partner_leak * {load})"
        group.step = [*_held(now), "ge *= partner_keep_ge"]
        group.equations = ["v : 1", "ge : 1"]
        return group
    names["partner_tau_v"] = f"{partner.tau_membrane_ms!r} * ms"
    group.equations = [
        "dv/dt = (partner_rest - v + ge * (partner_rev_exc - v)) / partner_tau_v : 1 (unless refractory)",
        *_decaying([("ge", how.tau_to_ms)], names, "partner_"),
    ]
    return group


def input_of(circuit: ComposedCircuit, names: Names) -> InputSynapses:
    """The synapses from the inputs, with their plasticity, in the order of springback's kernel."""
    feed = InputSynapses(model=["w : 1"])
    efficacy = "w"
    rule, brief = circuit.long_term, circuit.short_term
    if isinstance(brief, TsodyksMarkram):
        names |= {"release": brief.release, "tau_recovery": f"{brief.tau_recovery_ms!r} * ms"}
        feed.model.append("dx/dt = (1 - x) / tau_recovery : 1 (event-driven)")
        if brief.tau_facilitation_ms > 0:
            names["tau_facilitation"] = f"{brief.tau_facilitation_ms!r} * ms"
            feed.model.append("du/dt = -u / tau_facilitation : 1 (event-driven)")
        else:
            feed.model.append("u : 1")
        feed.on_pre.append("u = u + release * (1 - u)" if brief.tau_facilitation_ms > 0 else "u = release")
        feed.on_pre += ["ge_post += w * u * x", "x = x - u * x"]
    else:
        efficacy += " + short_term" if isinstance(brief, ShortTermStdp) else ""
        feed.on_pre.append(f"ge_post += {efficacy}")
    if rule is not None:
        _add_stdp(rule, feed, names)
    if isinstance(brief, ShortTermStdp):
        _add_short_term(brief, feed, names, circuit.dt_ms)
    return feed


def _add_stdp(rule: PairStdp | TripletStdp, feed: InputSynapses, names: Names) -> None:
    """Traces have the names of Pfister & Gerstner: r of the input, o of the output, 2 the slow ones."""
    traces = {"r_1": rule.tau_pre_ms, "o_1": rule.tau_post_ms}
    gain, loss = "pair_plus", "pair_minus"
    if isinstance(rule, TripletStdp):
        traces |= {"r_2": rule.tau_pre_slow_ms, "o_2": rule.tau_post_slow_ms}
        names |= {"pair_plus": rule.pair_potentiation, "pair_minus": rule.pair_depression}
        names |= {"triplet_plus": rule.triplet_potentiation, "triplet_minus": rule.triplet_depression}
        gain, loss = "(pair_plus + triplet_plus * o_2)", "(pair_minus + triplet_minus * r_2)"
    else:
        names |= {"pair_plus": rule.potentiation, "pair_minus": rule.depression}
    names["weight_max"] = rule.weight_max
    feed.on_pre.append(f"w = clip(w - {loss} * o_1, 0, weight_max)")
    feed.on_post.append(f"w = clip(w + {gain} * r_1, 0, weight_max)")
    for name, tau_ms in traces.items():
        names[f"tau_{name}"] = f"{tau_ms!r} * ms"
        feed.model.append(f"d{name}/dt = -{name} / tau_{name} : 1 (event-driven)")
        statements = feed.on_pre if name.startswith("r") else feed.on_post
        statements.append(f"{name} = 1" if rule.nearest else f"{name} = {name} + 1")


def _add_short_term(brief: ShortTermStdp, feed: InputSynapses, names: Names, dt_ms: float) -> None:
    names |= {"pull": brief.pull, "c": brief.weight_dependence, "tau_arrivals": f"{brief.tau_trace_ms!r} * ms"}
    if np.ndim(brief.memory_ms) == 0:
        names["memory"] = f"{float(np.asarray(brief.memory_ms))!r} * ms"
    else:
        feed.model.append("memory : second (constant)")
    feed.model += [
        "darrivals/dt = -arrivals / tau_arrivals : 1 (event-driven)",
        "dshort_term/dt = -short_term / memory : 1 (event-driven)",
    ]
    feed.on_pre.append("arrivals = arrivals + 1")
    pulled = "short_term + pull * clip(c + (1 - c) * w, 0, inf) * arrivals"
    if brief.efficacy_max is not None:
        names["efficacy_max"] = brief.efficacy_max
        pulled = f"clip({pulled}, 0, clip(efficacy_max - w, 0, inf))"
    if brief.delay_ms is not None:
        names["pull_pause"] = steps(brief.pause_ms, dt_ms, "ShortTermStdp.pause_ms")
        names["pull_delay"] = steps(brief.delay_ms, dt_ms, "ShortTermStdp.delay_ms")
        feed.model += ["began : integer", "fired : integer"]
        feed.on_post += [
            "began = int(t_in_timesteps - fired > pull_pause) * (t_in_timesteps - began) + began",
            "fired = t_in_timesteps",
            "is_due = int(t_in_timesteps - began >= pull_delay)",
        ]
        pulled = f"is_due * ({pulled}) + (1 - is_due) * short_term"
    feed.on_post.append(f"short_term = {pulled}")


def _held(now: str) -> list[str]:
    """Statements by which the potential advances, unless the neuron is refractory."""
    return [f"next_v = {now}", "v = int(not_refractory) * next_v + int(not not_refractory) * v"]


def _decaying(decays: list[tuple[str, float]], names: Names, prefix: str) -> list[str]:
    equations = []
    for name, tau_ms in decays:
        names[f"{prefix}tau_{name}"] = f"{tau_ms!r} * ms"
        equations.append(f"d{name}/dt = -{name} / {prefix}tau_{name} : 1")
    return equations
