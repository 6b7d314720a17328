"""Figures on the workers of a pool: the same files as without it, and all of them even if workers are gone."""

import re
from concurrent.futures import BrokenExecutor, Future

import pytest
from matplotlib.figure import Figure

from springback.check import DataError
from springback_paper.figures import fig_2a, principal_path
from springback_paper.figures.exhibit import Exhibit
from springback_paper.report import pictures
from springback_paper.report.pictures import picture_of, pictures_of
from springback_paper.run_scope import Scope
from springback_paper.runner.pools import LocalPool
from springback_paper.runner.run import run_tasks
from springback_paper.runner.shared_pool import SharedPool
from springback_paper.runner.task import Task
from tests.paper.runner.here import Here


class Remembering(Here):
    """A pool that runs everything here, and knows what it was asked for and how it was closed."""

    def __init__(self):
        self.asked, self.closed = [], []

    def submit(self, urgency, function, *arguments):
        self.asked.append(function)
        return super().submit(urgency, function, *arguments)

    def close(self, *, at_once=False):
        self.closed.append(at_once)


class Lost(Here):
    """A pool whose workers are gone: it says so at once, or only when asked for the answer."""

    def __init__(self, error, *, at_once):
        self.error, self.at_once = error, at_once

    def submit(self, _urgency, _function, *_arguments):
        if self.at_once:
            raise self.error
        answer = Future()
        answer.set_exception(self.error)
        return answer


@pytest.fixture(scope="module")
def result():
    task: Task = fig_2a.EXHIBIT.task(Scope(limit=200))
    return task.compute({})


@pytest.fixture(scope="module")
def here(result):
    return picture_of(fig_2a.EXHIBIT, result)


def without_stamps(svg):
    """SVG without its date and the random names of its parts."""
    return re.sub(rb'<dc:date>.*?</dc:date>|id="[^"]*"|#[^")]*', b"", svg)


@pytest.mark.waits
def test_a_worker_draws_the_same_figure(result, here):
    with SharedPool(lambda: LocalPool(1)) as pool:
        (there,) = pictures_of([(fig_2a.EXHIBIT, result)], pool)
    assert (there.caption, there.png, there.numbers) == (here.caption, here.png, here.numbers)
    assert without_stamps(there.svg) == without_stamps(here.svg)


def test_figures_are_drawn_on_the_pool_and_only_there(result, monkeypatch):
    pool = Remembering()
    (drawn,) = pictures_of([(fig_2a.EXHIBIT, result)], pool)
    assert drawn.png.startswith(b"\x89PNG")
    assert len(pool.asked) == 1
    monkeypatch.setattr(pictures, "_picture_by_name", lambda _module, _result: drawn)
    monkeypatch.setattr(pictures, "picture_of", lambda *_: pytest.fail("drawn a second time"))
    assert pictures_of([(fig_2a.EXHIBIT, result)], pool) == [drawn]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("error", [BrokenExecutor("killed"), DataError("the scheduler is gone")])
def test_figures_are_drawn_here_if_the_workers_are_gone(result, here, error, at_once):
    (drawn,) = pictures_of([(fig_2a.EXHIBIT, result)], Lost(error, at_once=at_once))
    assert drawn.png == here.png


def test_a_figure_of_no_module_is_drawn_here(result):
    def draw(_):
        return Figure(figsize=(1, 1))

    own = Exhibit(
        title="", section="", draw=draw, table=lambda _: {"a": [1]}, shows="", ran=lambda _: "", paper="", run=draw
    )
    pool = Remembering()
    assert pictures_of([(own, result)], pool)[0].png.startswith(b"\x89PNG")
    assert pool.asked == []


def test_one_figure_that_cannot_be_drawn_leaves_the_others(result, here):
    failed, drawn = pictures_of([(principal_path.EXHIBIT, None), (fig_2a.EXHIBIT, result)], Here())
    assert isinstance(failed, Exception)
    assert drawn.png == here.png


def test_the_layout_of_the_png_is_that_of_the_svg(result):
    laid_out = []

    class Counted(Figure):
        def savefig(self, fname, **how):
            laid_out.append((how["format"], self.get_layout_engine().__class__.__name__))
            return super().savefig(fname, **how)

    own = Exhibit(
        title="",
        section="",
        draw=lambda _: Counted(figsize=(1, 1), layout="constrained"),
        table=lambda _: {"a": [1]},
        shows="",
        ran=lambda _: "",
        paper="",
    )
    picture_of(own, result)
    assert laid_out == [("png", "ConstrainedLayoutEngine"), ("svg", "PlaceHolderLayoutEngine")]


def test_a_shared_pool_is_made_when_it_is_used_and_closed_once_at_the_end():
    made = []

    def make():
        made.append(Remembering())
        return made[-1]

    with SharedPool(make) as pool:
        assert not pool.is_open
        assert run_tasks([], None, lambda: pool) == {}
        assert not pool.is_open
        assert pool.submit(0.0, max, 1, 2).result() == 2
        pool.close()
        assert (pool.is_open, pool.slots) == (True, 1)
        assert pool.submit(0.0, max, 3, 2).result() == 3
    assert [one.closed for one in made] == [[False]]
    with SharedPool(make) as pool:
        pool.submit(0.0, max, 1, 2)
        pool.close(at_once=True)
        assert not pool.is_open
    assert [one.closed for one in made] == [[False], [True]]


def interrupted(pool):
    with pool:
        pool.submit(0.0, max, 1, 2)
        raise KeyboardInterrupt


def test_an_interrupt_ends_the_workers_of_a_shared_pool_at_once():
    inner = Remembering()
    with pytest.raises(KeyboardInterrupt):
        interrupted(SharedPool(lambda: inner))
    assert inner.closed == [True]
