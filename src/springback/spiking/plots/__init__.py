"""Pictures in one line: each function draws on matplotlib Axes and returns them.

    springback.spiking.plots.raster(recording)                     on new Axes
    springback.spiking.plots.raster(recording, axes=panel)         on yours; pyplot is not touched

Recordings are those of `springback.spiking`, responses those of `springback.spiking.composed`; arrays work everywhere.
"""

from springback.spiking.plots.recorded import potentials, raster, short_term, spike_rows
from springback.spiking.plots.synapses import measure_stdp_window, mosaic, receptive_fields, stdp_window

__all__ = [
    "measure_stdp_window",
    "mosaic",
    "potentials",
    "raster",
    "receptive_fields",
    "short_term",
    "spike_rows",
    "stdp_window",
]
