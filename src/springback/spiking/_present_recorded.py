"""The compiled loop over frames of a recorded run: as `present_frames`, but it can be left when a buffer is full.

Everything that it does to the state is what `present_frames` does, in the same order and with the same rounding.
"""

from springback.compiled import njit
from springback.spiking import _long_term as learn
from springback.spiking import _membrane as membrane
from springback.spiking import _short_term as adapt
from springback.spiking._plasticity import LongTerm
from springback.spiking._random import stream_key
from springback.spiking._run_recorded import run_recorded
from springback.spiking._state import STEP
from springback.spiking._watch import (
    AHEAD,
    ATTEMPT,
    BLOCK,
    DONE,
    IN_SO_FAR,
    N_IN,
    N_SHOWN,
    OUT_SO_FAR,
    room_steps,
    sample_quiet,
)
from springback.spiking.encoding import SpikeTrain, draw_spikes


@njit(cache=True, nogil=True, error_model="numpy")
def present_recorded(  # type: ignore[no-untyped-def]
    constants, resting, state, schedule, frames, draws, counts, long_term, short_term, watch
):
    """Show frames and write down what is watched; returns how many frames are finished.

    If this is fewer than there are, a buffer is full: empty the buffers, and call again with the frames that are left
    and the same schedule, which still holds the input spikes of the frame that was interrupted.
    """
    shown, silence = SpikeTrain(schedule.which, schedule.first), SpikeTrain(schedule.which, schedule.silence)
    progress, n_neurons = watch.progress, state.v.shape[0]
    if long_term is None:
        paused, keep_rest = None, 1.0
    else:
        keep_rest = long_term.constants.keep_theta_rest
        paused = LongTerm(long_term.constants, long_term.state, keep_rest)
    i = 0
    while i < frames.shape[0]:
        attempt = progress[ATTEMPT]
        if progress[DONE] == 0 and progress[AHEAD] == 0:
            room = room_steps(watch, n_neurons)
            if room < min(schedule.n_show, BLOCK) or is_full(watch, schedule.which.shape[0]):
                return i
            if long_term is not None:
                learn.begin_image(resting, long_term, state.tally[STEP])
            key = stream_key(draws.seed, draws.purpose, draws.number + i, attempt)
            rates = schedule.rates[attempt]
            n_in = draw_spikes(frames[i], rates, schedule.n_show, key, schedule.aliases, shown.which, shown.first)
            counts[i] = 0
            progress[IN_SO_FAR], progress[OUT_SO_FAR] = n_in, 0
            note_presentation(watch, shown, n_in, schedule.n_show, draws.number + i, attempt, state.tally[STEP])
        while progress[DONE] < schedule.n_show:
            left = schedule.n_show - progress[DONE]
            room = room_steps(watch, n_neurons)
            if room < min(left, BLOCK):
                return i
            block = min(left, room)
            now = SpikeTrain(shown.which, shown.first[progress[DONE] :])
            n_out = run_recorded(constants, resting, state, now, block, counts[i], long_term, short_term, watch)
            progress[OUT_SO_FAR] += n_out
            progress[DONE] += block
        while progress[DONE] < schedule.n_show + schedule.n_rest:
            left = schedule.n_show + schedule.n_rest - progress[DONE]
            room = room_steps(watch, n_neurons)
            if short_term is None and membrane.is_quiet(state, constants):
                ahead = left - progress[AHEAD]
                sample_quiet(watch, resting, state, long_term, constants, min(ahead, room), keep_rest)
                if room < ahead:
                    return i
                membrane.jump(state, left, keep_rest, constants)
                progress[DONE] += left
                progress[AHEAD] = 0
                break
            block = min(left, BLOCK)
            if room < block:
                return i
            run_recorded(constants, resting, state, silence, block, schedule.aside, paused, short_term, watch)
            progress[DONE] += block
        progress[DONE] = 0
        is_last = attempt + 1 == schedule.rates.shape[0]
        if is_last or progress[OUT_SO_FAR] >= schedule.spikes_min or progress[IN_SO_FAR] == 0:
            if short_term is not None:
                adapt.end_frame(short_term, state.theta, state.tally[STEP])
            progress[ATTEMPT] = 0
            i += 1
        else:
            progress[ATTEMPT] = attempt + 1
    return i


@njit(cache=True, nogil=True)
def is_full(watch, n_in_most):  # type: ignore[no-untyped-def]
    """Whether there is no room to note another presentation, or its input spikes if they are wanted."""
    no_inputs = 0 < watch.in_index.shape[0] < watch.tally[N_IN] + n_in_most
    return no_inputs or watch.tally[N_SHOWN] >= watch.shown.shape[0]


@njit(cache=True, nogil=True)
def note_presentation(watch, train, n_in, n_show, frame, attempt, step):  # type: ignore[no-untyped-def]
    """Write down that a presentation begins, and its input spikes if they are wanted."""
    at = watch.tally[N_SHOWN]
    watch.shown[at, 0], watch.shown[at, 1], watch.shown[at, 2] = frame, attempt, step
    watch.tally[N_SHOWN] = at + 1
    if watch.in_index.shape[0] > 0:
        first = watch.tally[N_IN]
        watch.in_index[first : first + n_in] = train.which[:n_in]
        for t in range(n_show):
            for i in range(train.first[t], train.first[t + 1]):
                watch.in_step[first + i] = step + t
        watch.tally[N_IN] = first + n_in
