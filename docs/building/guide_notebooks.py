"""Make a notebook of each guide, and execute it: every command and every file of its section is a cell.

    python docs/building/guide_notebooks.py              all guides
    python docs/building/guide_notebooks.py camera ...   only these

A notebook is stored with the outputs of its cells and the SHA-256 of their code, so that a test can tell
whether the section has changed since. Output that it shows right below a command is left out: the cell has its own.
"""

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

sys.path.insert(0, str(Path(__file__).parent))

from notebooks import KEY, digest

PAGE, GUIDES = Path(__file__).parents[1] / "guides.md", Path(__file__).parents[1] / "guides"
NAMES = {
    "camera": "My camera",
    "microphone": "My microphone",
    "sensor_log": "My sensor log",
    "sentence_embeddings": "My sentence embeddings",
}
"""Each notebook, and the section of the page that it is made of."""

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([\w.]+)\")?\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
_LIVE = re.compile(r"^## \d+\. (?:Your own|Follow your)", re.MULTILINE)
_PLAIN = """import os
for name in ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
    os.environ.pop(name, None)
"""
"""A kernel tells programs that its output is a terminal; progress bars would fill the notebook."""

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def cells_of(markdown: str) -> list[tuple[str, str]]:
    """Return the cells of a guide as ("markdown" or "code", text), without the part that needs one's own device.

    >>> cells_of('Save it.\\n\\n```python title="a.py"\\nprint(1)\\n```\\n\\n```sh\\npython a.py\\n```\\n')
    [('markdown', 'Save it.'), ('code', '%%writefile a.py\\nprint(1)'), ('code', '%%bash\\npython a.py')]
    """
    own = _LIVE.search(markdown)
    page = _LINK.sub(r"\1", markdown[: own.start()] if own else markdown)
    cells, end = [], 0
    for block in _BLOCK.finditer(page):
        kind, file, content = block.groups()
        before = page[end : block.start()].strip()
        cells.append(("markdown", before))
        if kind == "sh":
            cells.append(("code", f"%%bash\n{content.rstrip()}"))
        elif file:
            cells.append(("code", f"%%writefile {file}\n{content.rstrip()}"))
        elif kind != "text" or before:
            cells.append(("markdown", block.group().strip()))
        end = block.end()
    cells.append(("markdown", page[end:].strip()))
    return [(kind, text) for kind, text in cells if text]


def section_of(name: str) -> str:
    """Return the section of a guide, with its headings as on a page of its own."""
    (section,) = re.findall(rf"^## {NAMES[name]}\n.*?(?=^## |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return re.sub(r"^#(#+ )", r"\1", section, flags=re.MULTILINE)


def notebook_of(name: str) -> Any:
    """Return the notebook of a guide, not yet executed."""
    new = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    cells = [new[kind](text) for kind, text in cells_of(section_of(name))]
    for number, cell in enumerate(cells):
        cell["id"] = f"{name}-{number}"
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def execute(name: str) -> None:
    """Run all cells in an empty folder, and store the notebook with its outputs."""
    from nbclient import NotebookClient

    notebook = notebook_of(name)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_PLAIN))
    with tempfile.TemporaryDirectory() as empty:
        NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": empty}}).execute()
    del notebook.cells[0]
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count -= 1
            said = "".join(one["text"] for one in cell.outputs)
            cell.outputs = [nbformat.v4.new_output("stream", text=said)] if said else []
    notebook.metadata.pop("language_info", None)
    notebook.metadata[KEY] = digest(notebook)
    nbformat.write(notebook, GUIDES / f"{name}.ipynb")


if __name__ == "__main__":
    import os

    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for name in sys.argv[1:] or NAMES:
        print(f"docs/guides/{name}.ipynb", flush=True)
        execute(name)
