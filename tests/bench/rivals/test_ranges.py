"""Every method has ranges to choose its settings from, and every setting in them is accepted."""

import inspect

import numpy as np
import pytest

from springback.extras import is_installed
from springback.heads.search import Choice, Range, search
from springback_bench.rivals import all_rivals, logit_spread
from tests.streaming_models import adaptation_classes, adaptation_subject

METHODS = adaptation_classes()
RIVALS = all_rivals()


def test_every_method_has_ranges():
    assert {one.method for one in RIVALS} == set(METHODS)
    assert all(one.ranges for one in RIVALS)
    assert len({one.name for one in RIVALS}) == len(RIVALS)
    assert len(METHODS) == (18 if is_installed("torch") else 15)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda one: one.name)
def test_ranges_are_those_of_settings_with_defaults(rival):
    parameters = inspect.signature(rival.method).parameters
    for name in rival.ranges:
        assert parameters[name].default is not inspect.Parameter.empty


@pytest.mark.parametrize("rival", RIVALS, ids=lambda one: one.name)
def test_a_rival_reads_what_its_class_takes(rival):
    takes = list(inspect.signature(rival.method).parameters)
    wanted = {"logits": ["n_classes"], "features": ["weight", "bias"], "frames": ["network", "frame_shape"]}
    assert takes[: len(wanted[rival.reads])] == wanted[rival.reads]


@pytest.mark.parametrize("spread", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("rival", RIVALS, ids=lambda one: one.name)
def test_both_ends_of_every_range_and_every_choice_are_accepted(rival, spread):
    make, rows = adaptation_subject(rival.method).make, adaptation_subject(rival.method).rows
    for name, found in rival.ranges.items():
        ends = (found.at(0.0, spread), found.at(1.0, spread))
        for value in found.values if isinstance(found, Choice) else ends:
            assert getattr(make(**{name: value}), name) == value
    for share in (0.0, 1.0):
        model = make(**{name: found.at(share, spread) for name, found in rival.ranges.items()})
        assert np.isfinite(model.track(rows[:3])).all()


@pytest.mark.parametrize("rival", RIVALS, ids=lambda one: one.name)
def test_what_is_as_large_as_the_logits_scales_with_them(rival):
    sizes = {"strength": 1, "negative_strength": 1, "pull": 1, "kappa": -1}
    if rival.reads == "logits":
        sizes["sharpness"] = -1
    for name, found in rival.ranges.items():
        assert getattr(found, "per_spread", 0) == sizes.get(name, 0)


def test_shares_of_a_range_are_settings():
    assert Range(0.0, 10.0).at(0.3) == 3.0
    assert Range(1.0, 100.0, log=True).at(0.5) == pytest.approx(10.0)
    assert Range(1.0, 3.0, per_spread=1).at(0.5, spread=4.0) == 8.0
    assert Range(1.0, 3.0, per_spread=-1).at(0.5, spread=4.0) == 0.5
    assert Range(1, 64, log=True, whole=True).at(0.5) == 8
    assert type(Range(1, 64, log=True, whole=True).at(0.6)) is int
    assert [Choice(("a", "b", "c")).at(share) for share in (0.0, 0.34, 0.99, 1.0)] == ["a", "b", "c", "c"]


def test_logits_that_are_larger_lie_further_apart():
    logits = np.random.default_rng(0).normal(size=(20, 5))
    assert logit_spread(3 * logits + 7) == pytest.approx(3 * logit_spread(logits))


@pytest.mark.parametrize(
    "one",
    [Range(0.5, 64.0, log=True), Range(-1.0, 3.0), Range(0.1, 10.0, log=True, per_spread=1), Choice((0.0, 0.5, 1.0))],
)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_setting_leads_back_to_its_place(one, share):
    setting = one.at(share, spread=4.0)
    assert one.at(one.share_of(setting, spread=4.0), spread=4.0) == pytest.approx(setting)


def test_settings_known_to_be_good_are_tried_first():
    ranges = {"x": Range(0.0, 1.0), "kind": Choice(("a", "b"))}
    first = [{"x": 0.25, "kind": "b"}, {"x": 0.75, "kind": "a"}]
    tried = search(ranges, lambda settings: settings["x"], n_trials=6, seed=0, first=first)
    assert [one.settings for one in tried[:2]] == first
    assert len(tried) == 6


def test_bad_ranges_and_logits_are_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"Range\.low must be > 0; got 0"):
        Range(0, 1, log=True)
    with pytest.raises(ValueError, match=r"Range\.high must be > 1; got 1"):
        Range(1, 1)
    with pytest.raises(ValueError, match=r"Range\.per_spread must be -1, 0 or 1; got 2"):
        Range(1, 2, per_spread=2)
    with pytest.raises(ValueError, match=r"Choice\.values must hold at least one value"):
        Choice(())
    with pytest.raises(ValueError, match=r"share must be <= 1; got 1\.5"):
        Range(0, 1).at(1.5)
    with pytest.raises(ValueError, match="share must be >= 0; got -1"):
        Choice((1, 2)).at(-1)
    with pytest.raises(ValueError, match="spread must be > 0; got 0"):
        Range(0, 1).at(0.5, spread=0)
    with pytest.raises(ValueError, match="logits must differ among the classes"):
        logit_spread(np.ones((3, 2)))
    with pytest.raises(ValueError, match="logits must have at least one frame"):
        logit_spread(np.ones((0, 2)))
