"""The code behind a result: a changed source, however far away, is another digest; an unrelated one is not."""

import ast
import os
import subprocess
import sys
import textwrap
from collections import Counter

import pytest

from springback_paper.catalogue import Scope, catalogue_of
from springback_paper.runner import source_digest
from springback_paper.runner.source_digest import code_of
from springback_paper.runner.task import digests

HOUSE = {
    "house/__init__.py": "",
    "house/tasks.py": """
        from dataclasses import dataclass
        from house import cellar
        from springback.check import real

        @dataclass(frozen=True)
        class Found:
            depth: float

        def look() -> Found:
            from house.rooms.attic import height
            return Found(depth=real("depth", cellar.depth() + height))
    """,
    "house/cellar.py": "from .well import depth",
    "house/well.py": "import numpy\ndef depth():\n    return 3.0",
    "house/rooms/__init__.py": "",
    "house/rooms/attic.py": "from ..hall import height",
    "house/hall.py": "height = 2.0\nif height > 5:\n    import torch",
    "house/garden.py": "trees = 3",
}
RUN = """
    import sys
    from pathlib import Path
    from house.tasks import look
    from springback_paper.runner.task import Task
    from springback_paper.runner.run import TaskStore, run_tasks
    from tests.paper.runner.here import Here

    tasks = [Task(name="look", run=look, needs={})]
    folder = TaskStore(Path(sys.argv[1]), tasks)
    print(run_tasks(tasks, folder, Here), *folder.load_all().values())
"""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


@pytest.fixture
def house(tmp_path):
    for name, text in HOUSE.items():
        path = tmp_path / "first" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path / "first"


def asked(place, code, *arguments):
    """What a new process prints that finds the house in a place."""
    path = os.pathsep.join([str(place), ROOT, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def digest(place):
    return asked(place, "from springback_paper.runner.source_digest import code_of; print(code_of(['house.tasks']))")


def test_every_kind_of_import_is_followed_and_libraries_are_noted(house):
    code = digest(house)
    for name in ("house", "tasks", "cellar", "well", "rooms", "rooms.attic", "hall"):
        assert f"house.{name}" in code or name == "house"
    assert "springback.check" in code
    assert "garden" not in code
    assert "numpy" in code
    assert "torch" in code
    assert "scipy" not in code


@pytest.mark.parametrize("name", ["tasks", "cellar", "well", "hall", "rooms/attic", "rooms/__init__"])
def test_a_changed_source_is_another_digest(house, name):
    before = digest(house)
    path = house / "house" / f"{name}.py"
    path.write_text(path.read_text() + "\nchanged = True\n")
    assert digest(house) != before


def test_an_unrelated_source_and_another_place_change_nothing(house, tmp_path):
    before = digest(house)
    (house / "house" / "garden.py").write_text("trees = 4")
    assert digest(house) == before
    house.rename(tmp_path / "second")
    assert digest(tmp_path / "second") == before


def test_a_function_that_raises_now_is_not_a_success_of_yesterday(house, tmp_path):
    results = tmp_path / "results"
    assert asked(house, RUN, results) == "{} Found(depth=5.0)"
    (house / "house" / "well.py").write_text("def depth():\n    return 1 / 0")
    assert asked(house, RUN, results) == "{'look': 'ZeroDivisionError: division by zero'}"
    (house / "house" / "well.py").write_text("def depth():\n    return 7.0")
    assert asked(house, RUN, results) == "{} Found(depth=9.0)"


def test_the_tasks_of_the_reproduction_depend_on_their_models_and_not_on_the_report():
    catalogue = catalogue_of(Scope(full=True, seeds=(0,), limit=None, neurons=400))
    sources = {name for task in catalogue.tasks for name in task.code.sources}
    assert {"springback.spiking._kernel", "springback.elastic.algorithm", "springback.data.omnist"} <= sources
    assert not any(
        name.startswith(("springback_paper.report", "springback.cli", "springback_studio")) for name in sources
    )
    trained = next(task for task in catalogue.tasks if task.name == "spiking-0")
    assert "springback.spiking._kernel" in trained.code.sources
    assert "springback.elastic.algorithm" not in trained.code.sources
    assert trained.code.versions.keys() >= {"numba", "numpy"}


def test_digests_of_the_whole_reproduction_read_each_source_once(monkeypatch):
    catalogue = catalogue_of(Scope(full=True, seeds=(0, 1, 2), limit=None, neurons=400))
    parsed, parse = Counter(), ast.parse
    for remembered in (source_digest._closure, source_digest._read):
        remembered.cache_clear()
    monkeypatch.setattr(source_digest.ast, "parse", lambda content: (parsed.update([content]), parse(content))[1])
    digests(catalogue.tasks)
    assert len(parsed) > 200
    assert [content for content, times in parsed.items() if times > 1 and content] == []


def test_a_module_without_a_source_has_no_code():
    assert code_of(["math"]) == ({}, {})
