"""Choose the settings that a search tries first, for our head (`springback.heads.known_settings`) and for its rivals.

The same settings, drawn at random, are tried on the validation streams of the first split of every stream set that is
in the data home. Then settings are picked one after the other, each time the one that raises the mean over the streams
of the best of those picked the most. `python -m springback_bench.comparison.first_settings [NAME]...` prints them, for
all methods in about five minutes, as they stand in the file of a rival, and in `springback.heads.known_settings`.
`springback bench streams` does the same for a rival whose file has none.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from springback.heads import ElasticHead, LearningObserver, Observer, measure_scale
from springback.heads.search import Choice, Range
from springback.heads.tuning import RANGES, settings_of
from springback.heads.tuning_result import VARIANTS
from springback.streaming.row_scaling import unit_rows
from springback_bench.comparison.measure import Measured, answers, loaded, rival_on
from springback_bench.comparison.methods import maker_of, rival_named, rows_of
from springback_bench.comparison.scope import ComparisonScope, beginning
from springback_bench.rivals import all_rivals, logit_spread
from springback_bench.rounding import rounded
from springback_bench.stream_sets import Stream, StreamSplit, load_stream, sizes_made, stream_sets

DRAWS = {"observer": 200, "learning": 200, "springs": 240, "classes": 120}
DRAWS_OF_A_RIVAL, DRAWS_OF_A_SLOW_RIVAL = 200, 60
PICKED = 8
_FRAMES, _FRAMES_OF_ONE_OF_MANY, _SLOW_FRAMES = 1200, 600, 300

Ranges = Mapping[str, Range | Choice]
Draw = dict[str, Any]


def compared() -> dict[str, Ranges]:
    """The ranges of all that is compared, by name: our four kinds of memory, and the rivals that choose settings."""
    rivals = {one.name: one.ranges for one in all_rivals() if one.kind == "rival"}
    return {**{variant: RANGES[variant] for variant in VARIANTS}, **rivals}


def draws(name: str) -> list[Draw]:
    """The settings of one method that are tried, as for logits of spread 1; the defaults of both observers first."""
    rng, ranges = np.random.default_rng(7), compared()[name]
    slow = name not in DRAWS and rival_named(name).slow
    count = DRAWS.get(name, DRAWS_OF_A_SLOW_RIVAL if slow else DRAWS_OF_A_RIVAL)
    drawn = [{setting: one.at(float(rng.random())) for setting, one in ranges.items()} for _ in range(count)]
    if name in ("observer", "learning"):
        default = Observer() if name == "observer" else LearningObserver()
        drawn.insert(0, {setting: getattr(default, setting) for setting in ranges})
    if name == "springs":  # a quarter of them carry the last answer over, and nothing older
        for one in drawn[::4]:
            one.update(memory=0.2, sharpness=None, constant=0.0, tuning=one["tuning"] or 3.0)
    return drawn


def accuracies(stream: str, name: str) -> tuple[float, list[float]]:
    """Accuracy of the frozen head and of all settings of one method on the validation streams of a stream set."""
    split = load_stream(stream, 0)
    slow = name not in DRAWS and rival_named(name).slow
    streams = shortened(split.validation, _SLOW_FRAMES if slow else _FRAMES)
    labels = np.concatenate([one.labels for one in streams])

    def share_right(found: list[NDArray[Any]]) -> float:
        classes = np.concatenate([one.argmax(axis=1) for one in found])
        return float((classes == labels)[labels >= 0].mean())

    follow = _ours(split, streams, name) if name in DRAWS else _rival(split, streams, name)
    frozen = [split.head.logits(one.features) for one in streams]
    return share_right(frozen), [share_right(follow(dict(draw))) for draw in draws(name)]


Follow = Callable[[Draw], list[NDArray[Any]]]
"""Answers to all streams with these settings."""


def _ours(split: StreamSplit, streams: list[Stream], name: str) -> Follow:
    head = split.head
    logits = [head.logits(one.features) for one in streams]
    scales = {
        centred: measure_scale(logits, [unit_rows(one.features - (head.centre if centred else 0)) for one in streams])
        for centred in (False, True)
    }

    def follow(draw: Draw) -> list[NDArray[Any]]:
        centred = bool(draw.pop("centred", False))
        scale, centre = scales[centred], head.centre if centred else None
        settings = settings_of(name, draw, scale.spread)  # type: ignore[arg-type]
        model = ElasticHead(head.weight, head.bias, settings, centre=centre, scale=scale)
        return [answers(model, one.features) for one in streams]

    return follow


def _rival(split: StreamSplit, streams: list[Stream], name: str) -> Follow:
    rival = rival_named(name)
    spread = logit_spread(np.concatenate([split.head.logits(one.features) for one in streams]))
    make = maker_of(rival, split.head, streams)

    def follow(draw: Draw) -> list[NDArray[Any]]:
        model = make(**{setting: one.at(one.share_of(draw[setting]), spread) for setting, one in rival.ranges.items()})
        return [answers(model, rows_of(rival, split.head, one)) for one in streams]

    return follow


def shortened(streams: tuple[Stream, ...], frames: int) -> list[Stream]:
    """The first frames, of more than one stream if there are many, so that every stream set takes about as long."""
    left, parts = frames, []
    most = min(frames, _FRAMES_OF_ONE_OF_MANY if len(streams) > 2 else frames)
    for one in streams:
        count = min(left, most, len(one))
        if count > 0:
            parts.append(beginning(one, count))
            left -= count
    return parts


def pick(scores: NDArray[np.float64], frozen: NDArray[np.float64], count: int) -> list[int]:
    """Numbers of the settings that together score best, (streams, settings) -> `count` numbers, in the order picked."""
    picked: list[int] = []
    reached = frozen
    for _ in range(count):
        means = np.maximum(reached[:, None], scores).mean(axis=0)
        means[picked] = -np.inf
        picked.append(int(means.argmax()))
        reached = np.maximum(reached, scores[:, picked[-1]])
    return picked


@dataclass(frozen=True, kw_only=True)
class Picked:
    """The numbers of the draws that were picked, and how far their best is below the best of all, on the mean."""

    numbers: tuple[int, ...]
    below: float

    def settings(self, name: str) -> list[Draw]:
        """What was picked for a method, as it stands in its file."""
        drawn = draws(name)
        return [rounded(drawn[number]) for number in self.numbers]


def picked_from(tried: Sequence[tuple[float, list[float]]]) -> Picked:
    """What to pick, from the accuracies on each stream."""
    frozen, scores = np.array([one for one, _ in tried]), np.array([one for _, one in tried])
    numbers = pick(scores, frozen, PICKED)
    below = float((scores.max(axis=1) - scores[:, numbers].max(axis=1)).mean())
    return Picked(numbers=tuple(numbers), below=below)


def pick_for(method: str, streams: dict[str, int]) -> Picked:
    """The settings that a rival tries first; the streams with their versions."""
    return picked_from([accuracies(one, method) for one in streams])


def measure_picked(name: str, split: int, version: int, method: str, first: Picked, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """A rival that first tries what was picked for it; `version` is that of the stream."""
    return rival_on(loaded(name, split), method, scope, first.settings(method))


def streams_made() -> dict[str, int]:
    """The stream sets whose first split is in the data home, and their versions."""
    return {name: one.version for name, one in sorted(stream_sets().items()) if sizes_made(name) is not None}


def main(names: Sequence[str]) -> None:
    """Try all settings on all streams, pick, and print what was found."""
    streams, names = list(streams_made()), names or list(compared())
    pairs = [(stream, name) for name in names for stream in streams]
    rows = dict(zip(pairs, Parallel(n_jobs=-1, verbose=10)(delayed(accuracies)(*one) for one in pairs), strict=True))
    print(f"on {len(streams)} of {len(stream_sets())} streams: {', '.join(streams)}")
    for name in names:
        picked = picked_from([rows[stream, name] for stream in streams])
        tried = len(draws(name))
        print(f"{name}: {100 * picked.below:.2f} points below the best of {tried}, on the mean over the streams")
        print(*(f"    {tuple(one.values())}," for one in picked.settings(name)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
