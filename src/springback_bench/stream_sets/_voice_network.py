"""The speaker encoder of Resemblyzer as one network from samples to speakers, so that it can follow a microphone."""

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_bench.stream_sets", "torch") from None

from springback_bench.stream_sets._resemblyzer import SpeakerLstm
from springback_bench.stream_sets._speech import WINDOW, hann, slaney_filters
from springback_bench.stream_sets.record import Head
from torch import Tensor, nn

_HOP = 160


class VoiceNetwork(nn.Module):
    """Windows of a second (N, 16000) -> logits of the speakers (N, K).

    The power spectra are two convolutions, with cosines and with sines, so that every runtime has them. At the ends of
    a window there is silence instead of the sound around it.

    Parameters
    ----------
    encoder : SpeakerLstm
        Mel windows -> features.
    head : Head
        Features of length one -> logits.
    """

    def __init__(self, encoder: SpeakerLstm, head: Head) -> None:
        super().__init__()
        filters = slaney_filters(encoder.lstm.input_size)
        self.cosines = nn.Parameter(torch.tensor(_waves(np.cos)))
        self.sines = nn.Parameter(torch.tensor(_waves(np.sin)))
        self.mel = nn.Parameter(torch.tensor(filters.T, dtype=torch.float32))
        self.encoder = encoder
        self.head = nn.Linear(*head.weight.shape[::-1])
        self.head.load_state_dict({"weight": torch.tensor(head.weight), "bias": torch.tensor(head.bias)})

    def forward(self, samples: Tensor) -> Tensor:
        long = self.cosines.shape[-1]
        padded = nn.functional.pad(samples, (long // 2, long // 2))[:, None]
        parts = [nn.functional.conv1d(padded, waves, stride=_HOP) for waves in (self.cosines, self.sines)]
        power = (parts[0].square() + parts[1].square()).transpose(1, 2)[:, :WINDOW]
        features = self.encoder(power @ self.mel)
        out: Tensor = self.head(nn.functional.normalize(features, dim=1))
        return out


def _waves(wave: np.ufunc) -> NDArray[np.float32]:
    """One tapered wave for each frequency, (frequencies, 1, samples)."""
    taper = hann()
    phase = 2 * np.pi * np.outer(np.arange(len(taper) // 2 + 1), np.arange(len(taper))) / len(taper)
    return np.asarray((wave(phase) * taper)[:, None], np.float32)
