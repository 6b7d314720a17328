"""The display of a run: what is done, what is running, what is left."""

from typing import ClassVar

import pytest
from rich.console import Console

from springback.cli import display
from springback.compiled import njit
from springback_paper.results.scores import Scores
from springback_paper.runner.run import Event
from tests.paper.runner.small_tasks import diamond


def events():
    last, *middle, first = diamond(seconds=10.0)
    scores = Scores(n_train=1, n_test=1, n_frames=1, omnist_test={"elastic": 0.955})
    yield Event(what="kept", task=first, seconds=3.0)
    yield Event(what="started", task=middle[0], slots=2)
    yield Event(what="started", task=middle[1], slots=2)
    yield Event(what="finished", task=middle[0], seconds=20.0, result=scores)
    yield Event(what="failed", task=middle[1], reason="ValueError: no")
    yield Event(what="skipped", task=last, reason="needs middle-2, which failed")
    yield Event(what="waiting")


def test_without_a_terminal_every_task_is_a_line_with_its_headline(monkeypatch, capsys):
    monkeypatch.setattr(display, "_errors", Console(stderr=True, highlight=False, force_terminal=False, width=200))
    monkeypatch.setattr(display.time, "monotonic", lambda: 0.0)
    with display.run_display(diamond(seconds=10.0)) as show:
        for event in events():
            show(event)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "8 tasks, 1 already done, about 30 s",
        "[2/8] middle-1: 20 s, elastic 95.50 % (51 s left)",
        "[3/8] middle-2: failed, ValueError: no (41 s left)",
        "[4/8] last: skipped, needs middle-2, which failed (40 s left)",
    ]


def test_on_a_terminal_the_moving_lines_name_what_runs_and_the_time_left():
    board = display._Board(diamond(seconds=10.0))
    for event in list(events())[:3]:
        board.note(event)
    console = Console(width=100, force_terminal=True, color_system=None)
    with console.capture() as shown:
        console.print(board)
    text = shown.get()
    assert "1 of 8 tasks, 1 already done; about 30 s left" in text
    assert "middle-1" in text
    assert "middle-2" in text
    assert "middle-3" not in text


def compile_one():
    njit()(lambda x: x + 1)(1)


class Watched(display.Progress):
    """A progress bar that remembers what it said."""

    said: ClassVar[list[str]] = []

    def add_task(self, description, **more):
        self.said.append(description)
        return super().add_task(description, **more)

    def update(self, task, **now):
        self.said.extend([now["description"]] if "description" in now else [])
        super().update(task, **now)


@pytest.fixture
def said(monkeypatch):
    monkeypatch.setattr(display, "Progress", Watched)
    monkeypatch.setattr(Watched, "said", [])
    return Watched.said


def test_a_bar_says_that_code_is_being_compiled(monkeypatch, said):
    monkeypatch.setattr(display, "_errors", Console(stderr=True, force_terminal=True, color_system=None, width=100))
    with display.training_progress(2) as advance:
        compile_one()
        advance(2, float("nan"))
        advance(1, float("nan"))
        compile_one()
    names = ("training", "labelling neurons")
    assert said == ["training", *(one for name in names for one in (f"{name}: compiling (once)", name))]


def test_without_a_terminal_compiling_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(display, "_errors", Console(stderr=True, highlight=False, force_terminal=False, width=200))
    with display.training_progress(2):
        compile_one()
        compile_one()
    assert capsys.readouterr().err == "compiling (once)\n"


def test_while_other_processes_begin_the_bar_says_that_they_compile(said):
    with display.training_progress(5, "trials", elsewhere=True) as advance:
        advance(0, float("nan"))
        assert said == ["trials: compiling (once)"]
        advance(1, 90.0)
    assert said[-1] == "trials"
