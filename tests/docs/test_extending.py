"""The guide to extending springback, followed to the letter."""

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from springback import adaptation
from springback.paper import figures, models
from springback.paper import tasks as task_files
from springback.paper.catalogue import catalogue_of
from springback.paper.figures.exhibit import exhibits
from springback.paper.figures.table import csv_text
from springback.paper.scope import Scope
from tests import streaming_models, test_protocol

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
    return task.compute({})


def test_a_figure_is_one_file(extended):
    exhibit = next(one for one in exhibits() if one.name == "object_lengths")
    result = computed(extended, "object_lengths")
    assert exhibit.draw(result).axes[0].patches
    assert csv_text(exhibit.table(result)).startswith("digit,frames\n0,")
    assert "20 digits of omnist" in exhibit.caption(result)


def test_a_model_is_one_file_and_one_row(extended):
    assert extended.entries["always_noise"] == ("always_noise-0",)
    assert "always_noise-0" in extended.entries["fig_4a"]
    assert 0.2 < computed(extended, "always_noise-0").omnist_test["always_noise"] < 0.3


@pytest.fixture
def label_shift(tmp_path, monkeypatch):
    """The module of the guide's adaptation method, in a folder that its package has as well."""
    title = "src/springback/adaptation/label_shift.py"
    (tmp_path / Path(title).name).write_text(code(title))
    monkeypatch.setattr(adaptation, "__path__", [*adaptation.__path__, str(tmp_path)])
    yield importlib.import_module("springback.adaptation.label_shift")
    del sys.modules["springback.adaptation.label_shift"], adaptation.label_shift


def test_an_adaptation_method_is_one_file_that_keeps_the_protocol(label_shift):
    assert label_shift.LabelShift in streaming_models.adaptation_classes()
    subject = streaming_models.adaptation_subject(label_shift.LabelShift)
    ran = 0
    for name, promise in inspect.getmembers(test_protocol, inspect.isfunction):
        if name.startswith("test_") and list(inspect.signature(promise).parameters) in (["subject"], ["stamped"]):
            promise(subject)
            ran += 1
    assert ran > 15


def test_the_example_of_an_adaptation_method_holds(label_shift):
    assert doctest.testmod(label_shift) == (0, 1)


def test_the_row_of_a_method_is_a_method(label_shift):
    methods = pytest.importorskip("springback.paper.tasks.adaptation_methods")
    names = {**vars(methods), "LabelShift": label_shift.LabelShift, "n_classes": 3}
    ((_, method),) = eval("{" + code("a row of methods") + "}", names).items()
    rng = np.random.default_rng(0)
    weight, bias = np.eye(3, dtype=np.float32), np.zeros(3, np.float32)
    features = rng.random((50, 3), np.float32)
    seen = methods.Seen(features, features, weight, bias, labels=np.zeros(50, np.int64))
    settings, accuracy = methods.choose(method, seen)
    assert settings["pseudo_counts"] in method.grid["pseudo_counts"]
    assert accuracy > 0
