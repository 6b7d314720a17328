"""Results of an earlier run complete those of a run of only some models."""

import json

import pytest

from springback.check import DataError
from springback_paper.claims.claim import CLAIM_KEYS, HOLDS, NOT_RUN, STALE
from springback_paper.results.earlier_run import completed, completed_claims, load_earlier
from springback_paper.results.results_json import check_results, collect
from springback_paper.results.scores import Scores


def results(model, right, *, seeds=(0,), n_train=9):
    one = Scores(n_train=n_train, n_test=4, n_frames=66, mnist_test={model: right}, omnist_test={model: right})
    about = {"processor": "a processor", "scope": {"train_digits": {model: n_train}}}
    return collect([one], seeds=seeds, speed={"task_seconds": {model: right}}, environment=about)


def test_only_what_was_not_computed_is_taken_from_the_earlier_run():
    now = results("spiking_static", 0.75)
    before = results("spiking_static", 0.25, seeds=(0, 1))
    other = results("elastic", 0.5, n_train=7)
    for table in ("mnist_test", "omnist_test"):
        before[table] |= other[table]
    before["environment"]["scope"]["train_digits"]["elastic"] = 7
    found = completed(now, before)
    check_results(found)
    assert found["omnist_test"]["spiking_static"]["mean"] == 0.75
    assert found["omnist_test"]["elastic"]["mean"] == 0.5
    assert found["seeds"] == [0, 1]
    assert found["environment"]["earlier"]["models"] == ["elastic"]
    assert found["environment"]["scope"]["train_digits"] == {"spiking_static": 9, "elastic": 7}
    assert found["speed"]["task_seconds"] == {"spiking_static": 0.75}


def test_a_claim_that_was_not_judged_again_stays_as_it_was():
    def claim(text, verdict):
        return dict.fromkeys(CLAIM_KEYS, "") | {"claim": text, "verdict": verdict}

    now = [claim("a", NOT_RUN), claim("b", HOLDS), claim("c", NOT_RUN)]
    before = [claim("a", HOLDS), claim("b", NOT_RUN)]
    assert [one["verdict"] for one in completed_claims(now, before)] == [HOLDS, HOLDS, NOT_RUN]


@pytest.mark.parametrize("changed", ["digest", "rule"])
def test_a_verdict_that_other_code_or_another_rule_gave_is_stale(changed):
    now = dict.fromkeys(CLAIM_KEYS, "") | {"claim": "a", "verdict": NOT_RUN, "measured": "-"}
    before = now | {"verdict": HOLDS, "measured": "95 %", changed: "other"}
    [kept] = completed_claims([now], [before])
    assert (kept["verdict"], kept["measured"]) == (STALE, "95 %")
    assert kept["rule"] == now["rule"]


@pytest.mark.parametrize("content", ["{", "[1]", json.dumps({"version": "1"})])
def test_another_file_is_refused_in_one_sentence(content, tmp_path):
    file = tmp_path / "results.json"
    file.write_text(content)
    with pytest.raises(DataError, match=r"must be the results\.json of a run"):
        load_earlier(file)


def test_what_a_run_has_written_is_read_again(tmp_path):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(results("elastic", 0.5)))
    assert load_earlier(file)["omnist_test"]["elastic"]["mean"] == 0.5
