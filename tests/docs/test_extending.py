"""The guide to extending springback, followed to the letter."""

import re
from pathlib import Path

import pytest

from springback.paper import figures, models
from springback.paper import tasks as task_files
from springback.paper.catalogue import catalogue_of
from springback.paper.figures.exhibit import exhibits
from springback.paper.scope import Scope

GUIDE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
SCOPE = Scope(limit=20)


def code(title: str) -> str:
    (block,) = re.findall(rf'```python title="{re.escape(title)}"\n(.*?)```', GUIDE, flags=re.DOTALL)
    return str(block)


@pytest.fixture
def extended(tmp_path, monkeypatch):
    """Both packages with one more folder, in which the files of the guide are."""
    for package, title in (
        (figures, "src/springback/paper/figures/object_lengths.py"),
        (task_files, "src/springback/paper/tasks/always_noise.py"),
    ):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / Path(title).name).write_text(code(title))
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    row = eval(code("one row of MODELS in src/springback/paper/models.py"), vars(models))
    monkeypatch.setitem(models.MODELS, row.key, row)
    exhibits.cache_clear()
    yield catalogue_of(SCOPE)
    exhibits.cache_clear()


def computed(catalogue, name):
    task = next(one for one in catalogue.tasks if one.name == name)
    return task.run(task.params, task.seed, {})


def test_a_figure_is_one_file(extended):
    exhibit = next(one for one in exhibits() if one.name == "object_lengths")
    result = computed(extended, "object_lengths")
    assert exhibit.draw(result).axes[0].patches
    assert "20 digits of omnist" in exhibit.caption(result)


def test_a_model_is_one_file_and_one_row(extended):
    assert extended.entries["noise"] == ("noise-0",)
    assert "noise-0" in extended.entries["fig_4a"]
    assert 20 < computed(extended, "noise-0").omnist_test["noise"] < 30


def test_the_row_of_a_method_is_a_method():
    methods = pytest.importorskip("springback.paper.tasks.adaptation_methods")
    ((name, method),) = eval("{" + code("a row of methods") + "}", vars(methods)).items()
    assert name in methods.methods(practice_labels=list(range(11)))
    assert method.grid
