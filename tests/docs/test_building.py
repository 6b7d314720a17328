"""The tools that make the pages."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from springback_paper.results.results_json import collect
from springback_paper.results.scores import Scores

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


NAMES = ("source", "table: comparison", "table: rows", "table: ink", "table: claims", "table: theory")
EMPTY = "".join(f"<!-- {name} -->\n<!-- end of {name} -->\n" for name in NAMES)


def test_the_tables_show_what_was_run_and_say_what_was_not(results):
    page = load("tables").with_tables(EMPTY, NAMES, results)
    rows = {line.split(" | ")[0]: line for line in page.splitlines() if line.startswith("| ")}
    assert "| 95.61 |" in page
    assert "| 94.00 |" in page
    assert "| not run |" in rows["| LSTM on video"]
    assert "| 84.78 ± 4.21 |" in rows["| LSTM on video"]
    assert "| Elastic clustering | 97.0 | 99.0 |" in page
    assert "From `docs/data/results.json`" in page
    assert page.count("*Not run.*") == 3


def test_the_table_of_claims_shows_each_with_its_verdict(results):
    claim = {"claim": "So.", "source": "S1", "measured": "95 %", "verdict": "holds", "rule": "If.", "command": "-"}
    claim["digest"] = "0"
    page = load("tables").with_tables(EMPTY, NAMES, {**results, "claims": [claim]})
    assert "| So. | 95 % | holds | If. | S1 | `-` |" in page


def test_writing_tables_again_replaces_them(results):
    tables = load("tables")
    page = tables.with_tables(EMPTY, NAMES, {**results, "version": "0.0.1"})
    assert tables.with_tables(page, NAMES, results) == tables.with_tables(EMPTY, NAMES, results)


@pytest.mark.parametrize("page", ["", "<!-- source -->", 2 * EMPTY])
def test_a_page_without_its_marks_is_refused_in_one_sentence(page, results):
    with pytest.raises(
        SystemExit, match=r"^Put <!-- source --> and <!-- end of source --> into the page, once each\.$"
    ):
        load("tables").with_tables(page, NAMES, results)


@pytest.mark.parametrize("page", load("tables").PAGES)
def test_the_tables_of_a_page_are_those_of_the_results(page):
    tables = load("tables")
    stored, results = (tables.DOCS / page).read_text(), json.loads(tables.RESULTS.read_text())
    assert stored == tables.with_tables(stored, tables.PAGES[page], results), "python docs/building/tables.py"


def test_commands_lose_their_remarks_and_text_blocks_are_left_alone():
    commands_of = load("commands").commands_of
    assert commands_of("```sh\na --b   # why\n\nc\n```\n```text\nd\n```\n") == ["a --b", "c"]


def test_only_math_blocks_become_mathml():
    with_mathml = load("equations").with_mathml
    page = with_mathml("```math\nx^2\n```\n\n```python\nx**2\n```")
    assert page.startswith('<div class="equation"><math')
    assert page.endswith("```python\nx**2\n```")
