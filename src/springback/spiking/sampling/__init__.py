"""The two sampling networks of the supplement: circuits of stochastic neurons whose output spikes are samples of Q.

Every output spike is a sample of the posterior, so short-term STDP is elastic clustering with samples in place of
probabilities (S6.3). Start with `SamplingCircuit` and `sampling_weights` (or `learn_resting`); `respond` shows still
images, `init` and `track` follow a stream, and `posterior` gives Q itself.
"""

from springback.spiking.sampling.learning import OnlineEm, learn_resting
from springback.spiking.sampling.network import (
    SamplingResponse,
    SamplingStream,
    init,
    posterior,
    respond,
    sampling_weights,
    short_term_of,
    track,
    track_spikes,
)
from springback.spiking.sampling.params import (
    DerivedKernel,
    ExponentialKernel,
    SamplingCircuit,
    SamplingStdp,
    SpikingInput,
)
from springback.spiking.sampling.state import SamplingWeights

__all__ = [
    "DerivedKernel",
    "ExponentialKernel",
    "OnlineEm",
    "SamplingCircuit",
    "SamplingResponse",
    "SamplingStdp",
    "SamplingStream",
    "SamplingWeights",
    "SpikingInput",
    "init",
    "learn_resting",
    "posterior",
    "respond",
    "sampling_weights",
    "short_term_of",
    "track",
    "track_spikes",
]
