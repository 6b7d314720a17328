"""A frame of no known class is refused, at a promised rate of false alarms."""

import numpy as np
import pytest

from springback.heads import NoneOfThese

WEIGHT = 2.5 * np.random.default_rng(99).normal(size=(8, 12))


def rows_of(n, seed, classes=5):
    """Logits of a head that knows five of eight classes, and the classes."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, classes, n)
    return (WEIGHT[kinds] + rng.normal(size=(n, 12))) @ WEIGHT[:5].T, kinds


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_the_promised_rate_of_false_alarms_is_kept_over_many_calibrations(rate):
    alarms = []
    for seed in range(40):
        rule = NoneOfThese(rows_of(300, 2 * seed)[0])
        alarms.append(rule.refuses(rows_of(400, 2 * seed + 1)[0], false_alarms=rate).mean())
    spread = np.std(alarms) / np.sqrt(len(alarms))
    assert np.mean(alarms) <= rate + 3 * spread
    assert np.mean(alarms) >= rate / 2


def test_frames_of_other_classes_are_refused_far_more_often():
    rule = NoneOfThese(rows_of(400, 1)[0])
    logits, kinds = rows_of(800, 2, classes=8)
    refused = rule.refuses(logits, false_alarms=0.05)
    assert refused[kinds >= 5].mean() > 5 * refused[kinds < 5].mean()


def test_p_values_of_known_frames_are_uniform():
    values = NoneOfThese(rows_of(2000, 3)[0]).p_values(rows_of(2000, 4)[0])
    assert np.abs(np.quantile(values, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.06


def test_logits_of_a_torch_layer_are_taken_as_they_are():
    torch = pytest.importorskip("torch")
    logits, _ = rows_of(100, 5)
    rule = NoneOfThese(torch.tensor(logits))
    assert (rule.p_values(torch.tensor(logits)) == NoneOfThese(logits).p_values(logits)).all()


def test_a_rate_that_so_few_rows_cannot_promise_is_refused():
    with pytest.raises(ValueError, match=r"false_alarms must be at least 0\.048"):
        NoneOfThese(np.eye(2)[[0, 1] * 10]).refuses(np.eye(2), false_alarms=0.01)


def objects(n, seed):
    """Logits of 12 rows of each of n objects, which are stranger or less strange as a whole, and their numbers."""
    rng, number = np.random.default_rng(seed), np.repeat(np.arange(n), 12)
    logits, _ = rows_of(len(number), seed)
    return logits + 12 * rng.normal(size=n)[number, None], number


def test_rows_of_one_object_count_as_one_so_that_the_promise_holds_for_other_objects():
    alarms = {"rows": [], "objects": []}
    for seed in range(150):
        logits, number = objects(40, 2 * seed)
        others = objects(40, 2 * seed + 1)[0]
        for name, groups in (("rows", None), ("objects", number)):
            refused = NoneOfThese(logits, groups).refuses(others, false_alarms=0.05)
            alarms[name].append(refused.mean())
    spread = np.std(alarms["objects"]) / np.sqrt(150)
    assert 0.02 < np.mean(alarms["objects"]) <= 0.05 + 2 * spread
    assert np.mean(alarms["rows"]) > np.mean(alarms["objects"])


def test_groups_of_one_row_each_change_nothing():
    logits, others = rows_of(100, 6)[0], rows_of(50, 7)[0]
    np.testing.assert_allclose(NoneOfThese(logits, range(100)).p_values(others), NoneOfThese(logits).p_values(others))


def test_so_few_groups_cannot_promise_a_small_rate_and_each_row_needs_one():
    logits = rows_of(100, 8)[0]
    with pytest.raises(ValueError, match=r"false_alarms must be at least 0\.091 with so few groups"):
        NoneOfThese(logits, np.arange(100) % 10).refuses(logits, false_alarms=0.05)
    with pytest.raises(ValueError, match=r"groups must have shape \(100\)"):
        NoneOfThese(logits, ["a"])
