"""The layer as a torch module: drop-in for nn.Linear, with a short-term state of its own."""

import copy
import hashlib
import subprocess
import sys

import pytest

import torch
from springback.torch import CentroidSprings, ElasticLinear, Springs, WindowSprings, algorithm
from torch import nn


def a_layer(springs=None, seed=0, dtype=torch.float32, features=6, units=4):
    torch.manual_seed(seed)
    return ElasticLinear(features, units, dtype=dtype, settings=springs or Springs(pull=5.0, memory=3.0)).eval()


def a_stream(seed=1, steps=12, streams=3, features=6):
    return torch.randn(steps, streams, features, generator=torch.Generator().manual_seed(seed))


def follow(layer, frames):
    with torch.no_grad():
        return torch.stack([layer(x) for x in frames])


def digest(module):
    parts = [name.encode() + value.numpy().tobytes() for name, value in module.state_dict().items()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_it_has_the_parameters_and_the_state_dict_of_a_linear_layer():
    layer, plain = a_layer(), nn.Linear(6, 4)
    follow(layer, a_stream())
    assert [name for name, _ in layer.named_parameters()] == [name for name, _ in plain.named_parameters()]
    assert list(layer.state_dict()) == list(plain.state_dict())
    plain.load_state_dict(layer.state_dict())
    assert torch.equal(plain.weight, layer.weight)


def test_frames_leave_the_resting_weights_as_they_were():
    layer = a_layer(Springs(pull=5.0, beta=1.0, weight_dependence=0.2, novelty_threshold=0.1))
    before = digest(layer)
    follow(layer, a_stream())
    assert layer.state_short_term.abs().max() > 1
    assert digest(layer) == before


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_without_pull_it_is_the_plain_layer_bit_for_bit(dtype):
    layer = a_layer(Springs(pull=0.0), dtype=dtype)
    plain = nn.Linear(6, 4, dtype=dtype)
    plain.load_state_dict(layer.state_dict())
    frames = a_stream().to(dtype)
    assert torch.equal(follow(layer, frames), follow(plain, frames))


@pytest.mark.parametrize(
    "springs", [Springs(), Springs(beta=0.7), Springs(novelty_threshold=0.5), WindowSprings(window=4)]
)
def test_the_first_frame_of_a_stream_is_answered_as_by_the_plain_layer_bit_for_bit(springs):
    layer = a_layer(springs)
    plain = nn.Linear(6, 4)
    plain.load_state_dict(layer.state_dict())
    x = a_stream()[0]
    assert torch.equal(layer(x), plain(x))
    assert not torch.equal(layer(x), plain(x))


def test_frame_by_frame_it_is_the_pure_function():
    layer, frames = a_layer(Springs(pull=5.0, beta=0.5)), a_stream()
    state = algorithm.init(layer.settings, layer.weight, 3)
    _, response = algorithm.track(layer.settings, layer.weight, layer.bias, state, frames)
    torch.testing.assert_close(follow(layer, frames), response.output)


def test_stretches_of_frames_equal_single_frames():
    layer, frames = a_layer(), a_stream()
    wanted = follow(layer, frames)
    layer.reset()
    outputs = []
    for part in (frames[:5], frames[5:6], frames[6:]):
        with layer.frames_after([1.0] * len(part)), torch.no_grad():
            outputs.append(layer(part.flatten(0, 1)).unflatten(0, part.shape[:2]))
    torch.testing.assert_close(torch.cat(outputs), wanted)


def test_rows_are_independent_streams():
    layer, frames = a_layer(), a_stream(streams=2)
    together = follow(layer, frames)
    for stream in range(2):
        alone = follow(layer.reset(), frames[:, stream : stream + 1])
        torch.testing.assert_close(alone[:, 0], together[:, stream])


def test_a_stream_that_ends_returns_to_rest_alone():
    layer, frames = a_layer(), a_stream(streams=3)
    follow(layer, frames)
    before = layer.get_state()
    layer.reset(streams=[1])
    now = layer.get_state()
    assert now["short_term"][1].abs().max() == 0
    assert torch.equal(now["short_term"][[0, 2]], before["short_term"][[0, 2]])
    layer.reset(streams=torch.tensor([True, False, False]))
    assert layer.get_state()["short_term"][0].abs().max() == 0
    with torch.no_grad():
        answer = layer(frames[0])
    torch.testing.assert_close(answer[:2], nn.functional.linear(frames[0, :2], layer.weight, layer.bias))


@pytest.mark.parametrize("kind", [Springs, WindowSprings])
def test_silence_relaxes_by_the_kernel(kind):
    springs = kind(pull=5.0, memory=3.0, beta=1.0)
    layer, same = a_layer(springs), a_layer(springs)
    for each in (layer, same):
        follow(each, a_stream())
    layer.relax(elapsed=2.0)
    follow(same, torch.zeros(2, 3, 6))
    x = a_stream(seed=9)[0]
    torch.testing.assert_close(layer(x), same(x))


@pytest.mark.parametrize("springs", [Springs(pull=5.0), WindowSprings(pull=5.0, window=4)])
def test_a_state_can_be_taken_out_and_put_back(springs):
    layer, frames = a_layer(springs), a_stream()
    follow(layer, frames[:6])
    state = layer.get_state()
    wanted = follow(layer, frames[6:])
    other = a_layer(springs).set_state(state)
    assert torch.equal(follow(other, frames[6:]), wanted)
    assert torch.equal(follow(other.set_state(state), frames[6:]), wanted)
    assert other.set_state({}).n_streams is None


def test_in_training_mode_it_is_the_plain_layer_and_nothing_moves():
    layer, frames = a_layer(), a_stream()
    follow(layer, frames)
    state = layer.get_state()
    layer.train()
    x = torch.randn(5, 7, 6)
    assert torch.equal(layer(x), nn.functional.linear(x, layer.weight, layer.bias))
    assert all(torch.equal(state[name], part) for name, part in layer.get_state().items())


def test_autograd_sees_the_resting_weights_and_takes_the_rest_for_constant():
    layer, frames = a_layer(Springs(pull=5.0, beta=1.0)), a_stream()
    follow(layer, frames[:-2])
    x = frames[-2].clone().requires_grad_()
    (layer(x).sum() + layer(frames[-1]).sum()).backward()
    torch.testing.assert_close(layer.weight.grad, (frames[-2] + frames[-1]).sum(dim=0).expand(4, 6))
    torch.testing.assert_close(x.grad, layer.weight.detach().sum(dim=0).expand(3, 6))
    assert not layer.state_short_term.requires_grad


def test_inference_mode_and_no_grad_follow_the_same_stream():
    layer, same, frames = a_layer(), a_layer(), a_stream()
    wanted = follow(same, frames)
    with torch.inference_mode():
        first = torch.stack([layer(x) for x in frames[:6]]).clone()
    assert torch.equal(first, wanted[:6])
    assert torch.equal(follow(layer, frames[6:]), wanted[6:])
    assert torch.equal(layer.reset(streams=[0])(frames[0])[0], same.reset()(frames[0])[0])


def test_bfloat16_is_close_to_float32_and_keeps_its_sums_in_float32():
    layer = a_layer(Springs(pull=3.0, memory=4.0))
    frames = a_stream(steps=40)
    wanted = follow(layer, frames)
    half = copy.deepcopy(layer.reset()).to(torch.bfloat16)
    got = follow(half, frames.to(torch.bfloat16))
    assert got.dtype == torch.bfloat16
    assert half.state_short_term.dtype == torch.float32
    assert (got.float() - wanted).abs().median() < 0.05
    assert (got.argmax(-1) == wanted.argmax(-1)).float().mean() > 0.9


def test_a_begun_layer_that_becomes_half_precision_keeps_its_state_in_float32():
    layer, frames = a_layer(WindowSprings(pull=3.0, window=8)), a_stream()
    follow(layer, frames)
    before = layer.get_state()
    layer.to(torch.bfloat16)
    assert layer.weight.dtype == torch.bfloat16
    assert layer.state_strengths.dtype == layer.state_total.dtype == torch.float32
    assert layer.state_position.dtype == torch.int64
    torch.testing.assert_close(layer.state_strengths, before["strengths"], rtol=0.01, atol=0.01)
    assert follow(layer, frames.to(torch.bfloat16)).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "springs",
    [
        Springs(pull=3.0),
        Springs(pull=3.0, beta=1.0, novelty_threshold=0.1),
        WindowSprings(pull=3.0, window=4),
        Springs(pull=3.0, constant=0.5),
        CentroidSprings(pull=1.0, likelihood="exponential", kappa=5.0),
        CentroidSprings(pull=1.0, likelihood="linear", weight_dependence=0.3),
    ],
)
def test_under_autocast_the_stream_is_that_of_float32_and_so_is_the_state(springs, dtype):
    layer, frames = a_layer(springs), a_stream()
    wanted, state = follow(layer, frames), layer.get_state()
    layer.reset()
    with torch.autocast("cpu", dtype=dtype):
        got = follow(layer, frames)
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), wanted, rtol=0.02, atol=0.05)
    for name, part in layer.get_state().items():
        assert part.dtype == state[name].dtype
        torch.testing.assert_close(part, state[name], rtol=0.05, atol=0.05)


def test_under_autocast_a_layer_at_rest_is_the_plain_one_bit_for_bit():
    layer, x = a_layer(), a_stream()[0]
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        assert torch.equal(layer(x), nn.functional.linear(x, layer.weight, layer.bias))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    "springs",
    [
        Springs(pull=3.0),
        Springs(pull=3.0, unit_inputs=False, inference="maximum"),
        Springs(pull=3.0, beta=1.0, inference="ratio"),
        WindowSprings(pull=3.0, window=5),
        CentroidSprings(pull=1.0, likelihood="linear", novelty_threshold=0.1),
    ],
)
def test_a_frame_that_is_not_a_number_passes_time_in_its_own_stream_and_leaves_the_others_alone(springs, together, bad):
    frames = a_stream()
    frames[5, 1, 2] = bad
    silent = frames.clone()
    silent[5, 1] = 0

    def run(stream):
        layer = a_layer(springs)
        if not together:
            return follow(layer, stream), layer.get_state()
        with layer.frames_after([1.0] * len(stream)), torch.no_grad():
            return layer(stream.flatten(0, 1)).unflatten(0, stream.shape[:2]), layer.get_state()

    (got, state), (wanted, same) = run(frames), run(silent)
    assert all(torch.equal(state[name], same[name]) for name in state)
    shown = torch.ones(12, 3, dtype=torch.bool)
    shown[5, 1] = False
    assert torch.equal(got[shown], wanted[shown])
    assert springs.likelihood != "layer" or not got[5, 1].isfinite().all()


@pytest.mark.parametrize("wrong", [torch.ones(5, 6), torch.ones(0, 6), torch.ones(3, 5), torch.ones(3, 2, 6)])
def test_a_refused_batch_leaves_the_state_as_it_was(wrong):
    layer, frames = a_layer(), a_stream()
    with pytest.raises(ValueError, match="the input of an elastic layer must have"):
        layer(torch.ones(3, 2, 5))
    assert layer.n_streams is None
    follow(layer, frames[:6])
    before = layer.get_state()
    with pytest.raises(ValueError, match="the input of an elastic layer must have"):
        layer(wrong)
    assert all(torch.equal(before[name], part) for name, part in layer.get_state().items())
    same = a_layer()
    assert torch.equal(follow(layer, frames[6:]), follow(same, frames)[6:])


def test_a_first_batch_that_torch_refuses_starts_nothing():
    layer = a_layer()
    with pytest.raises(RuntimeError, match="dtype"):
        layer(torch.ones(3, 6, dtype=torch.float64))
    assert layer.n_streams is None


def test_the_state_moves_with_the_layer_to_any_device():
    layer = a_layer().reset(3)
    assert layer.to("meta").state_short_term.device.type == "meta"
    assert layer(torch.empty(3, 6, device="meta")).shape == (3, 4)
    fresh = ElasticLinear(6, 4, device="meta", settings=WindowSprings(window=5, beta=1.0)).eval()
    assert fresh(torch.empty(2, 6, device="meta")).device.type == "meta"


def test_a_copy_has_a_state_of_its_own():
    layer, frames = a_layer(), a_stream()
    follow(layer, frames[:6])
    other = copy.deepcopy(layer)
    wanted = follow(layer, frames[6:])
    assert torch.equal(follow(other, frames[6:]), wanted)


def test_long_silence_leaves_no_denormal_numbers():
    layer = a_layer(Springs(pull=5.0, memory=3.0))
    follow(layer, a_stream())
    follow(layer, torch.zeros(400, 3, 6))
    assert layer.state_short_term.abs().max() == 0


def test_a_layer_can_be_made_elastic_and_plain_again_without_losing_its_hooks():
    plain, seen = nn.Linear(6, 4).eval(), []
    plain.register_forward_hook(lambda *_: seen.append(1))
    before, attributes = digest(plain), set(vars(plain))
    layer = ElasticLinear.convert(plain, Springs())
    follow(layer, a_stream())
    assert layer.revert() is plain
    assert type(plain) is nn.Linear
    assert (digest(plain), set(vars(plain)), plain._buffers) == (before, attributes, {})
    assert len(seen) == 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda layer: layer(torch.ones(6)), r"must have shape \(streams, 6\), one row per stream, .*; got \(6,\)"),
        (
            lambda layer: layer(torch.ones(3, 5)),
            r"must have shape \(streams, 6\), one row per stream, .*; got \(3, 5\)",
        ),
        (
            lambda layer: layer(torch.ones(5, 6)),
            r"must have 3 rows, one per stream, as before; got 5; call reset\(model\) before",
        ),
        (lambda layer: layer(torch.ones(0, 6)), "must have at least one row, one per stream; got 0"),
        (lambda layer: layer.reset(0), "n_streams must be >= 1; got 0"),
        (lambda layer: layer.reset(streams=[3]), r"streams must be indices or a mask of 3 streams; got \[3\]"),
        (lambda layer: layer.relax(elapsed=-1.0), "elapsed must be >= 0; got -1.0"),
        (lambda layer: layer.set_state({"F": torch.ones(1)}), "state must hold exactly short_term, .*; got .'F'."),
        (
            lambda layer: layer.set_state({**layer.get_state(), "short_term": torch.ones(3, 4, 5)}),
            r"state short_term must have shape \(3, 4, 6\); got \(3, 4, 5\)",
        ),
        (
            lambda layer: layer.set_state({**layer.get_state(), "short_term": torch.full((3, 4, 6), float("nan"))}),
            r"state\.short_term must be finite everywhere; got .?NaN or infinity",
        ),
    ],
)
def test_a_mistake_is_answered_in_one_sentence(call, message):
    layer = a_layer().reset(3)
    with pytest.raises(ValueError, match=message):
        call(layer)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pull": -1.0}, "Springs.pull must be >= 0; got -1.0"),
        ({"memory": 0.0}, "Springs.memory must be > 0; got 0.0"),
        ({"pull": None}, "Springs.pull must be a number unless beta is given; got None"),
        ({"inference": "guess"}, "Springs.inference must be one of 'softmax', 'ratio', 'maximum'; got 'guess'"),
        ({"weight_dependence": 1.5}, "Springs.weight_dependence must be <= 1; got 1.5"),
        ({"constant": 0.5, "novelty_threshold": 0.1}, "Springs.constant must be 0 with a weight dependence or"),
    ],
)
def test_bad_springs_are_refused_where_they_enter(settings, message):
    with pytest.raises(ValueError, match=message):
        Springs(**settings)


def test_a_state_that_would_write_outside_the_window_is_refused():
    layer = a_layer(WindowSprings(window=4)).reset(2)
    with pytest.raises(ValueError, match=r"state.position must lie in 0 ... 3; got \(0.0, 7.0\)"):
        layer.set_state({**layer.get_state(), "position": torch.tensor([[7], [0]])})
    with pytest.raises(TypeError, match="state total must be a tensor, as get_state gives it; got int"):
        layer.set_state({**layer.get_state(), "total": 3})


def test_only_plain_linear_layers_become_elastic():
    with pytest.raises(TypeError, match=r"an elastic layer must be made from an nn.Linear; got Conv2d"):
        ElasticLinear.convert(nn.Conv2d(1, 1, 1), Springs())


def test_without_torch_the_import_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import springback.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("MissingExtraError: springback.torch needs torch: pip install 'springback[torch]'")
