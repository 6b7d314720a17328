"""The network from samples to speakers gives the features of the encoder that the head was enrolled with."""

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets import Head
from springback_bench.stream_sets._resemblyzer import SpeakerLstm, encoder
from springback_bench.stream_sets._voice_network import VoiceNetwork


def test_a_window_of_samples_has_the_logits_of_its_features():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    lstm = SpeakerLstm().eval()
    head = Head(
        weight=rng.normal(size=(3, 256)).astype(np.float32),
        bias=rng.normal(size=3).astype(np.float32),
        centre=np.zeros(256, np.float32),
    )
    window = rng.normal(0, 0.1, 16_000).astype(np.float32)
    with torch.inference_mode():
        found = VoiceNetwork(lstm, head).eval()(torch.tensor(window)[None]).numpy()
    wanted = head.logits(unit_rows(encoder(lstm)(window)[:1]))
    assert np.allclose(found, wanted, atol=1e-4)
