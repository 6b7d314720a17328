"""A pair of models, with and without short-term plasticity, that are shown the same frames."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from springback.streaming.readout import N_CLASSES
from springback_studio.controls import Settings

N_ANSWERS = N_CLASSES + 1
Frame = NDArray[np.uint8]
Floats = NDArray[Any]

EVENT = np.dtype([("unit", "<u2"), ("moment", "u1"), ("strength", "u1")])
"""One mark in the raster: which unit, when within its frame (0 ... 255), how strongly (255: a spike)."""


class PairAnswer(NamedTuple):
    """The answer of one model to one frame.

    Parameters
    ----------
    response : Floats
        (n_units,) spikes, or the posterior of each unit.
    posterior : NDArray[np.float64]
        Float64 (11,) of the ten digits and noise.
    predicted : int
        0 ... 9, or 10: noise.
    events : NDArray[np.void]
        Marks for the raster, see `EVENT`.
    """

    response: Floats
    posterior: NDArray[np.float64]
    predicted: int
    events: NDArray[np.void]


class Pair(Protocol):
    """A model with and without short-term plasticity.

    Parameters
    ----------
    unit_labels : NDArray[np.int64]
        Int64 (n_units,): the class of each unit, -1 for none.
    map_shape : tuple[int, int]
        (height, width) of a unit's weights as a picture.
    spikes : bool
        Whether responses are spikes rather than posteriors.
    says : str
        A one-line description of the model for the page.
    """

    unit_labels: NDArray[np.int64]
    map_shape: tuple[int, int]
    spikes: bool
    says: str

    def step(self, frame: Frame) -> tuple[PairAnswer, PairAnswer]:
        """Show both models the next frame (28, 28): the answers of the elastic and of the frozen model."""
        ...

    def resting(self, units: NDArray[np.int64]) -> Floats:
        """W of some units, (n, features)."""
        ...

    def short_term(self, units: NDArray[np.int64]) -> Floats:
        """The current F of some units of the adapting model, (n, features)."""
        ...

    def sensed(self, frames: NDArray[np.uint8]) -> Floats:
        """What the units receive of frames (n, 28, 28), in the space of their weights, (n, features)."""
        ...

    def set(self, settings: Settings) -> None:
        """Continue with other settings; the short-term state is kept."""
        ...

    def restart(self) -> None:
        """Return to rest, at the beginning of the random stream."""
        ...


def posterior_events(posterior: Floats, least: float = 0.02) -> NDArray[np.void]:
    """Marks for units that have at least this share of the posterior, as strong as the share.

    Examples
    --------
    >>> posterior_events(np.array([0.0, 0.995, 0.005]))["unit"]
    array([1], dtype=uint16)
    """
    units = np.flatnonzero(posterior >= least)
    events = np.zeros(len(units), EVENT)
    events["unit"], events["moment"] = units, 128
    events["strength"] = np.clip(np.rint(255 * posterior[units]), 0, 254)
    return events
