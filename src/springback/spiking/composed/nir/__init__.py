"""A circuit as a NIR graph, as far as NIR can express it, with a report of what is lost (extra: nir)."""

from springback.spiking.composed.nir.linear import NirDrift
from springback.spiking.composed.nir.write import NirReport, to_nir

__all__ = ["NirDrift", "NirReport", "to_nir"]
