"""What is out of all proportion is refused in one sentence, and a stream that refuses a frame can go on."""

from dataclasses import replace

import numpy as np
import pytest

from springback.spiking.constants import long_term_constants
from springback.spiking.encoding import spike_train, spikes_bound
from springback.spiking.inference import init, respond, track
from springback.spiking.params import (
    Circuit,
    ExcitatoryNeuron,
    IntrinsicPlasticity,
    LongTermStdp,
    Presentation,
    ShortTermStdp,
    Streaming,
)
from springback.spiking.recorded_runs import simulate_spikes
from springback.spiking.training import init_training, train
from springback.spiking.weights import Weights
from springback_paper.sampling import init as init_sampling
from springback_paper.sampling import respond as respond_by_sampling
from springback_paper.sampling import sampling_weights
from springback_paper.sampling import track as track_by_sampling
from springback_paper.sampling.params import DerivedKernel, SamplingCircuit, SpikingInput

SMALL = Circuit(n_inputs=16, n_neurons=5)
STDP = LongTermStdp()
HUGE = np.float32(1e37)
ONE = np.zeros(1, np.int64)


def small_weights():
    rng = np.random.default_rng(0)
    return Weights(rng.uniform(0, 1.5, (16, 5)).astype(np.float32), np.full(5, 20.0, np.float32))


def some_frames(n):
    return np.random.default_rng(1).integers(0, 256, (n, 4, 4), dtype=np.uint8)


def shown(circuit=SMALL, **presentation):
    n, k = circuit.n_inputs, circuit.n_neurons
    weights = Weights(np.ones((n, k), np.float32), np.full(k, 20.0, np.float32))
    return respond(weights, np.zeros((1, n), np.uint8), circuit=circuit, presentation=Presentation(**presentation))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Circuit(dt_ms=1e-7), r"at least 0.0001, since excitatory.tau_membrane_ms = 100; got 1e-07"),
        (lambda: Circuit(dt_ms=1e-7), "which means 1,000,000,000 steps"),
        (lambda: Circuit(dt_ms=5e-324), "which means inf steps"),
        (lambda: Circuit(excitatory=ExcitatoryNeuron(refractory_ms=1e300)), "refractory_ms = 1e"),
        (lambda: Circuit(n_inputs=10**6, n_neurons=10**6), "be at most 2,147,483,648 synapses, which take 8 GiB"),
        (lambda: Circuit(weight_from_inhibitory=1e300), "Circuit.weight_from_inhibitory must be <= 1e"),
        (lambda: Presentation(intensity_step=1e-9), "reach intensity_max = 32 in at most 1000 attempts; got 1e-09"),
        (lambda: shown(show_ms=1e9), "since show_ms = 1e.*which means 2,000,000,000 steps"),
        (lambda: shown(rest_ms=1e300), "since rest_ms = 1e"),
        (lambda: shown(show_ms=0.1), "Presentation.show_ms must be at least dt_ms = 0.5"),
        (lambda: shown(intensity=1e300, intensity_max=1e300), "below one spike per step"),
        (lambda: shown(Circuit(n_neurons=1), show_ms=4e5), "give at most 268,435,456 input spikes"),
        (lambda: spikes_bound(float("inf"), 700), "give at most 268,435,456 input spikes"),
        (lambda: init_training(SMALL, LongTermStdp(tau_pre_ms=1e9)), r"LongTermStdp.tau_pre_ms must leave a trace"),
        (lambda: long_term_constants(STDP, SMALL, "float16"), "dtype must be one of 'float32', 'float64'"),
        (lambda: LongTermStdp(weight_max=3e38), "LongTermStdp.weight_max must be <= 1e"),
        (lambda: LongTermStdp(theta_start_mv=1e300), "LongTermStdp.theta_start_mv must be <= 1000"),
        (lambda: ShortTermStdp(pull=1e300), "ShortTermStdp.pull must be <= 1e"),
        (lambda: ShortTermStdp(memory_ms=np.array([1.0, np.nan])), "memory_ms must be > 0 everywhere"),
        (lambda: ShortTermStdp(memory_ms=np.array([1.0, np.inf])), "memory_ms must be finite everywh"),
        (lambda: ShortTermStdp(memory_ms=np.array(["a"])), "memory_ms must hold numbers"),
        (lambda: IntrinsicPlasticity(max_mv=1e300), "IntrinsicPlasticity.max_mv must be <= 1000"),
        (lambda: SamplingCircuit(dt_ms=1e-7), "since show_ms = 350; got 1e-07, which means 3,500,000,000 steps"),
        (lambda: SamplingCircuit(spikes=SpikingInput(epsp_ms=1e9)), "since spikes.epsp_ms = 1e"),
        (lambda: DerivedKernel(switch_rate_hz=1e-300).exponentials(0.5), "be at least one switch in 1e12 steps"),
    ],
)
def test_parameters_out_of_all_proportion_are_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (lambda w, f: respond(Weights(w.resting * HUGE, w.theta), f, circuit=SMALL), "Weights.resting must be at most"),
        (lambda w, f: respond(Weights(w.resting, w.theta * HUGE), f, circuit=SMALL), "Weights.theta must be at most"),
        (lambda w, f: respond(w, f, circuit=SMALL, seed=-1), "seed must be >= 0; got -1"),
        (lambda w, f: respond(w, f, circuit=SMALL, seed=2**64), "seed must be <= 18446744073709551615"),
        (lambda _, f: train(init_training(SMALL, STDP), f, circuit=SMALL, stdp=STDP, seed=-1), "seed must be >= 0"),
        (lambda *_: init_training(SMALL, STDP, seed=-1), "seed must be >= 0"),
        (lambda w, _: init(w, replace(SMALL, n_neurons=6), None), "Weights.resting must have shape"),
        (lambda w, _: simulate_spikes(w, ONE, ONE, 10**12, circuit=SMALL), "n_steps must be <= 268435456"),
        (
            lambda w, _: simulate_spikes(w, ONE, ONE, 9, circuit=SMALL, every_steps=0),
            "every_steps must be >= 1; got 0",
        ),
        (
            lambda w, _: simulate_spikes(w, ONE, ONE, 9, circuit=SMALL, long_term=STDP, normalise_every_steps=-3),
            "normalise_every_steps must be >= 1; got -3",
        ),
        (lambda *_: spike_train(np.array([0]), np.array([9]), 5), "step must lie within 0 ... 4"),
        (lambda *_: spike_train(np.array([0.5]), np.array([1]), 5), "index must be a one-dimensional array of whole"),
        (lambda *_: spike_train(np.array([0, 1]), np.array([1]), 5), "index and step must have the same length"),
    ],
)
def test_bad_arguments_of_a_run_are_refused(run, sentence):
    with pytest.raises(ValueError, match=sentence):
        run(small_weights(), some_frames(1))


def test_frames_that_are_no_array_are_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"got list: convert it with np.asarray\(frames, np.uint8\)"):
        respond(small_weights(), [[0] * 16], circuit=SMALL)
    with pytest.raises(TypeError, match="index must be a one-dimensional array of whole numbers; got list"):
        simulate_spikes(small_weights(), [0], np.zeros(1, int), 9, circuit=SMALL)


BAD_FRAMES = [
    some_frames(2).astype(np.float32) / 255,
    np.full((2, 4, 4), np.nan),
    some_frames(2)[:, :3],
    some_frames(2)[0],
]


@pytest.mark.parametrize("short_term", [None, ShortTermStdp()], ids=["static", "short-term STDP"])
@pytest.mark.parametrize("bad", BAD_FRAMES, ids=["float", "NaN", "another shape", "no batch axis"])
def test_a_bad_frame_in_the_middle_of_a_stream_leaves_it_as_it_was(short_term, bad):
    weights, frames = small_weights(), some_frames(7)
    options = {"circuit": SMALL, "presentation": Streaming(intensity=3.0), "short_term": short_term, "seed": 3}
    _, whole = track(weights, init(weights, SMALL, short_term), frames, **options)
    state, first = track(weights, init(weights, SMALL, short_term), frames[:4], **options)
    with pytest.raises(ValueError, match="frames must"):
        track(weights, state, bad, **options)
    state, second = track(weights, state, frames[4:5], **options)
    _, third = track(weights, state, frames[5:], **options)
    np.testing.assert_array_equal(np.concatenate([first, second, third]), whole)


@pytest.mark.parametrize("bad", BAD_FRAMES, ids=["float", "NaN", "another shape", "no batch axis"])
def test_a_bad_image_in_the_middle_of_training_leaves_it_as_it_was(bad):
    state = init_training(SMALL, STDP)
    state, _ = train(state, some_frames(3), circuit=SMALL, stdp=STDP)
    before = [array.copy() for array in (state.resting, *state.circuit, *state.traces)]
    with pytest.raises(ValueError, match="frames must"):
        train(state, bad, circuit=SMALL, stdp=STDP)
    for now, then in zip((state.resting, *state.circuit, *state.traces), before, strict=True):
        assert now.tobytes() == then.tobytes()


def test_a_state_begun_without_the_plasticity_of_the_call_is_refused_with_the_remedy():
    weights = small_weights()
    for begun, asked in ((None, ShortTermStdp()), (ShortTermStdp(), None)):
        state = init(weights, SMALL, begun)
        with pytest.raises(ValueError, match=r"made for the short_term of this call.*init"):
            track(
                weights, state, some_frames(1), circuit=SMALL, presentation=Streaming(intensity=3.0), short_term=asked
            )


def test_a_stream_shown_like_still_images_is_refused():
    weights = small_weights()
    with pytest.raises(TypeError, match="presentation must be a Streaming; got Presentation"):
        track(weights, init(weights, SMALL, None), some_frames(1), circuit=SMALL, presentation=Presentation())


@pytest.mark.parametrize("scale", [1e-45, 1e-40, 1e-20, 1e20, 1e38])
def test_the_sampling_network_takes_analog_frames_of_any_magnitude(scale):
    weights, circuit = sampling_weights(np.eye(3)), SamplingCircuit(kappa=20.0, show_ms=50.0)
    plain = np.array([[0.0, 1.0, 2.0]], np.float32)
    scaled = (plain.astype(np.float64) * scale).astype(np.float32)
    counts = respond_by_sampling(weights, scaled, circuit=circuit).counts
    if scale != 1e-45:
        np.testing.assert_array_equal(counts, respond_by_sampling(weights, plain, circuit=circuit).counts)
    assert counts.sum() > 0
    huge = sampling_weights(np.eye(3) * 1e300)
    np.testing.assert_array_equal(huge.resting, weights.resting)


def test_a_nan_frame_in_the_middle_of_a_sampled_stream_leaves_it_as_it_was():
    weights, circuit = sampling_weights(np.eye(3)), SamplingCircuit(kappa=20.0, show_ms=20.0)
    frames = np.random.default_rng(0).random((4, 3)).astype(np.float32)
    _, whole = track_by_sampling(weights, init_sampling(weights, circuit), frames, circuit=circuit)
    state, first = track_by_sampling(weights, init_sampling(weights, circuit), frames[:2], circuit=circuit)
    for bad in (np.full((1, 3), np.nan, np.float32), frames[:1].astype(np.float64), frames[:1, :2]):
        with pytest.raises(ValueError, match="frames must"):
            track_by_sampling(weights, state, bad, circuit=circuit)
    _, second = track_by_sampling(weights, state, frames[2:], circuit=circuit)
    np.testing.assert_array_equal(np.concatenate([first.counts, second.counts]), whole.counts)
