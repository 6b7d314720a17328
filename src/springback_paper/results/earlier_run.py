"""What a run has not computed, taken from the results.json of an earlier one, so that a part can be renewed alone."""

from pathlib import Path
from typing import Any

from springback.check import DataError
from springback.files.records import from_json
from springback.files.regular import read_bytes
from springback_paper.claims.claim import NOT_RUN, STALE
from springback_paper.results.results_json import BREAKDOWNS, TABLES, check_results

_COUNTS = ("train_digits", "test_digits", "frames")


def load_earlier(path: Path) -> dict[str, Any]:
    """The results of an earlier run, checked."""
    try:
        found = from_json(read_bytes(path), dict[str, Any])
        check_results(found)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path} must be the results.json of a run; {error}") from None
    return found


def completed(results: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """The results, and every model that only the earlier run has; `environment.earlier` names them.

    Examples
    --------
    >>> tables = {name: {} for name in (*TABLES, *BREAKDOWNS)}
    >>> blank = {"environment": {}, "seeds": [0], "speed": {}, **tables}
    >>> before = {**blank, "version": "0.1", "omnist_test": {"elastic": {"mean": 0.5}}}
    >>> completed(blank, before)["omnist_test"], completed(blank, before)["environment"]["earlier"]["models"]
    ({'elastic': {'mean': 0.5}}, ['elastic'])
    """
    new = {model for table in TABLES for model in results[table]}
    kept = sorted({model for table in TABLES for model in earlier[table]} - new)
    about, before = results["environment"], earlier["environment"]
    scope = {
        **about.get("scope", {}),
        **{name: _joined(before.get("scope", {}), about.get("scope", {}), name) for name in _COUNTS},
    }
    origin = {"models": kept, "version": earlier["version"], "processor": before.get("processor", "unknown")}
    return {
        **results,
        **{
            table: {**{model: earlier[table][model] for model in kept if model in earlier[table]}, **results[table]}
            for table in (*TABLES, *BREAKDOWNS)
        },
        "seeds": max(results["seeds"], earlier["seeds"], key=len),
        "environment": {**about, "scope": scope, "earlier": origin},
        "speed": {
            **earlier["speed"],
            **results["speed"],
            "task_seconds": _joined(earlier["speed"], results["speed"], "task_seconds"),
        },
    }


def completed_claims(claims: list[dict[str, str]], earlier: list[dict[str, str]]) -> list[dict[str, str]]:
    """The claims as they are judged now, or as before if what they need was not run now; then they may be stale.

    A verdict is stale if other code computed what it was judged by, or if its rule has changed.
    """
    before = {one["claim"]: one for one in earlier if one["verdict"] != NOT_RUN}
    return [_kept(one, before[one["claim"]]) if _is_missing(one, before) else one for one in claims]


def _is_missing(claim: dict[str, str], before: dict[str, dict[str, str]]) -> bool:
    return claim["verdict"] == NOT_RUN and claim["claim"] in before


def _kept(now: dict[str, str], before: dict[str, str]) -> dict[str, str]:
    if now["digest"] == before["digest"] and now["rule"] == before["rule"]:
        return before
    return {**now, "measured": before["measured"], "verdict": STALE, "digest": before["digest"]}


def _joined(before: dict[str, Any], now: dict[str, Any], name: str) -> dict[str, Any]:
    return {**before.get(name, {}), **now.get(name, {})}
