"""The compiled loops of elastic layers give what torch gives, and step aside for everything that torch has to see."""

import copy
import pickle

import numpy as np
import pytest

import torch
from springback.heads.compiled import observer, springs
from springback.heads.scale import Scale
from springback.torch import ElasticLinear, Observer, Springs, WindowSprings, elasticize, reset, step, track
from springback.torch import elastic_layer as module
from torch import Tensor, nn

SETTINGS = {
    "observer": Observer(),
    "averaged looks": Observer(gain=0.5),
    "no evidence": Observer(evidence=0.0),
    "class memory": Observer(kappa=0.0),
    "almost hard decisions": Observer(sharpness=1e5, evidence=2.0),
    "no gate": Observer(continuity=0.0),
    "springs": Springs(),
    "moving biases": Springs(beta=1.0),
    "derived pull": Springs(beta=1.0, pull=None),
    "novelty": Springs(novelty_threshold=0.3),
    "inputs as they are": Springs(novelty_threshold=0.3, unit_inputs=False, pull=0.1),
    "constant component": Springs(constant=0.4),
    "window": WindowSprings(window=6),
    "window, moving biases": WindowSprings(window=6, beta=1.0, pull=None, constant=0.4),
    "window, no pull": WindowSprings(window=6, beta=1.0, pull=0.0),
    "tuning curve": WindowSprings(window=6, tuning=2.0, constant=0.3),
    "tuning curve, not tuned": WindowSprings(window=6, tuning=0.0),
    "everything": Springs(beta=0.5, novelty_threshold=0.6, kappa=2.0, continuity=0.0),
}


def a_layer(settings: Observer | Springs = Observer(), dtype: torch.dtype = torch.float32, **more: object):  # noqa: B008
    torch.manual_seed(1)
    return ElasticLinear(20, 7, settings=settings, dtype=dtype, **more).eval()


def frames_of(n_frames: int, dtype: torch.dtype = torch.float32, n_streams: int = 5) -> Tensor:
    """Noisy views of one object in each stream, with frames that are silent, damaged, huge and tiny."""
    draw = torch.Generator().manual_seed(2)
    objects = torch.randn(n_streams, 20, generator=draw)
    frames = objects + torch.randn(n_frames, n_streams, 20, generator=draw)
    frames[3::7, 1] = 0
    frames[5::9, 2, 3] = torch.nan
    frames[5::11, 3, 4] = -torch.inf
    frames[6::12, 4] *= 1e25
    frames[7::12, 4] *= 1e-30
    return frames.to(dtype)


@pytest.fixture
def in_torch(monkeypatch):
    """Inside, nothing is compiled."""

    def off() -> None:
        monkeypatch.setattr(module.ElasticLayer, "_fits_kernel", lambda *_: False)

    return off


@torch.no_grad()
def follow(layer: ElasticLinear, frames: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Answers to frames, some of which come early or late, and the state after them."""
    answers = []
    for number, frame in enumerate(frames):
        gap = {2: 2.5, 4: 0.25}.get(number % 10, 1.0)
        with layer.frames_after([gap]):
            answers.append(layer(frame))
    return torch.stack(answers), layer.get_state()


def assert_same(one: Tensor, other: Tensor, tolerance: float) -> None:
    assert one.dtype == other.dtype
    assert torch.allclose(one.double(), other.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_compiled_loops_give_what_torch_gives(settings, in_torch):
    frames, centre = frames_of(40), torch.linspace(-0.1, 0.1, 20)
    quick = a_layer(settings, centre=centre)
    answers, state = follow(quick, frames)
    assert quick._kernel_state is not None
    in_torch()
    plain = a_layer(settings, centre=centre)
    expected, wanted = follow(plain, frames)
    assert plain._kernel_state is None
    assert_same(answers, expected, 2e-5)
    for name, part in wanted.items():
        assert_same(state[name], part, 2e-5)


@pytest.mark.parametrize("settings", [Observer(), Springs(beta=1.0, novelty_threshold=0.3)])
def test_double_precision_agrees_to_its_own_rounding(settings, in_torch):
    frames = frames_of(30, torch.float64).nan_to_num(0.0, 0.0, 0.0).clamp(-10, 10)
    answers, _ = follow(a_layer(settings, torch.float64), frames)
    in_torch()
    assert_same(answers, follow(a_layer(settings, torch.float64), frames)[0], 1e-11)


@pytest.mark.parametrize("settings", [Observer(), WindowSprings(window=6, tuning=2.0)])
def test_a_given_scale_is_used(settings, in_torch):
    frames, scale = frames_of(20), Scale(spread=3.0, distance=0.7)
    answers, _ = follow(a_layer(settings, scale=scale), frames)
    in_torch()
    assert_same(answers, follow(a_layer(settings, scale=scale), frames)[0], 2e-5)


@pytest.mark.parametrize("settings", [Observer(), Springs(), WindowSprings(window=4)])
def test_a_stretch_is_its_frames_one_by_one(settings):
    frames = frames_of(12).nan_to_num(0.0, posinf=0.0, neginf=0.0)
    expected, _ = follow(a_layer(settings), frames[:1])
    model = nn.Sequential(a_layer(settings)).eval()
    whole = track(model, frames)
    assert_same(whole[:1], expected, 1e-6)
    one_by_one = torch.stack([step(model, frame) for frame in frames])
    assert_same(whole, one_by_one, 1e-6)


def test_weights_that_are_laid_out_differently_may_move_in_place():
    layer, other, frames = a_layer(), a_layer(), frames_of(6)
    layer.weight.data = layer.weight.data.T.contiguous().T
    for frame in frames:
        with torch.no_grad():
            assert_same(layer(frame), other(frame), 1e-6)
            layer.weight.mul_(1.5)
            other.weight.mul_(1.5)


@pytest.mark.parametrize("settings", [Observer(), Springs(), Springs(beta=1.0, novelty_threshold=0.3)])
def test_frames_and_biases_may_be_laid_out_differently_from_the_first_ones(settings):
    layer, other, frames = a_layer(settings), a_layer(settings), frames_of(8)
    wide = torch.zeros(14)
    with torch.no_grad():
        for number, frame in enumerate(frames):
            if number == 4:
                wide[::2] = layer.bias
                layer.bias.data = wide[::2]
            assert_same(layer(frame.T.contiguous().T if number % 2 else frame), other(frame), 1e-6)


def test_an_input_that_needs_gradients_is_left_to_torch():
    layer, x = a_layer(), torch.randn(5, 20, requires_grad=True)
    with torch.no_grad():
        layer(x.detach())
        assert layer(x).shape == (5, 7)


def test_gradients_are_left_to_torch():
    layer, x = a_layer(), torch.randn(5, 20)
    with torch.no_grad():
        layer(x)
        layer(x)
    output = layer(x)
    output.exp().sum().backward()
    assert layer.weight.grad is not None


def test_autocast_is_left_to_torch():
    layer, x = a_layer(), torch.randn(5, 20)
    with torch.no_grad(), torch.autocast("cpu"):
        assert layer(x).dtype == torch.bfloat16
        assert layer._kernel_state is None


def test_training_is_left_to_torch():
    layer, x = a_layer(), torch.randn(5, 20)
    with torch.no_grad():
        layer(x)
        before = layer.get_state()
        assert torch.equal(layer.train()(x), nn.functional.linear(x, layer.weight, layer.bias))
    assert all(torch.equal(part, before[name]) for name, part in layer.get_state().items())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_a_copy_remembers_for_itself(copied):
    frames = frames_of(6)[:, :, :]
    layer = a_layer()
    with torch.no_grad():
        for frame in frames[:3]:
            layer(frame)
        other = copied(layer)
        assert other._kernel_state is None
        assert_same(other(frames[3]), layer(frames[3]), 1e-6)
        other(frames[4])
        other(frames[4])
        expected = other.get_state()
        layer(frames[5])
    assert all(torch.equal(part, expected[name]) for name, part in other.get_state().items())


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.reset(),
        lambda layer: layer.reset(5),
        lambda layer: layer.reset(streams=[1, 3]),
        lambda layer: layer.relax(2.0),
        lambda layer: layer.set_state(layer.get_state()),
        lambda layer: layer.share_memory(),
        lambda layer: layer.double().float(),
    ],
    ids=["reset", "new streams", "some streams", "relax", "set_state", "shared memory", "there and back"],
)
@pytest.mark.parametrize("settings", [Observer(), Springs(beta=1.0)])
def test_whatever_changes_the_state_is_noticed(settings, change, in_torch):
    frames = frames_of(8).nan_to_num(0.0, 0.0, 0.0).clamp(-10, 10)

    @torch.no_grad()
    def run() -> list[Tensor]:
        layer = a_layer(settings)
        answers = [layer(frame) for frame in frames[:4]]
        change(layer)
        return answers + [layer(frame) for frame in frames[4:]]

    quick = run()
    in_torch()
    for one, other in zip(quick, run(), strict=True):
        assert_same(one, other, 2e-5)


def test_streams_may_be_of_another_number_after_a_reset():
    layer = a_layer()
    with torch.no_grad():
        layer(torch.randn(5, 20))
        layer(torch.randn(5, 20))
        with pytest.raises(ValueError, match="must have 5 rows"):
            layer(torch.randn(4, 20))
        reset(layer)
        assert layer(torch.randn(4, 20)).shape == (4, 7)


def test_an_input_that_torch_lays_out_differently_is_followed():
    layer, other, frames = a_layer(), a_layer(), frames_of(4)
    with torch.no_grad():
        for frame in frames:
            strided = frame.T.contiguous().T
            assert_same(layer(strided), other(frame), 1e-6)


def test_weights_may_move_between_frames(in_torch):
    frames = frames_of(6).nan_to_num(0.0, 0.0, 0.0).clamp(-10, 10)

    @torch.no_grad()
    def run() -> list[Tensor]:
        layer = a_layer(Springs(beta=1.0, novelty_threshold=0.1))
        answers = [layer(frame) for frame in frames[:3]]
        layer.weight.data = 2 * layer.weight.data
        layer.bias.add_(torch.arange(7) / 7)
        return answers + [layer(frame) for frame in frames[3:]]

    quick = run()
    in_torch()
    for one, other in zip(quick, run(), strict=True):
        assert_same(one, other, 2e-5)


def test_a_head_in_a_network_moves_its_own_streams_only():
    model = elasticize(nn.Sequential(nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 7)).eval())
    frames = frames_of(5).nan_to_num(0.0, 0.0, 0.0).clamp(-10, 10)
    with torch.no_grad():
        together = torch.stack([model(frame) for frame in frames])
        reset(model)
        alone = torch.stack([model(frame[2:3]) for frame in frames])
    assert_same(together[:, 2:3], alone, 1e-5)


def test_one_function_is_compiled_for_each_precision():
    for settings in (Observer(), Observer(gain=0.5), Springs(), Springs(beta=1.0, novelty_threshold=0.3)):
        for bias in (True, False):
            follow(a_layer(settings, bias=bias), frames_of(3))
    assert len(observer.follow.signatures) <= 3  # float32, float64, and that of a head
    assert len(springs.follow.signatures) <= 3


def test_answers_are_new_arrays():
    layer, x = a_layer(), torch.randn(5, 20)
    with torch.inference_mode():
        first = layer(x)
        kept = first.clone()
        layer(x)
        assert torch.equal(first, kept)
        assert np.isfinite(first.numpy()).all()
