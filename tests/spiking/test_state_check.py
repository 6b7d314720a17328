"""A state of another network, or one that was tampered with, is refused before compiled code sees it."""

import numpy as np
import pytest

from springback.spiking.encoding import spike_train
from springback.spiking.inference import init, track
from springback.spiking.params import Circuit, LongTermStdp, ShortTermStdp, Streaming
from springback.spiking.training import init_training, learned, train
from springback.spiking.weights import Weights
from springback_paper.sampling import init as init_sampling
from springback_paper.sampling import sampling_weights, track_spikes
from springback_paper.sampling import track as track_by_sampling
from springback_paper.sampling.params import SamplingCircuit, SamplingStdp, SpikingInput

SMALL, OTHER = Circuit(n_inputs=64, n_neurons=16), Circuit(n_inputs=64, n_neurons=12)
STDP = LongTermStdp(weight_sum=8.0)
FRAMES = np.random.default_rng(0).integers(0, 256, (3, 8, 8), dtype=np.uint8)
SHORT = ShortTermStdp(pull=0.5)
PER_SYNAPSE = ShortTermStdp(memory_ms=np.full((64, 16), 300.0))


def weights(circuit, dtype=np.float32):
    rng = np.random.default_rng(1)
    return Weights(
        rng.uniform(0, 1.5, (circuit.n_inputs, circuit.n_neurons)).astype(dtype),
        np.full(circuit.n_neurons, 20.0, dtype),
    )


def follow(state, *, short_term=SHORT, dtype=np.float32):
    how = {"circuit": SMALL, "presentation": Streaming(intensity=4.0), "short_term": short_term}
    return track(weights(SMALL, dtype), state, FRAMES, **how)


def test_the_training_of_another_network_is_refused():
    foreign = init_training(OTHER, STDP)
    with pytest.raises(ValueError, match=r"state\..* must have shape \(16\); got \(12,\)"):
        train(foreign, FRAMES, circuit=SMALL, stdp=STDP)
    with pytest.raises(ValueError, match=r"state\..* must have shape"):
        learned(foreign, STDP, SMALL)
    mixed = init_training(SMALL, STDP)._replace(traces=init_training(OTHER, STDP).traces)
    with pytest.raises(ValueError, match=r"state\.traces\..* must have shape"):
        train(mixed, FRAMES, circuit=SMALL, stdp=STDP)
    wide = init_training(SMALL, STDP, dtype="float64")
    with pytest.raises(ValueError, match="must have dtype float32"):
        train(init_training(SMALL, STDP)._replace(circuit=wide.circuit), FRAMES, circuit=SMALL, stdp=STDP)


def test_the_stream_of_another_network_is_refused():
    with pytest.raises(ValueError, match=r"state\.circuit\.v must have shape \(16\); got \(12,\)"):
        follow(init(weights(OTHER), OTHER, SHORT))
    with pytest.raises(ValueError, match="must have dtype float64"):
        follow(init(weights(SMALL), SMALL, SHORT), dtype=np.float64)
    with pytest.raises(ValueError, match=r"state\.short_term\.stamp must have shape \(64|state\.short_term\.stamp"):
        follow(init(weights(SMALL), SMALL, SHORT), short_term=PER_SYNAPSE)
    with pytest.raises(ValueError, match=r"state\.short_term\.stamp must have shape \(0, 0\)"):
        follow(init(weights(SMALL), SMALL, PER_SYNAPSE))
    begun = init(weights(SMALL), SMALL, SHORT)
    with pytest.raises(ValueError, match=r"state\.n_seen must be >= 0"):
        follow(begun._replace(n_seen=-1))


def after_some_frames():
    return follow(init(weights(SMALL), SMALL, SHORT))[0]


@pytest.mark.parametrize(
    ("part", "name", "spoil"),
    [
        ("circuit", "common", lambda a: a["n_recent"].__setitem__(0, 17)),
        ("circuit", "common", lambda a: a["step"].__setitem__(0, -1)),
        ("circuit", "place", lambda a: a.__setitem__(0, 16)),
        ("circuit", "v", lambda a: a.__setitem__(0, np.nan)),
        ("circuit", "ge", lambda a: a.__setitem__(0, np.inf)),
        ("circuit", "common", lambda a: a["theta_scale"].__setitem__(0, 0.0)),
        ("short_term", "common", lambda a: a["n_slots"].__setitem__(0, 17)),
        ("short_term", "common", lambda a: a["n_slots"].__setitem__(0, -1)),
        ("short_term", "slots", lambda a: a["neuron"].__setitem__(0, 16)),
        ("short_term", "slots", lambda a: a["scale"].__setitem__(0, np.nan)),
        ("short_term", "slot_of", lambda a: a.__setitem__(slice(None), 15)),
        ("short_term", "short", lambda a: a.__setitem__((0, 0), np.inf)),
        ("short_term", "trace", lambda a: a.__setitem__(0, -1.0)),
        ("short_term", "common", lambda a: a["trace_scale"].__setitem__(0, np.nan)),
    ],
)
def test_a_stream_that_was_tampered_with_is_refused(part, name, spoil):
    state = after_some_frames()
    assert state.short_term.n_slots > 0
    spoil(getattr(getattr(state, part), name))
    with pytest.raises(ValueError, match=rf"state\.{part}"):
        follow(state)


def test_every_state_that_a_run_leaves_is_taken_back():
    state = init_training(SMALL, STDP)
    for _ in range(3):
        state, _ = train(state, FRAMES, circuit=SMALL, stdp=STDP)
        assert state.traces.last_pre.max() >= 0, "no input has spiked"
    for short_term in (None, SHORT, PER_SYNAPSE):
        now = init(weights(SMALL), SMALL, short_term)
        for _ in range(3):
            now, _ = follow(now, short_term=short_term)


TWO = sampling_weights(np.random.default_rng(0).uniform(size=(64, 16)))
SPIKING = SamplingCircuit(spikes=SpikingInput(), kappa=20.0)


def sampled(state, circuit=SPIKING):
    return track_by_sampling(TWO, state, FRAMES, circuit=circuit, short_term=SamplingStdp())[0]


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("lit", lambda a: a.__setitem__(0, 64)),
        ("lit", lambda a: a.__setitem__(0, -1)),
        ("is_lit", lambda a: a.__setitem__(slice(None), False)),
        ("member", lambda a: a.__setitem__(0, 16)),
        ("slot_of", lambda a: a.__setitem__(slice(None), 15)),
        ("ring", lambda a: a.__setitem__(slice(None), 64)),
        ("ring_n", lambda a: a.__setitem__(0, 2**40)),
        ("ring_n", lambda a: a.__setitem__(0, -1)),
        ("common", lambda a: a["step"].__setitem__(0, -1)),
        ("common", lambda a: a["n_lit"].__setitem__(0, 65)),
        ("common", lambda a: a["n_members"].__setitem__(0, 17)),
        ("common", lambda a: a["head"].__setitem__(0, 2**40)),
        ("common", lambda a: a["tail"].__setitem__(0, -1)),
        ("common", lambda a: a["scale"].__setitem__(0, 0.0)),
        ("trace", lambda a: a.__setitem__((0, 0), np.nan)),
        ("trace_scale", lambda a: a.__setitem__(0, np.nan)),
    ],
)
def test_a_sampling_stream_that_was_tampered_with_is_refused(name, spoil):
    state = sampled(init_sampling(TWO, SPIKING))
    spoil(getattr(state.state, name))
    with pytest.raises(ValueError, match="state"):
        sampled(state)
    with pytest.raises(ValueError, match="state"):
        track_spikes(TWO, state, spike_train(np.zeros(3, int), np.arange(3), 5), circuit=SPIKING)


def test_every_state_that_a_sampling_run_leaves_is_taken_back():
    for circuit in (SPIKING, SamplingCircuit(), SamplingCircuit(spikes=SpikingInput(epsp_ms=None))):
        state = init_sampling(TWO, circuit)
        for _ in range(3):
            state = sampled(state, circuit)
    with pytest.raises(ValueError, match="dtype"):
        sampled(
            init_sampling(TWO, SPIKING)._replace(
                state=init_sampling(TWO, SPIKING).state._replace(lit=np.zeros(64, np.int64))
            )
        )
