import numpy as np

from springback.elastic import best_threshold, is_novel_by_likelihood, is_novel_by_similarity, similarity_threshold
from springback.elastic.density import log_uniform_density, log_vmf_normaliser, sample_vmf


def test_the_threshold_from_training_data_loses_the_share_it_says():
    similarity = np.random.default_rng(0).beta(5, 2, 10_000)
    for lost in (0.001, 0.05):
        assert is_novel_by_similarity(similarity, similarity_threshold(similarity, lost)).mean() == lost


def test_the_best_threshold_makes_the_fewest_mistakes():
    rng = np.random.default_rng(1)
    similarity = np.concatenate([rng.normal(0.4, 0.1, 300), rng.normal(0.7, 0.1, 700)])
    novel = np.arange(1000) < 300
    found = best_threshold(similarity, novel)
    mistakes = [((similarity < cut) != novel).sum() for cut in np.linspace(0, 1, 5001)]
    assert ((similarity < found) != novel).sum() <= min(mistakes)
    assert best_threshold(similarity, np.zeros(1000, bool)) < similarity.min()
    assert best_threshold(similarity, np.ones(1000, bool)) > similarity.max()


def test_the_likelihood_rule_is_bayes_against_a_uniform_background():
    n, kappa, background = 5, 20.0, 0.3
    cosine = np.linspace(-1, 1, 2001)
    log_density = log_vmf_normaliser(n, kappa) + kappa * cosine
    share = background * np.exp(log_uniform_density(n))
    by_hand = share > (1 - background) * np.exp(log_density)
    np.testing.assert_array_equal(is_novel_by_likelihood(log_density, n, background), by_hand)


def test_the_likelihood_rule_tells_clusters_from_noise():
    n, kappa = 20, 60.0
    centre = np.eye(n)[0]
    rng = np.random.default_rng(2)
    inside = sample_vmf(np.tile(centre, (2000, 1)), kappa, rng) @ centre
    outside = rng.normal(size=(2000, n))
    outside = outside[:, 0] / np.linalg.norm(outside, axis=1)
    normaliser = log_vmf_normaliser(n, kappa)
    assert is_novel_by_likelihood(normaliser + kappa * inside, n).mean() < 0.01
    assert is_novel_by_likelihood(normaliser + kappa * outside, n).mean() > 0.99
