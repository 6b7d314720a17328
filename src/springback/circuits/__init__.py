"""Other circuits from the same parts: neurons, inhibition and plasticity are small records that one kernel composes.

    circuit = Circuit(weights, neurons=AdaptiveLif(), inhibition=GlobalInhibition(), plasticity=PairStdp())
    response = circuit.run(poisson_spikes(rates_hz, 1000.0))
    first | second                                          two layers

Every combination of parts is compiled to a kernel of its own when it is first run. The paper's circuit has a faster
kernel in `springback.spiking`; `paper_circuit` is the same circuit from these parts, spike for spike.
"""

from springback.circuits.brian2 import Brian2Files, to_brian2
from springback.circuits.circuit import Circuit
from springback.circuits.inhibition import DivisiveInhibition, GlobalInhibition, PartnerInhibition
from springback.circuits.layers import Layers
from springback.circuits.neurons import AdaptiveLif, Lif, StochasticLif
from springback.circuits.nir import Drift, NirReport, to_nir
from springback.circuits.paper import paper_circuit
from springback.circuits.plasticity import Normalisation, PairStdp, TripletStdp, TsodyksMarkram
from springback.circuits.response import Response, Sampled
from springback.circuits.spikes import poisson_spikes, spikes_at
from springback.circuits.state import CircuitState
from springback.spiking.params import ShortTermStdp

__all__ = [
    "AdaptiveLif",
    "Brian2Files",
    "Circuit",
    "CircuitState",
    "DivisiveInhibition",
    "Drift",
    "GlobalInhibition",
    "Layers",
    "Lif",
    "NirReport",
    "Normalisation",
    "PairStdp",
    "PartnerInhibition",
    "Response",
    "Sampled",
    "ShortTermStdp",
    "StochasticLif",
    "TripletStdp",
    "TsodyksMarkram",
    "paper_circuit",
    "poisson_spikes",
    "spikes_at",
    "to_brian2",
    "to_nir",
]
