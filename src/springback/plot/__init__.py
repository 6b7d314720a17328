"""Pictures in one line: each function draws on matplotlib Axes and returns them.

    springback.plot.raster(recording)                     on new Axes
    springback.plot.raster(recording, axes=panel)         on yours; pyplot is not touched

Recordings are those of `springback.spiking`, responses those of `springback.circuits`; arrays work everywhere.
"""

from springback.plot.potentials import potentials
from springback.plot.raster import raster, spike_rows
from springback.plot.receptive_fields import mosaic, receptive_fields
from springback.plot.short_term import short_term
from springback.plot.stdp_window import measure_stdp_window, stdp_window
from springback.plot.tuning_surface import tuning_surface

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
