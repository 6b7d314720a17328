"""Models of every form: what they return, how their head computes, and how many rows it has."""

import copy
from collections import OrderedDict
from types import SimpleNamespace

import pytest
from torch.nn.utils import parametrizations, weight_norm

import torch
from springback.torch import (
    ElasticConv1d,
    ElasticConv2d,
    ElasticConv3d,
    ElasticLayer,
    Observer,
    Springs,
    algorithm,
    deelasticize,
    elastic_layers,
    elasticize,
    find_head,
    get_state,
    reset,
    set_state,
    step,
    track,
    tune_elastic,
)
from torch import nn

BOTH = pytest.mark.parametrize(
    "settings", [Observer(depth=6), Springs(pull=5.0, memory=2.0)], ids=["observer", "springs"]
)


def a_stream(*shape, steps=7, streams=2, seed=1):
    return torch.randn(steps, streams, *shape, generator=torch.Generator().manual_seed(seed))


def by_hand(head, settings, features):
    """What the pure functions answer to the features (T, rows, n) of a head."""
    weight, bias = head.weight.detach().flatten(1), head.bias.detach()
    state = algorithm.init(settings, weight, features.shape[1])
    return algorithm.track(settings, weight, bias, state, features)[1].output


class Returning(nn.Module):
    """A network that returns its answer in some form, together with its features."""

    def __init__(self, form):
        super().__init__()
        self.body, self.head, self.form = nn.Linear(6, 5), nn.Linear(5, 4), form

    def forward(self, x):
        features = self.body(x).tanh()
        return self.form(features, self.head(features))


FORMS = {
    "tensor": lambda _, answer: answer,
    "soft-max": lambda _, answer: answer.softmax(dim=-1),
    "log-soft-max": lambda _, answer: answer.log_softmax(dim=-1),
    "temperature": lambda _, answer: answer / 3,
    "pair": lambda features, answer: (answer, features),
    "answer last": lambda features, answer: (features, answer),
    "list": lambda features, answer: [None, features, answer],
    "dict": lambda features, answer: {"features": features, "out": answer},
    "dict of logits": lambda features, answer: OrderedDict(loss=features.sum(), logits=answer, hidden=(features,)),
    "object": lambda features, answer: SimpleNamespace(logits=answer, hidden=features),
    "nested": lambda features, answer: (features, {"heads": [answer]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_answer_is_found_in_whatever_the_model_returns(form):
    torch.manual_seed(0)
    model, frames, settings = Returning(FORMS[form]).eval(), a_stream(6), Springs(pull=5.0, memory=2.0)
    with torch.no_grad():
        wanted = FORMS["tensor"](None, by_hand(model.head, settings, model.body(frames).tanh()))
    if form in ("soft-max", "log-soft-max", "temperature"):
        wanted = FORMS[form](None, wanted)
    elastic = elasticize(model, settings)
    torch.testing.assert_close(track(elastic, frames), wanted)
    torch.testing.assert_close(torch.stack([step(elastic, frame) for frame in frames]), wanted)
    assert type(elastic(frames[0])) is type(model(frames[0]))
    assert find_head(model, frames[0]) == "head"


@pytest.mark.parametrize("form", ["answer last", "dict"])
def test_the_output_pulls_wherever_it_is(form):
    torch.manual_seed(0)
    model, frames = Returning(FORMS[form]).eval(), a_stream(6)
    springs = Springs(pull=5.0, memory=2.0, continuity=0.0)
    by_output = elasticize(model, Springs(pull=5.0, memory=2.0, continuity=0.0, posterior_from="output"))
    torch.testing.assert_close(track(by_output, frames), track(elasticize(model, springs), frames))


@BOTH
@pytest.mark.parametrize(
    ("kind", "wanted", "shape"),
    [(nn.Conv1d, ElasticConv1d, (5,)), (nn.Conv2d, ElasticConv2d, (3, 2)), (nn.Conv3d, ElasticConv3d, (2, 1, 3))],
)
def test_a_convolution_of_one_pixel_remembers_at_every_position(kind, wanted, shape, settings):
    torch.manual_seed(0)
    model = nn.Sequential(kind(6, 5, 1), nn.Tanh(), kind(5, 4, 1)).eval()
    frames = a_stream(6, *shape)
    elastic = elasticize(model, settings, example=frames[0])
    assert list(elastic_layers(elastic)) == ["2"]
    assert type(elastic[2]) is wanted
    with torch.no_grad():
        features = torch.stack([model[:2](frame).movedim(1, -1).flatten(0, -2) for frame in frames])
    rows = by_hand(model[2], settings, features)
    hand = rows.reshape(7, 2, *shape, 4).movedim(-1, 2)
    torch.testing.assert_close(track(elastic, frames), hand)
    torch.testing.assert_close(torch.stack([step(elastic, frame) for frame in frames]), hand)
    assert elastic[2].n_streams == 2
    assert type(deelasticize(elastic)[2]) is kind
    with torch.no_grad():
        assert torch.equal(deelasticize(elastic)(frames[0]), model(frames[0]))


def test_other_convolutions_are_not_taken_for_linear_layers():
    for other in (
        nn.Conv2d(4, 4, 3),
        nn.Conv2d(4, 4, 1, stride=2),
        nn.Conv2d(4, 4, 1, groups=2),
        nn.Conv2d(4, 4, 1, padding=1),
    ):
        with pytest.raises(TypeError, match=r"from an nn.Conv2d with a kernel of one pixel, .*; got Conv2d"):
            ElasticConv2d.convert(other)
    with pytest.raises(ValueError, match=r"must have shape \(streams, 4, positions, positions\); got \(4, 2, 2\)"):
        ElasticConv2d.convert(nn.Conv2d(4, 3, 1)).eval()(torch.ones(4, 2, 2))


@BOTH
def test_every_token_remembers_for_itself(settings):
    torch.manual_seed(0)
    model, frames = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4)).eval(), a_stream(3, 6)
    elastic = elasticize(model, settings)
    with torch.no_grad():
        hand = by_hand(model[2], settings, model[:2](frames).flatten(1, 2)).reshape(7, 2, 3, 4)
    torch.testing.assert_close(track(elastic, frames), hand)
    for frame in frames[:3]:
        step(elastic, frame)
    state = get_state(elastic)
    assert elastic[2].n_streams == 2
    torch.testing.assert_close(track(elastic, frames[3:]), hand[3:])
    other = set_state(elasticize(model, settings), state)
    torch.testing.assert_close(track(other, frames[3:]), hand[3:])
    fresh = track(elasticize(model, settings), frames[3:])
    reset(elastic, streams=[1])
    torch.testing.assert_close(track(elastic, frames[3:])[:, 0], hand[3:, 0])
    torch.testing.assert_close(track(elastic, frames[3:])[:, 1], fresh[:, 1])
    with pytest.raises(ValueError, match=r"must have 6 rows, one per stream, as before; got 4"):
        step(elastic, frames[0, :, :2])
    with pytest.raises(ValueError, match=r"must have 6 rows"):
        step(elastic, frames[0].reshape(3, 2, 6))


def test_streams_may_be_begun_before_it_is_known_how_many_rows_they_have():
    torch.manual_seed(0)
    model, frames = nn.Linear(6, 4), a_stream(3, 6)
    elastic = reset(elasticize(model, Springs(pull=5.0)), 2)
    torch.testing.assert_close(track(elastic, frames), track(elasticize(model, Springs(pull=5.0)), frames))
    step(elastic, frames[0])
    assert elastic.n_streams == 2
    with pytest.raises(ValueError, match="must have 6 rows"):
        step(reset(elastic, 2), frames[0, :1])


NORMS = {
    "weight_norm": weight_norm,
    "parametrizations.weight_norm": parametrizations.weight_norm,
    "parametrizations.spectral_norm": parametrizations.spectral_norm,
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated:FutureWarning")
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("pixel", [False, True])
def test_normalised_weights_stay_normalised(norm, pixel):
    torch.manual_seed(0)
    head = NORMS[norm](nn.Conv2d(5, 4, 1) if pixel else nn.Linear(5, 4))
    model = nn.Sequential(nn.Conv2d(6, 5, 1), nn.Tanh(), *([] if pixel else [nn.Flatten()]), head).eval()
    frames, settings = a_stream(6, 1, 1), Springs(pull=5.0, memory=2.0)
    with torch.no_grad():
        plain = torch.stack([model(frame) for frame in frames])
        features = torch.stack([model[:2](frame).flatten(1) for frame in frames])
    elastic = elasticize(model, settings)
    (name, layer), *_ = elastic_layers(elastic).items()
    assert isinstance(layer, ElasticLayer)
    hand = by_hand(head, settings, features)
    torch.testing.assert_close(track(elastic, frames).flatten(2), hand)
    assert list(elastic.state_dict()) == list(model.state_dict())
    back = deelasticize(elastic)
    assert type(back.get_submodule(name)) is type(head)
    with torch.no_grad():
        assert torch.equal(torch.stack([back(frame) for frame in frames]), plain)
        for part in model.parameters():
            part.mul_(1.5)
        elastic.load_state_dict(model.state_dict())
        model(frames[0])
    torch.testing.assert_close(step(elastic, frames[0]), model(frames[0]).detach())
    assert torch.equal(step(copy.deepcopy(elastic), frames[1]), step(elastic, frames[1]))


def test_a_linear_layer_that_computes_something_else_is_refused():
    class Cosine(nn.Linear):
        def forward(self, x):
            return super().forward(nn.functional.normalize(x))

    with pytest.raises(ValueError, match=r"must have an nn\.Linear layer"):
        elasticize(Cosine(4, 3))


def test_a_convolution_of_one_pixel_is_tuned():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(6, 5, 1), nn.Tanh(), nn.Conv2d(5, 4, 1), nn.Flatten()).eval()
    frames = a_stream(6, 1, 1, steps=12)
    tuned = tune_elastic(model, frames, torch.zeros(12, 2, dtype=torch.int64), n_trials=2, variants=("springs",))
    assert tuned.layer == "2"
    assert track(tuned.elasticize(model), frames).shape == (12, 2, 4)


@BOTH
@pytest.mark.parametrize("pixel", [False, True])
def test_under_autocast_the_state_stays_in_full_precision(settings, pixel):
    torch.manual_seed(0)
    parts = [nn.Conv2d(6, 5, 1), nn.Tanh(), nn.Conv2d(5, 4, 1), nn.Flatten()]
    model = nn.Sequential(*parts) if pixel else Returning(FORMS["answer last"])
    frames = a_stream(6, 1, 1) if pixel else a_stream(6)
    exact, elastic = track(elasticize(model, settings), frames), elasticize(model, settings)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        coarse = track(elastic, frames)
        stepped = torch.stack([step(elastic, frame) for frame in frames])
    assert coarse.dtype == stepped.dtype == torch.bfloat16
    assert all(part.dtype in (torch.float32, torch.int64) for part in get_state(elastic).values())
    torch.testing.assert_close(coarse.softmax(-1).float(), exact.softmax(-1), atol=0.08, rtol=0)
    torch.testing.assert_close(stepped, coarse)
