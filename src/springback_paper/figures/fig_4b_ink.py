"""Fig. 4b by ink: accuracy against how much of the ink of the digit is hidden, and on noise."""

from typing import Any

from matplotlib.figure import Figure

from springback_paper.figures.breakdown import Breakdown, breakdown_table, draw_breakdown
from springback_paper.figures.exhibit import COMPARISON, Exhibit, models_run
from springback_paper.figures.table import Table

BY_INK = Breakdown(
    key="by_ink_hidden",
    column="ink_hidden_percent",
    places={f"{low}-{low + 10}": low + 5.0 for low in range(0, 100, 10)},
    label="ink hidden (%)",
    ticks=(0, 20, 40, 60, 80, 100),
)


def draw(results: dict[str, Any]) -> Figure:
    """The figure of what results.json holds; each tenth of the ink is drawn at its middle.

    Examples
    --------
    >>> one = {"mean": 0.9, "std": 0.0, "n": 1, "values": [0.9]}
    >>> len(draw({"by_ink_hidden": {"elastic": {"0-10": one, "90-100": one, "noise": one}}}).axes)
    4
    """
    return draw_breakdown(results, BY_INK)


def table(results: dict[str, Any]) -> Table:
    """The accuracy of every model by tenths of the ink hidden, and on noise."""
    return breakdown_table(results, BY_INK)


EXHIBIT = Exhibit(
    title="Fig. 4b by ink: accuracy against the share of the digit that is hidden, and on noise",
    section=COMPARISON,
    draw=draw,
    table=table,
    shows=(
        "The same frames by how much of the ink of the digit is hidden, in tenths; as many rows hide little of one "
        "digit and most of another."
    ),
    ran=models_run,
    paper='its axis is the "degree of occlusion" in percent, up to 80-100; it does not say of what.',
)
