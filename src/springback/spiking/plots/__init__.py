"""Pictures in one line: each function draws on matplotlib Axes and returns them.

    springback.spiking.plots.raster(recording)                     on new Axes
    springback.spiking.plots.raster(recording, axes=panel)         on yours; pyplot is not touched

Recordings are those of `springback.spiking`, responses those of `springback.spiking.composed`; arrays work everywhere.
"""

from springback.spiking.plots.potentials import potentials
from springback.spiking.plots.raster import raster, spike_rows
from springback.spiking.plots.receptive_fields import mosaic, receptive_fields
from springback.spiking.plots.short_term import short_term
from springback.spiking.plots.stdp_window import measure_stdp_window, stdp_window
from springback.spiking.plots.tuning_surface import tuning_surface

__all__ = [
    "measure_stdp_window",
    "mosaic",
    "potentials",
    "raster",
    "receptive_fields",
    "short_term",
    "spike_rows",
    "stdp_window",
    "tuning_surface",
]
