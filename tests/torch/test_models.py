"""Whole models: finding the head, making it elastic and undoing that, and following streams."""

import copy
import hashlib
import math
from types import SimpleNamespace

import pytest

import torch
from springback.heads.memories.springs import SpringState
from springback.torch import (
    ElasticLinear,
    Observer,
    Scale,
    Springs,
    WindowSprings,
    algorithm,
    deelasticize,
    elastic_layers,
    elasticize,
    find_head,
    get_state,
    relax,
    reset,
    set_state,
    step,
    track,
)
from tests.torch.toy import occluded_world
from torch import nn


def a_network(seed=0):
    torch.manual_seed(seed)
    stem = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 12), nn.ReLU()]
    return nn.Sequential(*stem, nn.Dropout(0.5), nn.Linear(12, 5)).eval()


def a_stream(seed=1, steps=9, streams=2):
    return torch.randn(steps, streams, 1, 8, 8, generator=torch.Generator().manual_seed(seed))


def follow(model, frames):
    with torch.no_grad():
        return torch.stack([model(x) for x in frames])


def digest(model):
    return hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values())).hexdigest()


class Named(nn.Module):
    """A network with the parts of well-known ones, under their names."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def classifier():
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ({"layer4": nn.Conv2d(3, 8, 1), "fc": nn.Linear(8, 3)}, "fc"),
        ({"features": nn.Conv2d(3, 8, 1), "classifier": classifier()}, "classifier.3"),
        ({"classifier": nn.Linear(8, 3), "auxiliary": nn.Linear(8, 3)}, "classifier"),
        ({"encoder": nn.Linear(8, 8), "heads": Named(head=nn.Linear(8, 3))}, "heads.head"),
        ({"blocks": nn.Linear(8, 8), "head": Named(norm=nn.LayerNorm(8), fc=nn.Linear(8, 3))}, "head.fc"),
        ({"first": nn.Linear(8, 8), "last": nn.Linear(8, 3)}, "last"),
    ],
)
def test_the_head_is_found_under_the_names_it_has_in_known_models(parts, wanted):
    model = Named(**parts)
    assert find_head(model) == wanted
    assert list(elastic_layers(elasticize(model))) == [wanted]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("resnet18", "fc"),
        ("vgg11", "classifier.6"),
        ("mobilenet_v3_small", "classifier.3"),
        ("vit_b_16", "heads.head"),
        ("inception_v3", "fc"),
    ],
)
def test_the_head_of_torchvision_models_is_found(name, head):
    models = pytest.importorskip("torchvision.models")
    with torch.device("meta"):
        model = models.get_model(name, weights=None)
    assert find_head(model) == head


def test_making_a_model_elastic_leaves_the_original_alone():
    model, frames = a_network(), a_stream()
    before, wanted = digest(model), follow(model, frames)
    elastic = elasticize(model, Springs(pull=5.0))
    assert not torch.equal(follow(elastic, frames), wanted)
    assert digest(model) == before
    assert type(model[-1]) is nn.Linear
    assert torch.equal(follow(model, frames), wanted)


def test_an_elastic_model_has_the_state_dict_of_the_original():
    model = a_network()
    elastic = elasticize(model)
    follow(elastic, a_stream())
    assert list(elastic.state_dict()) == list(model.state_dict())
    assert digest(elastic) == digest(model)
    fresh = a_network(seed=3)
    fresh.load_state_dict(elastic.state_dict())
    elastic.load_state_dict(a_network(seed=3).state_dict())


@pytest.mark.parametrize("posterior_from", ["layer", "output"])
def test_the_original_comes_back_to_the_bit(posterior_from):
    model, frames = a_network(), a_stream()
    before, wanted = digest(model), follow(model, frames)
    parameters = [id(part) for part in model.parameters()]
    elastic = elasticize(model, Springs(posterior_from=posterior_from), copy=False)
    assert elastic is model
    follow(elastic, frames)
    back = deelasticize(elastic, copy=False)
    assert back is model
    assert type(back[-1]) is nn.Linear
    assert [id(part) for part in back.parameters()] == parameters
    assert not back._forward_hooks
    assert digest(back) == before
    assert torch.equal(follow(back, frames), wanted)


def test_a_plain_copy_can_be_taken_of_an_elastic_model():
    elastic = elasticize(a_network(), Springs(posterior_from="output"))
    follow(elastic, a_stream())
    plain = deelasticize(elastic)
    assert isinstance(elastic[-1], ElasticLinear)
    assert torch.equal(follow(plain, a_stream()), follow(a_network(), a_stream()))


def test_without_pull_the_model_is_the_plain_one_bit_for_bit():
    model, frames = a_network(), a_stream()
    assert torch.equal(follow(elasticize(model, Springs(pull=0.0)), frames), follow(model, frames))


@pytest.mark.parametrize("images_at_once", [1, 5, 6, 1024])
@pytest.mark.parametrize("layers", [None, ["4", "7"]])
@pytest.mark.parametrize("posterior_from", ["layer", "output"])
def test_following_a_whole_stream_equals_single_frames_in_any_chunks(images_at_once, layers, posterior_from):
    springs = Springs(pull=5.0, memory=3.0, posterior_from=posterior_from)
    elastic, frames = elasticize(a_network(), springs, layers=layers), a_stream()
    wanted = follow(elastic, frames)
    state = get_state(elastic)
    got = track(reset(elastic), frames, images_at_once=images_at_once, in_place=True)
    torch.testing.assert_close(got, wanted)
    for name, part in get_state(elastic).items():
        torch.testing.assert_close(part, state[name])


def test_the_posterior_of_the_output_pulls_if_asked_to():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 4)

        def forward(self, x):
            return SimpleNamespace(logits=3 * self.fc(x) + torch.arange(4.0))

    torch.manual_seed(0)
    model, frames = Scaled().eval(), torch.randn(7, 2, 6, generator=torch.Generator().manual_seed(1))
    springs = Springs(pull=5.0, memory=2.0, posterior_from="output", continuity=0.0)
    elastic = elasticize(model, springs)
    short = torch.zeros(2, 4, 6)
    with torch.no_grad():
        for x in frames:
            unit = x / x.norm(dim=-1, keepdim=True)
            short = short * springs.decay
            logits = model(x).logits + 3 * torch.einsum("bkn,bn->bk", short, unit)
            short = short + 5.0 * torch.einsum("bk,bn->bkn", logits.softmax(-1), unit)
            torch.testing.assert_close(elastic(x).logits, logits)


def test_several_layers_can_be_elastic_each_by_its_own_posterior():
    model, frames = a_network(), a_stream()
    springs = Springs(pull=2.0, memory=2.0)
    elastic = elasticize(model, springs, layers=["4", "7"])
    hidden, head = model[4], model[7]
    with torch.no_grad():
        x = torch.stack([model[:4](frame) for frame in frames])
        start = algorithm.init(springs, hidden.weight, 2)
        x = algorithm.track(springs, hidden.weight, hidden.bias, start, x)[1].output.relu()
        start = algorithm.init(springs, head.weight, 2)
        wanted = algorithm.track(springs, head.weight, head.bias, start, x)[1].output
    torch.testing.assert_close(follow(elastic, frames), wanted)


def test_states_of_a_model_are_read_put_back_and_let_go():
    elastic, frames = elasticize(a_network(), Springs(pull=5.0), layers=["4", "7"]), a_stream()
    follow(elastic, frames[:5])
    state = get_state(elastic)
    wanted = follow(elastic, frames[5:])
    other = set_state(elasticize(a_network(), Springs(pull=5.0), layers=["4", "7"]), state)
    assert torch.equal(follow(other, frames[5:]), wanted)
    assert set_state(other, {})[7].n_streams is None
    assert [layer.n_streams for layer in elastic_layers(reset(other, 6)).values()] == [6, 6]
    reset(elastic, streams=0)
    assert all(value[0].abs().max() == 0 for name, value in get_state(elastic).items() if "short_term" in name)


def test_a_state_that_fits_only_some_layers_changes_none():
    elastic, frames = elasticize(a_network(), Springs(pull=5.0), layers=["4", "7"]), a_stream()
    follow(elastic, frames)
    before = get_state(elastic)
    wrong = {**{name: torch.zeros_like(part) for name, part in before.items()}, "7.total": torch.zeros(5, 1)}
    with pytest.raises(ValueError, match=r"must have shape"):
        set_state(elastic, wrong)
    assert all(torch.equal(before[name], part) for name, part in get_state(elastic).items())


def test_elastic_beats_static_where_objects_are_gradually_hidden():
    model, frames, labels = occluded_world(seed=2)
    before = digest(model)
    static = (model(frames.flatten(0, 1)).argmax(-1) == labels.flatten()).double().mean()
    elastic = (track(elasticize(model, Springs(pull=15.0)), frames).argmax(-1) == labels).double().mean()
    assert static < 0.85
    assert elastic > static + 0.08
    assert digest(model) == before


@pytest.mark.parametrize(
    ("settings", "backend"),
    [
        (Springs(), "eager"),
        (Springs(), "aot_eager"),
        (Springs(beta=1.0, novelty_threshold=0.1), "aot_eager"),
        (Springs(posterior_from="output"), "aot_eager"),
        (Springs(constant=0.3), "aot_eager"),
        (Observer(depth=4), "aot_eager"),
        (Observer(gain=0.3, evidence=0.0), "aot_eager"),
    ],
)
def test_a_begun_model_compiles_to_one_graph_and_follows_the_same_stream(settings, backend):
    elastic, frames = elasticize(a_network(), settings), a_stream()
    wanted = follow(elastic, frames)
    torch._dynamo.reset()
    compiled = torch.compile(reset(elastic, 2), backend=backend, fullgraph=True)
    torch.testing.assert_close(follow(compiled, frames), wanted)


@pytest.mark.parametrize(
    "settings",
    [
        Springs(),
        Springs(beta=1.0, weight_dependence=0.3),
        WindowSprings(window=4, constant=0.3),
        Springs(posterior_from="output"),
        Observer(depth=4),
        Observer(gain=0.3, kappa=2.0),
    ],
)
@pytest.mark.parametrize("centred", [False, True])
def test_a_begun_model_can_be_exported_with_its_moving_state(settings, centred):
    elastic, frames = elasticize(a_network(), settings, centre=torch.ones(12) if centred else None), a_stream()
    wanted = follow(elastic, frames)
    program = torch.export.export(reset(elastic, 2), (frames[0],)).module()
    torch.testing.assert_close(follow(program, frames), wanted)


def test_the_pure_step_can_be_exported_with_the_state_handed_in_and_out():
    springs = Springs(pull=5.0, beta=1.0)

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 4)

        def forward(self, short_term, responsibility, total, answered, shares, agreement, x):
            state = SpringState(short_term, responsibility, total, answered, shares, agreement)
            state, response = algorithm.step(springs, self.fc.weight, self.fc.bias, state, x)
            return *state, response.output

    torch.manual_seed(0)
    model = Step().eval()
    state = algorithm.init(springs, model.fc.weight, 3)
    frames = torch.randn(5, 3, 6)
    program = torch.export.export(model, (*state, frames[0])).module()
    _, wanted = algorithm.track(springs, model.fc.weight, model.fc.bias, state, frames)
    with torch.no_grad():
        for x, output in zip(frames, wanted.output, strict=True):
            *state, got = program(*state, x)
            torch.testing.assert_close(got, output)


def test_mistakes_are_answered_in_one_sentence():
    with pytest.raises(ValueError, match=r"the model must have an nn.Linear layer, or .*, to make elastic; got Conv2d"):
        elasticize(nn.Conv2d(1, 1, 3))
    with pytest.raises(ValueError, match=r"layers must name layers of the model \(0, 4, 7\); got 'head'"):
        elasticize(a_network(), layers="head")
    with pytest.raises(
        TypeError,
        match="settings must be Observer, LearningObserver, Springs, WindowSprings or CentroidSprings; got 'springs'",
    ):
        elasticize(a_network(), "springs")
    with pytest.raises(ValueError, match="layers must name one layer if centre or scale is given"):
        elasticize(a_network(), layers=["4", "7"], scale=Scale(6.0, 0.7))
    with pytest.raises(TypeError, match=r"must be made from an nn.Linear; got ElasticLinear; it is elastic already"):
        elasticize(elasticize(a_network()))
    elastic = elasticize(a_network())
    with pytest.raises(
        ValueError, match=r"state must hold parts of the elastic layers of the model \(7\); got '4\.total'"
    ):
        set_state(elastic, {"4.total": torch.zeros(1)})
    with pytest.raises(ValueError, match=r"frames must have shape \(time, streams, ...\) and hold .*; got \(3, 4\)"):
        track(elastic, torch.ones(3, 4))
    with pytest.raises(ValueError, match=r"it is in training mode, call model.eval\(\) first"):
        track(copy.deepcopy(elastic).train(), a_stream())
    wide = elasticize(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), Springs(posterior_from="output"), layers="0")
    with pytest.raises(ValueError, match=r"the output of the model must have shape \(1, 3\), .*; got \(1, 2\)"):
        wide(torch.ones(1, 4))
    pair = elasticize(Pair(), Springs(posterior_from="output"))
    with pytest.raises(TypeError, match=r"must return a tensor, .*; got tuple with tensors at \[0\], \[1\]"):
        pair(torch.ones(1, 4))


class Pair(nn.Module):
    """A network that returns two tensors, and what its layer gives is neither of them."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x).relu(), x


@pytest.mark.parametrize("posterior_from", ["layer", "output"])
def test_following_a_recorded_stream_leaves_the_state_as_it_was(posterior_from):
    elastic, frames = elasticize(a_network(), Springs(pull=5.0, posterior_from=posterior_from)), a_stream()
    fresh = track(elastic, frames)
    assert get_state(elastic) == {}
    assert torch.equal(track(elastic, frames), fresh)
    shown = torch.stack([step(elastic, frame) for frame in frames[:4]])
    torch.testing.assert_close(shown, fresh[:4])
    before = get_state(elastic)
    torch.testing.assert_close(track(elastic, frames[4:]), fresh[4:])
    assert all(torch.equal(before[name], part) for name, part in get_state(elastic).items())
    with pytest.raises(ValueError, match="must have 2 rows"):
        track(elastic, frames[:, :1])
    assert all(torch.equal(before[name], part) for name, part in get_state(elastic).items())


def test_silence_passes_for_the_streams_that_are_named():
    elastic, frames = elasticize(a_network(), Springs(pull=5.0, memory=2.0)), a_stream()
    track(elastic, frames, in_place=True)
    before = get_state(elastic)["7.short_term"]
    after = get_state(relax(elastic, elapsed=4.0, streams=[1]))["7.short_term"]
    assert torch.equal(after[0], before[0])
    torch.testing.assert_close(after[1], before[1] * math.exp(-2))
    with pytest.raises(ValueError, match="streams must be None if n_streams is given"):
        reset(elastic, 2, streams=[1])


@pytest.mark.parametrize("posterior_from", ["layer", "output"])
def test_the_batch_size_may_change_between_streams_but_not_within(posterior_from):
    elastic, frames = elasticize(a_network(), Springs(pull=5.0, posterior_from=posterior_from)), a_stream()
    track(elastic, frames, in_place=True)
    before = get_state(elastic)
    with pytest.raises(ValueError, match=r"must have 2 rows, one per stream, as before; got 1; call reset\(model\)"):
        track(elastic, frames[:, :1])
    assert all(torch.equal(before[name], part) for name, part in get_state(elastic).items())
    assert track(reset(elastic), frames[:, :1]).shape == (9, 1, 5)


def test_time_stamps_after_a_direct_call_are_refused_in_one_sentence():
    model = elasticize(nn.Linear(4, 3), Springs(pull=2.0, memory=2.0))
    step(model, torch.ones(1, 4), time=1.0)
    model(torch.ones(1, 4))
    with pytest.raises(ValueError, match="time must be None after the model was called directly"):
        step(model, torch.ones(1, 4), time=5.0)
    step(model, torch.ones(1, 4))
    with pytest.raises(ValueError, match="times must be None after"):
        track(model, torch.ones(2, 1, 4), [5.0, 6.0])
    assert step(reset(model), torch.ones(1, 4), time=5.0).shape == (1, 3)


def test_a_gap_of_any_length_relaxes_by_that_much():
    torch.manual_seed(0)
    model, frames = elasticize(nn.Linear(4, 3), Springs(pull=2.0, memory=2.0, memory_in="time")), torch.rand(2, 1, 4)
    for gap in (0.25, 1.0, 3.5):
        reset(model)
        step(model, frames[0], time=10.0)
        pulled = get_state(model)[".short_term"]
        out = step(model, frames[1], time=10.0 + gap)
        unit = frames[1, 0] / frames[1, 0].norm()
        expected = frames[1, 0] @ model.weight.T + model.bias + math.exp(-gap / 2.0) * pulled[0] @ unit
        torch.testing.assert_close(out[0], expected.detach(), rtol=1e-5, atol=1e-6)


def test_tracking_with_time_stamps_leaves_the_clock_and_the_state_alone():
    torch.manual_seed(0)
    model, frames = elasticize(nn.Linear(4, 3), Springs(pull=2.0, memory=2.0)), torch.rand(5, 2, 4)
    step(model, frames[0], time=3.0)
    times = [4.0, 6.0, 6.5, 7.5]
    first = track(model, frames[1:], times)
    torch.testing.assert_close(track(model, frames[1:], times), first)
    stepped = torch.stack([step(model, frame, time) for frame, time in zip(frames[1:], times, strict=True)])
    torch.testing.assert_close(stepped, first)
    with pytest.raises(ValueError, match=r"time must be >= 7\.5"):
        step(model, frames[0], time=7.0)


def test_a_refused_frame_with_a_time_stamp_moves_neither_state_nor_clock():
    torch.manual_seed(0)
    model, frames = elasticize(nn.Linear(4, 3), Springs(pull=2.0, memory=2.0)), torch.rand(2, 1, 4)
    step(model, frames[0], time=1.0)
    before = get_state(model)
    with pytest.raises(ValueError, match="must have 1 rows"):
        step(model, torch.ones(2, 4), time=9.0)
    for name, part in get_state(model).items():
        torch.testing.assert_close(part, before[name], rtol=0, atol=0)
    step(model, frames[1], time=2.0)


@pytest.mark.parametrize("settings", [Springs(memory=1e-3), Observer(memory=1e-3)])
def test_a_memory_that_is_gone_at_once_takes_frames_of_any_distance(settings):
    model = elasticize(nn.Linear(4, 3), settings)
    for time in (1.0, 1.5, 1.5, 3.0):
        assert step(model, torch.ones(1, 4), time=time).isfinite().all()
