"""A claim of the paper, the evidence it is judged by, and its verdict."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from springback_paper.models import MODELS, published
from springback_paper.wording import spread

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
NOT_SEEN, NOT_TESTED = "not seen", "not tested"
STALE, NOT_RUN = "stale", "not run"
VERDICTS = (HOLDS, IN_PART, FAILS, NOT_SEEN, NOT_TESTED, STALE, NOT_RUN)
"""What the paper only expects can be "not seen", or "not tested" by what we ran; a verdict of other code is "stale"."""

CLAIM_KEYS = ("claim", "source", "measured", "verdict", "rule", "command", "digest")
"""Of a judged claim in results.json; the digest is that of the numbers and of the code that it was judged by."""

Stat = Mapping[str, Any]
"""Mean, std, n and values of an accuracy, as in results.json."""


class Judgement(NamedTuple):
    """One of `VERDICTS`, and what was measured, in words."""

    verdict: str
    measured: str


@dataclass(frozen=True)
class Evidence:
    """What one claim is judged by: results.json, the results of tasks by name, and the digests of their code.

    `used` collects what the claim has looked at.
    """

    results: Mapping[str, Any]
    found: Mapping[str, Any]
    code: Mapping[str, str] = field(default_factory=dict)
    used: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of everything that was looked at: accuracies by their values, tasks by their code."""
        return hashlib.sha256(json.dumps(self.used, sort_keys=True).encode()).hexdigest()[:16]

    def task(self, name: str) -> Any:
        """The result of a task, or None."""
        self.used[name] = self.code.get(name, "")
        return self.found.get(name)

    def video(self, model: str) -> Stat | None:
        """The accuracy of a model on all frames of the test video."""
        return self._stat("omnist_test", model)

    def still(self, model: str) -> Stat | None:
        """Its accuracy on the still test digits."""
        return self._stat("mnist_test", model)

    def frames(self, model: str, group: str) -> Stat | None:
        """Its accuracy on the frames with this number of rows hidden, or on noise."""
        return self._noted(f"{model} {group}", self.results.get("by_rows_hidden", {}).get(model, {}).get(group))

    def circuit(self, *kinds: str) -> str | None:
        """The circuit to judge by: the paper's own network if it was run, else ours; the first of the kinds.

        Examples
        --------
        >>> run = {"omnist_test": {"spiking_static": {}, "spiking_st_stdp": {}}}
        >>> Evidence(run, {}).circuit("static_best", "static")
        'spiking_static'
        """
        keys = [f"{network}_{kind}" for network in ("moraitis", "spiking") for kind in kinds]
        return next((key for key in keys if self.video(key) is not None), None)

    def _stat(self, table: str, model: str) -> Stat | None:
        return self._noted(f"{model} {table}", self.results.get(table, {}).get(model))

    def _noted(self, name: str, stat: Stat | None) -> Stat | None:
        if stat is not None:
            self.used[name] = [stat.get("mean"), stat.get("std")]
        return stat


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim.

    Parameters
    ----------
    text : str
        What the paper says, in our words.
    source : str
        Where it says so.
    rule : str
        When it holds, and when it holds in part: what `judge` does, in words.
    command : str
        What computes the evidence.
    judge : Callable[[Evidence], Judgement | None]
        The verdict; None if what it needs was not run.
    """

    text: str
    source: str
    rule: str
    command: str
    judge: Callable[[Evidence], Judgement | None]

    def judged(self, evidence: Evidence) -> dict[str, str]:
        """The claim with its verdict, as results.json stores it.

        Examples
        --------
        >>> never = Claim(text="So.", source="S1", rule="Never.", command="-", judge=lambda _: None)
        >>> never.judged(Evidence({}, {}))["verdict"]
        'not run'
        """
        judgement = self.judge(evidence) or Judgement(NOT_RUN, "-")
        told = {"claim": self.text, "source": self.source, "measured": judgement.measured}
        rest = {"verdict": judgement.verdict, "rule": self.rule, "command": self.command}
        return {**told, **rest, "digest": evidence.digest}


def in_paper(table: str, model: str) -> Stat:
    """The accuracy of a model in the paper.

    Examples
    --------
    >>> in_paper("omnist_test", "moraitis_st_stdp")["mean"]
    0.879
    """
    stat: Stat = published()[table][model]
    return stat


def only(*names: str) -> str:
    """The command that computes these names.

    Examples
    --------
    >>> only("head", "expansion")
    'springback reproduce --only head --only expansion'
    """
    return "springback reproduce" + "".join(f" --only {name}" for name in names)


def named(model: str, stat: Stat) -> str:
    """A model and its accuracy.

    Examples
    --------
    >>> named("elastic", {"mean": 0.956, "std": 0.0, "n": 1})
    'Elastic clustering 95.6 %'
    """
    about = MODELS.get(model)
    return f"{about.name if about else model} {spread(dict(stat), digits=1)} %"


def apart(one: Stat, other: Stat) -> float:
    """How far two means must be apart to be told apart: the larger of their standard deviations.

    Examples
    --------
    >>> apart({"std": 0.01}, {"std": 0.02})
    0.02
    """
    return max(float(one["std"]), float(other["std"]))
