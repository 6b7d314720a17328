"""What the results say about the targets, and where our head loses. Nothing is measured here."""

from collections.abc import Callable, Iterable
from statistics import mean
from typing import Any, NamedTuple

from springback_paper.wording import listed

Results = dict[str, Any]

BEHIND, AHEAD, AHEAD_ON = 0.005, 0.05, 3
"""How far our head may be behind the best rival, how far it should be ahead, and on how many recorded streams."""

OFF_STATIC, OFF_LABELS = 0.005, 0.02
"""How far it may fall below the frozen network, and how far without labels below the same with labels."""

LEARNED, LEARNED_FROM = 0.02, ("topic-rolling", "topic-sentences", "meeting", "meeting-ecapa")
"""How far it should be above the frozen network where frames in random order tell about a stream, and where they do."""

OURS, ONE_MEMORY, UNTUNED, UNLABELLED, STATIC = "several", "springback", "untuned", "unlabelled", "static"


class Verdict(NamedTuple):
    """A target: what it says, whether it is met, and on which streams it is missed, with the difference in question."""

    target: str
    met: bool
    missed: list[tuple[str, float]]


def mean_of(found: Results, stream: str, method: str, score: str = "accuracy") -> float:
    """The mean over the splits, rounded as it is kept."""
    return float(mean(found["results"][stream][method][score]))


def has(found: Results, stream: str, *methods: str) -> bool:
    """Whether all of these methods were measured on a stream."""
    return all(method in found["results"][stream] for method in methods)


def rivals_of(found: Results, stream: str) -> list[str]:
    """The other methods that were measured on a stream, the frozen network included."""
    others = [one["name"] for one in found["methods"] if one["kind"] in ("static", "rival", "network")]
    return [name for name in others if has(found, stream, name)]


def best_rival(found: Results, stream: str) -> str:
    """The other method with the highest mean accuracy."""
    return max(rivals_of(found, stream), key=lambda name: mean_of(found, stream, name))


def ahead(found: Results, stream: str, head: str = OURS) -> float:
    """How far our head is above the best rival; negative if it is below."""
    return mean_of(found, stream, head) - mean_of(found, stream, best_rival(found, stream))


def splits_behind(found: Results, stream: str) -> int:
    """In how many splits our head is below the method that is best on average."""
    results = found["results"][stream]
    rival = results[best_rival(found, stream)]["accuracy"]
    return sum(ours < theirs for ours, theirs in zip(results[OURS]["accuracy"], rival, strict=True))


def streams_with(found: Results, *methods: str, real: bool | None = None) -> list[str]:
    """The streams on which these methods were measured, in order."""
    return [
        name
        for name, about in found["streams"].items()
        if has(found, name, *methods) and (real is None or about["real"] == real)
    ]


def verdicts(found: Results) -> list[Verdict]:
    """All targets that the results can judge, those that are missed first."""
    ours, real = streams_with(found, OURS), streams_with(found, OURS, real=True)
    far_ahead = [name for name in real if ahead(found, name) >= AHEAD]
    untuned = streams_with(found, UNTUNED, real=True)
    untuned_ahead = [name for name in untuned if ahead(found, name, UNTUNED) > 0]
    heads = [one for one in (UNTUNED, UNLABELLED, OURS) if streams_with(found, one)]
    all_heads = streams_with(found, *heads) if heads else []

    def over(one: str, other: str, score: str = "accuracy") -> Callable[[str], float]:
        return lambda name: mean_of(found, name, one, score) - mean_of(found, name, other, score)

    def worst(score: str, sign: int = 1) -> Callable[[str], float]:
        return lambda name: min(sign * over(one, STATIC, score)(name) for one in heads)

    judged = [
        _everywhere(
            f"tuned with labels, at most {points(BEHIND)} points below the best other method on every stream",
            ours,
            lambda name: ahead(found, name),
            -BEHIND,
        ),
        Verdict(
            f"at least {points(AHEAD)} points above it on {AHEAD_ON} recorded streams (found: {_named(far_ahead)})",
            len(far_ahead) >= AHEAD_ON,
            [],
        ),
        Verdict(
            "untuned, above the best other method, which is tuned, on at least half of the recorded streams (found: "
            f"{len(untuned_ahead)} of {len(untuned)}: {_named(untuned_ahead)})",
            2 * len(untuned_ahead) >= len(untuned) > 0,
            [],
        ),
        _everywhere(
            f"untuned, at most {points(OFF_STATIC)} points below the frozen network",
            streams_with(found, UNTUNED),
            over(UNTUNED, STATIC),
            -OFF_STATIC,
        ),
        _everywhere(
            f"tuned without labels, at most {points(OFF_LABELS)} points below the same with labels on recorded streams",
            streams_with(found, UNLABELLED, OURS, real=True),
            over(UNLABELLED, OURS),
            -OFF_LABELS,
        ),
        _everywhere(
            f"tuned without labels, at most {points(OFF_STATIC)} points below the frozen network",
            streams_with(found, UNLABELLED),
            over(UNLABELLED, STATIC),
            -OFF_STATIC,
        ),
        _everywhere(
            f"frames in random order: untuned and tuned, at most {points(OFF_STATIC)} points below the frozen network",
            all_heads,
            worst("shuffled"),
            -OFF_STATIC,
        ),
        _everywhere(
            f"frames in random order: tuned with labels, at least {points(LEARNED)} points above the frozen network on "
            "topics and meetings",
            [name for name in LEARNED_FROM if name in ours],
            over(OURS, STATIC, "shuffled"),
            LEARNED,
        ),
        _everywhere(
            "calibration error: untuned and tuned, at most that of the frozen network",
            all_heads,
            worst("calibration_error", -1),
            0.0,
        ),
    ]
    return sorted(judged, key=lambda one: one.met)


def _named(streams: list[str]) -> str:
    return listed([f"`{name}`" for name in streams])


def _everywhere(target: str, streams: Iterable[str], difference: Callable[[str], float], least: float) -> Verdict:
    found = {name: difference(name) for name in streams}
    # Results are kept with four digits: a difference of exactly the limit may come out a little below it.
    missed = sorted(((name, by) for name, by in found.items() if by < least - 1e-9), key=lambda one: one[1])
    return Verdict(target, not missed and bool(found), missed)


def points(fraction: float, *, signed: bool = False) -> str:
    """A difference in percentage points.

    >>> points(0.005), points(0.05), points(-0.0123, signed=True)
    ('0.5', '5', '-1.2')
    """
    return f"{100 * fraction:+.1f}" if signed else f"{100 * fraction:.2g}"
