"""Write the tables of results and claims into their pages, from the results that are kept with them.

python docs/building/tables.py
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from marks import filled

from springback_paper.report.claims import claims_table
from springback_paper.report.document import TableBlock
from springback_paper.report.tables import comparison_table, occlusion_table, speed_table
from springback_paper.report.theory import theory_table

DOCS = Path(__file__).parents[1]
RESULTS = DOCS / "data" / "results.json"
PAGES = {
    "results.md": ("source", "table: comparison", "table: theory", "table: rows", "table: ink", "table: speed"),
    "claims.md": ("source", "table: claims"),
}
"""Each page, and the parts that are written into it."""

NOT_RUN = "not run"


def parts_of(results: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown of every part, by name."""
    speeds = speed_table(results)
    timed = any(cells[-1] != NOT_RUN for cells in speeds.rows)
    tables = {
        "claims": claims_table(results),
        "comparison": comparison_table(results),
        "theory": theory_table(results),
        "rows": occlusion_table(results, "by_rows_hidden") if results["by_rows_hidden"] else None,
        "ink": occlusion_table(results, "by_ink_hidden") if results["by_ink_hidden"] else None,
        "speed": speeds if timed else None,
    }
    shown = {f"table: {name}": markdown_table(table) if table else "*Not run.*" for name, table in tables.items()}
    return {"source": _source(results), **shown}


def with_tables(markdown: str, names: tuple[str, ...], results: dict[str, Any]) -> str:
    """Return a page with these parts as the results have them."""
    parts = parts_of(results)
    for name in names:
        markdown = filled(markdown, name, parts[name])
    return markdown


def markdown_table(table: TableBlock) -> str:
    """Return a table of the report as Markdown, followed by its caption.

    >>> print(markdown_table(TableBlock(columns=("model", "video"), rows=(("SNN", "not run"),), caption="Percent.")))
    | model | video |
    | --- | --- |
    | SNN | not run |
    <BLANKLINE>
    Percent.
    """
    rows = [table.columns, ("---",) * len(table.columns), *table.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([*lines, *(["", table.caption] if table.caption else [])])


def _source(results: dict[str, Any]) -> str:
    about, seeds = results["environment"], ", ".join(str(seed) for seed in results["seeds"])
    text = (
        f"From `docs/data/results.json`: springback {results['version']}, seeds {seeds}, "
        f"Python {about.get('python', '?')}, {about.get('processor', '?')}."
    )
    if "earlier" not in about:
        return text
    kept = about["earlier"]
    return f"{text} {len(kept['models'])} models are those of an earlier run on {kept['processor']}."


if __name__ == "__main__":
    kept = json.loads(RESULTS.read_text())
    for page, names in PAGES.items():
        path = DOCS / page
        path.write_text(with_tables(path.read_text(), names, kept))
