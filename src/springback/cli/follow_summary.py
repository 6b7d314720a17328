"""What happened in a run of `springback follow`, on the error stream."""

from springback.cli.display import note
from springback.live.following import Tally
from springback.streaming.wording import duration, percent


def summarise(tally: Tally, seconds: float) -> None:
    """What happened, on the error stream."""
    per_second = f", {tally.frames / seconds:,.0f} per second" if seconds > 0 and tally.frames else ""
    note(f"{_counted(tally.frames, 'frame')} in {duration(seconds)}{per_second}")
    if tally.compared:
        share = percent(tally.changed / tally.compared, 1)
        note(f"memory changed the answer to {_counted(tally.changed, 'frame')} ({share} %)")
        note(f"answers changed from one frame to the next: {tally.flips:,} times, {tally.flips_frozen:,} frozen")
    elif tally.frames:
        note(f"answers changed from one frame to the next: {tally.flips:,} times")
    if tally.judged:
        share = percent(1 - tally.new / tally.judged, 1)
        note(f"new objects: {tally.new:,}; {share} % of frames continue what was seen before")
    if tally.labelled:
        frozen = f" with memory, {percent(tally.correct_frozen / tally.labelled)} % frozen" if tally.compared else ""
        answered = percent(tally.correct / tally.labelled)
        note(f"correct: {answered} %{frozen}, of {_counted(tally.labelled, 'labelled frame')}")
        for group in sorted(tally.groups, key=lambda one: (not one.isdecimal(), one.rjust(9))):
            correct, labelled = tally.groups[group]
            note(f"  {group if group == 'noise' else group + ' rows hidden':>14}: {percent(correct / labelled, 1)} %")
    if tally.strange:
        named = ", ".join(tally.strange_labels)
        note(
            f"{_counted(tally.strange, 'frame has a label', 'frames have labels')} that the model cannot answer, not "
            f"counted above, such as {named}"
        )
    if tally.lost:
        note(f"interruptions of the source: {tally.lost:,}")
    if tally.unanswered or tally.unfinished:
        parts = [_counted(tally.unanswered, "frame")] if tally.unanswered else []
        parts += [f"{_counted(tally.unfinished, 'byte')} of an incomplete line"] if tally.unfinished else []
        note(f"taken from the source but not answered: {' and '.join(parts)}")
    if tally.bad:
        note(f"{_counted(tally.bad, 'line or frame', 'lines or frames')} could not be used:")
        for reason in tally.reasons:
            note(f"  {reason}")
        if tally.bad > len(tally.reasons):
            note(f"  and {tally.bad - len(tally.reasons):,} more")


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
