"""Run the commands of a page as a newcomer would: every `sh` block, in order, in an empty folder.

    python docs/building/commands.py             all pages
    python docs/building/commands.py start.md    only this one

Blocks of type `text` are shown but not run. A `python` block with a title is a file, which is written first.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1]
PAGES = ("start.md",)
"""The guides are run as notebooks (`guide_notebooks.py`)."""

_FILE = re.compile(r'^```python title="([\w.]+)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands_of(markdown: str) -> list[str]:
    """Return the lines of all `sh` blocks of a page, without comments.

    >>> commands_of("```sh\\nspringback --help   # what there is\\n```")
    ['springback --help']
    """
    lines = [line.split("  #")[0].strip() for block in _BLOCK.findall(markdown) for line in block.splitlines()]
    return [line for line in lines if line]


def files_of(markdown: str) -> dict[str, str]:
    """Return the files that a page shows, by name.

    >>> files_of('```python title="hello.py"\\nprint(1)\\n```')
    {'hello.py': 'print(1)\\n'}
    """
    return dict(_FILE.findall(markdown))


def run(page: str) -> None:
    """Run the commands of one page, and stop at the first one that fails."""
    here = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as empty:
        markdown = (DOCS / page).read_text()
        for name, content in files_of(markdown).items():
            (Path(empty) / name).write_text(content)
        for command in commands_of(markdown):
            print(f"{page}: {command}", flush=True)
            subprocess.run(command, shell=True, check=True, cwd=empty, env=here, timeout=1200)


if __name__ == "__main__":
    for page in sys.argv[1:] or PAGES:
        run(page)
