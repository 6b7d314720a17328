"""Monitors: what happens inside the circuit, of chosen neurons and at chosen times, in memory or in a folder."""

from springback.spiking.monitors.monitor import QUANTITIES, Monitor, Quantity
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.monitors.recording import Recording, Samples, open_recording

__all__ = ["QUANTITIES", "Monitor", "Quantity", "Recorder", "Recording", "Samples", "open_recording"]
