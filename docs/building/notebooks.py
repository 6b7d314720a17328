"""Execute the notebooks, and write their cells into the pages of the same names.

    python docs/building/notebooks.py           all of them
    python docs/building/notebooks.py NAME ...  only these

A notebook keeps its outputs and the SHA-256 of the code that made them. A test compares it with the code, so that an
output cannot be older than its cell.
"""

import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from marks import filled

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PART = "cells of this notebook"
KEY = "code_sha256"


def names() -> list[str]:
    """Return the names of all notebooks."""
    return sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def read(name: str) -> Any:
    """Return a notebook as it is stored."""
    return json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())


def code_cells(notebook: Any) -> list[str]:
    """Return the source of every cell of code."""
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def digest(notebook: Any) -> str:
    """Return the SHA-256 of all code.

    >>> digest({"cells": []})[:8]
    'e3b0c442'
    """
    return hashlib.sha256("\0".join(code_cells(notebook)).encode()).hexdigest()


def execute(name: str) -> None:
    """Run all cells in a new kernel, and store their outputs and the digest of the code."""
    import nbformat
    from nbclient import NotebookClient

    path = NOTEBOOKS / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata[KEY] = digest(notebook)
    nbformat.write(notebook, path)


def pictures_of(notebook: Any) -> list[bytes]:
    """Return every picture that the code draws, as a PNG file."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    drawn = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode("".join(one)) for one in drawn]


def picture_path(name: str, number: int) -> Path:
    """Return where a picture of a notebook is kept, counted from 1."""
    return NOTEBOOKS / f"{name}-{number}.png"


def page_of(name: str) -> Path:
    """Return the page that has the cells of a notebook."""
    return NOTEBOOKS.parent / f"{name}.md"


def with_notebook(markdown: str, name: str) -> str:
    """Return a page with the cells of its notebook: text as it is, code in a block, with output and pictures below.

    Headings are one level lower than in the notebook.
    A semicolon at the end of a cell, which only keeps a notebook from showing the last value, is left out.
    """
    blocks, pictures = [], 0
    for cell in read(name)["cells"]:
        source = "".join(cell["source"]).removesuffix(";")
        lower = re.sub("^#", "##", source, flags=re.MULTILINE)
        blocks.append(lower if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                pictures += 1
                blocks.append(f"![Output of the cell above](notebooks/{picture_path(name, pictures).name})")
            else:
                blocks.append(f"```text\n{printed_by(output)}\n```")
    return filled(markdown, PART, "\n\n".join(blocks))


def printed_by(output: Any) -> str:
    """Return the text of an output, whether it was printed or is the value of the last line.

    >>> printed_by({"data": {"text/plain": ["2"]}}), printed_by({"text": ["2\\n"]})
    ('2', '2')
    """
    return "".join(output.get("text", output.get("data", {}).get("text/plain", ""))).rstrip("\n")


def write_page(name: str) -> None:
    """Write the cells of a notebook into its page, and its pictures beside the notebook."""
    page = page_of(name)
    page.write_text(with_notebook(page.read_text(), name))
    for number, picture in enumerate(pictures_of(read(name)), start=1):
        picture_path(name, number).write_bytes(picture)


if __name__ == "__main__":
    for name in sys.argv[1:] or names():
        print(name, flush=True)
        execute(name)
        write_page(name)
