"""The display of a run: what is done, what is running, what is left."""

from rich.console import Console

from springback_paper.cli import run_display as shown_run
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
    monkeypatch.setattr(shown_run, "errors", Console(stderr=True, highlight=False, force_terminal=False, width=200))
    monkeypatch.setattr(shown_run.time, "monotonic", lambda: 0.0)
    with shown_run.run_display(diamond(seconds=10.0)) as show:
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
    board = shown_run._Board(diamond(seconds=10.0))
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
