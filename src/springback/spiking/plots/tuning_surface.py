"""A quantity over two parameters, as a coloured surface."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from springback import check
from springback.spiking.plots.panel import RED, panel


def tuning_surface(
    x: Any,
    y: Any,
    values: Any,
    axes: Axes | None = None,
    *,
    labels: tuple[str, str, str] = ("", "", ""),
    contours: bool = True,
    best: bool = True,
    **look: Any,
) -> Axes:
    """How a quantity, such as a rate or an accuracy, depends on two parameters; a cross marks the largest value.

    Parameters
    ----------
    x, y : Any
        (n,), (m,) values of the two parameters, rising.
    values : Any
        (m, n) the quantity at each pair.
    labels : tuple[str, str, str]
        Names of x, of y and of the quantity.
    look : Any
        As `Axes.pcolormesh` takes it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = tuning_surface([0.1, 0.2], [1, 2, 3], [[1, 2], [3, 9], [5, 6]], Figure().subplots())
    >>> [float(line.get_xdata()[0]) for line in axes.lines]  # the largest value
    [0.2]
    """
    across, up, surface = (np.asarray(one, np.float64) for one in (x, y, values))
    must = f"have shape ({len(up)}, {len(across)}), one value for each pair of y and x"
    check.require(surface.shape == (len(up), len(across)), "values", must, surface.shape)
    for name, one in (("x", across), ("y", up)):
        check.require(one.ndim == 1 and bool((np.diff(one) > 0).all()), name, "be a rising list", one)
    axes = panel(axes)
    drawn = axes.pcolormesh(across, up, surface, **{"shading": "nearest", "cmap": "viridis", **look})
    if contours and min(surface.shape) > 2 and np.ptp(surface) > 0:
        axes.contour(across, up, surface, levels=5, colors="white", linewidths=0.6, alpha=0.7)
    if best:
        row, column = np.unravel_index(int(np.nanargmax(surface)), surface.shape)
        axes.plot(across[column], up[row], "x", color=RED, markersize=8, markeredgewidth=2)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    if axes.figure is not None:
        bar = axes.figure.colorbar(drawn, ax=axes, pad=0.01)
        bar.set_label(labels[2])
        bar.outline.set_visible(False)
    return axes
