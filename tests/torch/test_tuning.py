"""Choosing how the head of a model remembers, with labels and without."""

import copy
import dataclasses

import numpy as np
import pytest

import torch
from springback.heads import TuningResult, tune_head
from springback.torch import ElasticLinear, elasticize, find_head, track, tune_elastic
from tests.torch.toy import occluded_world
from torch import nn


def accuracy(model, frames, labels):
    return float((track(model, frames).argmax(-1) == labels).double().mean())


@pytest.mark.parametrize("labelled", [True, False])
def test_a_tuned_head_beats_the_plain_model_on_another_stream(labelled):
    model, frames, labels = occluded_world(seed=0)
    tuned = tune_elastic(model, frames, labels if labelled else None, n_trials=12)
    assert tuned.criterion == ("accuracy" if labelled else "agreement")
    assert len(tuned.trials) == 48
    _, unseen, truth = occluded_world(seed=1)
    static = accuracy(model, unseen, truth)
    assert static < 0.85
    assert accuracy(tuned.elasticize(model), unseen, truth) > static + 0.08


def test_the_search_is_that_of_heads_on_the_features_of_each_stream():
    model, frames, labels = occluded_world(seed=0)
    tuned = tune_elastic(model, frames, labels, n_trials=4, seed=2, variants=["springs", "observer"])
    features = model[:-1](frames).numpy()
    streams, wanted = list(features.transpose(1, 0, 2)), list(labels.numpy().T)
    weight, bias = model[-1].weight.numpy(), model[-1].bias.numpy()
    found = tune_head(weight, bias, streams, wanted, n_trials=4, seed=2, variants=["springs", "observer"])
    assert tuned.trials == found.trials
    for field in dataclasses.fields(TuningResult)[:-1]:  # all but the name of the layer
        np.testing.assert_equal(getattr(tuned, field.name), getattr(found, field.name))
    assert tuned.variant == found.variant
    assert tuned.layer == find_head(model)


@pytest.mark.parametrize("variant", ["springs", "classes", "observer", "learning"])
def test_the_score_with_labels_is_the_accuracy_of_the_tracked_stream(variant):
    model, frames, labels = occluded_world(seed=0)
    tuned = tune_elastic(model, frames, labels, n_trials=6, seed=3, variants=[variant])
    assert tuned.variant == variant
    assert tuned.score == pytest.approx(accuracy(tuned.elasticize(model), frames, labels), abs=0.004)
    assert tuned.score == max(trial.score for trial in tuned.trials)


def test_all_that_was_found_is_applied_to_the_layer_that_was_tuned():
    model, frames, labels = occluded_world(seed=0)
    mean = torch.linspace(0, 1, 32)
    tuned = tune_elastic(model, frames, labels, n_trials=8, variants=["observer"], centre=mean)
    centred = dataclasses.replace(tuned, centre=mean.numpy())
    head = centred.elasticize(model)[-1]
    assert isinstance(head, ElasticLinear)
    assert head.settings == tuned.settings
    assert head.scale == tuned.scale
    assert torch.equal(head.centre, mean)
    assert tuned.centre is None or np.array_equal(tuned.centre, mean.numpy())
    assert type(model[-1]) is nn.Linear
    own = copy.deepcopy(model)
    assert tuned.elasticize(own, copy=False) is own


def test_unknown_labels_are_left_out():
    model, frames, labels = occluded_world(seed=0)
    half = labels.clone()
    half[::2] = -1
    tuned = tune_elastic(model, frames, half, n_trials=1)
    rest = model(frames.flatten(0, 1)).argmax(-1).unflatten(0, labels.shape)
    assert tuned.score_at_rest == pytest.approx(float((rest == labels)[1::2].double().mean()))


def test_every_trial_is_told():
    model, frames, labels = occluded_world(seed=0)
    seen = []
    tuned = tune_elastic(model, frames[:20], labels[:20], n_trials=2, on_trial=seen.append)
    assert tuple(seen) == tuned.trials


def test_tuning_leaves_the_model_as_it_was_elastic_or_not():
    model, frames, _ = occluded_world(seed=0)
    elastic = elasticize(model)
    track(elastic, frames[:3], in_place=True)
    before = {name: value.clone() for name, value in elastic[-1].get_state().items()}
    tune_elastic(elastic, frames, n_trials=2)
    assert all(torch.equal(before[name], value) for name, value in elastic[-1].get_state().items())


@pytest.mark.parametrize("scale", [0.2, 25.0])
def test_a_few_trials_are_enough_whatever_the_scale_of_the_logits(scale):
    model, frames, labels = occluded_world(seed=0)
    scaled = copy.deepcopy(model)
    scaled[-1].weight *= scale
    scaled[-1].bias *= scale
    tuned = tune_elastic(scaled, frames, labels, n_trials=8)
    assert tuned.score > tuned.score_at_rest + 0.08
    _, unseen, truth = occluded_world(seed=1)
    assert accuracy(tuned.elasticize(scaled), unseen, truth) > accuracy(model, unseen, truth) + 0.08


def test_where_nothing_helps_the_answers_are_those_of_the_plain_model_bit_for_bit():
    model, frames, labels = occluded_world(seed=0)
    order = torch.randperm(labels.numel(), generator=torch.Generator().manual_seed(3))
    frames = frames.flatten(0, 1)[order].unsqueeze(1)
    tuned = tune_elastic(model, frames, n_trials=4)
    assert tuned.settings is None
    assert tuned.variant == "frozen"
    assert tuned.score == tuned.score_at_rest
    assert torch.equal(track(tuned.elasticize(model), frames), track(model, frames))


def test_a_head_without_biases_in_half_precision_can_be_tuned():
    torch.manual_seed(0)
    model = nn.Linear(6, 3, bias=False, dtype=torch.bfloat16)
    frames = torch.randn(12, 2, 6, dtype=torch.bfloat16)
    tuned = tune_elastic(model, frames, torch.zeros(12, 2, dtype=torch.int64), n_trials=2)
    assert track(tuned.elasticize(model), frames).dtype == torch.bfloat16


def test_mistakes_are_answered_in_one_sentence():
    model, frames, labels = occluded_world(seed=0)
    with pytest.raises(ValueError, match=r"labels must have shape \(160, 4\), \(time, streams\); got \(159, 4\)"):
        tune_elastic(model, frames, labels[1:])
    with pytest.raises(ValueError, match="labels must be below 4, the classes of the head; got 7"):
        tune_elastic(model, frames, labels + 7 - labels.max())
    with pytest.raises(TypeError, match=r"labels must be whole numbers, negative where unknown; got torch.float32"):
        tune_elastic(model, frames, labels.float())
    with pytest.raises(ValueError, match="labels must be known for some frames"):
        tune_elastic(model, frames, labels * 0 - 1)
    flat = nn.Linear(24, 4)
    nn.init.zeros_(flat.weight)
    nn.init.zeros_(flat.bias)
    with pytest.raises(ValueError, match="frames must give the frozen model outputs that differ between classes"):
        tune_elastic(flat, frames, labels)
    with pytest.raises(ValueError, match=r"frames must give layer '2' finite inputs; got .?NaN or infinity"):
        tune_elastic(model, frames / 0, labels)
    with pytest.raises(ValueError, match="frames must have shape"):
        tune_elastic(model, frames[:, 0])
    with pytest.raises(ValueError, match=r"centre must have shape \(32,\), one number per feature; got \(3,\)"):
        tune_elastic(model, frames, centre=torch.zeros(3))
    with pytest.raises(
        ValueError, match="variants must be one of 'springs', 'classes', 'observer', 'learning'; got 'best'"
    ):
        tune_elastic(model, frames, variants=["best"])
    with pytest.raises(ValueError, match="n_trials must be >= 1; got 0"):
        tune_elastic(model, frames, n_trials=0)
