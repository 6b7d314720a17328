"""Online EM of the sampling networks: planted classes, the fixed point, and the shares of spikes."""

import numpy as np
import pytest

from springback_paper.sampling import respond, sampling_weights
from springback_paper.sampling.learning import OnlineEm, learn_resting, random_inputs
from springback_paper.sampling.params import ExponentialKernel, SamplingCircuit, SpikingInput


def planted(n, shares, seed):
    """Noisy images of a few random classes, with each class's mean direction."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 200, (len(shares), 30)) * (rng.random((len(shares), 30)) < 0.5)
    labels = rng.choice(len(shares), n, p=shares)
    images = np.clip(centres[labels] + rng.integers(-20, 40, (n, 30)), 0, 255).astype(np.uint8)
    unit = images / np.linalg.norm(images, axis=1, keepdims=True)
    means = np.array([unit[labels == one].mean(axis=0) for one in range(len(shares))])
    return images, means / np.linalg.norm(means, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "circuit",
    [
        SamplingCircuit(kappa=50.0, rate_hz=20.0),
        SamplingCircuit(neuron="relu", threshold=1.2, rate_hz=20.0),
        SamplingCircuit(
            kappa=50.0, rate_hz=20.0, spikes=SpikingInput(rate_max_hz=500.0, kernel=ExponentialKernel(tau_ms=100.0))
        ),
    ],
    ids=["exponential", "relu", "spiking input"],
)
def test_planted_centroids_are_recovered(circuit):
    images, means = planted(3000, [0.5, 0.3, 0.2], seed=1)
    start = sampling_weights((means + 0.15 * np.random.default_rng(2).random(means.shape)).T)
    found = learn_resting(images, circuit=circuit, params=OnlineEm(n_neurons=3, rate_min=0.0), seed=3, start=start)
    begun = (start.resting * means.T).sum(axis=0).min()
    assert (found.resting * means.T).sum(axis=0).min() > (0.98 if circuit.spikes else 0.999) > begun


def test_the_prior_becomes_the_share_of_each_class():
    images, means = planted(4000, [0.6, 0.3, 0.1], seed=4)
    start = sampling_weights(means.T)
    found = learn_resting(
        images, circuit=SamplingCircuit(kappa=100.0, rate_hz=20.0), params=OnlineEm(n_neurons=3), seed=5, start=start
    )
    np.testing.assert_allclose(found.prior, [0.6, 0.3, 0.1], atol=0.03)


def test_without_a_least_rate_the_weights_are_the_mean_of_all_inputs():
    images, _ = planted(200, [0.5, 0.5], seed=6)
    circuit = SamplingCircuit(rate_hz=1e6, show_ms=0.5)
    found = learn_resting(
        images,
        circuit=circuit,
        params=OnlineEm(n_neurons=1, rate_min=0.0),
        seed=7,
        start=sampling_weights(np.ones((30, 1))),
    )
    unit = images / np.linalg.norm(images, axis=1, keepdims=True)
    mean = np.vstack([np.ones(30) / np.sqrt(30), unit]).mean(axis=0)
    np.testing.assert_allclose(found.resting[:, 0], mean / np.linalg.norm(mean), rtol=1e-4)


def test_neurons_can_start_from_random_images_and_find_the_classes():
    images, means = planted(3000, [0.4, 0.3, 0.3], seed=8)
    circuit = SamplingCircuit(kappa=50.0, rate_hz=20.0)
    found = learn_resting(images, circuit=circuit, params=OnlineEm(n_neurons=12), seed=9)
    best = (means @ found.resting).max(axis=1)
    assert best.min() > 0.99
    assert found.prior.sum() == pytest.approx(1.0)


def test_a_prior_that_is_used_while_learning_makes_frequent_neurons_more_excitable():
    images, _ = planted(2000, [0.8, 0.2], seed=10)
    circuit = SamplingCircuit(kappa=5.0, rate_hz=20.0)
    flat = learn_resting(images, circuit=circuit, params=OnlineEm(n_neurons=6), seed=11)
    used = learn_resting(images, circuit=circuit, params=OnlineEm(n_neurons=6, uses_prior=True), seed=11)
    assert used.prior.std() > 1.5 * flat.prior.std()


def test_the_same_seed_gives_the_same_bits_and_the_given_start_stays():
    images, means = planted(500, [0.5, 0.5], seed=12)
    start, circuit, params = sampling_weights(means.T), SamplingCircuit(), OnlineEm(n_neurons=2, epochs=2)
    before = start.resting.copy()
    one, two = (learn_resting(images, circuit=circuit, params=params, seed=13, start=start) for _ in range(2))
    other = learn_resting(images, circuit=circuit, params=params, seed=14, start=start)
    np.testing.assert_array_equal(one.resting, two.resting)
    assert not np.array_equal(one.resting, other.resting)
    np.testing.assert_array_equal(start.resting, before)


def test_no_epochs_learn_nothing():
    images, means = planted(50, [0.5, 0.5], seed=15)
    start = sampling_weights(means.T)
    found = learn_resting(images, circuit=SamplingCircuit(), params=OnlineEm(n_neurons=2, epochs=0), start=start)
    np.testing.assert_allclose(found.resting, start.resting, rtol=1e-6)


def test_learned_weights_answer_to_their_class():
    images, means = planted(2000, [0.5, 0.5], seed=16)
    circuit = SamplingCircuit(kappa=50.0)
    found = learn_resting(
        images, circuit=circuit, params=OnlineEm(n_neurons=2), start=sampling_weights(means.T), seed=17
    )
    counts = respond(found, np.rint(255 * means / means.max()).astype(np.uint8), circuit=circuit, seed=18).counts
    np.testing.assert_array_equal(counts.argmax(axis=1), [0, 1])


def test_too_few_images_are_refused():
    with pytest.raises(ValueError, match="be at least 3, one per neuron; got 2"):
        random_inputs(np.eye(4)[:2], 3, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_neurons": 0}, "OnlineEm.n_neurons must be >= 1; got 0"),
        ({"epochs": -1}, "OnlineEm.epochs must be >= 0; got -1"),
        ({"rate_min": 2.0}, "OnlineEm.rate_min must be <= 1; got 2.0"),
    ],
)
def test_a_bad_value_is_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        OnlineEm(**change)


def test_a_start_of_another_size_is_refused():
    images, means = planted(50, [0.5, 0.5], seed=19)
    with pytest.raises(ValueError, match=r"start.resting must have shape \(30, 3\)"):
        learn_resting(images, circuit=SamplingCircuit(), params=OnlineEm(n_neurons=3), start=sampling_weights(means.T))
