"""results.json: what it is made of, and what its checker refuses."""

import copy
import json
import statistics

import pytest

from springback_paper.claims.claim import CLAIM_KEYS
from springback_paper.models import published
from springback_paper.results.results_json import KEYS, check_results, collect, statistic, this_environment
from springback_paper.results.scores import MODELS, Scores


def scores(seed):
    return [
        Scores(
            n_train=9,
            n_test=4,
            n_frames=0,
            mnist_test={"spiking_static": 0.8 + seed / 100, "spiking_st_stdp": 0.8 + seed / 100},
        ),
        Scores(
            n_train=9,
            n_test=4,
            n_frames=66,
            omnist_test={"spiking_st_stdp": 0.85 + seed / 50},
            by_rows_hidden={"spiking_st_stdp": {"0": 0.9 + seed / 100, "noise": 0.95}},
            by_ink_hidden={"spiking_st_stdp": {"0-10": 0.9 - seed / 100, "noise": 0.95}},
        ),
    ]


@pytest.fixture
def found():
    runs = [one for seed in range(3) for one in scores(seed)]
    return collect(runs, seeds=[0, 1, 2], speed={"elastic_frames_per_s": 5.0}, environment=this_environment())


def test_collected_results_have_the_promised_form_and_survive_json(found):
    check_results(json.loads(json.dumps(found)))
    assert tuple(found) == KEYS


def test_a_statistic_is_mean_and_sample_deviation_over_seeds(found):
    values = [0.85, 0.87, 0.89]
    assert found["omnist_test"]["spiking_st_stdp"] == {
        "mean": pytest.approx(statistics.mean(values)),
        "std": pytest.approx(statistics.stdev(values)),
        "n": 3,
        "values": pytest.approx(values),
    }
    assert found["by_rows_hidden"]["spiking_st_stdp"]["0"]["values"] == pytest.approx([0.9, 0.91, 0.92])
    assert statistic([0.3])["std"] == 0.0


def test_a_model_that_was_not_run_has_no_entry(found):
    assert set(found["omnist_test"]) == {"spiking_st_stdp"}
    assert "elastic" not in found["by_rows_hidden"]


def test_an_empty_run_is_still_of_the_promised_form():
    found = collect([], seeds=[0], speed={}, environment={})
    check_results(found)
    assert found["omnist_test"] == {}


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda r: r.pop("speed"), "exactly the keys"),
        (lambda r: r.update(extra=1), "exactly the keys"),
        (lambda r: r["omnist_test"].update(gpt={"mean": 1}), "a model of results.omnist_test must be one of"),
        (lambda r: r["omnist_test"]["spiking_st_stdp"].update(mean=0.99), "mean must be that of its values"),
        (lambda r: r["omnist_test"]["spiking_st_stdp"].update(std=0.0), "std must be that of its values"),
        (lambda r: r["omnist_test"]["spiking_st_stdp"].update(n=2), "n must be the number of values"),
        (lambda r: r["mnist_test"]["spiking_static"].update(values=[0.8, 0.81, 80.0]), "must be <= 1"),
        (lambda r: r["by_rows_hidden"]["spiking_st_stdp"].pop("noise"), "have the key noise"),
        (lambda r: r["by_ink_hidden"]["spiking_st_stdp"]["noise"].pop("n"), "have the keys mean, n, std, values"),
        (lambda r: r.update(seeds=[0, -1]), "a seed of results.seeds must be >= 0"),
        (lambda r: r["omnist_test"].update(spiking_st_stdp=[1]), "be a dictionary"),
        (lambda r: r["by_rows_hidden"].update(spiking_st_stdp=3), "be a dictionary"),
        (lambda r: r["mnist_test"]["spiking_static"].update(values="abc", n=3), "values must be a list"),
        (lambda r: r["mnist_test"]["spiking_static"].update(values=[1, "a", 0]), "must be a number"),
        (lambda r: r["mnist_test"]["spiking_static"].update(values=[float("nan")] * 3), "must be finite"),
        (lambda r: r["mnist_test"]["spiking_static"].update(mean=float("nan")), "mean must be finite"),
        (lambda r: r["mnist_test"]["spiking_static"].update(mean="0.8"), "mean must be a number"),
        (lambda r: r["mnist_test"]["spiking_static"].update({3: 1}), "have the keys"),
    ],
)
def test_the_checker_refuses_what_is_not_promised(found, damage, sentence):
    bad = copy.deepcopy(found)
    damage(bad)
    with pytest.raises((ValueError, TypeError), match=sentence):
        check_results(bad)


@pytest.mark.parametrize("value", [1e9, float("nan"), -1.0])
def test_no_statistic_is_made_of_an_accuracy_that_is_none(value):
    with pytest.raises(ValueError, match="an accuracy must be"):
        statistic([0.5, value])


def test_scores_of_an_unknown_model_are_refused():
    with pytest.raises(ValueError, match=r"a model of Scores.omnist_test must be one of"):
        Scores(n_train=1, n_test=1, n_frames=1, omnist_test={"spiking": 1.0})


def test_the_papers_numbers_belong_to_models_and_name_their_source():
    for table in ("mnist_test", "omnist_test"):
        for model, stat in published()[table].items():
            assert model in MODELS
            assert stat["source"]
            assert 0.5 < stat["mean"] < 1
    assert published()["omnist_test"]["moraitis_st_stdp"]["mean"] == 0.8790
    assert published()["omnist_test"]["lstm_omnist"]["std"] == 0.0421


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ("none", "results.claims must be a list"),
        ([{"claim": "So."}], "have the texts claim, source, measured, verdict, rule, command"),
        ([dict.fromkeys(CLAIM_KEYS, "so")], "the verdict of a claim must be one of 'holds'"),
        ([dict.fromkeys(CLAIM_KEYS, 1)], "have the texts"),
    ],
)
def test_claims_have_their_texts_and_a_known_verdict(found, claims, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_results({**found, "claims": claims})
