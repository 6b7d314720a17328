"""Time stamps of every kind: the same moments give the same numbers, in seconds."""

import warnings
from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pytest

from springback.elastic import (
    ElasticClassifier,
    ElasticClustering,
    Elasticity,
    Exponential,
    init,
    init_streams,
    prepare,
    relax,
    step,
    step_streams,
    track,
)
from springback.streaming.pace import time_now
from springback.streaming.time_stamps import as_elapsed, as_times

START = 1_700_000_000
SECONDS = np.array([0.0, 0.5, 1.75, 60.0])
NAIVE = [datetime(2023, 11, 14, 22, 13, 20) + timedelta(seconds=s) for s in SECONDS]
EAST = timezone(timedelta(hours=9))


def stamps(unit):
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    return np.array([int(s * per_second) + START * per_second for s in SECONDS], f"M8[{unit}]")


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_numpy_dates_of_any_unit_are_seconds(unit):
    np.testing.assert_array_equal(as_times("times", stamps(unit)), START + SECONDS)
    np.testing.assert_array_equal(as_times("times", stamps(unit) - stamps(unit)[0]), SECONDS)


@pytest.mark.parametrize(
    "given",
    [
        NAIVE,
        [one.replace(tzinfo=UTC) for one in NAIVE],
        [one.replace(tzinfo=UTC).astimezone(EAST) for one in NAIVE],
        np.array(NAIVE, object),
        list(stamps("ns")),
        START + SECONDS,
    ],
    ids=["naive", "UTC", "another zone", "object array", "datetime64 scalars", "numbers"],
)
def test_dates_of_python_are_seconds_and_naive_ones_are_utc(given):
    np.testing.assert_allclose(as_times("times", given), START + SECONDS, atol=2.5e-7)


def test_days_and_durations_are_seconds():
    assert as_times("times", [date(1970, 1, 2)]).tolist() == [86400.0]
    assert as_times("times", [timedelta(minutes=2)]).tolist() == [120.0]
    assert as_times("times", np.timedelta64(1500, "ms")).tolist() == [1.5]
    assert as_elapsed("elapsed", np.timedelta64(2, "m")) == 120.0
    assert as_elapsed("elapsed", 3) == 3.0


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (np.array(["2024-01-01", "NaT"], "M8[s]"), ValueError, "times must be finite everywhere; got 'NaN, NaT"),
        ([1.0, np.nan], ValueError, "times must be finite everywhere"),
        (NAIVE[:1] + [one.replace(tzinfo=UTC) for one in NAIVE], ValueError, "a time zone everywhere or nowhere"),
        (["2024-01-01"], TypeError, r"turn text into dates with np.array\(times, 'datetime64\[ms\]'\)"),
        ([True, False], TypeError, "must be numbers, dates or durations; got dtype bool"),
        ([None, 1.0], TypeError, "must be numbers, dates or durations; got None"),
        ([time(12), time(13)], TypeError, "must be numbers, dates or durations"),
        ([1j], TypeError, "must be numbers, dates or durations; got dtype complex128"),
        (np.array([1], "m8[Y]"), TypeError, "times must be in days or shorter units; got dtype timedelta64"),
        ([[1.0], [2.0, 3.0]], ValueError, "times must be a flat list of time stamps"),
    ],
)
def test_what_is_no_time_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        as_times("times", given)


def a_model():
    return prepare(Elasticity(kappa=20.0, pull=2.0, kernel=Exponential(memory=2.0)), np.eye(3))


def some_rows():
    return np.random.default_rng(0).random((4, 3))


def test_dates_mean_seconds_wherever_a_time_enters():
    model, rows, dates = a_model(), some_rows(), stamps("ns")
    _, response = track(model, init(model), rows, SECONDS)
    later, by_date = track(model, init(model), rows, dates)
    np.testing.assert_allclose(by_date.posterior, response.posterior, rtol=1e-5)
    assert later.clock[0] == START + 60.0
    one, _ = step(model, later, rows[0], NAIVE[-1] + timedelta(seconds=1))
    assert one.clock[0] == START + 61.0
    assert relax(model, one, timedelta(seconds=5)).clock[0] == START + 66.0

    streams, same = init_streams(model, 4, 5), init_streams(model, 4, 5)
    step_streams(model, streams, rows, times=SECONDS)
    step_streams(model, same, rows, times=dates)
    moved = step_streams(model, streams, rows[::-1], times=SECONDS + 1)
    as_moved = step_streams(model, same, rows[::-1], times=dates + np.timedelta64(1, "s"))
    np.testing.assert_allclose(as_moved.posterior, moved.posterior, rtol=1e-5)


def paced_models():
    from sklearn.linear_model import RidgeClassifier

    from springback.heads import ElasticHead, ElasticLinearClassifier, Observer

    rows = np.eye(3)

    def clustering():
        return ElasticClustering(3, resting=rows, memory_in="time")

    return {
        "head": lambda: ElasticHead(np.eye(3), np.zeros(3), Observer(memory_in="time")),
        "linear": lambda: ElasticLinearClassifier(RidgeClassifier(), Observer(memory_in="time")).fit(rows, [0, 1, 2]),
        "clustering": lambda: clustering().fit(rows),
        "classifier": lambda: ElasticClassifier(clustering()).fit(rows, [0, 1, 2]),
    }


@pytest.mark.parametrize("name", ["head", "linear", "clustering", "classifier"])
def test_a_memory_far_from_the_usual_step_is_said_once(name):
    make, rows = paced_models()[name], np.random.default_rng(0).random((40, 3))
    dates = np.datetime64("2024-01-01", "ms") + np.arange(40) * np.timedelta64(1, "ms")
    model = make()
    with pytest.warns(
        UserWarning, match=r"memory is [23], but time stamps are usually 0.001 apart, 1/[23]e\+03 of that"
    ):
        model.track(rows, dates)
    model.track(rows, dates)
    hourly = make()
    for row, hour in zip(rows[:16], range(16), strict=True):
        hourly.step(row, dates[0] + np.timedelta64(hour, "h"))
    with pytest.warns(UserWarning, match=r"usually 3.6e\+03 apart, 1\.[28]e\+03 times that.*seconds for dates"):
        hourly.step(rows[0], dates[0] + np.timedelta64(16, "h"))
    hourly.step(rows[0], dates[0] + np.timedelta64(17, "h"))


@pytest.mark.parametrize("name", ["head", "linear", "clustering", "classifier"])
def test_a_memory_of_a_few_steps_is_not_mentioned(name):
    make, rows = paced_models()[name], np.random.default_rng(0).random((40, 3))
    model = make()
    pauses = np.cumsum(np.where(np.arange(40) % 10 == 9, 1e6, 0.5))  # seconds; now and then a long pause
    with warnings.catch_warnings(record=True) as mentioned:
        warnings.simplefilter("always")
        model.track(rows, pauses)
        for row, at in zip(rows, pauses, strict=True):
            model.step(row, at)
        model.reset().relax(1e6)
    assert not mentioned


def test_dates_of_pandas_are_seconds():
    pandas = pytest.importorskip("pandas")
    naive = pandas.Series(stamps("ns"))
    for given in (naive, naive.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"), pandas.DatetimeIndex(naive)):
        np.testing.assert_allclose(as_times("times", given), START + SECONDS, atol=2.5e-7)
    assert as_times("time", naive[1]).tolist() == [START + 0.5]
    assert as_times("time", naive[1].tz_localize("UTC")).tolist() == [START + 0.5]
    np.testing.assert_array_equal(as_times("times", naive - naive[0]), SECONDS)
    assert as_elapsed("elapsed", pandas.Timedelta(minutes=1)) == 60.0
    for missing in (pandas.Series([naive[0], pandas.NaT]), pandas.Series([naive[0].tz_localize("UTC"), pandas.NaT])):
        with pytest.raises(ValueError, match="times must be finite everywhere; got 'NaN, NaT"):
            as_times("times", missing)
    with pytest.raises(ValueError, match="a time zone everywhere or nowhere"):
        as_times("times", pandas.Series([naive[0], naive[1].tz_localize("UTC")], dtype=object))


def test_dates_of_polars_are_seconds():
    polars = pytest.importorskip("polars")
    for unit in ("ms", "us", "ns"):
        given = polars.Series(stamps("ns")).dt.cast_time_unit(unit)
        np.testing.assert_array_equal(as_times("times", given), START + SECONDS)
        np.testing.assert_array_equal(as_times("times", given - given[0]), SECONDS)
        np.testing.assert_array_equal(as_times("times", given.dt.replace_time_zone("UTC")), START + SECONDS)
    with pytest.raises(ValueError, match="times must be finite everywhere"):
        as_times("times", polars.Series([*stamps("ms").tolist(), None]))


def test_estimators_take_dates():
    rows, dates = some_rows(), stamps("us")
    clusters = ElasticClustering(3, resting=np.eye(3), memory=2.0).fit(rows)
    np.testing.assert_allclose(clusters.track(rows, times=dates), clusters.track(rows, times=SECONDS), rtol=1e-5)
    clusters.partial_fit(rows, times=dates).relax(np.timedelta64(3, "s"))
    assert time_now(clusters.state_.clock[None, 1:], clusters.state_.clock[:1]).item() == START + 63.0
    named = ElasticClassifier(ElasticClustering(3, resting=np.eye(3))).fit(rows, [0, 1, 2, 0])
    np.testing.assert_allclose(named.track(rows, times=NAIVE), named.track(rows, times=SECONDS), rtol=1e-5)
    with pytest.raises(ValueError, match="times must never run backwards"):
        named.track_labels(rows, times=NAIVE[::-1])


def test_a_clock_too_large_to_count_on_asks_for_times():
    model = a_model()
    state, _ = track(model, init(model), some_rows(), np.full(4, 1.7e18))
    with pytest.raises(
        ValueError, match=r"times must be given: one step after 1.7e\+18 cannot be distinguished from it"
    ):
        track(model, state, some_rows())


def test_time_stamps_at_the_ends_of_the_range_do_no_harm():
    model = a_model()
    state, response = track(model, init(model), some_rows(), [-1.7e308, 0.0, 1.0, 1.7e308])
    assert np.isfinite(response.posterior).all()
    assert all(np.isfinite(part).all() for part in state._replace(clock=state.clock[:1]))
