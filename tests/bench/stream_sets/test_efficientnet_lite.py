"""EfficientNet-lite0: names and shapes of its weights, and what it computes."""

import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")
network = pytest.importorskip("springback_bench.stream_sets._efficientnet_lite")


@pytest.fixture(scope="module")
def untrained():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return network.EfficientNetLite0().eval()


def test_weights_have_the_names_and_shapes_of_the_published_file(untrained):
    state = untrained.state_dict()
    assert len(state) == 49 * 6 + 2  # 49 convolutions, each with a norm of five arrays, and the last layer
    assert sum(one.numel() for name, one in state.items() if not name.endswith(("mean", "var", "tracked"))) == 4_652_008
    shapes = {
        "_conv_stem.weight": (32, 3, 3, 3),
        "_blocks.0._depthwise_conv.weight": (32, 1, 3, 3),
        "_blocks.1._expand_conv.weight": (96, 16, 1, 1),
        "_blocks.3._depthwise_conv.weight": (144, 1, 5, 5),
        "_blocks.15._project_conv.weight": (320, 1152, 1, 1),
        "_conv_head.weight": (1280, 320, 1, 1),
        "_fc.weight": (1000, 1280),
    }
    assert {name: tuple(state[name].shape) for name in shapes} == shapes
    assert "_blocks.0._expand_conv.weight" not in state
    assert "_blocks.16._bn1.weight" not in state


def test_a_strided_convolution_pads_more_at_the_end_as_tensorflow_does():
    one = network._Convolution(1, 1, 3, stride=2)
    with torch.no_grad():
        one.weight.fill_(1)
    assert one(torch.ones(1, 1, 4, 4))[0, 0].tolist() == [[9, 6], [6, 4]]
    assert one(torch.ones(1, 1, 5, 5)).shape == (1, 1, 3, 3)


def test_blocks_that_keep_the_shape_add_their_input():
    block = network._Bottleneck(3, 1, 6, 8, 8).eval()
    with torch.no_grad():
        block._bn2.weight.zero_()
    x = torch.rand(2, 8, 4, 4)
    torch.testing.assert_close(block(x), x)
    assert not network._Bottleneck(3, 2, 6, 8, 8).skips
    assert not network._Bottleneck(3, 1, 6, 8, 16).skips


def test_features_do_not_depend_on_the_batch(untrained):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 32, 32, 3), np.uint8)
    together, apart = (network.features_of(untrained, pixels, batch=batch) for batch in (5, 2))
    assert together.shape == (5, network.FEATURES)
    assert together.dtype == np.float32
    np.testing.assert_allclose(together, apart, rtol=1e-3, atol=1e-5)


def test_the_last_layer_reads_the_features(untrained):
    x = torch.rand(2, 3, 32, 32)
    with torch.inference_mode():
        torch.testing.assert_close(untrained(x), untrained._fc(untrained.features(x)))


def test_weights_of_another_network_are_refused():
    content = io.BytesIO()
    torch.save({"weight": torch.zeros(1)}, content)
    with pytest.raises(RuntimeError, match="Missing key"):
        network.pretrained(content.getvalue())


def test_a_file_that_would_run_code_is_refused():
    class Evil:
        def __reduce__(self):
            return (print, ("run",))

    content = io.BytesIO()
    torch.save(Evil(), content)
    with pytest.raises(Exception, match=r"weights_only|Unsupported"):
        network.pretrained(content.getvalue())
