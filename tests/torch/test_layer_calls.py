"""A layer that the forward pass never calls is not taken for the head, and does not stay at rest unnoticed."""

import pytest

import torch
from springback.torch import ElasticLinear, Springs, deelasticize, elasticize, find_head, step, track, tune_elastic
from torch import nn


class WithAuxiliaryHead(nn.Module):
    """Its last linear layer is for training only."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.last = nn.Linear(5, 4)
        self.auxiliary = nn.Linear(5, 4)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.last(hidden) + self.auxiliary(hidden) if self.training else self.last(hidden)


class Tokens(nn.Module):
    """A head first, then a transformer that in evaluation mode does not call its own linear layers."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 8)
        block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, 1, enable_nested_tensor=False)

    def forward(self, x):
        return self.encoder(self.embed(x).unsqueeze(1)).squeeze(1)


def built(kind):
    torch.manual_seed(0)
    return kind().eval()


def some_frames():
    return torch.randn(4, 2, 6, generator=torch.Generator().manual_seed(1))


def test_an_example_tells_which_layer_gives_the_output():
    model = built(WithAuxiliaryHead)
    assert find_head(model) == "auxiliary"
    assert find_head(model, some_frames()[0]) == "last"
    elastic = elasticize(model, Springs(pull=5.0), example=some_frames()[0])
    assert isinstance(elastic.get_submodule("last"), ElasticLinear)
    assert track(elastic, some_frames()).shape[:2] == (4, 2)


def test_a_model_that_no_layer_gives_the_output_of_is_refused_with_the_candidates():
    model = built(Tokens)
    with pytest.raises(ValueError, match=r"on an input \(2, 6\) calls 'embed' \(2, 8\); name the layer .* layers="):
        find_head(model, some_frames()[0])
    named = elasticize(model, Springs(pull=5.0), layers="embed")
    assert track(named, some_frames()).shape == (4, 2, 8)


@pytest.mark.parametrize(("kind", "unused"), [(WithAuxiliaryHead, "auxiliary"), (Tokens, "encoder.layers.0.linear2")])
def test_a_forward_pass_that_leaves_out_the_elastic_layer_is_refused(kind, unused):
    elastic = elasticize(built(kind))
    sentence = rf"did not call its elastic layer '{unused}', so nothing would adapt; .* other linear layers are '"
    with torch.no_grad(), pytest.raises(RuntimeError, match=sentence):
        elastic(some_frames()[0])
    with pytest.raises(RuntimeError, match=sentence):
        track(elastic, some_frames())


def test_a_layer_put_in_by_hand_is_watched_while_following():
    model = built(WithAuxiliaryHead)
    model.auxiliary = ElasticLinear(5, 4)
    with pytest.raises(RuntimeError, match="did not call its elastic layer 'auxiliary'"):
        track(model.eval(), some_frames())


def test_training_may_use_other_layers():
    elastic = elasticize(built(WithAuxiliaryHead), layers="last").train()
    assert elastic(some_frames()[0]).shape == (2, 4)


def test_tuning_finds_the_head_by_use_and_refuses_another():
    model, frames = built(WithAuxiliaryHead), some_frames()
    labels = torch.zeros(4, 2, dtype=torch.int64)
    found, named = (tune_elastic(model, frames, labels, n_trials=1, layer=layer) for layer in (None, "last"))
    assert found.layer == named.layer == "last"
    assert found.trials == named.trials
    with pytest.raises(RuntimeError, match="did not call its elastic layer 'auxiliary'"):
        tune_elastic(model, frames, labels, layer="auxiliary")
    with pytest.raises(ValueError, match=r"layer must name a linear layer of the model; got 'tail'"):
        tune_elastic(model, frames, labels, layer="tail")


def test_looking_for_the_head_leaves_the_model_as_it_was():
    model = built(WithAuxiliaryHead).train()
    before = {name: set(vars(module)) for name, module in model.named_modules()}
    find_head(model, some_frames()[0])
    assert {name: set(vars(module)) for name, module in model.named_modules()} == before
    assert model.training
    elastic = elasticize(model, layers="last")
    elastic(some_frames()[0])
    state = elastic.last.get_state()
    assert find_head(elastic, some_frames()[1]) == "last"
    assert all(torch.equal(state[name], part) for name, part in elastic.last.get_state().items())


def test_nothing_watches_a_model_that_is_plain_again():
    back = deelasticize(elasticize(built(WithAuxiliaryHead)))
    assert not back._forward_hooks
    assert not back._forward_pre_hooks
    assert back(some_frames()[0]).shape == (2, 4)


class Rectified(nn.Sequential):
    """Its output is not what its layer gives: negative logits are lost."""

    def __init__(self):
        super().__init__(nn.Linear(6, 4), nn.ReLU())


class Twice(nn.Module):
    """It calls its head twice for each frame."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        return self.head(x) + 0 * self.head(-x)


@pytest.mark.parametrize(("kind", "seen"), [(Rectified, r"'0' \(2, 4\);"), (Twice, r"'head' \(2, 4\) \(2 times\);")])
def test_a_layer_that_does_not_give_the_output_is_not_taken_for_the_head(kind, seen):
    with pytest.raises(ValueError, match=rf"must return what one of its layers gives, .* calls {seen}"):
        elasticize(built(kind), example=some_frames()[0])


def test_without_an_example_the_first_frame_shows_that_the_head_gives_the_output():
    elastic = elasticize(built(Rectified), Springs())
    with pytest.raises(RuntimeError, match=r"is not what its elastic layer '0' gives, .* name a layer"):
        step(elastic, some_frames()[0])
    assert step(elasticize(built(Rectified), Springs(), layers="0"), some_frames()[0]).shape == (2, 4)


class EarlyExit(nn.Module):
    """It answers bright frames before its last layer."""

    def __init__(self):
        super().__init__()
        self.early = nn.Linear(6, 4)
        self.last = nn.Linear(6, 4)

    def forward(self, x):
        return self.early(x) if x.mean() > 1 else self.last(x)


@pytest.mark.parametrize("training", [False, True])
def test_a_pass_that_leaves_out_the_layer_is_refused_after_passes_that_used_it(training):
    elastic, frame = elasticize(built(EarlyExit), Springs(), layers="last"), some_frames()[0]
    with torch.inference_mode():
        for _ in range(3):
            elastic(frame)
        elastic.train(training)(frame)
        with pytest.raises(RuntimeError, match="did not call its elastic layer 'last'"):
            elastic.eval()(frame + 10)
        assert elastic(frame).shape == (2, 4)
