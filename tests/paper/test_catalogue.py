"""The catalogue: every promised model and figure, with what it needs."""

import sys

import pytest

from springback_paper.catalogue import catalogue_of
from springback_paper.figures.exhibit import exhibits
from springback_paper.models import MODELS
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import digests, with_needs

FIGURES = {
    "fig_1", "fig_2a", "fig_2b", "fig_3a", "fig_3b", "fig_3c", "fig_3d", "fig_3e", "fig_4a", "fig_4b", "fig_4b_ink",
    "fig_s1", "expansion", "principal_path", "head", "world_dynamics", "time_constant", "parameters", "mechanisms",
    "paper_network", "noise", "convergence", "ladder", "growth", "other_data",
    "hidden", "retrieval",
}  # fmt: skip
LARGE = {
    f"spiking_{size}_{way}" for size in (1600, 6400)
    for way in ("st_stdp", "st_stdp_likeliest", "static", "static_best")
}  # fmt: skip
DESCENT = {
    "cnn_mnist_sgd", "cnn_omnist_sgd", "rnn_omnist_sgd", "lstm_omnist_sgd",
    "cnn_omnist_sgd_tuned", "rnn_omnist_sgd_tuned", "lstm_omnist_sgd_tuned",
}  # fmt: skip
SPIKES_IN = {
    "sampling_spiking_exponential", "sampling_spiking_exponential_static", "sampling_spiking_relu",
    "sampling_spiking_relu_static",
}  # fmt: skip
WRITTEN = {"theory_kappa", "theory_algorithm", "theory_line", "theory_circle", "theory_sphere", "theory_zero"}
HEBBIAN = {"hebbian_elastic", "hebbian_static", "random_elastic", "random_static"}
ONCE = {"moraitis_once_st_stdp", "moraitis_once_static_best"}
AS_LARGE = {"mlp_400_mnist", "mlp_400_omnist"}
TRAINED = {"cnn_remembers_omnist"}
FIGURES_IN_FULL = {"paper_network", "other_data", "hidden", "retrieval"}
ONLY_IN_FULL = LARGE | DESCENT | SPIKES_IN | WRITTEN | HEBBIAN | ONCE | AS_LARGE | TRAINED | FIGURES_IN_FULL
COSTLY = {model for model in MODELS if model.startswith(("sampling", "spiking_1600", "spiking_6400", "theory"))}


def test_a_full_run_has_every_model_and_figure():
    assert set(catalogue_of(Scope(full=True)).entries) >= set(MODELS) | FIGURES


def test_a_default_run_leaves_out_what_takes_long_and_nothing_else():
    full, default = (set(catalogue_of(Scope(full=full)).entries) for full in (True, False))
    assert full - default == ONLY_IN_FULL


def test_sweeps_and_mechanisms_have_five_videos_and_a_full_run_has_more_digits_and_knows_that_it_takes_longer():
    full, default = ({one.name: one for one in catalogue_of(Scope(full=full)).tasks} for full in (True, False))
    for name in ("parameters", "mechanisms", "time_constant"):
        for task, n_digits in ((default[name], 100), (full[name], 1000)):
            assert len(task.params["seeds"]) == 5
            assert task.params["params"].n_digits == n_digits
        assert full[name].seconds > 5 * default[name].seconds
    assert len(default["head"].params["seeds"]) == 5


def test_every_task_says_which_record_it_returns_and_can_be_named():
    catalogue = catalogue_of(Scope(full=True, seeds=(0, 1)))
    assert len(set(digests(catalogue.tasks).values())) == len(catalogue.tasks)
    assert all(task.result_type for task in catalogue.tasks)


def test_every_model_has_scores_of_every_seed():
    catalogue = catalogue_of(Scope(full=True, seeds=(0, 1, 2)))
    known = {task.name: task for task in catalogue.tasks}
    for model in MODELS:
        scored = [known[name] for name in catalogue.entries[model] if known[name].result_type is Scores]
        assert {task.seed for task in scored} == {0, 1, 2}, model


@pytest.mark.parametrize("full", [False, True])
def test_beyond_the_fifth_seed_only_the_network_that_the_elastic_head_needs_is_trained_with_labels(full):
    catalogue = catalogue_of(Scope(full=full, seeds=tuple(range(7))))
    seeds = {model: {task[-1] for task in catalogue.entries.get(model, ())} for model in MODELS}
    assert seeds["cnn_mnist"] == seeds["cnn_elastic"] == seeds["elastic"] == set("0123456")
    with_labels = {"mlp_mnist", "mlp_omnist", "cnn_omnist", "rnn_omnist", "lstm_omnist"}
    assert all(seeds[model] == set("012") for model in DESCENT | HEBBIAN | AS_LARGE if full)
    assert all(seeds[model] == set("01234") for model in ONCE if full)
    assert all(seeds[model] == set("01234") for model in with_labels)


def test_what_is_costly_has_scores_of_the_first_three_seeds():
    catalogue = catalogue_of(Scope(full=True, seeds=(5, 6, 7, 8)))
    known = {task.name: task for task in catalogue.tasks}
    for model in COSTLY:
        scored = [known[name] for name in catalogue.entries[model] if known[name].result_type is Scores]
        assert {task.seed for task in scored} == {5, 6, 7}, model
    assert {known[name].seed for name in catalogue.entries["cnn_elastic"]} == {5, 6, 7, 8}


def test_seeds_share_nothing_but_the_code():
    tasks = catalogue_of(Scope(seeds=(0, 1))).tasks
    alone = catalogue_of(Scope(seeds=(1,))).tasks
    both, one = digests(tasks), digests(alone)
    assert both["spiking-1"] == one["spiking-1"]
    assert both["spiking_st_stdp-1"] == one["spiking_st_stdp-1"]


def test_full_and_default_runs_share_what_is_the_same():
    full, default = (digests(catalogue_of(Scope(full=full)).tasks) for full in (True, False))
    assert full["spiking_st_stdp-0"] == default["spiking_st_stdp-0"]
    assert full["elastic-0"] == default["elastic-0"]


def test_a_smaller_network_or_fewer_images_is_another_task():
    default = digests(catalogue_of(Scope()).tasks)
    for scope in (Scope(neurons=100), Scope(limit=1000)):
        other = digests(catalogue_of(scope).tasks)
        assert other["spiking-0"] != default["spiking-0"]
        assert other["elastic-0"] != default["elastic-0"]


def test_wildcards_choose_and_unknown_names_are_told_the_known_ones():
    catalogue = catalogue_of(Scope())
    names = {task.name for task in with_needs(catalogue.choose(["fig_3*"]), catalogue.tasks)}
    assert names == {"fig_3a", "fig_3b", "fig_3c", "fig_3d", "fig_3e", "spiking-0"}
    with pytest.raises(ValueError, match=r"--only must name some of spiking_st_stdp, .*fig_4a.*; got 'fig_9'"):
        catalogue.choose(["fig_9"])


def test_without_torch_the_networks_trained_with_labels_are_left_out(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("springback_paper.tasks.", "springback_paper.base"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    exhibits.cache_clear()
    try:
        entries = catalogue_of(Scope(full=True)).entries
    finally:
        exhibits.cache_clear()  # other tests have torch
    assert "cnn_elastic" not in entries
    assert "elastic" in entries
