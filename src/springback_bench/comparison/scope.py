"""How much is measured: settings per method, frames per split, and splits, in full and in quick mode."""

from collections.abc import Sequence
from dataclasses import dataclass

from springback import check
from springback_bench.stream_sets import Stream


@dataclass(frozen=True, kw_only=True)
class ComparisonScope:
    """How much is measured.

    Parameters
    ----------
    trials : int
        Settings that each method tries on the validation streams, in all; a multiple of four.
    validation, test : int
        Frames of the validation and test streams of a split that are used at most.
    slow_validation : int
        The same for validation with a method that takes far longer than the others.
    network_trials, network_validation : int
        Trials and frames for validation with a method that adapts the network itself; without trials, such methods are
        left out.
    splits : int | None
        Splits of each stream that are used at most; None: all.
    timed, network_timed : int
        Frames of which the speed is measured, and the same for a method that adapts the network itself.
    """

    trials: int = 60
    validation: int = 6_000
    test: int = 10_000
    slow_validation: int = 600
    network_trials: int = 9
    network_validation: int = 300
    splits: int | None = None
    timed: int = 1_000
    network_timed: int = 100

    def __post_init__(self) -> None:
        check.integer("trials", self.trials, low=4)
        check.require(self.trials % 4 == 0, "trials", "be a multiple of 4, because a head has four kinds", self.trials)


FULL = ComparisonScope()
QUICK = ComparisonScope(trials=36, validation=4_000, test=5_000, slow_validation=400, network_trials=0, splits=1)


def cut(streams: Sequence[Stream], frames: int) -> tuple[Stream, ...]:
    """The first streams that have this many frames together; the last of them is cut short."""
    kept: list[Stream] = []
    for stream in streams:
        left = frames - sum(map(len, kept))
        if left > 0:
            kept.append(beginning(stream, left))
    return tuple(kept)


def beginning(stream: Stream, frames: int) -> Stream:
    """The first frames of a stream."""
    some = slice(frames)
    return Stream(
        features=stream.features[some],
        labels=stream.labels[some],
        times=stream.times[some],
        objects=stream.objects[some],
    )
