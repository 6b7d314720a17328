import numpy as np
import pytest

from springback_paper.sampling import hidden_input, measurement_weights


def test_measurement_weights_are_the_kernel_integrated_over_each_step():
    for rate in (0.0, 0.05, 2.0):
        weights = measurement_weights(rate, 12)
        slow = []
        for m in range(12):
            root = np.linspace(np.sqrt(m), np.sqrt(m + 1), 20_001)
            slow.append(np.trapezoid(2 * np.exp(-rate * root**2), root))
        np.testing.assert_allclose(weights, np.array(slow) / sum(slow), rtol=1e-5)
        assert (np.diff(weights) < 0).all()


def test_hidden_input_is_the_weighted_mean_of_the_past():
    rng = np.random.default_rng(0)
    seen, weights = rng.normal(size=(40, 3)), measurement_weights(0.1, 8)
    estimate, _ = hidden_input(seen, weights)
    for t in range(40):
        m = min(t + 1, 8)
        past = seen[t - m + 1 : t + 1][::-1]
        np.testing.assert_allclose(estimate[t], (weights[:m, None] * past).sum(axis=0) / weights[:m].sum(), rtol=1e-12)


def test_hidden_input_does_not_depend_on_chunking():
    seen, weights = np.random.default_rng(1).random((50, 4)).astype(np.float32), measurement_weights(0.2, 9)
    whole, _ = hidden_input(seen, weights)
    first, state = hidden_input(seen[:17], weights)
    second, _ = hidden_input(seen[17:], weights, state)
    assert whole.tobytes() == np.concatenate([first, second]).tobytes()


def test_hidden_input_recovers_rates_and_follows_switches():
    rng = np.random.default_rng(2)
    rates = np.repeat([[5.0, 1.0], [1.0, 5.0]], 200, axis=0)
    spikes = rng.poisson(rates).astype(float)
    estimate, _ = hidden_input(spikes, measurement_weights(0.05, 100))
    assert np.abs(estimate[150:200] - rates[150:200]).mean() < np.abs(spikes[150:200] - rates[150:200]).mean() / 2
    assert (estimate[230:, 1] > estimate[230:, 0]).all()


def test_a_negative_switch_rate_is_refused():
    with pytest.raises(ValueError, match="switch_rate must be >= 0"):
        measurement_weights(-1.0, 3)
