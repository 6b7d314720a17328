"""Notebooks: their code runs, and what they show was made by it."""

import ast

import matplotlib as mpl
import pytest

from tests.docs.test_building import load

NOTEBOOKS = load("notebooks")


@pytest.mark.parametrize("name", NOTEBOOKS.names())
def test_the_outputs_of_a_notebook_are_those_of_its_code(name):
    notebook = NOTEBOOKS.read(name)
    assert notebook["metadata"][NOTEBOOKS.KEY] == NOTEBOOKS.digest(notebook), (
        f"python docs/building/notebooks.py {name}"
    )
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    page = NOTEBOOKS.with_notebook((NOTEBOOKS.NOTEBOOKS / f"{name}.md").read_text(), name)
    assert NOTEBOOKS.MARK not in page
    assert page.count("data:image/png;base64,") >= 3
    assert "Traceback" not in page


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
