"""Can a frozen head tell that a frame shows a class it does not know? Scores compared on streams.

    python -m springback_bench.comparison.unknown [STREAM ...]

prints a table and, without names, writes it to docs/data/unknown.json and docs/tracks.md. A third of the classes is
taken out of the head, three times, so that each class is unknown once. Means, covariances and the rule are calibrated
on the validation streams without these classes; the test streams are then judged once.
"""

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf
from sklearn.metrics import roc_auc_score

from springback.files.atomic import atomic_file
from springback.heads import NoneOfThese
from springback.heads.none_of_these import strangeness
from springback.streaming.row_scaling import unit_rows
from springback_bench.markdown import table_row, table_rule, write_between
from springback_bench.place import ROOT
from springback_bench.rounding import rounded
from springback_bench.stream_sets import NOT_SCORED, load_stream

STREAMS = ("meeting", "cocktail", "topic-sentences", "hapt")
SCORES = ("1 - max probability", "- max logit", "cosine to class mean", "Mahalanobis to class mean")
RESULTS, PAGE = "docs/data/unknown.json", "docs/tracks.md"
MARKS = ("<!-- unknown -->", "<!-- end of unknown -->")
MEMORY, KAPPA, DEPTH, RATE = 10.0, 5.0, 48, 0.05


def through_memory(scores: NDArray[np.float64], units: NDArray[np.float32]) -> NDArray[np.float64]:
    """Means of the last scores, by how long ago they were and how alike the frames are, as an observer weighs them."""
    smoothed = np.empty_like(scores)
    for t in range(len(scores)):
        some = slice(max(0, t - DEPTH), t + 1)
        ago = t - np.arange(some.start, some.stop)
        smoothed[t] = np.average(scores[some], weights=np.exp(-ago / MEMORY + KAPPA * (units[some] @ units[t] - 1)))
    return smoothed


def measure(name: str) -> dict[str, Any]:
    """The area under the curve of each score, alone and through memory, and false alarms at a promised 5 %."""
    split = load_stream(name)
    rows = np.concatenate([one.features for one in split.validation]).astype(np.float64)
    labels = np.concatenate([one.labels for one in split.validation])
    shown = np.unique(np.concatenate([one.labels for one in split.test]))
    both = np.intersect1d(np.unique(labels[labels != NOT_SCORED]), shown)
    found: dict[str, list[float]] = {}
    for held in np.array_split(np.random.default_rng(0).permutation(both), 3):
        known = np.setdiff1d(np.arange(len(split.head.weight)), held)
        usable = (labels != NOT_SCORED) & ~np.isin(labels, held)
        some, kinds = rows[usable], labels[usable]
        centre = some.mean(axis=0)
        means = np.array([some[kinds == one].mean(axis=0) for one in np.unique(kinds)])
        inside = some - means[np.searchsorted(np.unique(kinds), kinds)]
        whiten = np.linalg.cholesky(np.linalg.inv(ledoit_wolf(inside)[0]))
        rule = NoneOfThese(split.head.logits(some)[:, known])
        parts: dict[str, list[NDArray[np.float64]]] = {}
        unknown, refused = [], []
        for stream in split.test:
            scored = stream.labels != NOT_SCORED
            logits = split.head.logits(stream.features)[:, known]
            units = unit_rows(stream.features - centre)
            away = (stream.features @ whiten)[:, None] - means @ whiten
            values = (
                1 - softmax(logits, axis=1).max(axis=1),
                strangeness(logits),
                -(units @ unit_rows(means - centre).T).max(axis=1),
                np.square(away).sum(axis=2).min(axis=1),
            )
            for score, value in zip(SCORES, values, strict=True):
                parts.setdefault(score, []).append(value[scored])
                parts.setdefault(f"{score}, memory", []).append(through_memory(value, units)[scored])
            unknown.append(np.isin(stream.labels, held)[scored])
            refused.append(rule.refuses(logits, false_alarms=RATE)[scored])
        truth, alarms = np.concatenate(unknown), np.concatenate(refused)
        for score, each in parts.items():
            found.setdefault(score, []).append(roc_auc_score(truth, np.concatenate(each)))
        found.setdefault("false alarms", []).append(alarms[~truth].mean())
        found.setdefault("refused", []).append(alarms[truth].mean())
    return {"stream": name, "classes": len(both), **{key: float(np.mean(all_)) for key, all_ in found.items()}}


def page_of(found: list[dict[str, Any]]) -> str:
    """The table."""
    lines = [table_row("score (AUC)", *(f"`{one['stream']}`" for one in found)), table_rule(1 + len(found))]
    for score in SCORES:
        for key in (score, f"{score}, memory"):
            lines.append(table_row(key, *(f"{one[key]:.3f}" for one in found)))
    for key, told in (("false alarms", "known frames refused, 5 % promised"), ("refused", "unknown frames refused")):
        lines.append(table_row(told, *(f"{100 * one[key]:.1f} %" for one in found)))
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write."""
    found = [measure(name) for name in sys.argv[1:] or STREAMS]
    print(page_of(found))
    if len(sys.argv) == 1:
        with atomic_file(ROOT / RESULTS) as file:
            file.write((json.dumps(rounded(found), indent=1) + "\n").encode())
        write_between(ROOT / PAGE, MARKS, page_of(found))


if __name__ == "__main__":
    main()
