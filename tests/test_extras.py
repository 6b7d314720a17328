"""A missing optional library is one sentence that says what to install, wherever it is missed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import springback
from springback.extras import EXTRAS, MissingExtraError, is_installed, missing_extra, require_extra
from tests.absent import without

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
SRC = Path(springback.__file__).parents[1]

IMPORT_ALL = """
import sys
from importlib import import_module
from springback.extras import MissingExtraError
for name in sys.argv[1:]:
    try:
        import_module(name)
    except MissingExtraError as error:
        print(error)
"""


@pytest.mark.parametrize("library", EXTRAS)
def test_the_project_declares_the_extra_of_every_optional_library(library):
    declared = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"][EXTRAS[library]]
    brought = {re.split(r"[\[>]", need)[0] for need in declared}
    assert {"websockets": "uvicorn", "paho": "paho-mqtt"}.get(library, library) in brought


def test_every_module_can_be_imported_without_optional_libraries_or_says_what_to_install():
    modules = [
        ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(SRC.glob("springback*/**/*.py"))
        if path.parent.name != "peers" and path.name != "__main__.py"
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", without(*EXTRAS) + IMPORT_ALL, *modules],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = set(done.stdout.splitlines())
    assert "springback.torch needs torch: pip install 'springback[torch]'" in said
    assert "springback_bench.rivals.networks needs torch: pip install 'springback[torch]'" in said
    assert "springback_paper.baselines needs torch: pip install 'springback[torch]'" in said
    assert "springback.elastic.river_adapter needs river: pip install 'springback[river]'" in said
    assert "springback studio needs uvicorn: pip install 'springback[studio]'" in said


def test_what_is_installed_is_not_missed():
    assert is_installed("numpy")
    require_extra("a sum", "numpy")


def test_a_missing_library_is_an_import_error_with_its_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"tune needs optuna: pip install 'springback\[tune\]'$") as caught:
        require_extra("springback tune", "optuna")
    assert caught.value.name == "optuna"
    assert isinstance(missing_extra("it", "dask"), MissingExtraError)
