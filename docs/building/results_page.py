"""Make the tables of results and claims from the results.json of a run, or from the copy that is kept with them."""

import json
from pathlib import Path
from typing import Any

from springback.paper.report.claims import claims_table
from springback.paper.report.document import TableBlock
from springback.paper.report.tables import comparison_table, occlusion_table, speed_table
from springback.paper.report.theory import theory_table

NOT_RUN = "not run"
PLACES = ("results/results.json", "docs/data/results.json")


def find_results(root: Path) -> tuple[str, dict[str, Any]] | None:
    """Return the path and the contents of the first results.json that exists, or None if there is none."""
    for place in PLACES:
        if (root / place).is_file():
            return place, json.loads((root / place).read_text())
    return None


def with_results(markdown: str, root: Path) -> str:
    """Return the page with each `<!-- table: NAME -->` replaced by that table, and `<!-- source -->` by its source."""
    found = find_results(root)
    tables = dict.fromkeys(("claims", "comparison", "theory", "rows", "ink", "speed"), "*Not run.*\n")
    source = "No results.json was found when this page was built."
    if found is not None:
        place, results = found
        source = _source(place, results)
        tables["comparison"] = markdown_table(comparison_table(results))
        for name, optional in (("claims", claims_table(results)), ("theory", theory_table(results))):
            if optional is not None:
                tables[name] = markdown_table(optional)
        speeds = speed_table(results)
        if any(cells[-1] != NOT_RUN for cells in speeds.rows):
            tables["speed"] = markdown_table(speeds)
        for name, key in (("rows", "by_rows_hidden"), ("ink", "by_ink_hidden")):
            if results[key]:
                tables[name] = markdown_table(occlusion_table(results, key))
    for name, table in tables.items():
        markdown = markdown.replace(f"<!-- table: {name} -->", table)
    return markdown.replace("<!-- source -->", source)


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


def _source(place: str, results: dict[str, Any]) -> str:
    about, seeds = results["environment"], ", ".join(str(seed) for seed in results["seeds"])
    text = (
        f"From `{place}`: springback {results['version']}, seeds {seeds}, Python {about.get('python', '?')}, "
        f"{about.get('processor', '?')}."
    )
    if "earlier" not in about:
        return text
    kept = about["earlier"]
    return f"{text} {len(kept['models'])} models are those of an earlier run on {kept['processor']}."
