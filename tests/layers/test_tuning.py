"""Choosing pull and memory with labels and without."""

import copy
import sys

import pytest
import torch
from torch import nn

from springback.layers import Springs, elasticize, track, tune_elastic
from tests.layers.toy import occluded_world


def accuracy(model, frames, labels):
    return float((track(model, frames).argmax(-1) == labels).double().mean())


@pytest.mark.parametrize("search", ["seeded", "optuna"])
@pytest.mark.parametrize("labelled", [True, False])
def test_tuned_springs_beat_the_plain_model_on_another_stream(labelled, search):
    if search == "optuna":
        pytest.importorskip("optuna")
    model, frames, labels = occluded_world(seed=0)
    tuned = tune_elastic(
        model, frames, labels if labelled else None, springs=Springs(pull=1.0), n_trials=15, search=search
    )
    assert tuned.criterion == ("accuracy" if labelled else "agreement")
    assert len(tuned.trials) == 15
    _, unseen, truth = occluded_world(seed=1)
    static = float((model(unseen.flatten(0, 1)).argmax(-1) == truth.flatten()).double().mean())
    elastic = accuracy(elasticize(model, tuned.springs), unseen, truth)
    assert static < 0.85
    assert elastic > static + 0.08


def test_the_score_with_labels_is_the_accuracy_of_the_tracked_stream():
    model, frames, labels = occluded_world(seed=0)
    tuned = tune_elastic(model, frames, labels, n_trials=6, seed=3)
    assert tuned.score == pytest.approx(accuracy(elasticize(model, tuned.springs), frames, labels), abs=0.002)
    assert tuned.score == max(trial.score for trial in tuned.trials)


def test_unknown_labels_are_left_out():
    model, frames, labels = occluded_world(seed=0)
    half = labels.clone()
    half[::2] = -1
    tuned = tune_elastic(model, frames, half, springs=Springs(pull=2.0), n_trials=1)
    rest = model(frames.flatten(0, 1)).argmax(-1).unflatten(0, labels.shape)
    assert tuned.score_at_rest == pytest.approx(float((rest == labels)[1::2].double().mean()))


@pytest.mark.parametrize("search", ["seeded", "optuna"])
def test_the_same_seed_gives_the_same_trials(search):
    if search == "optuna":
        pytest.importorskip("optuna")
    model, frames, labels = occluded_world(seed=0)
    runs = [tune_elastic(model, frames[:40], labels[:40], n_trials=28, seed=s, search=search) for s in (5, 5, 6)]
    assert runs[0] == runs[1]
    assert runs[0].trials != runs[2].trials


def test_tuning_leaves_the_model_as_it_was_elastic_or_not():
    model, frames, _ = occluded_world(seed=0)
    elastic = elasticize(model)
    track(elastic, frames[:3], in_place=True)
    before = {name: value.clone() for name, value in elastic[-1].get_state().items()}
    tune_elastic(elastic, frames, n_trials=2)
    assert all(torch.equal(before[name], value) for name, value in elastic[-1].get_state().items())


def test_without_labels_the_score_is_the_agreement_with_the_last_sure_answer():
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = torch.eye(2)
    logits = [[0.0, 0.1], [3.0, 0.0], [0.0, 0.5], [0.0, 3.0], [0.0, 0.2]]
    frames = torch.tensor(logits).unsqueeze(1)
    careful = [0, 0, 1, 1]
    tuned = tune_elastic(model, frames, springs=Springs(pull=1e-9), n_trials=1, confidences=(0.9,))
    rest = [0, 1, 1, 1]
    shares = [
        sum(r == c for r, c in zip(rest, careful, strict=True) if c == kind) / careful.count(kind) for kind in (0, 1)
    ]
    assert tuned.score_at_rest == pytest.approx(sum(shares) / 2)
    assert tuned.score == tuned.score_at_rest == 0.75


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0, 25.0])
@pytest.mark.parametrize("unit_inputs", [True, False])
def test_a_few_trials_are_enough_whatever_the_scale_of_the_logits(scale, unit_inputs):
    model, frames, labels = occluded_world(seed=0)
    scaled = copy.deepcopy(model)
    scaled[-1].weight *= scale
    scaled[-1].bias *= scale
    tuned = tune_elastic(scaled, frames, labels, springs=Springs(unit_inputs=unit_inputs), n_trials=8)
    assert tuned.score > tuned.score_at_rest + 0.08
    _, unseen, truth = occluded_world(seed=1)
    assert accuracy(elasticize(scaled, tuned.springs), unseen, truth) > accuracy(model, unseen, truth) + 0.08


@pytest.mark.parametrize("given", [Springs(), Springs(beta=1.0), Springs(likelihood="exponential", kappa=20.0)])
def test_where_nothing_helps_the_springs_are_those_of_the_plain_model(given):
    model, frames, labels = occluded_world(seed=0)
    order = torch.randperm(labels.numel(), generator=torch.Generator().manual_seed(3))
    frames, labels = frames.flatten(0, 1)[order].unsqueeze(1), labels.flatten()[order].unsqueeze(1)
    whole = frames[:, 0, :16].amax(dim=-1) > 0.7
    frames, labels = frames[whole], labels[whole]
    tuned = tune_elastic(model, frames, labels, springs=given, n_trials=8)
    assert max(trial.score for trial in tuned.trials) <= tuned.score_at_rest
    assert tuned.score == tuned.score_at_rest
    assert tuned.springs.never_move
    assert torch.equal(track(elasticize(model, tuned.springs), frames), track(model, frames))


def test_the_grid_is_tried_in_the_same_order_whatever_the_seed():
    model, frames, labels = occluded_world(seed=0)
    runs = [tune_elastic(model, frames[:20], labels[:20], n_trials=25, seed=seed) for seed in (0, 1)]
    assert runs[0].trials == runs[1].trials


def test_mistakes_are_answered_in_one_sentence(monkeypatch):
    model, frames, labels = occluded_world(seed=0)
    with pytest.raises(ValueError, match=r"labels must have shape \(160, 4\), \(time, streams\); got \(159, 4\)"):
        tune_elastic(model, frames, labels[1:])
    with pytest.raises(
        ValueError, match=r"confidences must be reached .*; got \(0.9,\), but its largest posterior is 0"
    ):
        tune_elastic(nn.Linear(24, 4), 0 * frames, confidences=(0.9,))
    with pytest.raises(ValueError, match="labels must be below 4, the outputs of the layer; got 7"):
        tune_elastic(model, frames, labels + 7 - labels.max())
    with pytest.raises(TypeError, match=r"labels must be whole numbers, negative where unknown; got torch.float32"):
        tune_elastic(model, frames, labels.float())
    with pytest.raises(ValueError, match=r"labels must be known \(not negative\) for some frames; leave them out"):
        tune_elastic(model, frames, labels * 0 - 1)
    flat = nn.Linear(24, 4)
    nn.init.zeros_(flat.weight)
    nn.init.zeros_(flat.bias)
    with pytest.raises(ValueError, match="frames must give the plain model outputs that differ between classes"):
        tune_elastic(flat, frames, labels)
    with pytest.raises(ValueError, match="frames must have shape"):
        tune_elastic(model, frames[:, 0])
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match='search="optuna" needs optuna'):
        tune_elastic(model, frames, search="optuna")
