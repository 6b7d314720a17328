"""A whole run on made-up streams: it goes on where it was stopped, and its results are those of its parts."""

import json
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from springback_bench.comparison import first_settings, measure, methods, run
from springback_bench.comparison.page import page_of
from springback_bench.stream_sets import StreamSet
from springback_bench.stream_sets.split_file import SplitSizes
from tests.bench.small_streams import CLASSES, SMALL, row, small_results, split

SCOPE = replace(SMALL, trials=4, network_trials=0)


class Here:
    """A pool that runs everything at once, in this process, and counts it."""

    slots = 1

    def __init__(self) -> None:
        self.began: list[str] = []

    def submit(self, urgency, function, *arguments):  # noqa: ARG002
        self.began.append(arguments[0].name)
        done: Future = Future()
        try:
            done.set_result(function(*arguments))
        except Exception as error:
            done.set_exception(error)
        return done

    def close(self, *, at_once=False):
        pass


@pytest.fixture
def sets(monkeypatch):
    """Two stream sets in place of the real ones."""
    made = {
        name: StreamSet(
            name=name,
            title="What?",
            splits=2,
            make=lambda *_: None,
            source="Made up.",
            step="1 frame",
            real=name == "a",
        )
        for name in ("a", "hidden-gap")
    }
    sizes = SplitSizes(220, 240, CLASSES)
    monkeypatch.setattr(run, "stream_sets", lambda: made)
    monkeypatch.setattr(run, "sizes_made", lambda *_: sizes)
    monkeypatch.setattr(measure, "load_stream", split)
    measure.loaded.cache_clear()
    yield made
    measure.loaded.cache_clear()


def measured(sets, folder, names, scope=SCOPE, methods=None):
    pool = Here()
    return run.measure([sets[name] for name in names], scope, folder, lambda: pool, methods), pool


def test_a_second_run_measures_nothing_again_and_finds_the_same(sets, tmp_path):
    one = replace(SCOPE, splits=1)
    first, pool = measured(sets, tmp_path, ["a"], one)
    assert "a-0.carry-over" in pool.began
    assert first["absent"] == {"hidden-gap": "not measured in this run"}
    again, pool = measured(sets, tmp_path, ["a"], one)
    assert pool.began == []
    assert again["results"] == first["results"]


def test_what_a_stopped_run_has_kept_is_not_measured_again(sets, tmp_path):
    one = replace(SCOPE, splits=1)
    measured(sets, tmp_path, ["a"], one)
    lost = next(tmp_path.glob("a-0.smoothing-*"))
    lost.unlink()
    _, pool = measured(sets, tmp_path, ["a"], one)
    assert pool.began == ["a-0.smoothing"]


def test_one_method_is_measured_on_one_stream_with_the_frozen_network_beside_it(sets, tmp_path):
    found, pool = measured(sets, tmp_path, ["a"], replace(SCOPE, splits=1), run.methods_for(["smoothing"]))
    assert sorted(pool.began) == ["a-0.smoothing", "a-0.static"]
    assert found["results"]["a"].keys() == {"smoothing", "static"}


def test_a_rival_without_first_settings_gets_them_once_for_all_streams(sets, tmp_path, monkeypatch):
    bare = [replace(one, first=()) for one in methods.all_rivals() if one.name == "smoothing"]
    monkeypatch.setattr(methods, "all_rivals", lambda: tuple(bare))
    monkeypatch.setattr(run, "streams_made", lambda: {"a": 1})
    monkeypatch.setattr(first_settings, "load_stream", split)
    one = replace(SCOPE, splits=1)
    found, pool = measured(sets, tmp_path, ["a", "hidden-gap"], one, {"static", "smoothing"})
    assert pool.began.count("first.smoothing") == 1
    assert found["failed"] == {}
    tried = first_settings.pick_for("smoothing", {"a": 1}).settings("smoothing")
    assert len(tried) == first_settings.PICKED
    direct = measure.rival_on(split("a", 0), "smoothing", one, tried)
    assert found["results"]["a"]["smoothing"]["settings"] == [direct.settings]


def test_results_of_a_part_take_their_places_among_earlier_ones(monkeypatch):
    monkeypatch.setattr(run, "stream_sets", lambda: dict.fromkeys(("sea", "pond")))
    earlier, found = small_results({"pond": {"t3a": 0.6}}), small_results({"sea": {}})
    earlier["results"]["pond"]["gone"] = earlier["results"]["pond"]["t3a"]
    earlier["made"]["date"] = "2025-12-30"
    found["results"]["pond"] = {"smoothing": row(0.7)}
    found["absent"] = {"pond": "not measured in this run"}
    both = run.joined(earlier, found)
    assert list(both["streams"]) == ["sea", "pond"]
    assert both["results"]["pond"]["t3a"] == row(0.6, variant="springs")
    assert both["results"]["pond"]["smoothing"] == row(0.7)
    assert "gone" not in both["results"]["pond"]
    assert both["absent"] == {}
    assert both["made"]["since"] == "2025-12-30"
    assert "task_seconds" not in both["made"]
    assert run.joined(both, found)["made"]["since"] == "2025-12-30"


@pytest.mark.usefixtures("sets")
def test_a_run_of_a_part_prints_and_writes_nothing_without_earlier_results(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "LocalPool", lambda _: Here())
    command = ["--method=smoothing", "--stream=a", "--trials=4", "--splits=1", f"--out={tmp_path}"]
    run.main(command)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed if "% right" in line] == ["a, static", "a, smoothing"]
    assert not (tmp_path / "docs").exists()
    scope = replace(run.FULL, trials=4, splits=1)
    run.write({**small_results(), "scope": run.asdict(scope)}, tmp_path)
    run.main(command)
    found = json.loads((tmp_path / run.RESULTS).read_text())
    assert found["results"]["a"].keys() == {"static", "smoothing"}


def test_other_trials_or_another_version_of_the_stream_are_measured_anew(sets):
    def names(one, scope):
        tasks = run.tasks_of(one, scope)
        store = run.TaskStore(Path(), tasks)
        return {store.path(task.name).name for task in tasks}

    here = names(sets["a"], SCOPE)
    assert not here & names(sets["a"], replace(SCOPE, trials=8))
    assert not here & names(replace(sets["a"], version=2), SCOPE)
    assert names(sets["a"], replace(SCOPE, splits=1)) < here


def test_other_settings_to_try_first_are_measured_anew(sets, monkeypatch):
    before = {task.name: task.params for task in run.tasks_of(sets["a"], SCOPE)}
    other = [replace(one, first=one.first[:1]) for one in methods.all_rivals() if one.name == "smoothing"]
    monkeypatch.setattr(methods, "all_rivals", lambda: tuple(other))
    after = {task.name: task.params for task in run.tasks_of(sets["a"], SCOPE)}
    changed = {name.rsplit(".", 1)[-1] for name in after if before[name] != after[name]}
    assert changed == {"smoothing"}


def test_a_change_in_the_file_of_a_rival_is_measured_anew(sets):
    tasks = {task.name: task for task in run.tasks_of(sets["a"], SCOPE)}
    file = "springback_bench.rivals.smoothing"
    assert file in tasks["a-0.smoothing"].code.sources
    assert file not in tasks["a-0.carry-over"].code.sources


def test_results_are_plain_numbers_and_make_a_page(sets, tmp_path):
    found, _ = measured(sets, tmp_path, ["a", "hidden-gap"])
    json.loads(json.dumps(found, allow_nan=False))
    assert "| springback |" in page_of(found)


def test_a_method_that_was_not_worth_it_answers_as_the_frozen_network(sets):
    tasks = run.tasks_of(sets["a"], SCOPE)
    static = measure.static_on(split(), SCOPE)
    kept = {task.name: static for task in tasks}
    useless = replace(static, accuracy=0.01, shuffled=0.02, frozen=True, settings={"memory": 3.0}, state_bytes=8)
    kept["a-1.smoothing"] = useless
    row = run.results_of(sets["a"], SCOPE, kept)["smoothing"]
    assert row["accuracy"] == [static.accuracy] * 2
    assert row["shuffled"] == [static.shuffled] * 2
    assert row["frozen"] == [False, True]


def test_a_method_that_failed_on_one_split_is_left_out(sets):
    static = measure.static_on(split(), SCOPE)
    kept = {task.name: static for task in run.tasks_of(sets["a"], SCOPE)}
    del kept["a-1.carry-over"]
    assert "carry-over" not in run.results_of(sets["a"], SCOPE, kept)
    assert "smoothing" in run.results_of(sets["a"], SCOPE, kept)


def test_one_failing_method_does_not_stop_the_others(sets, tmp_path, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("no memory is left")

    monkeypatch.setattr(measure, "static_on", fails)
    found, _ = measured(sets, tmp_path, ["a"], replace(SCOPE, splits=1))
    assert found["failed"] == {"a-0.static": "RuntimeError: no memory is left"}
    assert found["results"] == {}


def test_a_stream_that_cannot_be_made_is_absent_with_the_reason(sets, monkeypatch):
    def refused(*_, **__):
        raise run.DataError("the registry does not answer")

    monkeypatch.setattr(run, "sizes_made", lambda *_: None)
    monkeypatch.setattr(run, "load_stream", refused)
    assert run.prepare([sets["a"]], SCOPE) == {"a": "the registry does not answer"}


def test_networks_are_adapted_on_corrupted_photographs_alone(sets):
    pytest.importorskip("torch")
    photographs = replace(sets["a"], name="corruptions-iid")
    with_networks = replace(SCOPE, network_trials=2)
    assert any(task.name.endswith(".tent") for task in run.tasks_of(photographs, with_networks))
    assert not any(task.name.endswith(".tent") for task in run.tasks_of(photographs, SCOPE))
    assert not any(task.name.endswith(".tent") for task in run.tasks_of(sets["a"], with_networks))


def test_results_page_and_figure_are_written_below_any_folder(tmp_path):
    run.write(small_results(), tmp_path)
    found = json.loads((tmp_path / run.RESULTS).read_text())
    assert (tmp_path / "docs" / "streams.md").read_text() == page_of(found)
