"""The figures of a report as files: each drawn once, on the workers of a pool if there is one."""

import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from importlib import import_module
from typing import Any, NamedTuple

from springback.check import DataError
from springback_paper.figures.exhibit import Exhibit
from springback_paper.figures.style import figure_bytes
from springback_paper.figures.table import Table, n_rows
from springback_paper.runner.pools import Pool

_DPI = 180


class Picture(NamedTuple):
    """A figure: its caption, the content of its files, and the numbers that it shows."""

    caption: str
    png: bytes
    svg: bytes
    numbers: Table


def picture_of(exhibit: Exhibit, result: Any) -> Picture | None:
    """Draw a figure; None if it is one of results.json, and these have nothing to show.

    The SVG has the layout that was found for the PNG.
    """
    table = exhibit.table(result)
    if exhibit.run is None and not n_rows(table):
        return None
    figure, caption = exhibit.draw(result), exhibit.caption(result)
    figure.set_dpi(_DPI)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Glyph.*missing.*")
        png = figure_bytes(figure, "png")
        figure.set_layout_engine("none")
        svg = figure_bytes(figure, "svg")
    return Picture(caption, png, svg, table)


def pictures_of(wanted: Sequence[tuple[Exhibit, Any]], pool: Pool | None = None) -> list[Picture | Exception | None]:
    """The figures of these results, or why they could not be drawn, in order."""
    begun = [_begin(exhibit, result, pool) for exhibit, result in wanted]
    found: list[Picture | Exception | None] = []
    for (exhibit, result), answer in zip(wanted, begun, strict=True):
        try:
            found.append(_answered(answer) or picture_of(exhibit, result))
        except Exception as error:
            found.append(error)
    return found


def _begin(exhibit: Exhibit, result: Any, pool: Pool | None) -> "Future[Picture | None] | None":
    """A worker finds the figure by the name of its module; one that is in no module is drawn here."""
    module = exhibit.draw.__module__
    if pool is None or getattr(sys.modules.get(module), "EXHIBIT", None) is not exhibit:
        return None
    try:
        return pool.submit(0.0, _picture_by_name, module, result)
    except (BrokenExecutor, DataError):
        return None


def _picture_by_name(module: str, result: Any) -> Picture | None:
    return picture_of(import_module(module).EXHIBIT, result)


def _answered(answer: "Future[Picture | None] | None") -> Picture | None:
    """What a worker has drawn; None if there is none, or if it is gone."""
    try:
        return None if answer is None else answer.result()
    except (BrokenExecutor, DataError):
        return None
