"""Mechanisms taken away and added, on a few digits."""

from dataclasses import fields, replace

import numpy as np
import pytest

from springback.data import load_mnist
from springback.spiking.evaluation import follow_video
from springback_paper.figures.mechanisms import REFERENCE, Mechanisms, run, variants_of
from springback_paper.figures.parameters import draw_video
from tests.paper.figures.small_circuit import PRESET, small_model

CHANGED = {
    REFERENCE: set(),
    "no weight dependence": {"weight_dependence"},
    "no cap on the efficacy": {"efficacy_max"},
    "no threshold shift": {"threshold_shift_mv"},
    "no cap, no shift": {"efficacy_max", "threshold_shift_mv"},
    "intrinsic plasticity added": {"intrinsic"},
    "intrinsic plasticity alone": {"intrinsic", "pull"},
    "intrinsic plasticity, opposite sign": {"intrinsic"},
    "delay of the pull added" if PRESET.short_term.delay_ms is None else "no delay of the pull": {"delay_ms"},
    "a time constant per neuron": {"memory_ms"},
}


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")[5000:5200]


@pytest.fixture(scope="module")
def result(digits):
    return run(Mechanisms(n_digits=8), small_model(), digits, seeds=(0, 1))


def test_each_variant_changes_what_its_name_says_and_nothing_else():
    variants = variants_of(Mechanisms(), PRESET, seed=0)
    assert variants.pop("static, otherwise the same") == (PRESET.streaming, None)
    assert variants.pop("static, at its own best") == (PRESET.static, None)
    assert variants.keys() == CHANGED.keys()
    for name, (streaming, short_term) in variants.items():
        pairs = ((streaming, PRESET.streaming), (short_term, PRESET.short_term))
        found = {
            one.name
            for changed, preset in pairs
            for one in fields(preset)
            if not np.array_equal(getattr(changed, one.name), getattr(preset, one.name))
        }
        assert found == CHANGED[name], name


def test_time_constants_of_single_neurons_scatter_around_that_of_the_preset():
    drawn = variants_of(Mechanisms(tau_spread=0.3), PRESET, seed=0)["a time constant per neuron"].short_term.memory_ms
    assert drawn.shape == (PRESET.circuit.n_neurons,)
    assert np.median(drawn) == pytest.approx(PRESET.short_term.memory_ms, rel=0.25)
    assert np.log(drawn).std() == pytest.approx(0.3, rel=0.4)
    other = variants_of(Mechanisms(tau_spread=0.3), PRESET, seed=1)["a time constant per neuron"].short_term.memory_ms
    assert not np.array_equal(drawn, other)


def test_every_variant_sees_the_same_videos_and_gains_are_paired(result, digits):
    static_name = "static, otherwise the same"
    right = {name: [] for name in (static_name, REFERENCE)}
    for seed in (0, 1):
        video = draw_video(digits, 8, seed)
        for name, adapts in ((static_name, False), (REFERENCE, True)):
            predicted = follow_video(small_model(), video, adapts=adapts, seed=seed).predicted
            right[name].append(np.mean(predicted == video.labels))
    for name, values in right.items():
        assert result.mean[result.variants.index(name), 0] == pytest.approx(np.mean(values))
    difference = np.subtract(right[static_name], right[REFERENCE])
    static = result.variants.index(static_name)
    assert result.gain[static, 0] == pytest.approx(difference.mean())
    assert result.gain_error[static, 0] == pytest.approx(difference.std(ddof=1) / np.sqrt(2))
    assert (result.gain[result.variants.index(REFERENCE)] == 0).all()


def test_short_term_stdp_is_what_keeps_a_hidden_digit(result):
    hidden = result.groups.index("19")
    for static in ("static, otherwise the same", "intrinsic plasticity alone"):
        assert result.gain[result.variants.index(static), hidden] < -0.1


def test_a_preset_with_a_delay_is_compared_with_none():
    delayed = replace(PRESET, short_term=replace(PRESET.short_term, delay_ms=300.0))
    variants = variants_of(Mechanisms(), delayed, seed=0)
    assert variants["no delay of the pull"].short_term.delay_ms is None
    assert variants[REFERENCE].short_term.delay_ms == 300.0
    assert "delay of the pull added" not in variants


def test_a_bad_spread_is_refused():
    with pytest.raises(ValueError, match=r"Mechanisms\.tau_spread must be >= 0; got -0\.1"):
        Mechanisms(tau_spread=-0.1)
