"""The figure of docs/streams.md: results go in, a matplotlib Figure comes out."""

from statistics import mean
from typing import Any

from matplotlib.figure import Figure

from springback_bench.comparison.verdicts import OURS, STATIC, UNTUNED, mean_of, rivals_of
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, house_style, legend_above

Results = dict[str, Any]

N_RIVALS = 4
TITLES = {"hidden-gap": "wholly hidden", "distractors": "other digits in between"}


def gap_streams(found: Results) -> list[str]:
    """The streams that the figure can show."""
    return [name for name in TITLES if "by_gap" in found["results"].get(name, {}).get(STATIC, {})]


def shown_methods(found: Results) -> list[str]:
    """Our head, the frozen network, and the rivals that are best on the first of the streams."""
    stream = gap_streams(found)[0]
    rivals = [name for name in rivals_of(found, stream) if name != STATIC]
    best = sorted(rivals, key=lambda name: -mean_of(found, stream, name))[:N_RIVALS]
    return [name for name in (OURS, UNTUNED, *best, STATIC) if name in found["results"][stream]]


def draw_gaps(found: Results) -> Figure:
    """Accuracy on digits that return, against the number of frames that they were away."""
    titles = {one["name"]: one["title"] for one in found["methods"]}
    streams, methods = gap_streams(found), shown_methods(found)
    colours = dict(zip(methods, _colours(methods), strict=True))
    with house_style():
        figure = Figure(figsize=(1.2 + 3.4 * len(streams), 3.6), layout="constrained", dpi=110)
        panels = figure.subplots(1, len(streams), squeeze=False, sharey=True)[0]
        for panel, stream in zip(panels, streams, strict=True):
            for method in methods:
                by_gap = found["results"][stream].get(method, {}).get("by_gap", {})
                look = {"linewidth": 2.2, "zorder": 3} if method == OURS else {"linewidth": 1.2}
                panel.plot(
                    [int(gap) for gap in by_gap],
                    [100 * mean(values) for values in by_gap.values()],
                    "o-",
                    markersize=2.5,
                    color=colours[method],
                    label=titles[method],
                    **look,
                )
            panel.set_title(TITLES[stream])
            panel.set_xlabel("frames between the last look and the return")
            panel.set_xticks(range(4, 21, 4))
        panels[0].set_ylabel("% of frames right after the return")
        legend_above(figure, panels[0], ncols=4, fontsize=8)
    return figure


def _colours(methods: list[str]) -> list[str]:
    fixed = {OURS: RED, UNTUNED: ORANGE, STATIC: BLACK}
    others = iter((BLUE, GREEN, PURPLE, SKY))
    return [fixed[one] if one in fixed else next(others) for one in methods]
