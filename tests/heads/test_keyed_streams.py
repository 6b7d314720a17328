"""Streams by key: each is followed as if it were alone, and its state can be kept and given back."""

import tracemalloc
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from springback.elastic import ElasticClassifier, ElasticClustering
from springback.heads import (
    CentroidSprings,
    ElasticHead,
    KeyedStreams,
    LearningObserver,
    Observer,
    Springs,
    WindowSprings,
)
from springback.heads.compiled import learning_observer
from springback.heads.keyed_states import states_of

N_CLASSES, N_FEATURES = 4, 24
SETTINGS = {
    "observer": Observer(depth=6),
    "averaging observer": Observer(depth=6, gain=0.5),
    "learning observer": LearningObserver(depth=6),
    "springs": Springs(pull=3.0),
    "window": WindowSprings(pull=3.0, window=6),
    "tuned window": WindowSprings(pull=3.0, window=6, tuning=3.0, constant=0.3),
    "centroids": CentroidSprings(pull=3.0),
}


def make_head(settings):
    rng = np.random.default_rng(0)
    return ElasticHead(rng.normal(size=(N_CLASSES, N_FEATURES)), rng.normal(size=N_CLASSES), settings)


def make_rows(n, seed=1):
    return np.random.default_rng(seed).normal(size=(n, N_FEATURES)).astype(np.float32)


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS)
def head(request):
    return make_head(request.param)


def test_every_stream_is_followed_as_if_it_were_alone(head):
    streams = KeyedStreams(head, compact=False)
    rows = {key: make_rows(20, seed) for seed, key in enumerate("abc")}
    answers = {key: [] for key in rows}
    for number in range(20):
        for key in rows:
            answers[key].append(streams.step(key, rows[key][number]))
    for key, given in rows.items():
        assert (np.array(answers[key]) == head.track(given)).all()


def test_many_streams_in_one_call_are_followed_as_if_each_were_alone(head):
    streams = KeyedStreams(head, compact=False)
    rows, times = make_rows(90).reshape(30, 3, N_FEATURES), np.cumsum(np.ones((30, 3)), axis=0) * [1.0, 0.5, 2.0]
    answers = [streams.follow_mixed("abc", *one).posterior for one in zip(rows, times, strict=True)]
    for number in range(3):
        alone = head.track_response(rows[:, number], times[:, number])
        np.testing.assert_allclose(np.array(answers)[:, number], alone.posterior, rtol=1e-12, atol=1e-12)


def test_a_row_without_a_key_has_no_past_and_is_not_remembered(head):
    streams, rows = KeyedStreams(head), make_rows(4)
    streams.step("a", rows[0])
    answers = streams.follow_mixed([None, "a", None], rows[1:]).posterior
    assert (answers[[0, 2]] == np.concatenate([head.track(rows[1:2]), head.track(rows[3:])])).all()
    assert list(streams) == ["a"]


def test_a_window_of_inputs_of_any_length_is_kept_exactly():
    head = make_head(WindowSprings(window=6, unit_inputs=False, pull=1e-9))
    streams, rows = KeyedStreams(head), 1e7 * make_rows(9)
    assert (streams.follow("a", rows).posterior == head.track(rows)).all()
    resumed = KeyedStreams(head)
    resumed.restore("a", streams.snapshot("a"))
    assert resumed.snapshot("a") == streams.snapshot("a")


def test_the_given_model_does_not_move(head):
    before = head.get_state()
    KeyedStreams(head).follow("a", make_rows(3))
    assert head.get_state() == before


@pytest.mark.parametrize("compact", [True, False])
def test_answers_do_not_depend_on_calls_or_on_interruptions(head, compact):
    rows, times = make_rows(30), np.cumsum(np.random.default_rng(2).exponential(size=30))
    whole = KeyedStreams(head, compact=compact).follow("a", rows, times)
    parts, first = [], 0
    streams = KeyedStreams(head, compact=compact)
    for last in (1, 2, 9, 10, 30):
        parts.append(streams.follow("a", rows[first:last], times[first:last]).posterior)
        resumed = KeyedStreams(head, compact=compact)
        resumed.restore("a", streams.snapshot("a"))
        streams, first = resumed, last
    assert (np.concatenate(parts) == whole.posterior).all()


def test_compact_states_are_a_quarter_as_large_and_answer_nearly_the_same():
    head = make_head(Observer(depth=48))
    exact, compact = KeyedStreams(head, compact=False), KeyedStreams(head, compact=True)
    rows = make_rows(200)
    difference = np.abs(exact.follow("a", rows).posterior - compact.follow("a", rows).posterior)
    assert 0 < difference.max() < 0.02
    remembered = 48 * N_FEATURES
    saved = 4 * remembered - remembered - 2 * 4 * 48
    assert saved - 500 < exact.nbytes - compact.nbytes <= saved  # less the objects around two more arrays
    assert len(compact.snapshot("a")) < compact.nbytes + 600


def test_rows_of_many_streams_can_be_mixed(head):
    keys, rows = ["a", "b", "a", "c", "b", "a"], make_rows(6)
    mixed, single = KeyedStreams(head), KeyedStreams(head)
    together = mixed.follow_mixed(keys, rows, times=[0, 0, 1, 5, 2, 9])
    alone = [single.step(*one) for one in zip(keys, rows, [0, 0, 1, 5, 2, 9], strict=True)]
    assert (together.posterior == np.array(alone)).all()
    assert all(mixed.snapshot(key) == single.snapshot(key) for key in "abc")
    assert mixed.follow_mixed([], np.zeros((0, N_FEATURES))).posterior.shape == (0, N_CLASSES)


def test_time_may_be_dates(head):
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    dates = [begin, begin + timedelta(seconds=2), begin + timedelta(seconds=3)]
    rows = make_rows(3)
    by_dates, by_seconds = KeyedStreams(head), KeyedStreams(head)
    assert (
        by_dates.follow("a", rows, dates).posterior == by_seconds.follow("a", rows, [0.0, 2.0, 3.0]).posterior
    ).all()


def test_what_is_refused_changes_nothing(head):
    streams = KeyedStreams(head)
    streams.follow("a", make_rows(3), [1, 2, 3])
    before = streams.snapshot("a")
    bad = make_rows(2)
    bad[1, 5] = np.nan
    for refused in (
        lambda: streams.follow("a", bad),
        lambda: streams.step("a", make_rows(1)[0], time=2.0),
        lambda: streams.step("a", np.zeros(N_FEATURES + 1)),
        lambda: streams.follow_mixed(["b", "a"], bad),
        lambda: streams.follow_mixed(["b"], bad),
        lambda: streams.restore("a", before[:-1]),
        lambda: streams.restore("a", KeyedStreams(make_head(Observer(depth=7))).follow("x", bad[:1]) and b"nothing"),
    ):
        with pytest.raises(ValueError, match="must"):
            refused()
        assert streams.snapshot("a") == before
        assert list(streams) == ["a"]


def test_the_state_of_another_model_is_refused():
    streams, other = KeyedStreams(make_head(Observer(depth=6))), KeyedStreams(make_head(Observer(depth=7)))
    other.step("a", make_rows(1)[0])
    with pytest.raises(ValueError, match="must fit this model"):
        streams.restore("a", other.snapshot("a"))
    springs = KeyedStreams(make_head(Springs(pull=1.0)))
    springs.step("a", make_rows(1)[0])
    with pytest.raises(ValueError, match="must be of an compact ElasticHead"):
        streams.restore("a", springs.snapshot("a"))


def test_idle_streams_are_forgotten_and_start_at_rest(head):
    seconds = [0.0]
    streams = KeyedStreams(head, now=lambda: seconds[0])
    rows = make_rows(3)
    first = streams.step("a", rows[0])
    streams.step("b", rows[1])
    seconds[0] = 10.0
    streams.step("b", rows[2])
    assert streams.forget_idle(5.0) == ["a"]
    assert list(streams) == ["b"]
    assert (streams.step("a", rows[0]) == first).all()
    with pytest.raises(KeyError, match="no stream has the key 'z'"):
        streams.forget("z")


def test_the_number_of_streams_can_be_limited(head):
    streams = KeyedStreams(head, limit=2)
    for key in ("a", "b", "a", "c"):
        streams.step(key, make_rows(1)[0])
    assert list(streams) == ["a", "c"]
    assert "b" not in streams
    assert len(streams) == 2


def test_other_models_can_have_many_streams():
    rows = make_rows(40).astype(np.float64)
    model = ElasticClassifier(ElasticClustering(3, random_state=0)).fit(rows, np.arange(40) % 3)
    streams = KeyedStreams(model)
    answers = [streams.follow(key, rows[:7]).posterior for key in "ab"]
    assert (answers[0] == answers[1]).all()
    assert (answers[0] == model.track(rows[:7])).all()
    with pytest.raises(TypeError, match="model must be an ElasticHead or another StreamModel"):
        KeyedStreams(object())


@pytest.mark.parametrize("settings", [Observer(), Springs(pull=20.0)], ids=["observer", "springs"])
def test_ten_thousand_streams_of_a_large_head_fit_into_a_gigabyte(settings):
    head = ElasticHead(np.ones((10, 1280)), np.zeros(10), settings)
    streams = KeyedStreams(head)
    n_tried = 20
    for key in range(n_tried):
        streams.follow(key, np.random.default_rng(key).normal(size=(3, 1280)))
    owned = [
        part.base is None or part.base.nbytes <= part.nbytes
        for kept, _ in streams._kept.values()
        for part in kept.parts
    ]
    assert all(owned)  # no small array keeps a large one alive
    assert 10_000 * streams.nbytes / n_tried < 0.9e9


@pytest.mark.parametrize("settings", [Observer(), Observer(depth=1), Springs(pull=1.0)])
@pytest.mark.parametrize("compact", [True, False])
def test_the_reported_bytes_are_those_that_are_allocated(settings, compact):
    streams = KeyedStreams(ElasticHead(np.eye(3), np.zeros(3), settings), compact=compact)
    streams.step("first", np.ones(3))
    before = streams.nbytes
    tracemalloc.start()
    try:
        for number in range(100):
            streams.step(f"stream {number}", np.ones(3))
        allocated, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 1 / 1.3 < (streams.nbytes - before) / allocated < 1.3


def test_states_that_were_joined_come_apart_as_they_were_and_fit_no_other_head(head):
    states, rows = states_of(head, compact=False), make_rows(60).reshape(20, 3, N_FEATURES)
    _, kept = states.follow([states.rest()] * 3, rows, None)
    again = states.apart(states.joined(kept))
    assert [states.pack(one) for one in again] == [states.pack(one) for one in kept]
    followed, _ = states.follow(again, rows, None)
    assert (followed.posterior == states.follow(kept, rows, None)[0].posterior).all()
    wider = ElasticHead(np.eye(N_FEATURES + 1), np.zeros(N_FEATURES + 1), head.settings)
    with pytest.raises(ValueError, match="must"):
        states_of(wider, compact=False).apart(states.joined(kept))


def test_times_of_several_streams_compile_nothing_more():
    streams = KeyedStreams(ElasticHead(np.eye(2), np.zeros(2)))
    streams.follow_mixed(["a", "b", "a", "b"], np.ones((4, 2)), [1.0, 1.0, 2.0, 2.0])
    assert {gaps.layout for _, _, _, gaps, *_ in learning_observer.follow.signatures} == {"C"}
