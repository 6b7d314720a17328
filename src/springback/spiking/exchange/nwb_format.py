"""A recording as an NWB file, and spikes from one (extra: nwb)."""

import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from springback import __version__, check
from springback.check import DataError
from springback.extras import require_extra
from springback.files.regular import open_regular
from springback.spiking.exchange.spikes import Spikes, populations_of
from springback.spiking.monitors.recording import Recording, Samples

LARGEST_FILE = 2**34
"""Bytes; a larger NWB file is refused without reading it."""


def to_nwb(
    recording: Recording,
    path: str | Path,
    *,
    description: str = "a run of a spiking circuit",
    session_start_time: datetime | None = None,
) -> Path:
    """Write a recording to a new NWB file: a table of units with their spikes, and a time series for each monitor.

    Every neuron is a unit, silent ones too; its `population` is excitatory, inhibitory or input, and `source_index` its
    number there. What monitors sampled is in the processing module "monitors". Times are in seconds and potentials in
    volts (values in mV with a conversion), as NWB asks.

    Parameters
    ----------
    session_start_time : datetime | None
        When the run began, with a time zone; None: now.
    """
    require_extra("to_nwb", "pynwb")
    from pynwb import NWBHDF5IO, NWBFile

    path = Path(path)
    if path.exists():
        raise DataError(f"{path} exists already; write to a new NWB file")
    start = session_start_time or datetime.now(UTC)
    check.require(start.tzinfo is not None, "session_start_time", "have a time zone", str(start))
    file = NWBFile(
        session_description=check.line("description", description),
        identifier=str(uuid.uuid4()),
        session_start_time=start,
        source_script=f"springback {__version__}",
        source_script_file_name="springback",
    )
    file.add_unit_column("population", "excitatory neuron, inhibitory partner, or input")
    file.add_unit_column("source_index", "number of the neuron or input in its population")
    for population, spikes in populations_of(recording).items():
        whole = np.array([[0.0, spikes.duration_s]])
        for number, times in enumerate(spikes.by_source()):
            file.add_unit(spike_times=times, obs_intervals=whole, population=population, source_index=number)
    if recording.samples:
        module = file.create_processing_module("monitors", "what monitors of the circuit sampled")
        for one in recording.samples.values():
            module.add(_series(one))
    with NWBHDF5IO(str(path), "w") as writer:
        writer.write(file)
    return path


def _series(samples: Samples) -> Any:
    from pynwb import TimeSeries

    axes, volts = samples.quantity.axes, samples.quantity.unit == "mV"
    chosen = "; ".join(f"{axis}: {_listed(getattr(samples, axis).tolist())}" for axis in axes)
    return TimeSeries(
        name=samples.name.replace("/", " ").replace(":", " "),
        data=samples.values,
        unit="volts" if volts else "dimensionless",
        conversion=1e-3 if volts else 1.0,
        timestamps=(samples.step + 1) * samples.dt_ms * 1e-3,
        description=f"{samples.quantity.says}; axes: time, {', '.join(axes)}; {chosen}",
    )


def _listed(numbers: list[int]) -> str:
    whole = numbers == list(range(len(numbers)))
    return f"0 ... {len(numbers) - 1}" if whole and len(numbers) > 3 else ", ".join(map(str, numbers))


def spikes_from_nwb(path: str | Path, *, population: str | None = None, duration_s: float | None = None) -> Spikes:
    """The spikes of the units of an NWB file, in the order of its table.

    Parameters
    ----------
    population : str | None
        Only units whose column `population` says this; None: all units.
    duration_s : float | None
        How long the recording is; None: until the last observation interval or spike ends.
    """
    require_extra("spikes_from_nwb", "pynwb")
    from pynwb import NWBHDF5IO

    path = Path(path)
    open_regular(path, largest=LARGEST_FILE).close()
    try:
        with NWBHDF5IO(str(path), "r") as reader:
            units = reader.read().units
            if units is None or "spike_times" not in units.colnames:
                raise DataError(f"{path} has no units with spike times")
            rows = list(range(len(units)))
            if population is not None:
                if "population" not in units.colnames:
                    raise DataError(f"the units of {path} have no column population")
                rows = [row for row in rows if units["population"][row] == population]
            trains = [np.asarray(units.get_unit_spike_times(row), np.float64) for row in rows]
            ends = [0.0]
            if "obs_intervals" in units.colnames:
                ends = [float(np.max(units.get_unit_obs_intervals(row), initial=0.0)) for row in rows]
    except OSError as error:
        raise DataError(f"{path} is not an NWB file ({error})") from error
    check.require(len(trains) > 0, f"{path}", "have units of that population", 0)
    times = np.concatenate(trains)
    index = np.repeat(np.arange(len(trains)), [len(one) for one in trains])
    lasts = duration_s if duration_s is not None else max(*ends, float(times.max(initial=0.0)))
    return Spikes(index, times, n_sources=len(trains), duration_s=lasts)
