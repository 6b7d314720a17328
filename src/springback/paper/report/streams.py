"""The elastic head and the other adaptation methods on every stream that was run, as one table."""

from collections.abc import Mapping
from typing import Any

from springback.paper.report.document import TableBlock
from springback.paper.results import statistic
from springback.paper.words import spread

STREAM_NAMES = {
    "omnist": "occluded digits (OMNIST)",
    "fashion-mnist": "occluded clothing",
    "turning": "turning digits",
    "moving": "moving digits",
    "fading": "fading digits",
    "unseparated": "OMNIST without noise between digits",
    "shuffled": "OMNIST in random order",
}


def streams_table(found: Mapping[str, Any]) -> TableBlock | None:
    """Accuracy of every way to follow a stream, by stream and network; None if no stream was run.

    Parameters
    ----------
    found : Mapping[str, Any]
        Results of tasks by name; those named `adaptation...` are taken.
    """
    runs: dict[str, list[Any]] = {}
    for name, result in sorted(found.items()):
        if name.startswith("adaptation"):
            network = "MLP" if "_mlp_" in name else "CNN"
            runs.setdefault(f"{STREAM_NAMES[result.stream]}, {network}", []).append(result)
    if not runs:
        return None
    methods = list(dict.fromkeys(method for some in runs.values() for one in some for method in one.accuracy))
    rows = [
        (
            title,
            spread(statistic([one.still for one in some])),
            *(spread(statistic([one.accuracy[method] for one in some])) for method in methods),
        )
        for title, some in runs.items()
    ]
    return TableBlock(
        columns=("stream, network", "still images", *methods),
        rows=tuple(rows),
        caption=(
            "Accuracy in percent of the frames, one network trained on still images and noise, followed in every way; "
            "mean ± standard deviation over seeds where there are several. Settings are chosen on a stream of training "
            "images; for frames in random order, on frames in their true order. Not in the paper."
        ),
        words=(0,),
    )
