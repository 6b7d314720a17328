"""Flicker of tracked objects: our memory of class scores, a majority lock and smoothing, on tracks made of streams.

    python -m springback_bench.comparison.tracked [STREAM ...]

prints a table and, without names, writes it to docs/data/tracks.json and docs/tracks.md. Each stretch of a stream that
shows one object is a track; eight are in view at once, one frame of each in turn, and every fourth goes on with another
object under the same number, as trackers confuse objects that cross. Methods see class scores and track numbers alone.
All choose among twelve settings by their accuracy on the validation streams of a split; its test streams are answered
once.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback.files.atomic import atomic_file
from springback.heads import ElasticLinearClassifier, KeyedStreams, Observer
from springback.heads.linear_classifier import SCORES_ALONE
from springback.streaming.metrics import accuracy, delays, flips
from springback_bench.markdown import table_row, table_rule, write_between
from springback_bench.place import ROOT
from springback_bench.rounding import rounded
from springback_bench.stream_sets import NOT_SCORED, Stream, load_stream, stream_sets
from springback_bench.stream_sets.record import Head

STREAMS = ("coil-known", "hapt")
RESULTS, PAGE = "docs/data/tracks.json", "docs/tracks.md"
MARKS = ("<!-- tracks -->", "<!-- end of tracks -->")
AT_ONCE, LONGEST, SWITCHED, PER_MINUTE = 8, 120, 4, 600


class Tracks(NamedTuple):
    """Class scores (T, K) of objects in view together, their tracks, objects and classes, (T,)."""

    scores: NDArray[np.float64]
    tracks: NDArray[np.int64]
    objects: NDArray[np.int64]
    labels: NDArray[np.int64]


def tracks_of(head: Head, streams: tuple[Stream, ...]) -> Tracks:
    """Streams as tracks, several at once."""
    stretches: list[tuple[NDArray[np.float64], NDArray[np.int64]]] = []
    for stream in streams:
        scores = softmax(head.logits(stream.features).astype(np.float64), axis=1)
        for part in np.split(np.arange(len(stream)), np.flatnonzero(np.diff(stream.objects)) + 1):
            used = part[stream.labels[part] != NOT_SCORED][:LONGEST]
            if len(used):
                stretches.append((scores[used], stream.labels[used]))
    order = np.random.default_rng(0).permutation(len(stretches))
    waiting, track, slots = iter(order.tolist()), 0, [(0, 0, 0)] * AT_ONCE  # stretch + 1, its next frame, its track
    rows: list[tuple[int, int, int]] = []
    switched: set[int] = set()
    live = True
    while live:
        live = False
        for place, slot in enumerate(slots):
            stretch, at, number = slot
            if not stretch or at == len(stretches[stretch - 1][0]):
                new = next(waiting, None)
                if new is None:
                    slots[place] = (0, 0, 0)
                    continue
                goes_on = stretch > 0 and number % SWITCHED == 0 and number not in switched
                switched.add(number)
                track += not goes_on
                stretch, at, number = new + 1, 0, number if goes_on else track
            rows.append((stretch - 1, at, number))
            slots[place] = (stretch, at + 1, number)
            live = True
    return Tracks(
        np.array([stretches[one][0][at] for one, at, _ in rows]),
        np.array([number for _, _, number in rows]),
        np.array([one for one, _, _ in rows]),
        np.array([stretches[one][1][at] for one, at, _ in rows]),
    )


def _each_track(shown: Tracks) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    for number in np.unique(shown.tracks):
        at = np.flatnonzero(shown.tracks == number)
        yield at, shown.scores[at]


def frozen(shown: Tracks, _: Any) -> NDArray[np.int64]:
    """Every frame by itself."""
    best: NDArray[np.int64] = shown.scores.argmax(axis=1)
    return best


def majority_lock(shown: Tracks, after: int) -> NDArray[np.int64]:
    """The most frequent answer of a track so far, which no longer changes after a number of frames."""
    answers = np.empty(len(shown.tracks), np.int64)
    for at, scores in _each_track(shown):
        votes = np.cumsum(np.eye(scores.shape[1])[scores.argmax(axis=1)], axis=0)
        answers[at] = votes[np.minimum(np.arange(len(at)), after - 1)].argmax(axis=1)
    return answers


def smoothing(shown: Tracks, keep: float) -> NDArray[np.int64]:
    """A running mean of the scores of a track."""
    answers = np.empty(len(shown.tracks), np.int64)
    for at, scores in _each_track(shown):
        mean = scores[0]
        for place, row in zip(at, scores, strict=True):
            mean = keep * mean + (1 - keep) * row
            answers[place] = mean.argmax()
    return answers


def ours(shown: Tracks, settings: Observer) -> NDArray[np.int64]:
    """`ElasticLinearClassifier.of_scores`, one stream for each track."""
    model = ElasticLinearClassifier.of_scores(np.arange(shown.scores.shape[1]), settings)
    streams: KeyedStreams[int] = KeyedStreams(model.head_, compact=False)
    rows = model.transforms_(shown.scores)
    return np.asarray(streams.follow_mixed(shown.tracks.tolist(), rows).posterior.argmax(axis=1))


METHODS: dict[str, tuple[Callable[[Tracks, Any], NDArray[np.int64]], list[Any]]] = {
    "frozen": (frozen, [None]),
    "majority lock": (majority_lock, [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 10**9]),
    "smoothing": (smoothing, [0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.99]),
    "springback, untuned": (ours, [SCORES_ALONE]),
    "springback": (
        ours,
        [
            Observer(kappa=0.0, continuity=0.0, memory=memory, novelty_odds=odds, evidence=evidence)
            for memory in (5.0, 20.0)
            for odds in (0.03, 0.3)
            for evidence in (0.1, 0.3, 1.0)
        ],
    ),
}


MEASURED = ("flips", "accuracy", "delay", "never")


def measure(name: str) -> list[dict[str, Any]]:
    """What each method, with the settings chosen for it, answers to the test streams of every split."""
    each = [measure_split(name, split) for split in range(stream_sets()[name].splits)]
    found = []
    for rows in zip(*each, strict=True):
        numbers = {key: [row[key] for row in rows] for key in MEASURED}
        about = {"stream": name, "method": rows[0]["method"], "settings": [row["setting"] for row in rows]}
        sizes = {key: [row[key] for row in rows] for key in ("tracks", "frames")}
        found.append({**about, **sizes, **numbers})
    return found


def measure_split(name: str, number: int) -> list[dict[str, Any]]:
    """What each method answers to the test streams of one split."""
    split = load_stream(name, number)
    chosen_on, test = tracks_of(split.head, split.validation), tracks_of(split.head, split.test)
    found = []
    for method, (run, settings) in METHODS.items():
        best = max(settings, key=lambda one: accuracy(run(chosen_on, one), chosen_on.labels))
        answers = run(test, best)
        waited = delays(answers, test.labels, test.objects)
        found.append(
            {
                "stream": name,
                "tracks": len(np.unique(test.tracks)),
                "frames": len(answers),
                "method": method,
                "setting": str(best),
                "flips": PER_MINUTE * flips(answers, test.tracks) / len(answers),
                "accuracy": accuracy(answers, test.labels),
                "delay": float(np.nanmean(waited)),
                "never": float(np.isnan(waited).mean()),
            }
        )
    return found


def page_of(found: list[dict[str, Any]]) -> str:
    """The table."""
    columns = ("stream", "method", "flips per minute", "accuracy, %", "delay, frames", "objects never right, %")
    lines = [table_row(*columns), table_rule(6)]
    for one in found:
        sizes = [f"{min(one[key]):,} to {max(one[key]):,} {key}" for key in ("tracks", "frames")]
        stream = f"`{one['stream']}`, {len(one['tracks'])} splits of {' and '.join(sizes)}"
        shown = {key: np.array(one[key]) * (100 if key in ("accuracy", "never") else 1) for key in MEASURED}
        numbers = (f"{each.mean():.1f} ± {each.std(ddof=1):.1f}" for each in shown.values())
        lines.append(table_row(stream, one["method"], *numbers))
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write."""
    found = [row for name in sys.argv[1:] or STREAMS for row in measure(name)]
    print(page_of(found))
    if len(sys.argv) == 1:
        with atomic_file(ROOT / RESULTS) as file:
            file.write((json.dumps(rounded(found), indent=1) + "\n").encode())
        write_between(ROOT / PAGE, MARKS, page_of(found))


if __name__ == "__main__":
    main()
