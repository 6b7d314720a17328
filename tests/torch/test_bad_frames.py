"""Frames that cannot be used are refused in one sentence, and a model can be saved and continued."""

import io

import pytest

import torch
from springback.torch import deelasticize, elasticize, get_state, reset, set_state, step, track, tune_elastic
from torch import nn


def a_model():
    torch.manual_seed(0)
    return elasticize(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3)))


def frames_of(n_frames, n_streams=2):
    return torch.rand(n_frames, n_streams, 1, 4, 4, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_frames_with_nan_are_refused_with_the_row_named_and_nothing_has_moved(bad):
    model, frames = a_model(), frames_of(4)
    step(model, frames[0])
    before = get_state(model)
    frames[2, 1, 0, 3, 3] = bad
    with pytest.raises(ValueError, match="frames must be finite everywhere; got NaN or infinity in row 2, stream 1"):
        track(model, frames, in_place=True)
    with pytest.raises(ValueError, match="x must be finite everywhere; got NaN or infinity in row 1"):
        step(model, frames[2])
    assert all(torch.equal(part, before[name]) for name, part in get_state(model).items())


def test_huge_frames_whose_sum_overflows_are_no_bad_ones():
    model = elasticize(nn.Linear(4, 3))
    assert step(model, torch.full((1, 4), 3e38)).shape == (1, 3)


def test_a_forgotten_axis_of_the_streams_is_said():
    told = r"frames must have shape \(time, streams, ...\); .*\(4, 4\) .* the axis of the streams missing"
    with pytest.raises(ValueError, match=told):
        track(a_model(), frames_of(5)[:, 0])


def test_a_model_is_saved_as_its_docs_say_and_continues_where_it_was():
    model, frames = a_model(), frames_of(6)
    for frame in frames[:3]:
        step(model, frame)
    torch.save({"weights": model.state_dict(), "memory": get_state(model)}, file := io.BytesIO())
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    torch.manual_seed(5)
    other = reset(a_model())
    other.load_state_dict(saved["weights"])
    set_state(other, saved["memory"])
    torch.testing.assert_close(track(other, frames[3:]), track(model, frames[3:]))


def test_settings_are_chosen_with_time_stamps_in_any_unit():
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = 5 * torch.eye(2)
    one = torch.tensor([[1.0, 0.0]] * 4 + [[0.95, 1.0]] * 4)  # without a pause, the second half looks like the first
    labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1]).unsqueeze(1).repeat(1, 3)

    def scores(times):
        given = one.unsqueeze(1).repeat(1, 3, 1)
        found = tune_elastic(model, given, labels, times=times, variants=["observer"], n_trials=8)
        return [trial.score for trial in found.trials]

    assert scores(torch.arange(8) / 30) == scores(None)
    assert sum(scores([0, 1, 2, 3, 500, 501, 502, 503])) > sum(scores(None))


class Named(nn.Module):
    """A network with two inputs, the second of which may hold infinities."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, mask=None):
        return self.fc(x if mask is None else x + mask.exp())


@pytest.mark.parametrize("bad", [float("nan"), float("-inf")])
@pytest.mark.parametrize("call", ["of a model", "of a layer", "by name"])
def test_a_call_of_a_model_refuses_nan_with_the_row_named_and_has_not_moved(call, bad):
    model = a_model() if call == "of a model" else elasticize(nn.Linear(4, 3) if call == "of a layer" else Named())
    shape = (3, 1, 4, 4) if call == "of a model" else (3, 4)
    frame = torch.ones(shape)
    model(x=frame) if call == "by name" else model(frame)
    before, broken = get_state(model), frame.clone()
    broken[2, ..., 1] = bad
    with pytest.raises(ValueError, match="the input must be finite everywhere; got NaN or infinity in row 2"):
        model(x=broken) if call == "by name" else model(broken)
    assert all(torch.equal(part, before[name]) for name, part in get_state(model).items())
    model(frame)
    model.train()
    assert not (model(x=broken) if call == "by name" else model(broken)).isfinite().all()


def test_only_the_frames_are_asked_to_be_finite():
    model = elasticize(Named())
    assert model(torch.ones(2, 4), mask=torch.full((2, 4), -torch.inf)).isfinite().all()


def test_a_model_that_is_not_elastic_any_more_takes_nan_as_before():
    model = deelasticize(elasticize(Named()))
    assert not model._forward_pre_hooks
    assert model(torch.full((1, 4), torch.nan)).isnan().all()
