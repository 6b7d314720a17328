"""The weights of neurons as pictures of their inputs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from springback import check
from springback.spiking.plots.panel import panel

GAP = 2


def receptive_fields(
    weights: Any,
    axes: Axes | None = None,
    *,
    neurons: Sequence[int] | None = None,
    shape: tuple[int, int] | None = None,
    **look: Any,
) -> Axes:
    """The weights of some neurons as a square of pictures, in reading order.

    Parameters
    ----------
    weights : Any
        (n_inputs, n_neurons), for example W of `Weights.resting`, or G = W + F.
    neurons : Sequence[int] | None
        Which neurons; None: the first hundred.
    shape : tuple[int, int] | None
        Height and width of a picture; None: a square.
    look : Any
        As `Axes.imshow` takes it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from springback.data.pretrained import shipped_spiking
    >>> axes = receptive_fields(shipped_spiking().weights.resting, Figure().subplots(), neurons=range(9))
    >>> axes.images[0].get_array().shape  # nine pictures of 28 x 28 with gaps
    (88, 88)
    """
    values = np.asarray(weights, np.float64)
    check.require(values.ndim == 2, "weights", "have shape (n_inputs, n_neurons)", values.shape)
    n_inputs, n_neurons = values.shape
    side = math.isqrt(n_inputs)
    height, width = shape or (side, side)
    must = f"give a picture of {n_inputs} inputs (its height times its width)"
    check.require(height * width == n_inputs, "shape", must, shape or f"none, and {n_inputs} is not a square number")
    chosen = range(min(n_neurons, 100)) if neurons is None else neurons
    maps = np.stack([values[:, check.integer("neurons", one, low=0, high=n_neurons - 1)] for one in chosen])
    picture = mosaic(maps.reshape(-1, height, width))
    axes = panel(axes)
    axes.imshow(np.ma.masked_invalid(picture), **{"cmap": "cividis", "interpolation": "nearest", **look})
    axes.set_axis_off()
    return axes


def mosaic(maps: NDArray[Any], *, empty: float = np.nan, gap: int = GAP) -> NDArray[np.float64]:
    """Pictures (n, height, width) or (n, height, width, colours) in a square, with gaps of `empty` between them.

    Examples
    --------
    >>> mosaic(np.ones((3, 2, 2)), empty=0.0, gap=1)
    array([[1., 1., 0., 1., 1.],
           [1., 1., 0., 1., 1.],
           [0., 0., 0., 0., 0.],
           [1., 1., 0., 0., 0.],
           [1., 1., 0., 0., 0.]])
    """
    n, height, width, *colours = maps.shape
    side = math.ceil(math.sqrt(n))
    rows = math.ceil(n / max(side, 1))
    picture = np.full((rows * (height + gap) - gap, side * (width + gap) - gap, *colours), empty)
    for place, one in enumerate(maps):
        top, left = (place // side) * (height + gap), (place % side) * (width + gap)
        picture[top : top + height, left : left + width] = one
    return picture
