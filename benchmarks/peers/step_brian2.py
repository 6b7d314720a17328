"""Brian2 with the engine's step written into it: makes tests/data/reference.npz.

`python step_brian2.py tests/data/reference.npz [--write]` runs the three networks of the file with the input spikes,
weights and thresholds that are in it, and says whether the results are as stored; `--write` stores them. Double
precision, Cython. A step: potentials advance by the linearly implicit step with the conductances as they are, and these
lose dt / tau; thresholds; spikes arrive, those of inputs with their plasticity first; resets.
"""

import sys
from typing import Any

import worker
from worker import EXC, INH

# isort: split
import brian2 as b2
import numpy as np
from brian2 import ms

DT = 0.5
N_STEPS = {"static": 6000, "train": 8000, "short_term": 7000}
PIECE = {"static": 6000, "train": 1000, "short_term": 700}
"""Steps between two looks: weights are normalised before each image, F is read after each frame."""

NAMES = {
    "a_e": DT / EXC["tau"],
    "a_i": DT / INH["tau"],
    "keep_ge": 1 - DT / worker.TAU_GE,
    "keep_gi": 1 - DT / worker.TAU_GI,
    "keep_theta": np.exp(-DT / worker.TAU_THETA),
    "theta_step": worker.THETA_STEP,
    "rate_pre": worker.RATE_PRE,
    "rate_post": worker.RATE_POST,
    "tau_pre": worker.TAU_PRE * ms,
    "tau_1": worker.TAU_POST_1 * ms,
    "tau_2": worker.TAU_POST_2 * ms,
    "weight_max": worker.WEIGHT_MAX,
    "pull": 0.7,
    "c": -0.3,
    "memory": 300 * ms,
    "tau_trace": 20 * ms,
}
STEP_OF_EXC = """
next_v = (v + a_e * (-65 - 100 * gi)) / (1 + a_e * (1 + ge + gi))
v = int(not_refractory) * next_v + int(not not_refractory) * v
ge *= keep_ge
gi *= keep_gi
"""
STEP_OF_INH = """
next_v = (v + a_i * (-60)) / (1 + a_i * (1 + ge))
v = int(not_refractory) * next_v + int(not not_refractory) * v
ge *= keep_ge
"""
SYNAPSES = {
    "static": {"model": "w : 1", "on_pre": "ge_post += w"},
    "train": {
        "model": """
        w : 1
        dpre/dt = -pre / tau_pre : 1 (event-driven)
        dpost_1/dt = -post_1 / tau_1 : 1 (event-driven)
        dpost_2/dt = -post_2 / tau_2 : 1 (event-driven)
        """,
        "on_pre": "ge_post += w; pre = 1.0; w = clip(w - rate_pre * post_1, 0, weight_max)",
        "on_post": "w = clip(w + rate_post * pre * post_2, 0, weight_max); post_1 = 1.0; post_2 = 1.0",
    },
    "short_term": {
        "model": """
        w : 1
        darrivals/dt = -arrivals / tau_trace : 1 (event-driven)
        dstretch/dt = -stretch / memory : 1 (event-driven)
        """,
        "on_pre": "ge_post += w + stretch; arrivals += 1",
        "on_post": "stretch += pull * clip(c + (1 - c) * w, 0, 1e9) * arrivals",
    },
}


def scaled(weights: Any) -> Any:
    """Weights (n_inputs, n_neurons) with the common sum."""
    return weights * (worker.WEIGHT_SUM / weights.sum(axis=0))


def start_of(mode: str, stored: dict[str, Any]) -> tuple[Any, Any]:
    """Weights and thresholds at the beginning; those of training are random, as in tests/spiking/test_reference.py."""
    if mode != "train":
        weights = np.zeros((784, 400))
        weights[stored["rows"]] = stored["weights"]
        return weights, stored["theta_mv"]
    rng = np.random.default_rng(20210115)
    for _ in range(6):
        rng.random((700, 784))
    weights = 0.3 * (rng.random((784, 400)) + 0.01)
    return scaled(weights).astype(np.float32).astype(np.float64), np.full(400, 20.0)


def simulated(mode: str, stored: dict[str, Any]) -> dict[str, Any]:
    """One network from rest to the end; the results by their names in the file."""
    b2.defaultclock.dt = DT * ms
    weights, theta = start_of(mode, stored)
    source = b2.SpikeGeneratorGroup(784, stored[f"{mode}_input_index"], stored[f"{mode}_input_step"] * DT * ms)
    exc = b2.NeuronGroup(
        400,
        "v : 1\nge : 1\ngi : 1\ntheta : 1",
        threshold="v > theta - 72",
        reset="v = -65" + ("\ntheta += theta_step" if mode == "train" else ""),
        refractory=EXC["refractory"] * ms,
        namespace=NAMES,
    )
    inh = b2.NeuronGroup(
        400,
        "v : 1\nge : 1",
        threshold="v > -40",
        reset="v = -45",
        refractory=INH["refractory"] * ms,
        namespace=NAMES,
    )
    exc.v, inh.v, exc.theta = EXC["rest"], INH["rest"], theta
    exc.run_regularly(STEP_OF_EXC + ("theta *= keep_theta" if mode == "train" else ""), when="groups", order=1)
    inh.run_regularly(STEP_OF_INH, when="groups", order=1)
    feed = b2.Synapses(source, exc, **SYNAPSES[mode], namespace=NAMES)
    feed.connect()
    feed.w = weights.ravel()
    to_partner = b2.Synapses(exc, inh, on_pre=f"ge_post += {worker.TO_INH}")
    to_partner.connect(j="i")
    to_others = b2.Synapses(inh, exc, on_pre=f"gi_post += {worker.FROM_INH}")
    to_others.connect(condition="i != j")
    spikes = b2.SpikeMonitor(exc)
    network = b2.Network(b2.collect())
    stretched = []
    for _ in range(N_STEPS[mode] // PIECE[mode]):
        if mode == "train":
            feed.w = scaled(np.asarray(feed.w).reshape(784, 400)).ravel()
        network.run(PIECE[mode] * DT * ms, namespace={})
        if mode == "short_term":
            since = np.asarray(network.t / ms) - np.asarray(feed.lastupdate / ms)
            stretched.append((np.asarray(feed.stretch) * np.exp(-since / 300.0)).reshape(784, 400))
    fired = np.asarray(spikes.i, np.int16)
    found = {
        f"{mode}_exc_index": fired,
        f"{mode}_exc_step": np.rint(np.asarray(spikes.t / ms) / DT).astype(np.int16),
    }
    if mode == "static":
        found["static_v_final_mv"] = np.asarray(exc.v)
    elif mode == "train":
        found["train_fired"] = np.unique(fired)
        found["train_weights_final"] = np.asarray(feed.w, np.float32).reshape(784, 400)[:, np.unique(fired)]
        found["train_theta_final_mv"] = np.asarray(exc.theta)
    else:
        found["short_term_active"] = np.unique(fired)
        after_frame = np.array(stretched)[:, stored["rows"]][:, :, np.unique(fired)]
        found["short_term_after_frame"] = after_frame.astype(np.float32)
    return found


def main(path: str, write: bool) -> int:
    """Run all three; the exit code is 1 if anything differs from the file."""
    b2.prefs.codegen.target = "cython"
    with np.load(path, allow_pickle=False) as file:
        stored = dict(file)
    found = {name: value for mode in N_STEPS for name, value in simulated(mode, stored).items()}
    different = [
        name
        for name, value in found.items()
        if value.shape != stored[name].shape or not np.allclose(value, stored[name], rtol=1e-6, atol=1e-9)
    ]
    if write:
        np.savez_compressed(path, **{**stored, **found})
    said = f"different from the file: {', '.join(different)}" if different else f"all {len(found)} results as stored"
    print(f"Brian2 {b2.__version__}: {said}", file=worker.ANSWER)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
