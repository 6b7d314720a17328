"""States of the sampling networks, checked before compiled code receives them (as in `spiking._state_check`)."""

from springback import check
from springback.spiking._state_check import (
    LARGEST,
    LAST_STEP,
    check_like,
    check_list,
    check_marks,
    check_ranges,
    check_scale,
    shapes_of,
    within,
)
from springback_paper.sampling.state import SamplingState


def check_sampling_state(state: SamplingState, fresh: SamplingState) -> None:
    """Refuse a state whose shapes or dtypes differ from a new one's, or whose lists hold indices out of range."""
    check_like("state", state, SamplingState, shapes_of(fresh))
    n_inputs, n_neurons = state.short.shape
    common = state.common[0]
    for name, top in (("step", LAST_STEP), ("n_lit", n_inputs), ("n_members", n_neurons), ("total", LARGEST)):
        within(f"state.common.{name}", (common[name],), 0, top)
    check_list("state.member", state.member[: common["n_members"]], state.slot_of, n_neurons)
    check_ranges("state", state, signed=("trace", "epsp", "short", "overlap", "stretch", "calls", "felt"), unsigned=())
    for scale in (common["scale"], *state.trace_scale):
        check_scale("the scales of state", scale)
    lit = state.lit[: common["n_lit"]]
    if state.trace.shape[1] > 0:
        check_marks("state.lit", lit, state.is_lit)
    else:  # Analog input: nothing is marked.
        within("state.lit", lit, 0, n_inputs - 1)
        check.require(len(set(lit.tolist())) == len(lit), "state.lit", "list each input once", lit)
    _check_ring(state)


def _check_ring(state: SamplingState) -> None:
    """Check that the ring holds as many spikes as arrived in the steps that it covers."""
    room = len(state.ring)
    if room == 0:
        return
    head, tail = int(state.common["head"][0]), int(state.common["tail"][0])
    within("state.common", (head, tail), 0, room - 1)
    within("state.ring", state.ring, 0, len(state.lit) - 1)
    within("state.ring_n", state.ring_n, 0, len(state.lit))
    held = int(state.ring_n.sum())
    check.require((head - tail - held) % room == 0, "state.ring_n", "sum to what the ring holds", held)
