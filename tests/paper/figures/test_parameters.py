"""Sweeps of c, pull and intensity on a few digits."""

from dataclasses import replace

import numpy as np
import pytest

from springback.data import load_mnist
from springback.files.container import read, write
from springback.spiking.evaluation import follow_video
from springback.spiking.fitting import label_model
from springback_paper.figures.parameters import ParameterSweeps, draw_video, over_seeds, run
from tests.paper.figures.small_circuit import PRESET, small_model

SMALL = ParameterSweeps(
    weight_dependence=(-0.165, 1.0), pull=(0.129, 0.5), intensity=(3.35, 5.0), n_digits=6, first_digit=5000,
    n_labelling=500,
)  # fmt: skip


@pytest.fixture(scope="module")
def train():
    return load_mnist("train")[:5200]


@pytest.fixture(scope="module")
def result(train):
    return run(SMALL, small_model(), train, seeds=(3, 4))


def test_a_point_is_the_video_streamed_with_one_parameter_changed(result, train):
    labelled = label_model(small_model(), train[:500])
    for name, short_term, presentation in (
        ("weight_dependence", replace(PRESET.short_term, weight_dependence=1.0), PRESET.streaming),
        ("pull", replace(PRESET.short_term, pull=0.5), PRESET.streaming),
        ("intensity", PRESET.short_term, replace(PRESET.streaming, intensity=5.0)),
    ):
        value = {"weight_dependence": 1.0, "pull": 0.5, "intensity": 5.0}[name]
        row = [*zip(result.parameters, result.values.tolist(), strict=True)].index((name, value))
        right = []
        for seed in (3, 4):
            video = draw_video(train[5000:], 6, seed)
            predicted = follow_video(labelled.streaming_as(presentation, short_term), video, seed=seed).predicted
            right.append(np.mean(predicted == video.labels))
        assert result.mean[row, 0] == pytest.approx(np.mean(right))
        assert result.std[row, 0] == pytest.approx(np.std(right, ddof=1))


def test_the_preset_gives_the_same_in_every_sweep(result):
    at = [
        row
        for row, (name, value) in enumerate(zip(result.parameters, result.values, strict=True))
        if value == result.at_preset[name]
    ]
    assert len(at) == 3
    np.testing.assert_array_equal(result.mean[at], result.mean[[at[0]] * 3])
    assert len(np.unique(result.mean[:, 0])) > 2


def test_the_same_seeds_give_the_same_bits_and_the_record_survives_the_disk(result, train, tmp_path):
    again = run(SMALL, small_model(), train, seeds=(3, 4))
    np.testing.assert_array_equal(again.mean, result.mean)
    write(tmp_path / "sweeps", "result", result)
    kept = read(tmp_path / "sweeps", "result", type(result))
    np.testing.assert_array_equal(kept.mean, result.mean)
    assert (kept.groups, kept.at_preset, kept.seeds) == (result.groups, result.at_preset, result.seeds)


def test_digits_of_a_video_are_drawn_without_repetition_and_by_the_seed(train):
    one, same, other = (draw_video(train, 50, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.frames, same.frames)
    pictures = one.frames[np.unique(one.digit, return_index=True)[1][1:]]
    assert len(np.unique(pictures.reshape(50, -1), axis=0)) == 50
    assert one.labels.tolist() != other.labels.tolist()


def test_a_single_seed_has_no_spread():
    groups, mean, std = over_seeds([[{"all": 0.8, "noise": 0.9}]])
    assert groups == ("all", "noise")
    assert mean.tolist() == [[0.8, 0.9]]
    assert np.isnan(std).all()


def test_digits_that_label_neurons_cannot_be_in_a_video():
    with pytest.raises(ValueError, match=r"ParameterSweeps\.n_labelling must be <= 100; got 101"):
        ParameterSweeps(first_digit=100, n_labelling=101)
    with pytest.raises(ValueError, match=r"ParameterSweeps\.pull must have at least one value"):
        ParameterSweeps(pull=())
