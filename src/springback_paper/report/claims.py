"""The claims that open the report."""

from typing import Any

from springback_paper.report.document import ClaimsBlock, TableBlock, Verdicts
from springback_paper.wording import listed


def claims_block(results: dict[str, Any]) -> ClaimsBlock | None:
    """The claims of a report; None if none was judged."""
    table = claims_table(results)
    return None if table is None else ClaimsBlock(tuple(results["claims"]), table)


def claims_table(results: dict[str, Any]) -> TableBlock | None:
    """Every claim of the paper with what was measured, the verdict and its rule; None if none was judged.

    Examples
    --------
    >>> claims_table({"claims": [], "environment": {}}) is None
    True
    """
    claims = results["claims"]
    if not claims:
        return None
    quick = results["environment"].get("scope", {}).get("limit") is not None
    doubt = " This was a quick look, whose numbers cannot judge the paper." if quick else ""
    summary = listed([f"{verdict}: {count}" for verdict, count in Verdicts(tuple(claims)).counts.items()])
    return TableBlock(
        columns=("the paper claims", "we measured", "verdict", "the rule", "where in the paper", "computed by"),
        rows=tuple(
            (one["claim"], one["measured"], one["verdict"], one["rule"], one["source"], f"`{one['command']}`")
            for one in claims
        ),
        caption=(
            f"Claims: {len(claims)}; {summary}. Verdicts are computed from the numbers of this run by the rule beside "
            "them; one is stale if the code that computed its evidence has changed since. On the video unless stated "
            f"otherwise; mean ± standard deviation over seeds where there are several.{doubt}"
        ),
        words=(0, 1, 2, 3, 4, 5),
    )
