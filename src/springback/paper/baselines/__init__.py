"""The paper's baselines: MLP, CNN, RNN and LSTM (extra: torch)."""

from springback.extras import missing_extra

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise missing_extra("springback.paper.baselines", "torch") from None

from springback.paper.baselines.answers import Answer, classify, respond
from springback.paper.baselines.model_file import load_model, save_model
from springback.paper.baselines.models import Cnn, Lstm, Mlp, Rnn, SequenceModel, StillModel, n_parameters
from springback.paper.baselines.sequences import SequenceTraining, train_sequence
from springback.paper.baselines.training import StillTraining, train_still

__all__ = [
    "Answer",
    "Cnn",
    "Lstm",
    "Mlp",
    "Rnn",
    "SequenceModel",
    "SequenceTraining",
    "StillModel",
    "StillTraining",
    "classify",
    "load_model",
    "n_parameters",
    "respond",
    "save_model",
    "train_sequence",
    "train_still",
]
