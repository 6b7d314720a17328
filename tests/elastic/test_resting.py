import numpy as np
import pytest

from springback.elastic import fit_von_mises_fisher, spherical_k_means
from springback.elastic.density import log_vmf_normaliser, sample_vmf
from springback.elastic.resting import directions_of, spread_out


def three_clusters(seed=0, kappa=60.0):
    rng = np.random.default_rng(seed)
    centres = directions_of(rng.normal(size=(3, 6)))
    labels = rng.choice(3, 1500, p=[0.5, 0.3, 0.2])
    return centres, labels, sample_vmf(centres[labels], kappa, rng)


def best_match(centres, found):
    return (centres @ found.T).max(axis=1)


def test_em_finds_centres_prior_and_concentration():
    centres, _, x = three_clusters()
    found = fit_von_mises_fisher(x, 3, seed=0)
    assert (best_match(centres, found.centroids) > 0.999).all()
    order = (centres @ found.centroids.T).argmax(axis=1)
    np.testing.assert_allclose(found.prior[order], [0.5, 0.3, 0.2], atol=0.04)
    assert found.kappa == pytest.approx(60, rel=0.05)


def test_em_never_loses_likelihood_and_reports_the_true_one():
    _, _, x = three_clusters(1)
    found = fit_von_mises_fisher(x, 5, kappa=20.0, seed=3, iterations=40, tolerance=1e-9)
    assert (np.diff(found.log_likelihood) > -1e-9).all()
    again = fit_von_mises_fisher(x, 5, kappa=20.0, start=found.centroids, iterations=1)
    joint = np.exp(20.0 * x @ found.centroids.T) / 5
    assert again.log_likelihood[0] == pytest.approx(np.log(joint.sum(axis=1)).mean() + log_vmf_normaliser(6, 20.0))


def test_k_means_never_loses_cosine_and_ends_at_its_own_means():
    centres, _, x = three_clusters(2)
    found = spherical_k_means(x, 3, seed=0, iterations=100, tolerance=0)
    assert (np.diff(found.log_likelihood) > -1e-12).all()
    assert (best_match(centres, found.centroids) > 0.99).all()
    own = (x @ found.centroids.T).argmax(axis=1)
    means = np.array([x[own == k].sum(axis=0) for k in range(3)])
    np.testing.assert_allclose(found.centroids, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-9)


def test_same_seed_same_bits_and_single_precision_stays_single():
    _, _, x = three_clusters(3)
    for fit in (fit_von_mises_fisher, spherical_k_means):
        a, b = fit(x.astype(np.float32), 4, seed=7), fit(x.astype(np.float32), 4, seed=7)
        assert a.centroids.dtype == np.float32
        assert a.centroids.tobytes() == b.centroids.tobytes()


def test_the_start_takes_each_of_well_separated_directions_once():
    x = np.repeat(np.eye(6), 20, axis=0)
    for seed in range(5):
        start = spread_out(x, 6, np.random.default_rng(seed))
        assert len(np.unique(start, axis=0)) == 6


def test_zero_rows_are_left_out_and_too_few_rows_refused():
    x = np.concatenate([np.eye(3), np.zeros((10, 3))])
    assert directions_of(x).shape == (3, 3)
    with pytest.raises(ValueError, match="n_samples must be >= n_clusters = 4"):
        spherical_k_means(x, 4, seed=0)
    with pytest.raises(ValueError, match="finite"):
        fit_von_mises_fisher(np.full((4, 2), np.nan), 2)


def test_huge_and_tiny_rows_keep_their_direction():
    x = np.array([[3e200, 4e200], [3e-200, 4e-200]])
    np.testing.assert_allclose(directions_of(x), [[0.6, 0.8], [0.6, 0.8]])
