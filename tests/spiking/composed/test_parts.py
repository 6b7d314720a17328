"""Every part of a composed circuit against its closed form."""

import numpy as np
import pytest

from springback.spiking.composed import (
    AdaptiveLif,
    ComposedCircuit,
    DivisiveInhibition,
    GlobalInhibition,
    Lif,
    PairStdp,
    PartnerInhibition,
    StochasticLif,
    TripletStdp,
    TsodyksMarkram,
    poisson_spikes,
    spikes_at,
)

DT = 0.5
TEACHER = 1e4
"""A weight that makes the neuron fire in the next step."""


def silence(duration_ms):
    return spikes_at([], [], duration_ms)


def pair_circuit(neurons=None, **how):
    """Parts of one compiled kernel: LIF, global inhibition, pairs of spikes."""
    how = {"inhibition": GlobalInhibition(weight=0.0), "plasticity": PairStdp(weight_max=1e6), **how}
    return ComposedCircuit(how.pop("weights", np.ones((1, 1))), neurons=neurons or Lif(), **how)


def triplet_circuit(weights, neurons=None, stdp=None):
    """Parts of another: an adaptive neuron, partners, triplets of spikes."""
    neurons = neurons or AdaptiveLif(threshold_step_mv=0.0)
    return ComposedCircuit(weights, neurons=neurons, inhibition=PartnerInhibition(weight_from=0.0), plasticity=stdp)


def release_circuit(weights, neurons=None, inhibition=None, release=None):
    """Parts of a third: a stochastic neuron, divisive inhibition, Tsodyks-Markram synapses."""
    return ComposedCircuit(
        weights,
        neurons=neurons or StochasticLif(v_threshold_mv=1e5),
        inhibition=inhibition or DivisiveInhibition(),
        plasticity=release or TsodyksMarkram(release=1.0, tau_recovery_ms=1e-3),
    )


@pytest.mark.parametrize(("drive_mv", "refractory_ms"), [(15.0, 5.0), (30.0, 0.0), (100.0, 2.0)])
def test_lif_fires_at_its_closed_form_rate(drive_mv, refractory_ms):
    neuron = Lif(drive_mv=drive_mv, refractory_ms=refractory_ms, tau_membrane_ms=20.0)
    response = pair_circuit(neuron).run(silence(5000.0))
    gaps_ms = np.diff(response.time_ms)
    a = DT / 20.0
    in_steps = np.ceil(np.log(drive_mv / (drive_mv - 13.0)) / np.log1p(a))
    held = max(round(refractory_ms / DT) - 1, 0)
    assert set(gaps_ms) == {DT * (in_steps + held)}
    continuous_ms = refractory_ms + 20.0 * np.log(drive_mv / (drive_mv - 13.0))
    assert abs(gaps_ms[0] - continuous_ms) <= 2 * DT


def test_lif_below_its_threshold_never_fires():
    response = pair_circuit(Lif(drive_mv=12.9)).run(silence(2000.0), neurons=[0])
    assert len(response.index) == 0
    assert response.sampled.potential_mv[-1, 0] == pytest.approx(-65.0 + 12.9, abs=1e-6)


def test_adaptive_threshold_settles_at_its_fixed_point():
    step_mv, tau_ms, drive_mv = 1.5, 300.0, 40.0
    neuron = AdaptiveLif(
        threshold_step_mv=step_mv, tau_threshold_ms=tau_ms, drive_mv=drive_mv, tau_membrane_ms=20.0, refractory_ms=0.0
    )
    circuit = triplet_circuit(np.zeros((1, 1)), neuron, TripletStdp())
    response = circuit.run(silence(6000.0), neurons=[0])
    gaps_ms = np.diff(response.time_ms)
    gap_ms = gaps_ms[-40:].mean()
    assert gaps_ms[0] < 0.75 * gap_ms
    # At the spike: v_rest + drive (1 - exp(-T / tau)) = threshold + b, with b = step exp(-T / t) / (1 - exp(-T / t)).
    left = drive_mv * (1 - (1 + DT / 20.0) ** (-gap_ms / DT))
    kept = np.exp(-gap_ms / tau_ms)
    assert left == pytest.approx(13.0 + step_mv * kept / (1 - kept), abs=0.3)
    mean_mv = response.sampled.threshold_mv[-round(40 * gap_ms / DT) :, 0].mean() + 52.0
    assert mean_mv == pytest.approx(step_mv * tau_ms / gap_ms, rel=0.02)


def test_stochastic_neuron_fires_at_its_exponential_rate():
    rates = []
    for above_mv in (-3.0, 0.0, 3.0):
        neuron = StochasticLif(
            v_rest_mv=-52.0 + above_mv, v_reset_mv=-52.0 + above_mv, rate_at_threshold_hz=40.0, width_mv=3.0,
            refractory_ms=0.0
        )  # fmt: skip
        response = release_circuit(np.zeros((1, 200)), neuron).run(silence(2000.0), seed=3)
        expected = 40.0 * np.exp(above_mv / 3.0)
        per_step = 1 - np.exp(-expected * DT * 1e-3)
        n = 200 * 4000
        deviations = (len(response.index) - n * per_step) / np.sqrt(n * per_step * (1 - per_step))
        assert abs(deviations) < 4
        rates.append(response.rates_hz.mean())
        gaps = np.diff(response.step[response.index == 0])
        assert len(np.unique(gaps)) > 10
    assert rates[2] / rates[0] == pytest.approx(np.exp(2.0), rel=0.1)


def test_stochastic_neurons_do_not_depend_on_how_a_run_is_divided():
    neuron = StochasticLif(v_threshold_mv=-60.0)
    circuit = release_circuit(np.full((3, 5), 2.0), neuron)
    whole = circuit.run(poisson_spikes(np.full(3, 100.0), 300.0, seed=1), seed=8)
    train = poisson_spikes(np.full(3, 100.0), 300.0, seed=1)
    cut = type(train)(train.which[: train.first[250]], train.first[:251])
    rest = type(train)(train.which[train.first[250] :], train.first[250:] - train.first[250])
    first = circuit.run(cut, seed=8)
    second = circuit.run(rest, seed=8, state=first.state)
    assert len(whole.index) > 20
    assert np.concatenate([first.step, second.step + 250]).tolist() == whole.step.tolist()
    assert np.concatenate([first.index, second.index]).tolist() == whole.index.tolist()
    assert circuit.run(train, seed=9).step.tolist() != whole.step.tolist()


def test_global_inhibition_has_its_mean_conductance():
    neuron = Lif(drive_mv=1e4, e_inhibitory_mv=-65.0, refractory_ms=20.0)
    circuit = pair_circuit(neuron, weights=np.zeros((1, 3)), inhibition=GlobalInhibition(weight=0.3, tau_ms=7.0))
    response = circuit.run(silence(4000.0), neurons=[0])
    summed_per_ms = response.rates_hz.sum() / 1000
    assert summed_per_ms == pytest.approx(3 / 20.0, rel=0.02)
    assert response.sampled.inhibition.mean() == pytest.approx(0.3 * summed_per_ms * 7.0, rel=0.02)


def test_divisive_inhibition_divides_by_its_closed_form():
    """One neuron fires at a known rate and is the whole activity; the other shows the effect of a constant input."""
    inhibition = DivisiveInhibition(half_rate_hz=25.0, tau_ms=400.0)
    still = {"v_reset_mv": -65.0, "refractory_ms": 20.0, "rate_at_threshold_hz": 1e9, "width_mv": 1.0}
    pacemaker, watched = 0.0, 0.05
    circuit = ComposedCircuit(
        np.array([[pacemaker, watched]]),
        neurons=StochasticLif(**still, v_threshold_mv=-65.0),
        inhibition=inhibition,
        plasticity=TsodyksMarkram(release=1.0, tau_recovery_ms=1e-3),
        thresholds_mv=np.array([0.0, 1e5]),
    )
    times = np.arange(0, 6000.0, DT)
    response = circuit.run(spikes_at(np.zeros(len(times), int), times, 6000.0), neurons=[1])
    rate_hz = len(response.index) / 6.0
    assert rate_hz == pytest.approx(50.0, rel=0.02)
    conductance = watched / (DT / 1.0)
    divided = conductance / (1 + rate_hz / 25.0)
    expected_mv = -65.0 / (1 + divided)
    late = response.sampled.potential_mv[-2000:, 0].mean()
    assert late == pytest.approx(expected_mv, abs=0.05)
    assert late < -65.0 / (1 + conductance) - 3


LAGS_MS = np.array([-60.0, -20.0, -5.0, -0.5, 0.0, 0.5, 5.0, 20.0, 60.0])


def window(make, stdp, before_ms=()):
    """The change of W by one pair of spikes at each lag, each at a synapse of its own; a teacher fires the neuron."""
    fires_ms = 200.0
    taught = [*before_ms, fires_ms]
    weights = np.ones((len(LAGS_MS) + 1, 1))
    weights[-1] = TEACHER
    index = [*range(len(LAGS_MS)), *[len(LAGS_MS)] * len(taught)]
    times = [*(fires_ms - LAGS_MS), *(one - DT for one in taught)]
    response = make(weights, stdp).run(spikes_at(index, times, 400.0))
    assert response.time_ms.tolist() == taught
    return (response.weights - weights)[:-1, 0]


def test_pairs_change_weights_by_their_window():
    stdp = PairStdp(potentiation=0.02, depression=0.03, tau_pre_ms=15.0, tau_post_ms=25.0, weight_max=1e6)
    got = window(lambda weights, rule: pair_circuit(weights=weights, plasticity=rule), stdp)
    after = LAGS_MS >= 0
    expected = np.where(after, 0.02 * np.exp(-LAGS_MS / 15.0), -0.03 * np.exp(LAGS_MS / 25.0))
    np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.parametrize("nearest", [False, True])
def test_triplets_change_weights_by_their_window(nearest):
    stdp = TripletStdp(
        pair_potentiation=0.01, triplet_potentiation=0.05, pair_depression=0.02, triplet_depression=0.3,
        tau_pre_ms=15.0, tau_pre_slow_ms=100.0, tau_post_ms=25.0, tau_post_slow_ms=120.0, weight_max=1e6,
        nearest=nearest
    )  # fmt: skip
    before_ms = (100.0, 110.0)
    got = window(lambda weights, rule: triplet_circuit(weights, stdp=rule), stdp, before_ms)
    since = 200.0 - np.array(before_ms)
    counted = since[-1:] if nearest else since
    slow_post = np.exp(-counted / 120.0).sum()
    expected = np.zeros(len(LAGS_MS))
    for place, lag in enumerate(LAGS_MS):
        arrives = 200.0 - lag
        earlier = np.array([one for one in (*before_ms, 200.0) if one < arrives])
        earlier = earlier[-1:] if nearest else earlier
        expected[place] -= 0.02 * np.exp(-(arrives - earlier) / 25.0).sum()
        if lag >= 0:
            expected[place] += np.exp(-lag / 15.0) * (0.01 + 0.05 * slow_post)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def arrivals(release, times_ms):
    """The conductance that each spike of one input adds, at a synapse of weight 1 to a neuron that never fires."""
    circuit = release_circuit(np.ones((1, 1)), release=release)
    response = circuit.run(spikes_at(np.zeros(len(times_ms), int), times_ms, max(times_ms) + 10.0), neurons=[0])
    return response.sampled.excitation[np.rint(np.array(times_ms) / DT).astype(int), 0]


@pytest.mark.parametrize("tau_facilitation_ms", [0.0, 300.0])
def test_tsodyks_markram_has_its_steady_state_and_paired_pulse_ratio(tau_facilitation_ms):
    release, tau_recovery_ms, gap_ms = 0.3, 150.0, 40.0
    rule = TsodyksMarkram(release=release, tau_recovery_ms=tau_recovery_ms, tau_facilitation_ms=tau_facilitation_ms)
    got = arrivals(rule, 5.0 + gap_ms * np.arange(80))
    kept = np.exp(-gap_ms / tau_facilitation_ms) if tau_facilitation_ms else 0.0
    depleted = np.exp(-gap_ms / tau_recovery_ms)
    u_second = release + release * (1 - release) * kept
    assert got[0] == pytest.approx(release)
    assert got[1] / got[0] == pytest.approx(u_second * (1 - release * depleted) / release, rel=1e-9)
    u = release / (1 - (1 - release) * kept)
    x = (1 - depleted) / (1 - (1 - u) * depleted)
    assert got[-1] == pytest.approx(u * x, rel=1e-9)
