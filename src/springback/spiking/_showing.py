"""How frames are shown: by the plain loop or, with a recorder, by the one that can stop when a buffer is full."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.spiking._plasticity import LongTerm, ShortTerm
from springback.spiking._present import Schedule, present_frames
from springback.spiking._present_recorded import present_recorded
from springback.spiking._random import Draws
from springback.spiking._state import CircuitState
from springback.spiking.constants import circuit_constants
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import Circuit


def show_frames(
    circuit: Circuit,
    resting: NDArray[Any],
    state: CircuitState,
    schedule: Schedule,
    rows: NDArray[np.uint8],
    draws: Draws,
    counts: NDArray[np.int32],
    long_term: LongTerm | None,
    short_term: ShortTerm | None,
    recorder: Recorder | None = None,
) -> None:
    """Show frames one after the other; writes to the state, the counts and, when learning, the weights."""
    constants = circuit_constants(circuit, resting.dtype.name)
    show: Any = present_frames
    if recorder is None:
        show(constants, resting, state, schedule, rows, draws, counts, long_term, short_term)
        return
    if not isinstance(recorder, Recorder):
        raise TypeError(f"recorder must be a Recorder; got {type(recorder).__name__}")
    watch = recorder.begin(
        circuit,
        state,
        n_in_most=len(schedule.which),
        long_term=long_term is not None,
        short_term=short_term is not None,
    )
    show = present_recorded
    done = 0
    while True:
        left = Draws(draws.seed, draws.purpose, draws.number + done)
        done += show(
            constants, resting, state, schedule, rows[done:], left, counts[done:], long_term, short_term, watch
        )
        if done == len(rows):
            break
        watch = recorder.make_room(state)
    recorder.note(state)
