"""Freed memory: a worker uses it again, and gives it back after each task."""

import platform

import pytest

from springback_paper.runner import run
from springback_paper.runner.freed_memory import give_back_freed_memory
from springback_paper.runner.pools import LocalPool
from springback_paper.runner.task import Task
from tests.paper.runner.large_arrays import N_BYTES, bytes_held, pages_cleared
from tests.paper.runner.small_tasks import draw

glibc = tuple(int(part) for part in platform.libc_ver()[1].split(".")) if platform.libc_ver()[0] == "glibc" else ()

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(glibc < (2, 34), reason="only glibc keeps freed memory, from version 2.34 on"),
]


def held_before_and_after_giving_back():
    assert len(b"x" * N_BYTES) == N_BYTES
    kept = bytes_held()
    give_back_freed_memory()
    return kept, bytes_held()


@pytest.fixture(scope="module")
def pool():
    made = LocalPool(1)
    yield made
    made.close()


def test_a_worker_uses_freed_memory_again(pool):
    assert pool.submit(0, pages_cleared).result() < 100


def test_a_worker_that_gives_back_holds_less(pool):
    kept, left = pool.submit(0, held_before_and_after_giving_back).result()
    assert kept - left > 0.9 * N_BYTES


def test_a_task_gives_back_what_it_freed_even_if_it_fails(monkeypatch):
    given_back = []
    monkeypatch.setattr(run, "give_back_freed_memory", lambda: given_back.append(True))
    run.timed(Task(name="drawn", run=draw, needs={}), {})
    assert given_back == [True]
    with pytest.raises(TypeError):
        run.timed(Task(name="failing", run=draw, params={"n": "many"}, needs={}), {})
    assert given_back == [True, True]
