"""States of the sampling networks, checked before compiled code receives them (as in `spiking._state_check`)."""

import numpy as np

from springback import check
from springback.spiking._state_check import LARGEST, LAST_STEP, check_list, within
from springback.spiking.sampling.state import HEAD, N_LIT, N_MEMBERS, SCALE, STEP, TAIL, TOTAL, SamplingState


def check_sampling_state(state: SamplingState, fresh: SamplingState) -> None:
    """Refuse a state whose shapes or dtypes differ from a new one's, or whose lists hold indices out of range."""
    for name, new in fresh._asdict().items():
        check.array(f"state.{name}", getattr(state, name), shape=new.shape, dtype=new.dtype, finite=False)
    n_inputs, n_neurons = state.short.shape
    n_lit, n_members = int(state.tally[N_LIT]), int(state.tally[N_MEMBERS])
    within("state.tally", (int(state.tally[STEP]),), 0, LAST_STEP)
    within("state.tally", (n_lit,), 0, n_inputs)
    within("state.tally", (n_members,), 0, n_neurons)
    check_list("state.member", state.member[:n_members], state.slot_of, n_neurons)
    for name in ("trace", "epsp", "short", "overlap", "stretch", "calls", "felt"):
        within(f"state.{name}", getattr(state, name), -LARGEST, LARGEST)
    for scale in (state.level[SCALE], *state.trace_scale):
        check.require(0 < scale <= 1, "the scales of state", "lie in (0, 1]", float(scale))
    within("state.level", (float(state.level[TOTAL]),), 0, LARGEST)
    _check_lit(state, n_lit)
    _check_ring(state)


def _check_lit(state: SamplingState, n_lit: int) -> None:
    """Check the list of lit inputs: with analog input nothing is marked; with spikes, list and marks must agree."""
    lit = state.lit[:n_lit]
    within("state.lit", lit, 0, len(state.lit) - 1)
    marks = np.zeros(len(state.lit), np.bool_)
    marks[lit] = True
    agree = int(marks.sum()) == n_lit and (state.trace.shape[1] == 0 or bool((marks == state.is_lit).all()))
    check.require(agree, "state.lit", "list once each what is_lit marks", lit)


def _check_ring(state: SamplingState) -> None:
    """Check that the ring holds as many spikes as arrived in the steps that it covers."""
    room = len(state.ring)
    if room == 0:
        return
    head, tail = int(state.tally[HEAD]), int(state.tally[TAIL])
    within("state.tally", (head, tail), 0, room - 1)
    within("state.ring", state.ring, 0, len(state.lit) - 1)
    within("state.ring_n", state.ring_n, 0, len(state.lit))
    held = int(state.ring_n.sum())
    check.require((head - tail - held) % room == 0, "state.ring_n", "sum to what the ring holds", held)
