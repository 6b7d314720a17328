"""The plots of docs/benchmarks.md: results go in, matplotlib Figures come out."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from springback_paper.figures.style import BLUE, GREEN, ORANGE, house_style


def draw_spiking(rows: list[dict[str, Any]]) -> Figure:
    """Images per second of every simulator that ran, on a logarithmic scale."""
    names = [name for name in dict.fromkeys(row["name"] for row in rows) if any(_ran(r, name) for r in rows)]
    with house_style():
        figure = Figure(figsize=(6.5, 0.6 + 0.36 * len(names)), layout="constrained", dpi=110)
        panel = figure.subplots()
        for shift, mode, colour in ((-0.2, "train", BLUE), (0.2, "test", ORANGE)):
            speed = {row["name"]: row["images_per_s"] for row in rows if row["mode"] == mode and "images_per_s" in row}
            at = [place + shift for place, name in enumerate(names) if name in speed]
            panel.barh(at, [speed[name] for name in names if name in speed], 0.38, color=colour, label=f"{mode}ing")
        panel.set(xscale="log", xlabel="images per second of one core", yticks=range(len(names)), yticklabels=names)
        panel.invert_yaxis()
        panel.legend(frameon=False)
    return figure


def draw_growth(grown: list[dict[str, Any]]) -> Figure:
    """Time and memory against each axis, with the fitted exponents."""
    with house_style():
        figure = Figure(figsize=(8.5, 2.3 * -(-len(grown) // 4)), layout="constrained", dpi=110)
        panels = figure.subplots(-(-len(grown) // 4), 4, squeeze=False).ravel()
        for panel in panels[len(grown) :]:
            panel.set_axis_off()
        for panel, one in zip(panels, grown, strict=False):
            _draw_axis(panel, one)
        panels[0].legend(frameon=False, fontsize=6)
    return figure


def _draw_axis(panel: Any, one: dict[str, Any]) -> None:
    titles = [one["axis"]]
    for name, slope, colour in (("seconds", "time_exponent", BLUE), ("mib", "memory_exponent", GREEN)):
        what, unit = ("time", "s") if name == "seconds" else ("memory", "MiB")
        shown = [(value, cost) for value, cost in zip(one["value"], one[name], strict=True) if cost > 0]
        if shown:
            panel.plot(*zip(*shown, strict=True), "o-", color=colour, markersize=3, label=f"{what}, {unit}")
        titles.append(f"{what}: no fit" if one[slope] is None else f"{what}: exponent {one[slope]:.2f}")
    panel.set(xscale="log", yscale="log")
    if len(one["value"]) <= 3:
        panel.set_xticks(one["value"], [f"{value:,}" for value in one["value"]])
    panel.set_title("\n".join(titles), fontsize=7)
    panel.tick_params(labelsize=6)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_minor_formatter(NullFormatter())


def _ran(row: dict[str, Any], name: str) -> bool:
    return row["name"] == name and "images_per_s" in row
