"""The biology: a winner-take-all circuit of spiking neurons with long-term and short-term STDP.

Start with `SpikingClassifier`, which learns from still images and follows a stream. Presets such as `springback_2026`
hold all parameters. The functions behind the classifier are pure: `init_training`, `train` and `learned` for training,
`respond` for still images, and `init` and `track` for streams. A `Recorder` records what happens inside the circuit in
any of them, and `simulate_spikes` takes spikes from elsewhere, in any form that `springback.spiking.exchange` knows.
The two sampling networks of the supplement are in `springback_paper.sampling`.
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names
from springback.spiking._state import RunState
from springback.spiking.evaluation import follow_video, recognise_images
from springback.spiking.fitting import class_profiles, label_model, train_model, train_models
from springback.spiking.inference import init, respond, track
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_spiking_model, save_spiking_model
from springback.spiking.monitors import Monitor, Recorder, Recording, Samples, open_recording
from springback.spiking.operations import Operations, count_operations
from springback.spiking.params import (
    Circuit,
    ExcitatoryNeuron,
    InhibitoryNeuron,
    IntrinsicPlasticity,
    LongTermStdp,
    Presentation,
    ShortTermStdp,
    Streaming,
)
from springback.spiking.presets import Preset, diehl_cook_2015, load_preset, moraitis_2020, preset_text, springback_2026
from springback.spiking.recorded_runs import record_stream, short_term_of, simulate_spikes
from springback.spiking.state_files import load_checkpoint, load_run_state, save_checkpoint, save_run_state
from springback.spiking.training import init_training, learned, train
from springback.spiking.weights import Weights

if TYPE_CHECKING:
    from springback.spiking.classifier import SpikingClassifier

__all__ = [
    "Circuit",
    "ExcitatoryNeuron",
    "InhibitoryNeuron",
    "IntrinsicPlasticity",
    "LongTermStdp",
    "Monitor",
    "Operations",
    "Presentation",
    "Preset",
    "Recorder",
    "Recording",
    "RunState",
    "Samples",
    "ShortTermStdp",
    "SpikingClassifier",
    "SpikingModel",
    "Streaming",
    "Weights",
    "class_profiles",
    "count_operations",
    "diehl_cook_2015",
    "follow_video",
    "init",
    "init_training",
    "label_model",
    "learned",
    "load_checkpoint",
    "load_preset",
    "load_run_state",
    "load_spiking_model",
    "moraitis_2020",
    "open_recording",
    "preset_text",
    "recognise_images",
    "record_stream",
    "respond",
    "save_checkpoint",
    "save_run_state",
    "save_spiking_model",
    "short_term_of",
    "simulate_spikes",
    "springback_2026",
    "track",
    "train",
    "train_model",
    "train_models",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
