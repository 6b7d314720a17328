"""Brian2 with its own integrators: every trial of every network at every step; writes the output spikes.

`python integrate_brian2.py WORK.npz '{"runs": [...], "out": "OUT.npz", ...}'`, see `benchmarks.brian2_runs`. Double
precision, Cython. Potentials are plain numbers in mV; the excitatory reversal potentials are 0, so their terms vanish.
Objects have names, so that the compiled code of one run serves the next.
"""

import json
import sys
from typing import Any

import worker
from worker import EXC, INH

# isort: split
import brian2 as b2
import numpy as np
from brian2 import ms

b2.prefs.codegen.target = "cython"
NAMES = {
    **{f"{name}_e": value for name, value in EXC.items()},
    **{f"{name}_i": value for name, value in INH.items()},
    "tau_ge": worker.TAU_GE * ms,
    "tau_gi": worker.TAU_GI * ms,
    "to_inh": worker.TO_INH,
    "from_inh": worker.FROM_INH,
    "tau_e": EXC["tau"] * ms,
    "tau_i": INH["tau"] * ms,
}
OF_EXC = """
dv/dt = ((rest_e - v) - ge * v + gi * (rev_i_e - v)) / tau_e : 1 (unless refractory)
dge/dt = -ge / tau_ge : 1
dgi/dt = -gi / tau_gi : 1
theta : 1
"""
OF_INH = """
dv/dt = ((rest_i - v) - ge * v) / tau_i : 1 (unless refractory)
dge/dt = -ge / tau_ge : 1
"""
STATIC = {"model": "w : 1", "on_pre": "ge_post += w"}
ELASTIC = {
    "model": """
    w : 1
    darrivals/dt = -arrivals / tau_trace : 1 (event-driven)
    dstretch/dt = -stretch / memory : 1 (event-driven)
    """,
    "on_pre": "ge_post += w + stretch; arrivals += 1",
    "on_post": "stretch = clip(stretch + pull * clip(c + (1 - c) * w, 0, inf) * arrivals, 0, efficacy_max - w)",
}


def build(work: dict[str, Any], run: dict[str, Any], short_term: dict[str, float]) -> tuple[Any, Any, Any]:
    """The network at rest, its input and the record of its output spikes."""
    n_inputs, n_neurons = work["resting"].shape
    b2.defaultclock.dt = run["dt_ms"] * ms
    names = {
        **NAMES,
        "pull": short_term["pull"],
        "c": short_term["weight_dependence"],
        "memory": short_term["memory_ms"] * ms,
        "tau_trace": short_term["tau_trace_ms"] * ms,
        "efficacy_max": short_term["efficacy_max"],
    }
    how = {"method": run["method"], "namespace": names}
    source = b2.SpikeGeneratorGroup(n_inputs, [], [] * ms, name="source")
    exc = b2.NeuronGroup(
        n_neurons,
        OF_EXC,
        threshold="v > theta + offset_e",
        reset="v = reset_e",
        refractory=EXC["refractory"] * ms,
        name="exc",
        **how,
    )
    exc.v, exc.theta = EXC["rest"], work["theta_mv"]
    feed = b2.Synapses(
        source, exc, **(ELASTIC if run["short_term"] else STATIC), namespace=names, name=f"feed_{run['short_term']:d}"
    )
    feed.connect()
    feed.w = work["resting"].ravel()
    spikes = b2.SpikeMonitor(exc, name="spikes")
    parts = [source, exc, feed, spikes]
    if run["inhibition"]:
        inh = b2.NeuronGroup(
            n_neurons,
            OF_INH,
            threshold="v > threshold_i",
            reset="v = reset_i",
            refractory=INH["refractory"] * ms,
            name="inh",
            **how,
        )
        inh.v = INH["rest"]
        to_partner = b2.Synapses(exc, inh, on_pre="ge_post += to_inh", namespace=names, name="to_partner")
        to_partner.connect(j="i")
        to_others = b2.Synapses(inh, exc, on_pre="gi_post += from_inh", namespace=names, name="to_others")
        to_others.connect(condition="i != j")
        parts += [inh, to_partner, to_others]
    network = b2.Network(*parts)
    network.store()
    return network, source, spikes


def main() -> None:
    """Run what the command line asks for."""
    asked = json.loads(sys.argv[2])
    with np.load(sys.argv[1], allow_pickle=False) as file:
        work = dict(file)
    out: dict[str, list[Any]] = {"run": [], "trial": [], "index": [], "step": []}
    for number, run in enumerate(asked["runs"]):
        network, source, spikes = build(work, run, asked["short_term"])
        for trial in run["trials"]:
            network.restore()
            chosen = work["in_trial"] == trial
            source.set_spikes(work["in_index"][chosen], work["in_time"][chosen] * asked["grid_ms"] * ms)
            network.run(run["trial_ms"] * ms, namespace={})
            step = np.rint(np.asarray(spikes.t / ms) / run["dt_ms"]).astype(np.int32)
            order = np.lexsort((np.asarray(spikes.i), step))
            n = len(step)
            for name, values in (
                ("run", np.full(n, number)),
                ("trial", np.full(n, trial)),
                ("index", np.asarray(spikes.i)[order]),
                ("step", step[order]),
            ):
                out[name].append(values)
        print(run["network"], run["method"], run["dt_ms"], file=sys.stderr, flush=True)
    np.savez(asked["out"], **{name: np.concatenate(values) for name, values in out.items()})
    print(json.dumps({"version": b2.__version__}), file=worker.ANSWER, flush=True)


if __name__ == "__main__":
    main()
