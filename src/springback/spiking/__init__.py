"""The biology: a winner-take-all circuit of spiking neurons with long-term and short-term STDP.

The two sampling networks of the supplement live in `springback.spiking.sampling`.
"""

from springback.spiking.model_file import SpikingModel, load_model, model_of, save_model
from springback.spiking.network import StreamState, Weights, begin_stream, respond, stream
from springback.spiking.params import (
    Circuit,
    ExcitatoryNeuron,
    InhibitoryNeuron,
    IntrinsicPlasticity,
    LongTermStdp,
    Presentation,
    ShortTermStdp,
)
from springback.spiking.presets import Preset, diehl_cook_2015, moraitis_2020, springback_2026, streaming_at
from springback.spiking.recorded import Recording, record_stream, short_term_of, simulate_spikes
from springback.spiking.training import TrainingState, begin_training, learned, train

__all__ = [
    "Circuit",
    "ExcitatoryNeuron",
    "InhibitoryNeuron",
    "IntrinsicPlasticity",
    "LongTermStdp",
    "Presentation",
    "Preset",
    "Recording",
    "ShortTermStdp",
    "SpikingModel",
    "StreamState",
    "TrainingState",
    "Weights",
    "begin_stream",
    "begin_training",
    "diehl_cook_2015",
    "learned",
    "load_model",
    "model_of",
    "moraitis_2020",
    "record_stream",
    "respond",
    "save_model",
    "short_term_of",
    "simulate_spikes",
    "springback_2026",
    "stream",
    "streaming_at",
    "train",
]
