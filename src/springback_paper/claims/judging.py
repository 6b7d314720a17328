"""All claims, judged by the results of a run."""

from collections.abc import Mapping
from typing import Any

from springback_paper.claims import circuit, networks, theory
from springback_paper.claims.claim import Claim, Evidence

CLAIMS: tuple[Claim, ...] = (*circuit.RECOGNITION, *networks.CLAIMS, *theory.CLAIMS, *circuit.NEURONS)
"""The circuit's accuracy first, then the comparison, the theory, and single neurons and mechanisms."""


def judge_claims(
    results: Mapping[str, Any], found: Mapping[str, Any], code: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """Every claim with what was measured and its verdict, as results.json stores them.

    Parameters
    ----------
    results : Mapping[str, Any]
        The dictionary of results.json.
    found : Mapping[str, Any]
        Results of tasks by name.
    code : Mapping[str, str] | None
        The digest of the code of each task, by name (`runner.task.code_digests`).

    Examples
    --------
    >>> judge_claims({"omnist_test": {}}, {})[0]["verdict"]
    'not run'
    """
    return [claim.judged(Evidence(results, found, code or {})) for claim in CLAIMS]
