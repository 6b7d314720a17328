"""The text of the Brian2 script of a circuit."""

from string import Template
from textwrap import indent

from springback.circuits.brian2.equations import IMPLICIT, Group, Input, Names, input_of, neurons_of, partners_of
from springback.circuits.circuit import Circuit
from springback.circuits.inhibition import DivisiveInhibition, GlobalInhibition, PartnerInhibition
from springback.circuits.neurons import StochasticLif
from springback.version import __version__

_SCRIPT = Template('''"""A circuit of $n_neurons neurons and $n_inputs inputs in Brian2, written by springback $version.

    python network.py SPIKES.npz OUT.npz [cython | numpy]

SPIKES.npz: index and time_ms of the input spikes, duration_ms; optionally trial (each trial starts from rest) and
look_ms (how often to store the short-term part of all synapses). OUT.npz: trial, index, step and time_ms of the output
spikes, and potentials, thresholds and weights after each trial. The weights at the start are in network.npz beside this
file.

$method
"""

import sys
from pathlib import Path

import brian2 as b2
import numpy as np
from brian2 import ms

DT_MS = $dt_ms
NAMES = {
$names
}


def build(stored):
    """The network at rest, and its parts by name."""
    b2.defaultclock.dt = DT_MS * ms
    n_inputs, n_neurons = stored["weights"].shape
$parts
    return b2.Network(*parts.values()), parts


def simulate(stored, spikes):
    """Every trial from rest, driven by the given input spikes."""
    network, parts = build(stored)
    network.store()
    synapses, shape = parts["synapses"], stored["weights"].shape
    index, time_ms = np.asarray(spikes["index"]), np.asarray(spikes["time_ms"], float)
    trial = np.asarray(spikes["trial"]) if "trial" in spikes else np.zeros(len(index), int)
    duration_ms = float(spikes["duration_ms"])
    look_ms = float(spikes.get("look_ms", duration_ms))
    found = {name: [] for name in ("trial", "index", "step", "v_mv", "theta_mv", "weights", "short_term")}
    for one in np.unique(trial) if len(trial) else [0]:
        network.restore()
        parts["source"].set_spikes(index[trial == one], time_ms[trial == one] * ms)
        for _ in range(round(duration_ms / look_ms)):
            network.run(look_ms * ms, namespace={})
$look
        fired = np.asarray(parts["spikes"].i, np.int64)
        step = np.rint(np.asarray(parts["spikes"].t / ms) / DT_MS).astype(np.int64)
        order = np.lexsort((fired, step))
        found["trial"].append(np.full(len(step), one))
        found["index"].append(fired[order])
        found["step"].append(step[order])
        found["v_mv"].append(np.asarray(parts["neurons"].v)[None])
        found["theta_mv"].append(np.asarray(parts["neurons"].theta)[None])
        found["weights"].append(np.asarray(synapses.w).reshape(1, *shape))
    result = {name: np.concatenate(values) for name, values in found.items() if values}
    return {**result, "time_ms": result["step"] * DT_MS, "version": np.array(b2.__version__)}


if __name__ == "__main__":
    b2.prefs.codegen.target = sys.argv[3] if len(sys.argv) > 3 else "auto"
    with np.load(Path(__file__).with_name("network.npz"), allow_pickle=False) as file:
        network_arrays = dict(file)
    with np.load(sys.argv[1], allow_pickle=False) as file:
        answer = simulate(network_arrays, dict(file))
    np.savez(sys.argv[2], **answer)
    print(f"{len(answer['index']):,} output spikes")
''')

_LOOK = """\
# F decays only when a spike arrives; here it is what is left now.
since_ms = np.asarray(network.t / ms) - np.asarray(synapses.lastupdate / ms)
left = np.asarray(synapses.short_term) * np.exp(-since_ms / np.asarray($memory / ms))
found["short_term"].append(left.reshape(1, *shape))
"""

_NORMALISATION = Template('''\
@b2.network_operation(dt=$every_ms * ms, when="start")
def normalise():
    """Scale the weights of each neuron to a common sum."""
    weights = np.asarray(synapses.w).reshape(n_inputs, n_neurons)
    sums = weights.sum(axis=0)
    synapses.w = (weights * ($weight_sum / np.where(sums > 0, sums, $weight_sum))).ravel()

parts["normalise"] = normalise
''')


def script_of(circuit: Circuit, method: str) -> str:
    """The script of a circuit; `method` is "implicit", the step of springback, or an integrator of Brian2.

    Examples
    --------
    >>> import numpy as np
    >>> print(script_of(Circuit(np.ones((3, 2))), "implicit").splitlines()[0])
    \"\"\"A circuit of 2 neurons and 3 inputs in Brian2, written by springback ...
    """
    names: Names = {}
    feed = input_of(circuit, names)
    neurons = neurons_of(circuit, names, implicit=method == IMPLICIT)
    parts = [
        'source = b2.SpikeGeneratorGroup(n_inputs, [], [] * ms, name="source")\n',
        _group("neurons", neurons, circuit.neurons.refractory_ms, method),
        f'neurons.v, neurons.theta = {circuit.neurons.v_rest_mv!r}, stored["thresholds_mv"]\n',
        _input(feed),
        'spikes = b2.SpikeMonitor(neurons, name="spikes")\n',
        'parts = {"source": source, "neurons": neurons, "synapses": synapses, "spikes": spikes}\n',
        _inhibition(circuit, names, method),
    ]
    if circuit.normalisation is not None:
        how = circuit.normalisation
        parts.append(_NORMALISATION.substitute(every_ms=how.every_ms, weight_sum=how.weight_sum))
    look = "pass"
    if any(line.startswith("dshort_term") for line in feed.model):
        look = _LOOK.replace("$memory", "synapses.memory" if _is_own_memory(feed) else 'NAMES["memory"]')
    return _SCRIPT.substitute(
        n_neurons=circuit.n_neurons,
        n_inputs=circuit.n_inputs,
        version=__version__,
        method=_about(circuit, method),
        dt_ms=circuit.dt_ms,
        names="\n".join(f'    "{name}": {value},' for name, value in names.items()),
        parts=indent("".join(parts).rstrip("\n"), "    "),
        look=indent(look.rstrip("\n"), " " * 12),
    )


def _about(circuit: Circuit, method: str) -> str:
    said = f"Brian2 integrates the equations ({method})."
    if method == IMPLICIT:
        said = "Potentials advance by springback's linearly implicit step: both programs fire in the same steps."
    if isinstance(circuit.neurons, StochasticLif):
        said = "The neurons fire at random: rates agree with springback's, single spikes do not."
    return said


def _group(name: str, group: Group, refractory_ms: float, method: str) -> str:
    integrator = "" if method == IMPLICIT else f"    method={method!r},\n"
    refractory = f"    refractory={refractory_ms!r} * ms,\n" if refractory_ms > 0 else ""
    step = ""
    if group.step and method == IMPLICIT:
        step = f'{name}.run_regularly({_text(group.step)}, when="groups", order=1)\n'
        # Without a refractory period, Brian2 does not know the variable not_refractory.
        if not refractory:
            step = step.replace("v = int(not_refractory) * next_v + int(not not_refractory) * v", "v = next_v")
    return (
        f"{name} = b2.NeuronGroup(\n    n_neurons,\n    {_text(group.equations)},\n"
        f'    threshold="{group.threshold}",\n    reset={_text(group.reset)},\n{refractory}{integrator}'
        f'    namespace=NAMES,\n    name="{name}",\n)\n{step}'
    )


def _input(feed: Input) -> str:
    post = f"    on_post={_text(feed.on_post)},\n" if feed.on_post else ""
    lines = [
        "synapses = b2.Synapses(\n    source,\n    neurons,\n",
        f"    model={_text(feed.model)},\n    on_pre={_text(feed.on_pre)},\n{post}",
        '    namespace=NAMES,\n    name="synapses",\n)\nsynapses.connect()\nsynapses.w = stored["weights"].ravel()\n',
    ]
    if any(line.startswith("dx/dt") for line in feed.model):
        lines.append("synapses.x = 1\n")
    if "fired : integer" in feed.model:
        lines.append("synapses.fired = -1_000_000_000\n")
    if _is_own_memory(feed):
        lines.append('synapses.memory = np.broadcast_to(stored["memory_ms"], (n_inputs, n_neurons)).ravel() * ms\n')
    return "".join(lines)


def _is_own_memory(feed: Input) -> bool:
    return "memory : second (constant)" in feed.model


def _inhibition(circuit: Circuit, names: Names, method: str) -> str:
    how = circuit.inhibition
    if isinstance(how, PartnerInhibition):
        group = partners_of(how, names, circuit.dt_ms, implicit=method == IMPLICIT)
        return (
            _group("partners", group, how.partner.refractory_ms, method)
            + f"partners.v = {how.partner.v_rest_mv!r}\n"
            + _connection("to_partner", "neurons, partners", "ge_post += weight_to", 'j="i"')
            + _connection("to_others", "partners, neurons", "gi_post += weight_from", 'condition="i != j"')
            + 'parts |= {"partners": partners, "to_partner": to_partner, "to_others": to_others}\n'
        )
    if isinstance(how, GlobalInhibition):
        names["pool_weight"] = how.weight
        effect = "gi_post += pool_weight"
    elif isinstance(how, DivisiveInhibition):
        names["activity_step"] = 1000 / how.tau_ms
        effect = "activity_post += activity_step"
    else:
        return ""
    return _connection("pool", "neurons, neurons", effect, "") + 'parts["pool"] = pool\n'


def _connection(name: str, ends: str, effect: str, where: str) -> str:
    made = f'{name} = b2.Synapses({ends}, on_pre="{effect}", namespace=NAMES, name="{name}")\n'
    return f"{made}{name}.connect({where})\n"


def _text(lines: list[str]) -> str:
    """Lines as a Python string, quoted once or three times."""
    if len(lines) == 1:
        return f'"{lines[0]}"'
    inner = "".join(f"    {line}\n" for line in lines)
    return f'"""\n{inner}    """'
