"""Elastic clustering on OMNIST: the settings that were found for it, and how its images become rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback import check


@dataclass(frozen=True, kw_only=True)
class ElasticOmnist:
    """What to run. The defaults were found on videos of training digits only (50,000 ... 54,499, fitted on the others).

    Parameters
    ----------
    n_clusters : int
        How many centroids.
    power : float
        Brightness is raised to this before anything else; 0.5 evens out stroke and edge.
    kappa, pull, memory, beta
        As in `ElasticClustering`; memory in frames.
    iterations : int
        Of spherical k-means.
    threshold_images : int
        How many of the last training images make the video that sets the noise threshold.
    """

    n_clusters: int = 400
    power: float = 0.5
    kappa: float = 40.0
    pull: float = 30.0
    memory: float = 1.1
    beta: float | None = 1.5
    iterations: int = 20
    threshold_images: int = 3000

    def __post_init__(self) -> None:
        check.sizes(self, n_clusters=1, threshold_images=1)
        check.real("ElasticOmnist.power", self.power, above=0)


def brightness(pixels: NDArray[np.uint8], power: float) -> NDArray[np.float32]:
    """Images (n, height, width) as rows of `(pixel / 255) ** power`.

    Examples
    --------
    >>> brightness(np.array([[[0, 255]]], np.uint8), 0.5)
    array([[0., 1.]], dtype=float32)
    """
    levels = ((np.arange(256) / 255) ** power).astype(np.float32)
    return np.asarray(levels[pixels.reshape(len(pixels), -1)])
