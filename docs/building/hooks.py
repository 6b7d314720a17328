"""Process pages before mkdocs renders them.

Equations become MathML, the pages of results and claims get their tables, the pages of the gallery get the code and the
output of their examples, those of notebooks their cells, and numbers in tables are kept on one line.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from equations import with_mathml
from gallery import with_example
from notebooks import with_notebook
from results_page import with_results

ROOT = Path(__file__).parents[2]


def on_page_markdown(markdown: str, *, page: Any, **_rest: Any) -> str:
    """Process one page; mkdocs calls this for every page."""
    if page.file.src_uri in ("results.md", "claims.md"):
        markdown = with_results(markdown, ROOT)
    if page.file.src_uri.startswith("gallery/"):
        markdown = with_example(markdown, Path(page.file.src_uri).stem)
    if page.file.src_uri.startswith("notebooks/"):
        markdown = with_notebook(markdown, Path(page.file.src_uri).stem)
    return whole_numbers(with_mathml(markdown))


def whole_numbers(markdown: str) -> str:
    """Return the page with non-breaking spaces around ± in the rows of tables.

    >>> whole_numbers("| 1.0 ± 0.1 |\\n2.0 ± 0.2").replace("\\N{NO-BREAK SPACE}", "_")
    '| 1.0_±_0.1 |\\n2.0 ± 0.2'
    """
    kept = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
    return "\n".join(line.replace(" ± ", kept) if line.startswith("|") else line for line in markdown.split("\n"))
