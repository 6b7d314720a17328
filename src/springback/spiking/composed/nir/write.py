"""`to_nir`: a circuit as a NIR file (Pedersen et al. 2024), with a report of what is lost."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from springback import check
from springback.extras import require_extra
from springback.files.atomic import atomic_file
from springback.spiking.composed.circuit import ComposedCircuit
from springback.spiking.composed.nir.linear import (
    LinearCircuit,
    LinearNeurons,
    NirDrift,
    drift_between,
    graph_counts,
    linearised,
    lost_parts,
)
from springback.spiking.composed.paper import circuit_of
from springback.spiking.constants import steps
from springback.spiking.encoding import SpikeTrain, check_train
from springback.spiking.model import SpikingModel


@dataclass(frozen=True, kw_only=True)
class NirReport:
    """What `to_nir` has written.

    Parameters
    ----------
    path : Path
        The file.
    lost : tuple[str, ...]
        What the graph does not have, one sentence each.
    drift : NirDrift | None
        How far its responses differ, if input spikes were given.
    """

    path: Path
    lost: tuple[str, ...]
    drift: NirDrift | None

    def __str__(self) -> str:
        lines = [f"written: {self.path}", *(f"- {one}" for one in self.lost)]
        return "\n".join(lines if self.drift is None else [*lines, f"drift: {self.drift}"])


def to_nir(
    network: ComposedCircuit | SpikingModel,
    path: str | Path,
    *,
    spikes: SpikeTrain | None = None,
    frame_ms: float = 350.0,
    operating_mv: float | None = None,
    adapts: bool = True,
) -> NirReport:
    """Write a network as a graph of the Neuromorphic Intermediate Representation (extra: nir).

    NIR has leaky integrate-and-fire neurons, linear maps and recurrent edges, but neither conductances nor refractory
    periods nor plasticity. The report lists what is lost and, if input spikes are given, by how much the responses
    drift: those of the graph, computed by forward Euler with the step of the circuit, against those of the circuit with
    all its parts.

    Parameters
    ----------
    network : ComposedCircuit | SpikingModel
        A circuit, or a trained model as it follows a stream.
    path : str | Path
        The file, usually `NAME.nir`.
    spikes : SpikeTrain | None
        Input spikes to measure the drift with.
    frame_ms : float
        The length of a frame, in which spikes are counted for this.
    operating_mv : float | None
        The potential at which conductances become currents; None: the resting potential.
    adapts : bool
        Of a model: whether the drift is measured from the network with short-term STDP, which is lost, or without it.

    Examples
    --------
    >>> from springback.spiking.composed.nir.linear import lost_parts
    >>> print(lost_parts(ComposedCircuit(np.ones((3, 2))))[1])  # the report has all of them
    The refractory period of 5 ms is lost.
    """
    require_extra("springback.spiking.composed.to_nir", "nir")
    import nir

    circuit = circuit_of(network, adapts=adapts)
    if operating_mv is not None:
        check.real("operating_mv", operating_mv, low=-1000, high=1000)
    linear = linearised(circuit, operating_mv)
    drift = None
    if spikes is not None:
        check_train(spikes, circuit.n_inputs)
        frame_steps = max(steps(check.real("frame_ms", frame_ms, above=0), circuit.dt_ms, "frame_ms"), 1)
        drift = drift_between(circuit.run(spikes, frame_ms=frame_ms).counts, graph_counts(linear, spikes, frame_steps))
    path = Path(path)
    held = io.BytesIO()  # HDF5 reads what it writes, which a file that is being written does not allow
    nir.write(held, graph_of(linear))
    with atomic_file(path) as file:
        file.write(held.getvalue())
    return NirReport(path=path, lost=lost_parts(circuit), drift=drift)


def graph_of(linear: LinearCircuit) -> Any:
    """The graph: times in seconds, potentials in mV."""
    import nir

    k, n = linear.weights.shape
    nodes = {
        "input": nir.Input(input_type={"input": np.array([n])}),
        "synapses": nir.Linear(weight=linear.weights),
        "excitation": _filter(linear.tau_excitation_ms, linear.excitation_mv, k, linear.dt_ms),
        "neurons": _neurons(linear.neurons),
        "output": nir.Output(output_type={"output": np.array([k])}),
    }
    edges = [
        ("input", "synapses"),
        ("synapses", "excitation"),
        ("excitation", "neurons"),
        ("neurons", "output"),
    ]
    if linear.recurrent is not None:
        nodes["recurrent"] = nir.Linear(weight=linear.recurrent)
        nodes["inhibition"] = _filter(linear.tau_inhibition_ms, linear.inhibition_mv, k, linear.dt_ms)
        edges += [("recurrent", "inhibition"), ("inhibition", "neurons")]
        if linear.partners is None:
            edges.append(("neurons", "recurrent"))
        else:
            nodes["to_partner"] = nir.Scale(scale=np.full(k, linear.to_partner))
            nodes["partner_excitation"] = _filter(linear.tau_partner_ms, linear.partner_mv, k, linear.dt_ms)
            nodes["partners"] = _neurons(linear.partners)
            edges += [
                ("neurons", "to_partner"),
                ("to_partner", "partner_excitation"),
                ("partner_excitation", "partners"),
                ("partners", "recurrent"),
            ]
    about = {"written_by": "springback", "dt_ms": float(linear.dt_ms), "potentials": "mV"}
    return nir.NIRGraph(nodes=nodes, edges=edges, metadata=about)


def _filter(tau_ms: float, amount_mv: float, k: int, dt_ms: float) -> Any:
    """A synapse: with a forward Euler step of dt, a spike adds `amount_mv` times its weight to the current."""
    import nir

    return nir.LI(tau=np.full(k, tau_ms * 1e-3), r=np.full(k, amount_mv * tau_ms / dt_ms), v_leak=np.zeros(k))


def _neurons(neurons: LinearNeurons) -> Any:
    import nir

    k = len(neurons.v_leak_mv)
    return nir.LIF(
        tau=np.full(k, neurons.tau_ms * 1e-3),
        r=np.ones(k),
        v_leak=neurons.v_leak_mv,
        v_threshold=neurons.v_threshold_mv,
        v_reset=neurons.v_reset_mv,
    )
