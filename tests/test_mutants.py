"""What `make mutants` runs: the nearest tests of each module, and new machine code where it would differ."""

import json
import runpy
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INSIDE = ROOT / "src" / "springback"


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(ROOT / "tools" / "mutants"))


def test_the_tests_of_a_module_come_first_and_its_examples_last(tool):
    found = tool["tests_of"](INSIDE / "spiking" / "presets.py", ROOT)
    assert (found[0], found[-1]) == ("tests/spiking/test_presets.py", "src/springback/spiking/presets.py")
    assert all((ROOT / path).is_file() for path in found)


@pytest.mark.parametrize(
    "name", ["elastic/_dense", "spiking/_membrane", "spiking/constants", "spiking/composed/_kernel"]
)
def test_every_module_has_tests_even_if_none_imports_it(tool, name):
    found = tool["tests_of"](INSIDE / f"{name}.py", ROOT)
    assert len(found) > 3
    assert len(set(found)) == len(found)


def test_the_kernel_is_compared_with_its_references(tool):
    found = tool["tests_of"](INSIDE / "spiking" / "_membrane.py", ROOT)
    assert {"tests/spiking/test_kernel.py", "tests/spiking/test_reference.py"} <= set(found)


def test_compiled_code_sees_its_own_modules_and_the_constants_they_import(tool):
    sources = sorted(INSIDE.rglob("*.py"))
    seen = {path.relative_to(INSIDE).as_posix() for path in tool["seen_by_compiled_code"](sources)}
    assert {"spiking/_kernel.py", "spiking/_membrane.py", "spiking/_state.py", "elastic/_dense.py"} <= seen
    assert not {"spiking/params.py", "spiking/presets.py", "elastic/estimator.py"} & seen


def test_the_report_counts_by_module_and_by_package(tool, tmp_path):
    outcomes = {
        "spiking/a.py": Counter(killed=3, survived=1),
        "spiking/b.py": Counter(killed=1),
        "elastic/c.py": Counter(incompetent=1, survived=1),
    }
    tool["report"].__globals__["OUT"] = tmp_path
    table = tool["report"](outcomes, ["a diff"], {"seed": 0})
    written = json.loads((tmp_path / "results.json").read_text())
    assert written["packages"]["spiking"] == {"killed": 4, "survived": 1, "survived_share": 0.2}
    assert sorted(written["modules"]) == ["elastic/c.py", "spiking/a.py", "spiking/b.py"]
    assert written["modules"]["elastic/c.py"] == {"killed": 1, "survived": 1, "survived_share": 0.5}
    assert "a diff" in (tmp_path / "survivors.txt").read_text()
    assert "spiking/a.py" in table
