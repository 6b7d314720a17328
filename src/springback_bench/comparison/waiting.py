"""Answers that may wait: how often they are correct against how many frames they wait for, on recorded streams.

    python -m springback_bench.comparison.waiting [STREAM ...]

prints accuracies and adds them to docs/data/streams.json and docs/streams.md, for all of `STREAMS` or for those named.
The settings are those that `springback bench streams` chose for the observer; where it found none better than no
memory, answers are those of the frozen network, which no wait changes.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.heads import ElasticHead, Observer
from springback.heads.scale import measure_scale
from springback.streaming.row_scaling import unit_rows
from springback_bench.comparison import scores
from springback_bench.comparison.run import RESULTS, write
from springback_bench.comparison.scope import FULL, cut
from springback_bench.comparison.tables import waiting
from springback_bench.place import ROOT
from springback_bench.stream_sets import StreamSplit, load_stream

STREAMS = ("photographs", "sleep", "topic-rolling", "meeting", "meeting-ecapa", "cocktail")
WHOLE = "whole stream"
WAITS = ("0", "1", "2", "5", "10", WHOLE)
"""Frames that an answer waits for."""


def observer_on(split: StreamSplit, settings: dict[str, Any]) -> ElasticHead:
    """The head with settings that were chosen on the validation streams, whose units are measured there again."""
    known = {"novelty_odds" if name == "novelty" else name: value for name, value in settings.items()}
    head, rows = split.head, [one.features for one in cut(split.validation, FULL.validation)]
    mean = np.concatenate(rows).mean(axis=0) if head.centre is None else head.centre
    centre = np.asarray(mean, np.float32) if known["centred"] else None
    directions = [unit_rows(one - (0 if centre is None else centre)) for one in rows]
    scale = measure_scale([one @ head.weight.T + head.bias for one in rows], directions)
    return ElasticHead(head.weight, head.bias, Observer(**known), centre=centre, scale=scale)


def answers_of(model: ElasticHead, rows: NDArray[np.float32], wait: str) -> NDArray[np.float64]:
    """Class probabilities (T, K) from rest."""
    return model.smooth(rows) if wait == WHOLE else model.track(rows, lag=int(wait))


def measure(name: str, chosen: dict[str, Any]) -> dict[str, list[float]]:
    """The accuracy of each wait on every split; `chosen` are the results of the observer."""
    accuracy: dict[str, list[float]] = {wait: [] for wait in WAITS}
    for number, (settings, frozen) in enumerate(zip(chosen["settings"], chosen["frozen"], strict=True)):
        split = load_stream(name, number)
        test = cut(split.test, FULL.test)
        labels = np.concatenate([one.labels for one in test])
        for wait, found in accuracy.items():
            if frozen:
                answers: list[NDArray[Any]] = [split.head.logits(one.features) for one in test]
            else:
                model = observer_on(split, settings)
                answers = [answers_of(model, one.features, wait) for one in test]
            found.append(scores.right_answers(np.concatenate(answers), labels))
    return accuracy


def main(names: Sequence[str]) -> None:
    """Measure and write one stream after the other, and print them."""
    for name in names or STREAMS:
        chosen = json.loads((ROOT / RESULTS).read_text())["results"][name]["observer"]
        measured = measure(name, chosen)
        found = json.loads((ROOT / RESULTS).read_text())
        write({**found, "waiting": {**found.get("waiting", {}), name: measured}})
        print(waiting({"results": found["results"], "waiting": {name: measured}}).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
