"""The two sampling networks of the supplement: circuits of stochastic neurons whose output spikes are samples of Q.

Every output spike is a sample of the posterior, so short-term STDP is elastic clustering with samples in place of
probabilities (S6.3). Start with `SamplingCircuit` and `sampling_weights` (or `learn_resting`); `respond` shows still
images, `init` and `track` follow a stream, and `posterior` gives Q itself. `hidden_input` is the estimate that such a
network makes of what its spiking inputs show.
"""

from springback_paper.sampling.learning import OnlineEm, learn_resting
from springback_paper.sampling.measurement import MeasurementState, hidden_input, measurement_weights
from springback_paper.sampling.network import (
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
from springback_paper.sampling.params import (
    DerivedKernel,
    ExponentialKernel,
    SamplingCircuit,
    SamplingStdp,
    SpikingInput,
)
from springback_paper.sampling.state import SamplingWeights

__all__ = [
    "DerivedKernel",
    "ExponentialKernel",
    "MeasurementState",
    "OnlineEm",
    "SamplingCircuit",
    "SamplingResponse",
    "SamplingStdp",
    "SamplingStream",
    "SamplingWeights",
    "SpikingInput",
    "hidden_input",
    "init",
    "learn_resting",
    "measurement_weights",
    "posterior",
    "respond",
    "sampling_weights",
    "short_term_of",
    "track",
    "track_spikes",
]
