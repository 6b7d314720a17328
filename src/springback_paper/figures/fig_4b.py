"""Fig. 4b: accuracy against how many rows of the digit are hidden, and on noise."""

from typing import Any

from matplotlib.figure import Figure

from springback_paper.figures.breakdown import Breakdown, breakdown_table, draw_breakdown
from springback_paper.figures.exhibit import COMPARISON, Exhibit, models_run
from springback_paper.figures.table import Table

BY_ROWS = Breakdown(
    key="by_rows_hidden",
    column="rows_hidden",
    places={str(rows): float(rows) for rows in range(20)},
    label="rows hidden (of 28)",
    ticks=(0, 3, 6, 9, 12, 15, 18),
)


def draw(results: dict[str, Any]) -> Figure:
    """The figure of what results.json holds.

    Examples
    --------
    >>> one = {"mean": 0.9, "std": 0.0, "n": 1, "values": [0.9]}
    >>> len(draw({"by_rows_hidden": {"elastic": {"0": one, "19": one, "noise": one}}}).axes)
    4
    """
    return draw_breakdown(results, BY_ROWS)


def table(results: dict[str, Any]) -> Table:
    """The accuracy of every model by rows hidden, and on noise."""
    return breakdown_table(results, BY_ROWS)


EXHIBIT = Exhibit(
    title="Fig. 4b: accuracy against occlusion, and on noise",
    section=COMPARISON,
    draw=draw,
    table=table,
    shows="The same frames by how many rows of the digit are hidden, and the noise frames.",
    ran=models_run,
    paper="the five models of its Fig. 4; it gives the curves but no numbers.",
)
