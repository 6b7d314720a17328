"""The compiled loop over frames: each is encoded as spikes, shown, and followed by a pause; recorded or not.

With a `Watch`, the loop can be left when a buffer is full, and entered again where it was left. Recording
reads the state and never changes it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.spiking import _long_term as learn
from springback.spiking import _membrane as membrane
from springback.spiking import _short_term as adapt
from springback.spiking._kernel import run_steps
from springback.spiking._random import stream_key
from springback.spiking._watch import (
    BLOCK,
    is_full,
    note_presentation,
    room_steps,
    sample_neurons,
    sample_quiet,
    sample_synapses,
    whole_numbers,
)
from springback.spiking.constants import spike_odds, steps
from springback.spiking.encoding import AliasTable, SpikeTrain, draw_spikes, new_alias_table, spikes_bound
from springback.spiking.params import Circuit, Presentation

PROGRESS = whole_numbers("attempt done ahead n_in n_out")
"""Of the frame that is shown: attempt, steps done, steps of the pause sampled ahead, input and output spikes so far."""


class Schedule(NamedTuple):
    """How frames are shown, in steps, with the work space of the encoder.

    Parameters
    ----------
    rates : NDArray[np.float64]
        Float64 (attempts, 256): for each attempt and brightness the mean number of candidates per step.
    n_show, n_rest : int
        Steps.
    spikes_min : int
        Output spikes below which the next attempt is made.
    which, first, aliases
        Buffers of the encoder.
    silence : NDArray[np.int64]
        Int64 zeros: the spike train of a pause.
    aside : NDArray[np.int32]
        Int32 (n_neurons,): spikes in pauses, which do not count.
    progress : NDArray[np.void]
        (1,) record: where a frame was left when a buffer was full, see `PROGRESS`; zeros before each frame.
    """

    rates: NDArray[np.float64]
    n_show: int
    n_rest: int
    spikes_min: int
    which: NDArray[np.int32]
    first: NDArray[np.int64]
    aliases: AliasTable
    silence: NDArray[np.int64]
    aside: NDArray[np.int32]
    progress: NDArray[np.void]


def schedule_of(presentation: Presentation, circuit: Circuit) -> Schedule:
    """The presentation in steps, with fresh buffers (one schedule for each thread)."""
    dt, intensity = circuit.dt_ms, presentation.intensity
    levels = np.array([intensity])
    if presentation.spikes_min > 0:
        brighter = np.arange(intensity, presentation.intensity_max + 1e-9, presentation.intensity_step)
        levels = brighter if len(brighter) else levels
    rates = np.array([spike_odds(presentation, float(level), dt) for level in levels])
    n_show = steps(presentation.show_ms, dt, "show_ms")
    check.require(n_show >= 1, "Presentation.show_ms", f"be at least dt_ms = {dt:g}", presentation.show_ms)
    brightest = circuit.n_inputs * float(rates[-1, -1])
    n_spikes_max = spikes_bound(brightest, n_show)
    return Schedule(
        rates=rates,
        n_show=n_show,
        n_rest=steps(presentation.rest_ms, dt, "rest_ms"),
        spikes_min=presentation.spikes_min,
        which=np.zeros(n_spikes_max, np.int32),
        first=np.zeros(n_show + 1, np.int64),
        aliases=new_alias_table(circuit.n_inputs, brightest, n_spikes_max),
        silence=np.zeros(BLOCK + 1, np.int64),
        aside=np.zeros(circuit.n_neurons, np.int32),
        progress=np.zeros(1, PROGRESS),
    )


@njit(inline="always", cache=True, nogil=True, error_model="numpy")
def run_stretch(  # type: ignore[no-untyped-def]
    constants, resting, state, inputs, n_steps, counts, keep_theta, long_term, short_term, watch, monitors
):
    """Run `n_steps` like `run_steps`, left only where a monitor of neurons or synapses is due; the watch has room."""
    total = done = 0
    while done < n_steps:
        block, step = n_steps - done, state.common[0].step
        if monitors is not None:
            due = max(min(monitors.tally[0].due_neurons, monitors.tally[0].due_synapses), step)
            block = min(block, due - step + 1)
        now = SpikeTrain(inputs.which, inputs.first[done:])
        total += run_steps(
            constants, resting, state, now, block, counts, keep_theta, long_term, short_term, watch, monitors
        )
        done += block
        if monitors is not None:
            last = step + block - 1
            if last >= monitors.tally[0].due_neurons:
                sample_neurons(monitors, state, constants, last, 1.0)
            if last >= monitors.tally[0].due_synapses:
                sample_synapses(monitors, resting, long_term, short_term, last)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def present_frames(  # type: ignore[no-untyped-def]
    constants, resting, state, schedule, frames, draws, counts, long_term, short_term, watch, monitors
):
    """Show frames; `counts[i]` receives each neuron's output spikes to frame i. Returns how many frames are finished.

    If this is fewer than there are, a buffer of the watch is full: empty the buffers, and call again with the frames
    that are left and the same schedule, which still holds the input spikes of the frame that was interrupted.

    Parameters
    ----------
    constants, resting, state, long_term, short_term, watch, monitors
        See `run_steps`.
    draws
        `Draws`: which random numbers the frames are encoded with.
    """
    shown, silence = SpikeTrain(schedule.which, schedule.first), SpikeTrain(schedule.which, schedule.silence)
    common, progress, n_neurons = state.common[0], schedule.progress[0], state.v.shape[0]
    n_show, n_all = schedule.n_show, schedule.n_show + schedule.n_rest
    keep_theta = keep_rest = 1.0
    if long_term is not None:
        keep_theta, keep_rest = long_term.constants.keep_theta, long_term.constants.keep_theta_rest
    i = 0
    while i < frames.shape[0]:
        # Begin an attempt: its input spikes are drawn at once.
        if progress.done == 0:
            if watch is not None:  # noqa: SIM102 - what is None is pruned only if nothing else is asked
                if room_steps(watch, n_neurons) < min(n_show, BLOCK) or is_full(watch, schedule.which.shape[0]):
                    return i
            if long_term is not None:
                learn.begin_image(resting, long_term, common.step)
            key = stream_key(draws.seed, draws.purpose, draws.number + i, progress.attempt)
            rates = schedule.rates[progress.attempt]
            n_in = draw_spikes(frames[i], rates, n_show, key, schedule.aliases, shown.which, shown.first)
            counts[i] = 0
            progress.n_in, progress.n_out = n_in, 0
            if watch is not None:
                note_presentation(watch, shown, n_in, n_show, draws.number + i, progress.attempt, common.step)

        # Show the frame, then pause, in short blocks, until only the leak acts; the rest of the pause is jumped over.
        while progress.done < n_all:
            pausing = progress.done >= n_show
            left = (n_all if pausing else n_show) - progress.done
            if short_term is None:  # noqa: SIM102
                if pausing and membrane.is_quiet(state, constants):
                    if monitors is not None:
                        room, ahead = room_steps(monitors, n_neurons), left - progress.ahead
                        now_sampled = min(ahead, room)
                        sample_quiet(
                            monitors, resting, state, long_term, constants, progress.ahead, now_sampled, keep_rest
                        )
                        if room < ahead:
                            progress.ahead += room
                            return i
                    membrane.jump(state, left, keep_rest, constants)
                    progress.done, progress.ahead = n_all, 0
                    break
            block = min(left, BLOCK) if pausing else left
            if watch is not None:
                room = room_steps(watch, n_neurons)
                if room < min(block, BLOCK):
                    return i
                block = min(block, room)
            inputs = silence if pausing else SpikeTrain(shown.which, shown.first[progress.done :])
            into, keep = (schedule.aside, keep_rest) if pausing else (counts[i], keep_theta)
            n_out = run_stretch(
                constants, resting, state, inputs, block, into, keep, long_term, short_term, watch, monitors
            )
            progress.n_out += 0 if pausing else n_out
            progress.done += block

        # Once more, brighter, if there were too few output spikes; else the next frame.
        progress.done = 0
        is_last = progress.attempt + 1 == schedule.rates.shape[0]
        if is_last or progress.n_out >= schedule.spikes_min or progress.n_in == 0:
            if short_term is not None:
                adapt.end_frame(short_term, state.theta, common.step)
            progress.attempt = 0
            i += 1
        else:
            progress.attempt += 1
    return i
