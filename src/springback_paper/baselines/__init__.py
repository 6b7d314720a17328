"""The paper's baselines: MLP, CNN, RNN and LSTM (extra: torch)."""

from springback.extras import missing_extra

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise missing_extra("springback_paper.baselines", "torch") from None

from springback_paper.baselines.answers import Answer, classify, respond
from springback_paper.baselines.model_file import load_baseline, save_baseline
from springback_paper.baselines.models import Cnn, Lstm, Mlp, Rnn, SequenceModel, StillModel, n_parameters
from springback_paper.baselines.sequences import SequenceTraining, train_sequence
from springback_paper.baselines.training import StillTraining, train_still

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
    "load_baseline",
    "n_parameters",
    "respond",
    "save_baseline",
    "train_sequence",
    "train_still",
]
