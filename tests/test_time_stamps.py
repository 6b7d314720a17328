"""Time stamps of every kind: the same moments give the same numbers, in seconds."""

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
from springback.time_stamps import as_elapsed, as_times

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


def test_estimators_take_dates():
    rows, dates = some_rows(), stamps("us")
    clusters = ElasticClustering(3, resting=np.eye(3), memory=2.0).fit(rows)
    np.testing.assert_allclose(clusters.track(rows, times=dates), clusters.track(rows, times=SECONDS), rtol=1e-5)
    clusters.partial_fit(rows, times=dates).relax(np.timedelta64(3, "s"))
    assert clusters.state_.clock[0] == START + 63.0
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
    assert all(np.isfinite(part).all() for part in state)


def test_pandas_times_are_taken():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(stamps("ns"))
    for given in (series, pandas.DatetimeIndex(series), series.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")):
        np.testing.assert_allclose(as_times("times", given), START + SECONDS, atol=2.5e-7)
    np.testing.assert_allclose(as_times("times", series - series[0]), SECONDS)
    with pytest.raises(ValueError, match="NaN, NaT or infinity"):
        as_times("times", pandas.Series([stamps("ns")[0], pandas.NaT]))
    with pytest.raises(ValueError, match="NaN, NaT or infinity"):
        as_times("times", [NAIVE[0].replace(tzinfo=UTC), pandas.NaT])


def test_polars_times_are_taken():
    polars = pytest.importorskip("polars")
    np.testing.assert_allclose(as_times("times", polars.Series(stamps("us"))), START + SECONDS, atol=2.5e-7)
    np.testing.assert_allclose(as_times("times", polars.Series(NAIVE)), START + SECONDS, atol=2.5e-7)
