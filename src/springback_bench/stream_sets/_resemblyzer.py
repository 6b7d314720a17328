"""The speaker encoder of Resemblyzer: three LSTM layers that tell voices apart (GE2E, Wan et al. 2018)."""

import io

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.stream_sets", "torch") from None

from springback_bench.stream_sets._speech import Encoder, hann, power_spectra, slaney_filters, windows
from torch import Tensor, nn

_MELS, _UNITS = 40, 256


class SpeakerLstm(nn.Module):
    """Mel windows (N, T, 40) -> features (N, 256); modules are named as in the published weights."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(_MELS, _UNITS, num_layers=3, batch_first=True)
        self.linear = nn.Linear(_UNITS, _UNITS)

    def forward(self, mels: Tensor) -> Tensor:
        _, (hidden, _) = self.lstm(mels)
        return torch.relu(self.linear(hidden[-1]))


def pretrained(weights: bytes) -> SpeakerLstm:
    """The network with published weights: the content of a file of PyTorch, in which nothing but tensors is read."""
    state = torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True)["model_state"]
    network = SpeakerLstm()
    network.load_state_dict({name: state[name] for name in network.state_dict()})
    return network.eval()


def encoder(network: SpeakerLstm) -> Encoder:
    """The network with the mel powers that it was trained on."""
    filters, taper = slaney_filters(_MELS), hann()

    @torch.inference_mode()
    def features(samples: NDArray[np.float32]) -> NDArray[np.float32]:
        mels = torch.tensor(windows(power_spectra(samples, taper) @ filters.T))
        return np.concatenate([network(some).numpy() for some in torch.split(mels, 256)])

    return features
