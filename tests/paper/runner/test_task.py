"""Tasks: what names a result, what may need what, and how long the rest takes."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from springback.spiking.presets import moraitis_2020, springback_2026
from springback_paper.runner import task as under_test
from springback_paper.runner.task import Task, described, digests, in_order, seconds_left, with_needs
from tests.paper.runner.small_tasks import diamond, draw, fail


def changed(tasks, name, **changes):
    return [replace(task, **changes) if task.name == name else task for task in tasks]


@pytest.mark.parametrize("change", [{"params": {"n": 6}}, {"seed": 1}, {"run": fail}])
def test_a_change_reaches_the_digest_of_the_task_and_of_what_needs_it(change):
    before, after = digests(diamond()), digests(changed(diamond(), "middle-3", **change))
    assert {name for name in before if before[name] != after[name]} == {"middle-3", "last"}


def test_another_version_of_the_data_is_another_digest(monkeypatch):
    before = digests(diamond())
    monkeypatch.setattr(under_test, "OMNIST_VERSION", 99)
    assert not set(before.values()) & set(digests(diamond()).values())


def test_the_digest_does_not_depend_on_the_guess_of_the_time():
    assert digests(diamond(seconds=1.0)) == digests(diamond(seconds=7.0))


def test_presets_that_differ_are_described_differently():
    assert described(springback_2026()) != described(moraitis_2020())
    assert described(springback_2026()) == described(springback_2026())
    assert described(np.zeros(2)) != described(np.ones(2))


def test_a_parameter_that_cannot_be_described_is_refused():
    @dataclass(frozen=True)
    class Odd:
        what: object

    with pytest.raises(TypeError, match="a parameter must be plain"):
        described(Odd(object()))


def test_circles_missing_needs_and_double_names_are_refused():
    def task(name, **needs):
        return Task(name=name, run=draw, needs=needs)

    with pytest.raises(ValueError, match="not wait for each other"):
        in_order([task("a", x="b"), task("b", x="a")])
    with pytest.raises(ValueError, match=r"what a task needs must be a task; got \['c'\]"):
        in_order([task("a", x="c")])
    with pytest.raises(ValueError, match="the name of a task must be its own; got 'a'"):
        in_order([task("a"), task("a")])


def test_wanted_tasks_bring_what_they_need_and_no_more():
    assert [task.name for task in with_needs(["middle-2"], diamond())] == ["first", "middle-2"]


def test_time_left_is_bounded_by_the_work_and_by_the_longest_chain():
    tasks = diamond(seconds=6.0)
    assert seconds_left(tasks, {}, {}, slots=1) == pytest.approx(1 + 36 + 1)
    assert seconds_left(tasks, {}, {}, slots=100) == pytest.approx(1 + 6 + 1)
    assert seconds_left(tasks, {"first": 2.0}, {}, slots=1) == pytest.approx(2 * 37)
    assert seconds_left(tasks, {"first": 1.0}, {"middle-1": 5.0}, slots=1) == pytest.approx(32)
    assert seconds_left(tasks, {task.name: 1.0 for task in tasks}, {}, slots=1) == 0.0
