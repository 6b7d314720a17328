"""The tools that make the pages."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from springback.paper.results import collect
from springback.paper.scores import Scores

BUILDING = Path(__file__).parents[2] / "docs" / "building"


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_building_{name}", BUILDING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results():
    scores = Scores(
        n_train=1,
        n_test=1,
        n_frames=9,
        mnist_test={"elastic": 0.94},
        omnist_test={"elastic": 0.95611},
        by_rows_hidden={"elastic": {"0": 0.97, "noise": 0.99}},
    )
    return collect([scores], seeds=[0], speed={}, environment={"python": "3.11"})


PAGE = "<!-- source -->\n<!-- table: comparison -->\n<!-- table: rows -->\n<!-- table: ink -->\n"


def test_the_results_page_shows_what_was_run_and_says_what_was_not(tmp_path, results):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.json").write_text(json.dumps(results))
    page = load("results_page").with_results(PAGE, tmp_path)
    rows = {line.split(" | ")[0]: line for line in page.splitlines() if line.startswith("| ")}
    assert "| 95.61 |" in page
    assert "| 94.00 |" in page
    assert "| not run |" in rows["| LSTM on video"]
    assert "| 84.78 ± 4.21 |" in rows["| LSTM on video"]
    assert "| Elastic clustering | 97.0 | 99.0 |" in page
    assert "From `results/results.json`" in page
    assert "<!--" not in page


def test_the_page_of_claims_shows_each_with_its_verdict(tmp_path, results):
    (tmp_path / "results").mkdir()
    claim = {"claim": "So.", "source": "S1", "measured": "95 %", "verdict": "holds", "rule": "If.", "command": "-"}
    (tmp_path / "results" / "results.json").write_text(json.dumps({**results, "claims": [claim]}))
    page = load("results_page").with_results("<!-- table: claims -->\n<!-- table: theory -->", tmp_path)
    assert "| So. | 95 % | holds | If. | S1 | - |" in page
    assert "Not run" in page


def test_the_copy_beside_the_pages_stands_in_for_a_run(tmp_path, results):
    (tmp_path / "docs" / "data").mkdir(parents=True)
    (tmp_path / "docs" / "data" / "results.json").write_text(json.dumps(results))
    assert "95.61" in load("results_page").with_results(PAGE, tmp_path)


def test_without_any_results_every_table_says_not_run(tmp_path):
    page = load("results_page").with_results(PAGE, tmp_path)
    assert page.count("Not run") == 3


def test_commands_lose_their_remarks_and_text_blocks_are_left_alone():
    commands_of = load("commands").commands_of
    assert commands_of("```sh\na --b   # why\n\nc\n```\n```text\nd\n```\n") == ["a --b", "c"]


def test_only_math_blocks_become_mathml():
    with_mathml = load("equations").with_mathml
    page = with_mathml("```math\nx^2\n```\n\n```python\nx**2\n```")
    assert page.startswith('<div class="equation"><math')
    assert page.endswith("```python\nx**2\n```")
