"""The two networks that tell voices apart: names and shapes of their weights, and what they compute."""

import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")
ecapa = pytest.importorskip("springback_bench.stream_sets._ecapa")
resemblyzer = pytest.importorskip("springback_bench.stream_sets._resemblyzer")


def saved(state):
    content = io.BytesIO()
    torch.save(state, content)
    return content.getvalue()


@pytest.fixture(scope="module")
def untrained():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ecapa.EcapaTdnn().eval()


def test_ecapa_has_the_weights_of_speechbrain(untrained):
    state = untrained.state_dict()
    assert len(state) == 231
    shapes = {
        "blocks.0.conv.conv.weight": (1024, 80, 5),
        "blocks.1.res2net_block.blocks.6.conv.conv.weight": (128, 128, 3),
        "blocks.3.se_block.conv2.conv.weight": (1024, 128, 1),
        "mfa.conv.conv.weight": (3072, 3072, 1),
        "asp.tdnn.conv.conv.weight": (128, 9216, 1),
        "asp_bn.norm.running_mean": (6144,),
        "fc.conv.weight": (192, 6144, 1),
    }
    assert {name: tuple(state[name].shape) for name in shapes} == shapes


def test_ecapa_gives_features_of_windows_of_any_length(untrained):
    with torch.inference_mode():
        assert untrained(torch.rand(1, 80, 20)).shape == (1, ecapa.FEATURES)


def test_a_convolution_over_time_mirrors_what_lies_beyond_an_end():
    one = ecapa._Convolution(1, 1, 3, dilation=2)
    with torch.no_grad():
        one.conv.weight.copy_(torch.tensor([[[1.0, 0.0, 0.0]]]))
        one.conv.bias.zero_()
    assert one(torch.tensor([[[1.0, 2, 3, 4, 5]]]))[0, 0].tolist() == [3, 2, 1, 2, 3]


def test_statistics_weigh_times_by_attention():
    x, weights = torch.tensor([[[1.0, 3.0, 100.0]]]), torch.tensor([[[0.5, 0.5, 0.0]]])
    mean, spread = ecapa._mean_and_spread(x, weights)
    assert (mean.item(), spread.item()) == (2, 1)


def test_loudness_does_not_matter_to_log_mels():
    mels = np.random.default_rng(0).random((2, 10, 80), np.float32) + 0.01
    np.testing.assert_allclose(ecapa.log_mels(mels), ecapa.log_mels(100 * mels), atol=1e-4)
    np.testing.assert_allclose(ecapa.log_mels(mels).mean(axis=1), 0, atol=1e-5)


def test_log_mels_end_80_decibel_below_the_loudest():
    mels = np.array([1.0, 1e-9, 1e-20, 0.0], np.float32).reshape(1, 4, 1)  # 0, -80, -80 and -80: the mean is -60
    assert (np.ptp(ecapa.log_mels(mels)), ecapa.log_mels(mels)[0, 1, 0]) == (80, -20)


def test_weights_that_are_nearly_nothing_become_zero(untrained):
    state = {name: values.clone() for name, values in untrained.state_dict().items()}
    state["blocks.0.conv.conv.bias"][:] = 1e-40
    network = ecapa.pretrained(saved(state))
    assert (network.blocks[0].conv.conv.bias == 0).all()
    assert (network.fc.conv.weight == untrained.fc.conv.weight).all()


@pytest.mark.parametrize("name", ["ecapa", "resemblyzer"])
def test_a_frame_is_a_second_of_sound_every_quarter_of_a_second(untrained, name):
    encode = ecapa.encoder(untrained) if name == "ecapa" else resemblyzer.encoder(resemblyzer.SpeakerLstm())
    found = encode(np.random.default_rng(0).normal(size=24_000).astype(np.float32))
    assert found.shape == (3, 192 if name == "ecapa" else 256)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


def test_resemblyzer_takes_its_weights_alone_out_of_the_checkpoint():
    state = {**resemblyzer.SpeakerLstm().state_dict(), "similarity_weight": torch.ones(1)}
    network = resemblyzer.pretrained(saved({"step": 1, "model_state": state}))
    assert (network.linear.weight == state["linear.weight"]).all()


def test_weights_of_another_network_are_refused():
    with pytest.raises(RuntimeError, match="Missing key"):
        ecapa.pretrained(saved({"weight": torch.zeros(1)}))
    with pytest.raises(KeyError, match="lstm"):
        resemblyzer.pretrained(saved({"model_state": {"weight": torch.zeros(1)}}))
