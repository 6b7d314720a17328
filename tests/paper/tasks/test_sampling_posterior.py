"""Spikes as samples: the test accepts the posterior and would refuse another."""

from springback_paper.catalogue import catalogue_of
from springback_paper.run_scope import Scope
from springback_paper.tasks import sampling_posterior
from springback_paper.tasks.sampling_posterior import check_samples


def test_the_spikes_of_both_neurons_are_samples_of_the_posterior():
    found = check_samples(n_neurons=6, n_inputs=20, n_frames=500, seed=3)
    assert min(found.p_value.values()) > 0.001
    assert all(found.distance[name] < 4 * found.expected[name] for name in found.distance)
    assert min(found.spikes.values()) > 10_000


def test_another_posterior_would_be_refused(monkeypatch):
    true = sampling_posterior.posterior
    monkeypatch.setattr(sampling_posterior, "posterior", lambda *given, **options: true(*given, **options) ** 1.5)
    found = check_samples(n_neurons=6, n_inputs=20, n_frames=500, seed=3)
    assert min(found.p_value.values()) < 1e-6


def test_it_is_run_once():
    names = [task.name for task in catalogue_of(Scope(seeds=(0, 1))).tasks]
    assert names.count("sampling_posterior") == 1
    assert catalogue_of(Scope()).entries["sampling_posterior"] == ("sampling_posterior",)
