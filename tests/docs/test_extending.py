"""The guide to extending springback, followed to the letter."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from springback.live import sources
from springback.live.sources.catalogue import open_source, source_kinds
from springback.testing import check_stream_model
from springback_bench import rivals, stream_sets
from springback_bench.comparison import first_settings, methods
from springback_bench.comparison.measure import rival_on
from springback_bench.comparison.scope import ComparisonScope
from springback_bench.rivals.rival import all_rivals
from springback_bench.stream_sets.catalogue import load_stream
from springback_paper import figures, models
from springback_paper import tasks as task_files
from springback_paper.catalogue import catalogue_of
from springback_paper.figures.exhibit import exhibits
from springback_paper.figures.table import csv_text
from springback_paper.run_scope import Scope as PaperScope
from tests import streaming_models

GUIDE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
SCOPE = PaperScope(limit=20)


def code(title: str) -> str:
    (block,) = re.findall(rf'```python title="{re.escape(title)}"\n(.*?)```', GUIDE, flags=re.DOTALL)
    return str(block)


@pytest.fixture
def extended(tmp_path, monkeypatch):
    """Both packages with one more folder, in which the files of the guide are."""
    for package, title in (
        (figures, "src/springback_paper/figures/object_lengths.py"),
        (task_files, "src/springback_paper/tasks/always_noise.py"),
    ):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / Path(title).name).write_text(code(title))
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    row = eval(code("one row of MODELS in src/springback_paper/models.py"), vars(models))
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


def added(package, title, folder, monkeypatch):
    """A module of the guide, in a folder that its package has as well."""
    (folder / Path(title).name).write_text(code(title))
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    return f"{package.__name__}.{Path(title).stem}"


@pytest.fixture
def label_shift(tmp_path, monkeypatch):
    name = added(rivals, "src/springback_bench/rivals/label_shift.py", tmp_path, monkeypatch)
    all_rivals.cache_clear()
    yield importlib.import_module(name)
    all_rivals.cache_clear()
    del sys.modules[name], rivals.label_shift


@pytest.fixture
def blobs(tmp_path, monkeypatch):
    name = added(stream_sets, "src/springback_bench/stream_sets/blobs.py", tmp_path, monkeypatch)
    stream_sets.stream_sets.cache_clear()
    yield load_stream("blobs", 1, data_home=tmp_path)
    stream_sets.stream_sets.cache_clear()
    del sys.modules[name], stream_sets.blobs


@pytest.fixture
def random_walk(tmp_path, monkeypatch):
    name = added(sources, "src/springback/live/sources/random_walk.py", tmp_path, monkeypatch)
    source_kinds.cache_clear()
    yield open_source("walk:150")
    source_kinds.cache_clear()
    del sys.modules[name], sources.random_walk


def test_a_rival_is_one_file_that_keeps_the_protocol(label_shift):
    assert label_shift.LabelShift in streaming_models.adaptation_classes()
    subject = streaming_models.adaptation_subject(label_shift.LabelShift)
    check_stream_model(subject.make(), subject.rows, **subject.promises)


def test_the_example_of_a_rival_holds(label_shift):
    assert doctest.testmod(label_shift) == (0, 1)


def test_the_row_of_a_method_is_a_method(label_shift):
    methods = pytest.importorskip("springback_paper.tasks.adaptation_methods")
    names = {**vars(methods), "LabelShift": label_shift.LabelShift, "n_classes": 3}
    ((_, method),) = eval("{" + code("a row of methods") + "}", names).items()
    rng = np.random.default_rng(0)
    weight, bias = np.eye(3, dtype=np.float32), np.zeros(3, np.float32)
    features = rng.random((50, 3), np.float32)
    seen = methods.Seen(features, features, weight, bias, labels=np.zeros(50, np.int64))
    settings, accuracy = methods.choose(method, seen)
    assert settings["pseudo_counts"] in method.grid["pseudo_counts"]
    assert accuracy > 0


@pytest.mark.usefixtures("label_shift")
def test_a_rival_and_a_stream_set_are_one_file_each_and_compared_with_the_others(blobs):
    assert "label-shift" in [one.name for one in methods.all_methods()]
    assert len(first_settings.draws("label-shift")) == first_settings.DRAWS_OF_A_RIVAL
    first = methods.rival_named("label-shift").first_settings
    found = rival_on(blobs, "label-shift", ComparisonScope(trials=4, timed=20), first)
    assert found.settings.keys() == {"pseudo_counts"}
    assert 0.5 < found.accuracy <= 1


def test_a_live_source_is_one_file(random_walk):
    lengths = []
    while (frames := random_walk.read()) is not None:
        lengths.append(len(frames))
    assert lengths == [100, 50]
    with pytest.raises(ValueError, match="a random walk must be walk:FRAMES; got 'walk:far'"):
        open_source("walk:far")
