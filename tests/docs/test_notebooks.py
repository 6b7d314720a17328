"""Notebooks: their code runs, and what they show was made by it."""

import ast
import json
import re

import matplotlib as mpl
import pytest

from tests.docs.test_building import load

NOTEBOOKS = load("notebooks")
GUIDES = load("guide_notebooks")


@pytest.mark.parametrize("name", NOTEBOOKS.names())
def test_the_outputs_of_a_notebook_are_those_of_its_code(name):
    notebook = NOTEBOOKS.read(name)
    assert notebook["metadata"][NOTEBOOKS.KEY] == NOTEBOOKS.digest(notebook), (
        f"python docs/building/notebooks.py {name}"
    )
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))


@pytest.mark.parametrize("name", NOTEBOOKS.names())
def test_the_page_of_a_notebook_has_its_cells_and_pictures(name):
    page, renew = NOTEBOOKS.page_of(name).read_text(), f"python docs/building/notebooks.py {name}"
    assert page == NOTEBOOKS.with_notebook(page, name), renew
    pictures = NOTEBOOKS.pictures_of(NOTEBOOKS.read(name))
    assert len(pictures) == page.count("![Output of the cell above](") >= 3
    for number, picture in enumerate(pictures, start=1):
        assert NOTEBOOKS.picture_path(name, number).read_bytes() == picture, renew
    assert "Traceback" not in json.dumps(NOTEBOOKS.read(name))


@pytest.mark.parametrize("name", NOTEBOOKS.names())
def test_the_code_of_a_notebook_prints_what_it_shows(name, capsys):
    mpl.use("agg")
    import matplotlib.pyplot as plt

    notebook, names = NOTEBOOKS.read(name), {}
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        exec(compile(ast.parse("".join(cell["source"])), name, "exec"), names)
        printed = "".join("".join(one["text"]) for one in cell["outputs"] if one.get("name") == "stdout")
        assert capsys.readouterr().out == printed
    plt.close("all")


@pytest.mark.parametrize("name", GUIDES.NAMES)
def test_the_notebook_of_a_guide_has_its_commands_and_their_output(name):
    stored = json.loads((GUIDES.GUIDES / f"{name}.ipynb").read_text())
    wanted = NOTEBOOKS.code_cells(GUIDES.notebook_of(name))
    renew = f"python docs/building/guide_notebooks.py {name}"
    assert NOTEBOOKS.code_cells(stored) == wanted, renew
    assert stored["metadata"][NOTEBOOKS.KEY] == NOTEBOOKS.digest(stored), renew
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    said = json.dumps([cell["outputs"] for cell in code])
    assert "Traceback" not in said
    shown = re.findall(r"^(?:correct|class|frozen_class): .*$", GUIDES.section_of(name), re.MULTILINE)
    assert len(shown) >= 2
    assert all(line in said for line in shown), renew
