"""Execute the notebooks, and show them as pages.

    python docs/building/notebooks.py           all of them
    python docs/building/notebooks.py NAME ...  only these

A notebook keeps its outputs and the SHA-256 of the code that made them. A test compares it with the code, so that an
output cannot be older than its cell.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
MARK = "<!-- cells of this notebook -->"
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


def with_notebook(markdown: str, name: str) -> str:
    """Return a page with the mark replaced by the cells of its notebook."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, "\n\n".join(shown(cell) for cell in read(name)["cells"]))


def shown(cell: Any) -> str:
    """Return a cell as Markdown: text as it is, code in a block, with its output and pictures below.

    >>> print(shown({"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]}))
    ```python
    1 + 1
    ```
    <BLANKLINE>
    ```text
    2
    ```
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    blocks = [f"```python\n{source}\n```"]
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            picture = "".join(data["image/png"]).replace("\n", "")
            blocks.append(f'<img alt="Output of the cell above" src="data:image/png;base64,{picture}">')
        else:
            text = "".join(output.get("text", data.get("text/plain", ""))).rstrip("\n")
            blocks.append(f"```text\n{text}\n```")
    return "\n\n".join(blocks)


if __name__ == "__main__":
    for name in sys.argv[1:] or names():
        print(name, flush=True)
        execute(name)
