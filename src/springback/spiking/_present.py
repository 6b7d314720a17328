"""The compiled loop over frames: each is encoded as spikes, shown, and followed by a pause."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.spiking import _long_term as learn
from springback.spiking import _membrane as membrane
from springback.spiking import _short_term as adapt
from springback.spiking._kernel import run_steps
from springback.spiking._plasticity import LongTerm
from springback.spiking._random import stream_key
from springback.spiking._state import STEP
from springback.spiking._watch import BLOCK
from springback.spiking.constants import spike_odds, steps
from springback.spiking.encoding import AliasTable, SpikeTrain, draw_spikes, new_alias_table, spikes_bound
from springback.spiking.params import Circuit, Presentation


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
    )


@njit(cache=True, nogil=True, error_model="numpy")
def present_frames(  # type: ignore[no-untyped-def]
    constants, resting, state, schedule, frames, draws, counts, long_term, short_term
):
    """Show frames one after the other; `counts[i]` receives each neuron's output spikes to frame i.

    Parameters
    ----------
    constants, resting, state, long_term, short_term
        See `run_steps`.
    draws
        `Draws`: which random numbers the frames are encoded with.
    """
    shown, silence = SpikeTrain(schedule.which, schedule.first), SpikeTrain(schedule.which, schedule.silence)
    if long_term is None:
        paused, keep_rest = None, 1.0
    else:
        keep_rest = long_term.constants.keep_theta_rest
        paused = LongTerm(long_term.constants, long_term.state, keep_rest)
    for i in range(frames.shape[0]):
        for attempt in range(schedule.rates.shape[0]):
            if long_term is not None:
                learn.begin_image(resting, long_term, state.tally[STEP])
            key = stream_key(draws.seed, draws.purpose, draws.number + i, attempt)
            rates = schedule.rates[attempt]
            n_in = draw_spikes(frames[i], rates, schedule.n_show, key, schedule.aliases, shown.which, shown.first)
            counts[i] = 0
            n_out = run_steps(constants, resting, state, shown, schedule.n_show, counts[i], long_term, short_term, None)
            left = schedule.n_rest
            while left > 0:
                if short_term is None and membrane.is_quiet(state, constants):
                    membrane.jump(state, left, keep_rest, constants)
                    break
                block = min(left, BLOCK)
                run_steps(constants, resting, state, silence, block, schedule.aside, paused, short_term, None)
                left -= block
            if n_out >= schedule.spikes_min or n_in == 0:
                break
        if short_term is not None:
            adapt.end_frame(short_term, state.theta, state.tally[STEP])
