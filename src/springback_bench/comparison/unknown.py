"""Can a frozen head tell that a frame shows a class it does not know? Scores compared on streams.

    python -m springback_bench.comparison.unknown [STREAM ...]

prints a table and, without names, writes it to docs/data/unknown.json and docs/tracks.md. A third of the classes is
taken out of the head, three times, so that each class is unknown once. A score is chosen by the validation streams
alone: half of their stretches give means, covariances and known rows, and the others are judged. Then the test
streams are judged once, with means, covariances and known rows of the whole validation streams.
"""

import json
import sys
from collections.abc import Sequence
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
from springback_bench.stream_sets import NOT_SCORED, Head, Stream, StreamSplit, load_stream

STREAMS = ("meeting", "cocktail", "topic-sentences", "hapt", "topic-rolling", "sleep", "head-direction")
SCORES = (
    "1 - max probability",
    "- max logit",
    "- log of the sum of exp(logits)",
    "cosine to class mean",
    "Mahalanobis to class mean",
)
RESULTS, PAGE = "docs/data/unknown.json", "docs/tracks.md"
MARKS = ("<!-- unknown -->", "<!-- end of unknown -->")
MEMORY, KAPPA, DEPTH, RATE = 10.0, 5.0, 48, 0.05
FEWEST_CLASSES = 3
RULES = ("rows", "stretches")


def through_memory(scores: NDArray[np.float64], units: NDArray[np.float32]) -> NDArray[np.float64]:
    """Means of the last scores (T, S), by how long ago they were and how alike frames are, as an observer weighs them.

    Examples
    --------
    >>> through_memory(np.array([[0.0], [1.0]]), np.ones((2, 1), np.float32)).round(3)
    array([[0.   ],
           [0.525]])
    """
    smoothed = np.empty_like(scores)
    for t in range(len(scores)):
        some = slice(max(0, t - DEPTH), t + 1)
        ago = t - np.arange(some.start, some.stop)
        smoothed[t] = np.average(
            scores[some], axis=0, weights=np.exp(-ago / MEMORY + KAPPA * (units[some] @ units[t] - 1))
        )
    return smoothed


def stretches(stream: Stream) -> NDArray[np.int64]:
    """In which of its stretches, each of which shows one object, every frame is, (T,)."""
    return np.cumsum(np.diff(stream.objects, prepend=stream.objects[:1]) != 0)


def scored(stream: Stream, wanted: NDArray[np.bool_]) -> Stream:
    """Some of the frames of a stream."""
    names = ("features", "labels", "times", "objects")
    return Stream(**{name: getattr(stream, name)[wanted] for name in names})


def halves(stream: Stream) -> tuple[Stream, Stream]:
    """Half of the stretches of a stream that has correct answers, drawn at random, and the other half."""
    known = scored(stream, stream.labels != NOT_SCORED)
    shows = stretches(known)
    drawn = np.random.default_rng(0).permutation(shows[-1] + 1)[shows] % 2 == 0
    return scored(known, drawn), scored(known, ~drawn)


def judged(head: Head, known: Sequence[Stream], shown: Sequence[Stream]) -> dict[str, float]:
    """The area under the curve of each score, alone and through memory, and false alarms at a promised 5 %.

    Parameters
    ----------
    known, shown : Sequence[Stream]
        Where rows of known classes come from, and the streams that are judged.
    """
    rows = np.concatenate([one.features for one in known]).astype(np.float64)
    labels = np.concatenate([one.labels for one in known])
    shows = np.concatenate([stretches(one) + number * 2**32 for number, one in enumerate(known)])
    classes = np.intersect1d(labels, np.concatenate([one.labels for one in shown]))
    found: dict[str, list[float]] = {}
    for held in np.array_split(np.random.default_rng(0).permutation(classes[classes != NOT_SCORED]), 3):
        left = np.setdiff1d(np.arange(len(head.weight)), held)
        usable = (labels != NOT_SCORED) & ~np.isin(labels, held)
        some, kinds = rows[usable], labels[usable]
        centre = some.mean(axis=0)
        means = np.array([some[kinds == one].mean(axis=0) for one in np.unique(kinds)])
        inside = some - means[np.searchsorted(np.unique(kinds), kinds)]
        whiten = np.linalg.cholesky(np.linalg.inv(ledoit_wolf(inside)[0]))
        logits_known = head.logits(some)[:, left]
        rules = {"rows": NoneOfThese(logits_known), "stretches": NoneOfThese(logits_known, shows[usable])}
        values, unknown, refused = [], [], []
        for stream in shown:
            right = stream.labels != NOT_SCORED
            logits = head.logits(stream.features)[:, left].astype(np.float64)
            units = unit_rows(stream.features - centre)
            away = (stream.features @ whiten)[:, None] - means @ whiten
            each = (
                1 - softmax(logits, axis=1).max(axis=1),
                -logits.max(axis=1),
                strangeness(logits),
                -(units @ unit_rows(means - centre).T).max(axis=1),
                np.square(away).sum(axis=2).min(axis=1),
            )
            alone = np.stack(each, axis=1)
            values.append(np.concatenate([alone, through_memory(alone, units)], axis=1)[right])
            unknown.append(np.isin(stream.labels, held)[right])
            refused.append(np.stack([rules[name].p_values(logits) <= RATE for name in RULES], axis=1)[right])
        truth, alarms = np.concatenate(unknown), np.concatenate(refused)
        for score, value in zip(NAMES, np.concatenate(values).T, strict=True):
            found.setdefault(score, []).append(roc_auc_score(truth, value))
        for name, alarm in zip(RULES, alarms.T, strict=True):
            found.setdefault(f"false alarms, {name}", []).append(alarm[~truth].mean())
            found.setdefault(f"refused, {name}", []).append(alarm[truth].mean())
    return {key: float(np.mean(all_)) for key, all_ in found.items()}


NAMES = (*SCORES, *(f"{score}, memory" for score in SCORES))


def measure(name: str) -> dict[str, Any]:
    """What the validation streams say of each score, and what the test streams say."""
    split = load_stream(name)
    return {"stream": name, "validation": chosen_by(split), "test": judged(split.head, split.validation, split.test)}


def chosen_by(split: StreamSplit) -> dict[str, float]:
    """The area under the curve of each score on the validation streams; nothing if too few classes return there."""
    first, second = zip(*(halves(one) for one in split.validation), strict=True)
    in_first, in_second = (np.concatenate([one.labels for one in half]) for half in (first, second))
    if len(np.intersect1d(in_first, in_second)) < FEWEST_CLASSES:
        return {}
    return {key: value for key, value in judged(split.head, first, second).items() if key in NAMES}


def page_of(found: list[dict[str, Any]]) -> str:
    """The table; its first column is the mean of the validation streams, by which a score is chosen."""
    columns = ("score (AUC)", "validation, mean", *(f"`{one['stream']}`" for one in found))
    lines = [table_row(*columns), table_rule(len(columns))]
    for score in SCORES:
        for key in (score, f"{score}, memory"):
            mean = np.mean([one["validation"][key] for one in found if one["validation"]])
            lines.append(table_row(key, f"{mean:.3f}", *(f"{one['test'][key]:.3f}" for one in found)))
    for rule, each in zip(RULES, ("row", "stretch of one object"), strict=True):
        for key, told in (
            ("false alarms", f"known frames refused, 5 % promised, each {each} counts"),
            ("refused", "unknown frames refused"),
        ):
            shown = (f"{100 * one['test'][f'{key}, {rule}']:.1f} %" for one in found)
            lines.append(table_row(told, "", *shown))
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
