"""Other circuits from the same parts: neurons, inhibition and plasticity are small records that one kernel composes.

    circuit = ComposedCircuit(weights, neurons=AdaptiveLif(), inhibition=GlobalInhibition(), plasticity=PairStdp())
    response = circuit.run(poisson_spikes(rates_hz, 1000.0))
    first | second                                          two layers

Every combination of parts is compiled to a kernel of its own when it is first run. The paper's circuit has a faster
kernel in `springback.spiking`; `paper_circuit` is the same circuit from these parts, spike for spike.
"""

from springback.spiking.composed.brian2 import Brian2Files, to_brian2
from springback.spiking.composed.circuit import ComposedCircuit, Layers
from springback.spiking.composed.nir import NirDrift, NirReport, to_nir
from springback.spiking.composed.paper import paper_circuit
from springback.spiking.composed.parts import (
    AdaptiveLif,
    DivisiveInhibition,
    GlobalInhibition,
    Lif,
    Normalisation,
    PairStdp,
    PartnerInhibition,
    StochasticLif,
    TripletStdp,
    TsodyksMarkram,
)
from springback.spiking.composed.response import CircuitResponse, ComposedState, Sampled
from springback.spiking.composed.spikes import poisson_spikes, spikes_at
from springback.spiking.params import ShortTermStdp

__all__ = [
    "AdaptiveLif",
    "Brian2Files",
    "CircuitResponse",
    "ComposedCircuit",
    "ComposedState",
    "DivisiveInhibition",
    "GlobalInhibition",
    "Layers",
    "Lif",
    "NirDrift",
    "NirReport",
    "Normalisation",
    "PairStdp",
    "PartnerInhibition",
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
