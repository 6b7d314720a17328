"""A circuit as a NIR graph, as far as NIR can express it, with a report of what is lost (extra: nir)."""

from springback.spiking.composed.nir.linear import Drift
from springback.spiking.composed.nir.write import NirReport, to_nir

__all__ = ["Drift", "NirReport", "to_nir"]
