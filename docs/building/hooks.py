"""Process pages before mkdocs renders them: equations become MathML, and numbers in tables are kept on one line."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from equations import with_mathml


def on_page_markdown(markdown: str, **_rest: Any) -> str:
    """Process one page; mkdocs calls this for every page."""
    return whole_numbers(with_mathml(markdown))


def whole_numbers(markdown: str) -> str:
    """Return the page with non-breaking spaces around ± in the rows of tables.

    >>> whole_numbers("| 1.0 ± 0.1 |\\n2.0 ± 0.2").replace("\\N{NO-BREAK SPACE}", "_")
    '| 1.0_±_0.1 |\\n2.0 ± 0.2'
    """
    kept = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
    return "\n".join(line.replace(" ± ", kept) if line.startswith("|") else line for line in markdown.split("\n"))
