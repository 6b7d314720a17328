"""Progress bars: what they say, and what is said where there is no terminal."""

from typing import ClassVar

import pytest
from rich.console import Console

from springback.cli import display
from springback.compiled import njit


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
    monkeypatch.setattr(display, "errors", Console(stderr=True, force_terminal=True, color_system=None, width=100))
    with display.training_progress(2) as advance:
        compile_one()
        advance(2, float("nan"))
        advance(1, float("nan"))
        compile_one()
    names = ("training", "labelling neurons")
    assert said == ["training", *(one for name in names for one in (f"{name}: compiling (once)", name))]


def test_without_a_terminal_compiling_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(display, "errors", Console(stderr=True, highlight=False, force_terminal=False, width=200))
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
