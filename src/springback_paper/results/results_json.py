"""The results of a whole run as one dictionary with stable keys: what results.json holds."""

import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from springback import __version__, check
from springback_paper.claims.claim import CLAIM_KEYS, VERDICTS
from springback_paper.models import MODELS, published
from springback_paper.results.scores import Scores

TABLES = ("mnist_test", "omnist_test")
BREAKDOWNS = ("by_rows_hidden", "by_ink_hidden")
KEYS = ("version", "environment", "seeds", "claims", *TABLES, *BREAKDOWNS, "speed", "paper")
_PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "torch")


def statistic(values: Sequence[float]) -> dict[str, Any]:
    """Mean and standard deviation (over n - 1; 0 for a single value) of a few accuracies, with the accuracies.

    Examples
    --------
    >>> statistic([0.25, 0.75])
    {'mean': 0.5, 'std': 0.3535533905932738, 'n': 2, 'values': [0.25, 0.75]}
    """
    check.integer("the number of values", len(values), low=1)
    for one in values:
        check.real("an accuracy", one, low=0, high=1)
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {
        "mean": float(np.mean(values)),
        "std": deviation,
        "n": len(values),
        "values": [float(one) for one in values],
    }


def collect(
    scores: Iterable[Scores], *, seeds: Sequence[int], speed: Mapping[str, Any], environment: Mapping[str, Any]
) -> dict[str, Any]:
    """Scores of all seeds, in their order, as statistics by model; a model that was not run has no entry.

    The paper's claims are judged by these results (`springback_paper.claims`), so they are added afterwards.
    """
    scores = list(scores)
    found: dict[str, Any] = {"version": __version__, "environment": dict(environment), "seeds": list(seeds)}
    found["claims"] = []
    for table in TABLES:
        values = {
            model: [getattr(one, table)[model] for one in scores if model in getattr(one, table)] for model in MODELS
        }
        found[table] = {model: statistic(some) for model, some in values.items() if some}
    for table in BREAKDOWNS:
        found[table] = {}
        for model in MODELS:
            runs = [getattr(one, table)[model] for one in scores if model in getattr(one, table)]
            keys = dict.fromkeys(key for run in runs for key in run)
            if keys:
                found[table][model] = {key: statistic([run[key] for run in runs if key in run]) for key in keys}
    found["speed"] = dict(speed)
    found["paper"] = published()
    return found


def what_was_used(scores: Iterable[Scores]) -> dict[str, dict[str, int]]:
    """How many training digits, test digits and frames each model was given."""
    used: dict[str, dict[str, int]] = {"train_digits": {}, "test_digits": {}, "frames": {}}
    for one in scores:
        for model in one.omnist_test:
            used["train_digits"][model] = one.n_train
            used["test_digits"][model] = one.n_test
            used["frames"][model] = one.n_frames
    return used


def this_environment() -> dict[str, Any]:
    """Python, packages and machine, as far as they bear on the numbers."""
    packages: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    return {
        "python": platform.python_version(),
        "packages": packages,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def check_results(found: Any) -> None:
    """Refuse a dictionary that is not of the form results.json promises.

    Examples
    --------
    >>> check_results({"version": "1"})
    Traceback (most recent call last):
    ValueError: results must have exactly the keys version, environment, ... speed, paper; got ['version']
    """
    check.require(isinstance(found, dict), "results", "be a dictionary", type(found).__name__)
    check.require(
        set(found) == set(KEYS), "results", f"have exactly the keys {', '.join(KEYS)}", sorted(map(str, found))
    )
    check.require(isinstance(found["version"], str), "results.version", "be a str", found["version"])
    for name in ("environment", "speed", "paper"):
        check.require(isinstance(found[name], dict), f"results.{name}", "be a dictionary", found[name])
    check.require(isinstance(found["seeds"], list), "results.seeds", "be a list", found["seeds"])
    for seed in found["seeds"]:
        check.integer("a seed of results.seeds", seed, low=0)
    _check_claims(found["claims"])
    for table in (*TABLES, *BREAKDOWNS):
        check.require(isinstance(found[table], dict), f"results.{table}", "be a dictionary", found[table])
        for model, entry in found[table].items():
            check.one_of(f"a model of results.{table}", model, MODELS)
            place = f"results.{table}.{model}"
            check.require(isinstance(entry, dict), place, "be a dictionary", entry)
            for key, stat in entry.items() if table in BREAKDOWNS else [("", entry)]:
                check.require(isinstance(key, str), f"a key of {place}", "be a str", key)
                _check_statistic(f"{place}.{key}".rstrip("."), stat, n_max=len(found["seeds"]))
        if table in BREAKDOWNS:
            for model, entry in found[table].items():
                check.require("noise" in entry, f"results.{table}.{model}", "have the key noise", sorted(entry))


def _check_claims(claims: Any) -> None:
    check.require(isinstance(claims, list), "results.claims", "be a list", claims)
    for one in claims:
        check.require(
            isinstance(one, dict)
            and set(one) == set(CLAIM_KEYS)
            and all(isinstance(text, str) for text in one.values()),
            "a claim of results.claims",
            f"have the texts {', '.join(CLAIM_KEYS)}",
            one,
        )
        check.one_of("the verdict of a claim", one["verdict"], VERDICTS)


def _check_statistic(name: str, stat: Any, *, n_max: int) -> None:
    keys = ["mean", "n", "std", "values"]
    check.require(isinstance(stat, dict) and set(stat) == set(keys), name, f"have the keys {', '.join(keys)}", stat)
    check.require(isinstance(stat["values"], list), f"{name}.values", "be a list", stat["values"])
    check.require(stat["n"] == len(stat["values"]), f"{name}.n", "be the number of values", stat["n"])
    check.integer(f"{name}.n", stat["n"], low=1, high=max(1, n_max))
    for value in stat["values"]:
        check.real(f"a value of {name}", value, low=0, high=1)
    again = statistic(stat["values"])
    for key in ("mean", "std"):
        given = check.real(f"{name}.{key}", stat[key])
        check.require(abs(given - again[key]) <= 1e-6, f"{name}.{key}", "be that of its values", given)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or sys.platform
