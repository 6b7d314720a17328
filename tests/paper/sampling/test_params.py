"""The STDP kernels of the sampling networks, and the refusal of bad parameters."""

import re

import numpy as np
import pytest
from scipy.integrate import quad

from springback_paper.sampling.params import (
    SWITCHES_FITTED,
    DerivedKernel,
    ExponentialKernel,
    SamplingCircuit,
    SamplingStdp,
    SpikingInput,
)


@pytest.mark.parametrize("lag", [0, 1, 7, 300])
def test_a_spike_counts_with_the_mean_of_the_derived_kernel_over_its_step(lag):
    alpha, dt = 0.02, 0.5
    area, _ = quad(lambda root: 2 * np.exp(-alpha * root**2), np.sqrt(lag * dt), np.sqrt((lag + 1) * dt))
    weight = DerivedKernel(switch_rate_hz=1000 * alpha).weights(np.array([lag]), dt)[0]
    assert weight == pytest.approx(area / dt, rel=1e-9)


def test_far_from_zero_the_weight_is_the_kernel_itself():
    middle = (1000.5 * 0.5) ** -0.5 * np.exp(-0.01 * 1000.5 * 0.5)
    assert DerivedKernel(switch_rate_hz=10.0).weights(np.array([1000]), 0.5)[0] == pytest.approx(middle, rel=1e-4)


@pytest.mark.parametrize("switch_rate_hz", [0.2, 1.0, 5.0, 20.0, 100.0])
@pytest.mark.parametrize("dt_ms", [0.5, 1.0])
def test_eight_exponentials_are_within_two_percent_of_the_derived_kernel_at_every_lag(switch_rate_hz, dt_ms):
    kernel = DerivedKernel(switch_rate_hz=switch_rate_hz)
    lag = np.arange(int(SWITCHES_FITTED * 1000 / switch_rate_hz / dt_ms))
    share, keep = kernel.exponentials(dt_ms)
    approximation = (share * keep ** lag[:, None]).sum(axis=1)
    assert np.abs(approximation / kernel.weights(lag, dt_ms) - 1).max() < 0.02
    assert (share > 0).all()
    assert ((keep > 0) & (keep < 1)).all()


def test_the_approximation_falls_short_of_two_percent_with_four_exponentials():
    kernel, lag = DerivedKernel(switch_rate_hz=5.0, n_terms=4), np.arange(2000)
    share, keep = kernel.exponentials(0.5)
    assert np.abs((share * keep ** lag[:, None]).sum(axis=1) / kernel.weights(lag, 0.5) - 1).max() > 0.02


def test_what_lies_beyond_the_fitted_lags_is_small():
    kernel = DerivedKernel(switch_rate_hz=10.0)
    weights = kernel.weights(np.arange(20_000), 0.5)
    beyond = int(SWITCHES_FITTED * 1000 / 10.0 / 0.5)
    share, keep = kernel.exponentials(0.5)
    assert weights[beyond:].sum() / weights.sum() == pytest.approx(0.0016, rel=0.05)
    assert (share * keep**beyond / (1 - keep)).sum() / weights.sum() < 0.002


def test_the_exponential_kernel_is_exact():
    share, keep = ExponentialKernel(tau_ms=20.0).exponentials(0.5)
    assert (share * keep**40).sum() == pytest.approx(np.exp(-1.0))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ExponentialKernel(tau_ms=0.0), "ExponentialKernel.tau_ms must be > 0; got 0.0"),
        (lambda: DerivedKernel(switch_rate_hz=-1.0), "DerivedKernel.switch_rate_hz must be > 0; got -1.0"),
        (lambda: DerivedKernel(n_terms=0), "DerivedKernel.n_terms must be >= 1; got 0"),
        (lambda: DerivedKernel(switch_rate_hz=1e6).exponentials(0.5), "at most one switch per step; got 1000000.0"),
        (lambda: SpikingInput(rate_max_hz=-1.0), "SpikingInput.rate_max_hz must be >= 0; got -1.0"),
        (lambda: SpikingInput(epsp_ms=0.0), "SpikingInput.epsp_ms must be > 0; got 0.0"),
        (lambda: SamplingCircuit(neuron="lif"), "must be one of 'exponential', 'relu'; got 'lif'"),
        (lambda: SamplingCircuit(kappa=float("nan")), "SamplingCircuit.kappa must be finite"),
        (lambda: SamplingCircuit(rate_hz=-5.0), "SamplingCircuit.rate_hz must be >= 0; got -5.0"),
        (lambda: SamplingCircuit(neuron="relu", inhibition=0.0), "SamplingCircuit.inhibition must be > 0; got 0.0"),
        (lambda: SamplingCircuit(silence_below=1.5), "SamplingCircuit.silence_below must be <= 1; got 1.5"),
        (lambda: SamplingCircuit(show_ms=0.1), "SamplingCircuit.show_ms must be >= 0.5; got 0.1"),
        (lambda: SamplingCircuit(spikes=SpikingInput(rate_max_hz=3000.0)), "be below one spike per step; got 3000.0"),
        (lambda: SamplingStdp(pull=-1.0), "SamplingStdp.pull must be >= 0; got -1.0"),
        (lambda: SamplingStdp(weight_dependence=1.5), "SamplingStdp.weight_dependence must be <= 1; got 1.5"),
        (lambda: SamplingStdp(memory_ms=0.0), "SamplingStdp.memory_ms must be > 0; got 0.0"),
        (lambda: SamplingStdp(beta=0.0), "SamplingStdp.beta must be > 0; got 0.0"),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make()


def test_a_value_of_the_wrong_kind_is_refused():
    with pytest.raises(TypeError, match=r"SpikingInput\.kernel"):
        SpikingInput(kernel="exponential")
    with pytest.raises(TypeError, match=r"SamplingCircuit\.spikes"):
        SamplingCircuit(spikes=True)
