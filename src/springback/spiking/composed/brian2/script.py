"""`to_brian2`: a circuit as a Brian2 script, `network.py.template` filled with its parts, and a file of its weights."""

import io
from importlib.resources import files
from pathlib import Path
from string import Template
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from springback import __version__, check
from springback.files.atomic import atomic_file
from springback.spiking.composed.brian2.equations import (
    IMPLICIT,
    Group,
    InputSynapses,
    Names,
    input_of,
    neurons_of,
    partners_of,
)
from springback.spiking.composed.circuit import ComposedCircuit
from springback.spiking.composed.paper import circuit_of
from springback.spiking.composed.parts import DivisiveInhibition, GlobalInhibition, PartnerInhibition, StochasticLif
from springback.spiking.encoding import SpikeTrain, check_train
from springback.spiking.model import SpikingModel
from springback.spiking.params import ShortTermStdp

_SCRIPT = files("springback.spiking.composed.brian2") / "network.py.template"

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


def script_of(circuit: ComposedCircuit, method: str) -> str:
    """The script of a circuit; `method` is "implicit", the step of springback, or an integrator of Brian2.

    Examples
    --------
    >>> import numpy as np
    >>> print(script_of(ComposedCircuit(np.ones((3, 2))), "implicit").splitlines()[0])
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
    return Template(_SCRIPT.read_text()).substitute(
        n_neurons=circuit.n_neurons,
        n_inputs=circuit.n_inputs,
        version=__version__,
        method=_about(circuit, method),
        dt_ms=circuit.dt_ms,
        names="\n".join(f'    "{name}": {value},' for name, value in names.items()),
        parts=indent("".join(parts).rstrip("\n"), "    "),
        look=indent(look.rstrip("\n"), " " * 12),
    )


def _about(circuit: ComposedCircuit, method: str) -> str:
    said = f"Brian2 integrates the equations ({method})."
    if method == IMPLICIT:
        steps = "linearly implicit step"
        if isinstance(circuit.inhibition, PartnerInhibition) and circuit.inhibition.partner.exact_step:
            steps = "steps, implicit for neurons and exact for their partners"
        said = f"Potentials advance by springback's {steps}: both programs fire in the same steps."
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


def _input(feed: InputSynapses) -> str:
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


def _is_own_memory(feed: InputSynapses) -> bool:
    return "memory : second (constant)" in feed.model


def _inhibition(circuit: ComposedCircuit, names: Names, method: str) -> str:
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


METHODS = (IMPLICIT, "rk4", "rk2", "euler", "exponential_euler", "heun")


class Brian2Files(NamedTuple):
    """What `to_brian2` has written: the script, its weights, and the input spikes or None."""

    script: Path
    weights: Path
    spikes: Path | None


def to_brian2(
    network: ComposedCircuit | SpikingModel,
    folder: str | Path,
    *,
    method: str = IMPLICIT,
    spikes: SpikeTrain | None = None,
    adapts: bool = True,
) -> Brian2Files:
    """Write a network as a Brian2 script, `network.py`, with its weights in `network.npz` beside it.

    The script needs Brian2, not springback, and has the plasticity of the circuit. With the method "implicit" it
    advances potentials by springback's own step: both programs then fire the same neurons in the same steps. With a
    method of Brian2, such as "rk4", they approach each other as the step falls. Rates of stochastic neurons agree.

    Parameters
    ----------
    network : ComposedCircuit | SpikingModel
        A circuit, or a trained model as it follows a stream.
    folder : str | Path
        Is created; files of the same names in it are replaced.
    method : str
        "implicit", or an integrator of Brian2.
    spikes : SpikeTrain | None
        InputSynapses spikes, stored as `spikes.npz`, with which the script can be run at once.
    adapts : bool
        Of a model: whether short-term STDP is on.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     files = to_brian2(ComposedCircuit(np.ones((3, 2))), folder)
    ...     files.script.name, "NeuronGroup" in files.script.read_text()
    ('network.py', True)
    """
    check.one_of("method", method, METHODS)
    circuit = circuit_of(network, adapts=adapts)
    arrays: dict[str, Any] = {"weights": circuit.weights, "thresholds_mv": circuit.thresholds_mv}
    if isinstance(circuit.short_term, ShortTermStdp) and np.ndim(circuit.short_term.memory_ms) == 1:
        arrays["memory_ms"] = np.asarray(circuit.short_term.memory_ms)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = Brian2Files(
        folder / "network.py", folder / "network.npz", None if spikes is None else folder / "spikes.npz"
    )
    with atomic_file(files.script) as file:
        file.write(script_of(circuit, method).encode())
    _write_arrays(files.weights, arrays)
    if spikes is not None and files.spikes is not None:
        _write_arrays(files.spikes, spike_arrays(spikes, circuit))
    return files


def spike_arrays(spikes: SpikeTrain, circuit: ComposedCircuit) -> dict[str, Any]:
    """A spike train as the script reads it."""
    n_steps = check_train(spikes, circuit.n_inputs)
    step = np.repeat(np.arange(n_steps), np.diff(spikes.first))
    return {"index": spikes.which, "time_ms": step * circuit.dt_ms, "duration_ms": n_steps * circuit.dt_ms}


def _write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)
    with atomic_file(path) as file:
        file.write(held.getvalue())
