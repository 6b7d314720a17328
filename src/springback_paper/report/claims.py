"""The table of claims that opens the report."""

from typing import Any

from springback_paper.claims.claim import VERDICTS
from springback_paper.report.document import TableBlock
from springback_paper.wording import listed


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
    counts = {verdict: sum(one["verdict"] == verdict for one in claims) for verdict in VERDICTS}
    quick = results["environment"].get("scope", {}).get("limit") is not None
    doubt = " This was a quick look, whose numbers cannot judge the paper." if quick else ""
    summary = listed([f"{verdict}: {count}" for verdict, count in counts.items() if count])
    return TableBlock(
        columns=("the paper claims", "we measured", "verdict", "the rule", "where in the paper", "computed by"),
        rows=tuple(
            (one["claim"], one["measured"], one["verdict"], one["rule"], one["source"], one["command"])
            for one in claims
        ),
        caption=(
            f"Claims: {len(claims)}; {summary}. Verdicts are computed from the numbers of this run by the rule beside "
            "them. On the video unless stated otherwise; mean ± standard deviation over seeds where there are several."
            f"{doubt}"
        ),
        words=(0, 1, 2, 3, 4, 5),
    )
