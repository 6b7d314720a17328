"""Laws of the circuit: closed forms, windows, limits, and what must never happen."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from springback.spiking._present import present_frames
from springback.spiking.inference import init, respond, track
from springback.spiking.params import (
    Circuit,
    ExcitatoryNeuron,
    InhibitoryNeuron,
    IntrinsicPlasticity,
    LongTermStdp,
    Presentation,
    ShortTermStdp,
    Streaming,
)
from springback.spiking.recorded_runs import record_stream, short_term_of, simulate_spikes
from springback.spiking.training import init_training, learned, train
from springback.spiking.weights import Weights

SMALL = Circuit(n_inputs=64, n_neurons=16)


def small_weights(seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return Weights(rng.uniform(0, 1.5, (64, 16)).astype(dtype), np.full(16, 20.0, dtype))


def some_frames(n, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, 8, 8), dtype=np.uint8)


def digest(*arrays):
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


@pytest.mark.parametrize("drive", [0.3, 0.5, 1.0])
def test_rate_of_a_steadily_driven_neuron_is_the_closed_form(drive):
    """With a constant conductance g: v -> v_inf with tau / (1 + g); the neuron fires every T + refractory."""
    circuit = Circuit(n_inputs=1, n_neurons=1, dt_ms=0.05, excitatory=ExcitatoryNeuron(threshold_offset_mv=-72.0))
    # A spike of weight w in every step keeps the conductance at w / (dt / tau_e).
    weight = drive * circuit.dt_ms / circuit.tau_excitatory_ms
    n_steps = 200_000
    run = simulate_spikes(
        Weights(np.full((1, 1), weight), np.full(1, 20.0)),
        np.zeros(n_steps, np.int32),
        np.arange(n_steps),
        n_steps,
        circuit=circuit,
    )
    v_inf, tau = -65.0 / (1 + drive), 100.0 / (1 + drive)
    period = tau * np.log((v_inf + 65.0) / (v_inf + 52.0)) + 5.0
    intervals = np.diff(run.out_step) * circuit.dt_ms
    assert np.median(intervals) == pytest.approx(period, rel=0.01)


def window(lag_steps, *, warm=False):
    """Change of one weight by an input spike and an output spike `lag_steps` later (or earlier, if negative).

    The output spike is forced by a second, strong input. `warm`: the neuron has fired 20 ms before.
    """
    circuit = Circuit(n_inputs=2, n_neurons=1)
    stdp = LongTermStdp(rate_pre=1e-2, rate_post=1e-1, weight_max=100.0, weight_sum=60.0)
    fire_at = 500
    index, step = [0, 1], [fire_at + 1 - lag_steps, fire_at]
    if warm:
        index, step = [*index, 1], [*step, fire_at - 40]
    run = simulate_spikes(
        Weights(np.array([[0.5], [90.0]]), np.full(1, 20.0)),
        np.array(index),
        np.array(step),
        1000,
        circuit=circuit,
        long_term=stdp,
    )
    assert run.out_step[-1] == fire_at + 1
    return run.weights.resting[0, 0] - 0.5


def test_an_input_after_the_output_depresses_and_less_so_later():
    changes = np.array([window(-lag) for lag in (2, 20, 60)])
    assert (changes < 0).all()
    np.testing.assert_allclose(changes, -1e-2 * np.exp(-np.array([2, 20, 60]) * 0.5 / 20.0), rtol=1e-9)


def test_an_input_before_the_output_potentiates_only_a_neuron_that_fired_before():
    assert window(6) == 0.0
    lags = np.array([2, 20, 30])
    changes = np.array([window(lag, warm=True) for lag in lags])
    assert (changes > 0).all()
    depressed = 1e-2 * np.exp(-(40 - lags) * 0.5 / 20.0)
    np.testing.assert_allclose(changes, 1e-1 * np.exp(-20.0 / 40.0) * np.exp(-lags * 0.5 / 20.0) - depressed, rtol=1e-6)


def test_frozen_means_frozen():
    weights = small_weights()
    before = digest(*weights)
    respond(weights, some_frames(20), circuit=SMALL)
    track(
        weights,
        init(weights, SMALL, ShortTermStdp()),
        some_frames(20),
        circuit=SMALL,
        presentation=Streaming(intensity=3.0),
        short_term=ShortTermStdp(),
    )
    assert digest(*weights) == before


def test_no_pull_is_the_static_run_bit_for_bit():
    weights, frames = small_weights(), some_frames(30)
    none = ShortTermStdp(pull=0.0)
    at_rest, still = track(
        weights, init(weights, SMALL, None), frames, circuit=SMALL, presentation=Streaming(intensity=3.0)
    )
    state, pulled = track(
        weights,
        init(weights, SMALL, none),
        frames,
        circuit=SMALL,
        presentation=Streaming(intensity=3.0),
        short_term=none,
    )
    assert still.sum() > 100
    np.testing.assert_array_equal(still, pulled)
    assert digest(at_rest.circuit.v, at_rest.circuit.ge) == digest(state.circuit.v, state.circuit.ge)


@pytest.mark.parametrize("short_term", [None, ShortTermStdp(pull=0.02)])
def test_a_threshold_shift_is_the_network_with_shifted_thresholds_whether_it_adapts_or_not(short_term):
    weights, frames = small_weights(), some_frames(20)
    lower = weights._replace(theta=weights.theta - weights.theta.dtype.type(2.0))
    start = init(weights, SMALL, short_term)
    show = {"circuit": SMALL, "short_term": short_term}
    _, plain = track(weights, start, frames, presentation=Streaming(), **show)
    _, shifted = track(weights, start, frames, presentation=Streaming(threshold_shift_mv=-2.0), **show)
    _, wanted = track(lower, start, frames, presentation=Streaming(), **show)
    np.testing.assert_array_equal(shifted, wanted)
    assert shifted.sum() > plain.sum()


@pytest.mark.parametrize(
    "short_term",
    [
        None,
        ShortTermStdp(pull=0.02, efficacy_max=3.0),
        ShortTermStdp(pull=0.02, intrinsic=IntrinsicPlasticity(step_mv=0.5, tau_ms=20.0)),
        ShortTermStdp(pull=0.02, delay_ms=100.0),
    ],
)
def test_any_division_of_a_stream_gives_the_same_bits(short_term):
    weights, frames = small_weights(), some_frames(24)
    frames[4:10] = 0
    shown = Streaming(intensity=2.0, threshold_shift_mv=-1.5)
    end, whole = track(
        weights,
        init(weights, SMALL, short_term),
        frames,
        circuit=SMALL,
        presentation=shown,
        short_term=short_term,
        seed=4,
    )
    state, pieces = init(weights, SMALL, short_term), []
    for part in np.split(frames, [1, 2, 13]):
        state, counts = track(weights, state, part, circuit=SMALL, presentation=shown, short_term=short_term, seed=4)
        pieces.append(counts)
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    assert digest(*end.circuit) == digest(*state.circuit)


def test_any_number_of_workers_gives_the_same_bits():
    weights, frames = small_weights(), some_frames(1200)
    one = respond(weights, frames, circuit=SMALL, workers=1)
    np.testing.assert_array_equal(one, respond(weights, frames, circuit=SMALL, workers=3))
    np.testing.assert_array_equal(one[500:1000], respond(weights, frames[500:1000], circuit=SMALL, first_number=500))


def test_a_recorded_stream_has_the_spikes_of_the_stream():
    weights, frames, short_term = small_weights(), some_frames(10), ShortTermStdp(pull=0.02)
    state, counts = track(
        weights,
        init(weights, SMALL, short_term),
        frames,
        circuit=SMALL,
        presentation=Streaming(intensity=2.0),
        short_term=short_term,
        seed=9,
    )
    run = record_stream(
        weights,
        frames,
        circuit=SMALL,
        presentation=Streaming(intensity=2.0),
        short_term=short_term,
        seed=9,
        neurons=[3, 5],
        every_steps=7,
    )
    table = np.zeros_like(counts)
    np.add.at(table, (run.out_step // 700, run.out_index), 1)
    np.testing.assert_array_equal(table, counts)
    assert run.potential_mv.shape == (1000, 2)
    assert run.short_term.shape == (1000, 64, 2)
    assert len(run.in_index) == len(run.in_step)
    assert run.in_step.max() < 7000
    assert short_term_of(state, SMALL).max() > 0


def test_a_recorded_synapse_with_its_own_time_constant_decays_between_spikes_too():
    weights, frames = small_weights(), some_frames(4)
    same = ShortTermStdp(pull=0.02, memory_ms=300.0)
    own = ShortTermStdp(pull=0.02, memory_ms=np.full((64, SMALL.n_neurons), 300.0))
    show = {"circuit": SMALL, "presentation": Streaming(intensity=2.0), "seed": 9, "neurons": range(SMALL.n_neurons)}
    together = record_stream(weights, frames, short_term=same, every_steps=7, **show)
    apart = record_stream(weights, frames, short_term=own, every_steps=7, **show)
    assert together.short_term.max() > 0.02
    np.testing.assert_allclose(apart.short_term, together.short_term, rtol=1e-3, atol=1e-5)


def test_short_term_component_decays_to_nothing_without_input():
    weights, short_term = small_weights(), ShortTermStdp(pull=0.05)
    show = {"circuit": SMALL, "presentation": Streaming(intensity=3.0), "short_term": short_term}
    state, _ = track(weights, init(weights, SMALL, short_term), some_frames(3), **show)
    stretched = short_term_of(state, SMALL)
    assert stretched.max() > 0.05
    later, counts = track(weights, state, np.zeros((2, 8, 8), np.uint8), **show)
    relaxed = short_term_of(later, SMALL)
    fired = counts.sum(axis=0) > 0
    np.testing.assert_allclose(relaxed[:, ~fired], stretched[:, ~fired] * np.exp(-700 / 300), rtol=1e-3, atol=1e-6)
    rest, _ = track(weights, later, np.zeros((30, 8, 8), np.uint8), **show)
    assert not short_term_of(rest, SMALL).any()


def test_permuting_neurons_permutes_the_response():
    weights, order = small_weights(dtype=np.float64), np.random.default_rng(8).permutation(16)
    frames, short_term = some_frames(6), ShortTermStdp(pull=0.02)
    show = {"circuit": SMALL, "presentation": Streaming(intensity=3.0), "short_term": short_term}
    _, counts = track(weights, init(weights, SMALL, short_term), frames, **show)
    moved = Weights(np.ascontiguousarray(weights.resting[:, order]), weights.theta[order])
    _, permuted = track(moved, init(moved, SMALL, short_term), frames, **show)
    np.testing.assert_array_equal(permuted, counts[:, order])


def test_a_jump_over_the_rest_is_the_same_as_stepping_through_it():
    """A run with short-term STDP steps through its pauses even if the pull is zero; a static run jumps."""
    weights, frames, none = small_weights(dtype=np.float64), some_frames(8), ShortTermStdp(pull=0.0)
    show = {"circuit": SMALL, "presentation": Streaming(intensity=2.0, rest_ms=150.0)}
    end, jumped = track(weights, init(weights, SMALL, None), frames, **show)
    same, stepped = track(weights, init(weights, SMALL, none), frames, short_term=none, **show)
    assert jumped.sum() > 20
    np.testing.assert_array_equal(jumped, stepped)
    np.testing.assert_allclose(end.circuit.v, same.circuit.v, atol=1e-9)
    assert end.circuit.step == same.circuit.step == 8 * 1000


@settings(max_examples=40, deadline=None)
@given(
    intensity=st.floats(0.0, 50.0),
    tau_membrane_ms=st.floats(0.5, 500.0),
    inhibition=st.floats(0.0, 1e3),
    theta=st.floats(-5.0, 80.0),
    pull=st.floats(0.0, 50.0),
    weight_dependence=st.floats(-3.0, 1.0),
    tau=st.floats(0.1, 1e5),
    trace=st.floats(0.1, 1e4),
    exact_step=st.booleans(),
)
def test_no_nan_and_no_runaway_for_any_admissible_parameters(
    intensity, tau_membrane_ms, inhibition, theta, pull, weight_dependence, tau, trace, exact_step
):
    circuit = Circuit(
        n_inputs=64,
        n_neurons=16,
        excitatory=ExcitatoryNeuron(tau_membrane_ms=tau_membrane_ms),
        inhibitory=InhibitoryNeuron(tau_membrane_ms=tau_membrane_ms, exact_step=exact_step),
        weight_from_inhibitory=inhibition,
    )
    weights = Weights(small_weights().resting, np.full(16, theta, np.float32))
    short_term = ShortTermStdp(pull=pull, weight_dependence=weight_dependence, memory_ms=tau, tau_trace_ms=trace)
    frames = np.full((2, 8, 8), 255, np.uint8)
    state, counts = track(
        weights,
        init(weights, circuit, short_term),
        frames,
        circuit=circuit,
        presentation=Streaming(intensity=intensity, intensity_max=50.0, show_ms=100.0),
        short_term=short_term,
    )
    assert np.isfinite(state.circuit.v).all()
    assert (state.circuit.v >= -101).all()
    assert (state.circuit.v <= 1).all()
    assert np.isfinite(short_term_of(state, circuit)).all()
    assert counts.max() <= 100.0 / 5.0 + 1


def test_training_keeps_weights_in_range_and_normalised():
    stdp = LongTermStdp(weight_sum=8.0)
    state = init_training(SMALL, stdp, seed=1)
    state, counts = train(state, some_frames(200), circuit=SMALL, stdp=stdp, seed=1)
    weights = learned(state, stdp, SMALL)
    assert counts.sum() > 500
    np.testing.assert_allclose(weights.resting.sum(axis=0), 8.0, rtol=1e-5)
    assert weights.resting.min() >= 0
    assert state.resting.max() <= 1.0 + 1e-6


def test_weights_can_be_normalised_to_a_common_length():
    stdp = LongTermStdp(weight_length=1.5)
    state = init_training(SMALL, stdp, seed=1)
    state, counts = train(state, some_frames(200), circuit=SMALL, stdp=stdp, seed=1)
    weights = learned(state, stdp, SMALL)
    assert counts.sum() > 500
    np.testing.assert_allclose(np.linalg.norm(weights.resting, axis=0), 1.5, rtol=1e-5)
    assert np.ptp(weights.resting.sum(axis=0)) > 0.1


@pytest.mark.parametrize("cuts", [[1], [7, 8, 90], [50]])
def test_any_division_of_training_gives_the_same_bits(cuts):
    stdp, frames = LongTermStdp(weight_sum=8.0), some_frames(100)
    whole, _ = train(init_training(SMALL, stdp, seed=2), frames, circuit=SMALL, stdp=stdp, seed=2)
    state = init_training(SMALL, stdp, seed=2)
    for part in np.split(frames, cuts):
        state, _ = train(state, part, circuit=SMALL, stdp=stdp, seed=2)
    assert digest(state.resting, *state.circuit, *state.traces) == digest(whole.resting, *whole.circuit, *whole.traces)


def test_an_image_that_gives_too_few_spikes_is_shown_again_brighter():
    weights = Weights(small_weights().resting * np.float32(0.25), np.full(16, 20.0, np.float32))
    once = respond(weights, some_frames(20), circuit=SMALL, presentation=Presentation(intensity=1.0, spikes_min=0))
    again = respond(weights, some_frames(20), circuit=SMALL, presentation=Presentation(intensity=1.0, spikes_min=5))
    assert once.sum(axis=1).min() < 5
    assert again.sum(axis=1).min() >= 5


def test_a_black_image_is_not_repeated_for_ever():
    assert respond(small_weights(), np.zeros((3, 8, 8), np.uint8), circuit=SMALL).sum() == 0


@pytest.mark.parametrize(
    ("frames", "sentence"),
    [
        (np.zeros((2, 8, 8)), "got dtype float64: if its values lie within 0 ... 1, multiply by 255 and convert"),
        (np.zeros((2, 8, 8), np.int64), r"got dtype int64: convert it with frames.astype\(np.uint8\)"),
        (np.zeros((8, 8), np.uint8), r"frames must have 64 pixels each.*got shape \(8, 8\): a single frame is frames"),
        (np.zeros((), np.uint8), "frames must have 64 pixels each"),
        (np.zeros((2, 8, 9), np.uint8), "frames must have 64 pixels each"),
    ],
)
def test_wrong_frames_are_refused(frames, sentence):
    with pytest.raises(ValueError, match=sentence):
        respond(small_weights(), frames, circuit=SMALL)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ExcitatoryNeuron(tau_membrane_ms=-3.0), r"ExcitatoryNeuron.tau_membrane_ms must be > 0; got -3.0"),
        (lambda: Circuit(n_neurons=0), r"Circuit.n_neurons must be >= 1; got 0"),
        (lambda: Circuit(tau_excitatory_ms=0.1), r"Circuit.tau_excitatory_ms must be >= 0.5"),
        (lambda: ShortTermStdp(weight_dependence=1.5), r"ShortTermStdp.weight_dependence must be <= 1; got 1.5"),
        (lambda: ShortTermStdp(memory_ms=np.array([1.0, -1.0])), r"memory_ms must be > 0 everywhere"),
        (lambda: Presentation(intensity=40.0), r"Presentation.intensity_max must be >= 40"),
        (lambda: LongTermStdp(weight_sum=0.0), r"LongTermStdp.weight_sum must be > 0"),
        (lambda: LongTermStdp(weight_length=-1.0), r"LongTermStdp.weight_length must be > 0"),
        (lambda: begin_and_stream(ShortTermStdp(memory_ms=np.ones(3))), r"memory_ms must have shape"),
        (
            lambda: simulate_spikes(small_weights(), np.array([64]), np.array([0]), 5, circuit=SMALL),
            "index must lie within 0 ... 63",
        ),
        (
            lambda: simulate_spikes(small_weights(), np.array([0]), np.array([5]), 5, circuit=SMALL),
            "step must lie within 0 ... 4",
        ),
        (
            lambda: respond(Weights(-small_weights().resting, small_weights().theta), some_frames(1), circuit=SMALL),
            "be >= 0",
        ),
        (
            lambda: respond(
                Weights(small_weights().resting, small_weights().theta * np.nan), some_frames(1), circuit=SMALL
            ),
            "finite",
        ),
    ],
)
def test_bad_values_are_refused_where_they_enter(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def begin_and_stream(short_term):
    weights = small_weights()
    track(
        weights,
        init(weights, SMALL, short_term),
        some_frames(1),
        circuit=SMALL,
        presentation=Streaming(intensity=3.0),
        short_term=short_term,
    )


def test_no_specialisation_of_the_kernel_appears_by_accident():
    weights, stdp = small_weights(), LongTermStdp(weight_sum=8.0)
    for _ in range(2):
        respond(weights, some_frames(2), circuit=SMALL)
        train(init_training(SMALL, stdp), some_frames(2), circuit=SMALL, stdp=stdp)
        for short_term in (None, ShortTermStdp(), ShortTermStdp(memory_ms=np.full(16, 100.0))):
            track(
                weights,
                init(weights, SMALL, short_term),
                some_frames(2),
                circuit=SMALL,
                presentation=Streaming(intensity=2.0),
                short_term=short_term,
            )
    before = len(present_frames.signatures)
    other = Circuit(n_inputs=64, n_neurons=8)
    weights = Weights(np.ones((64, 8), np.float32), np.full(8, 20.0, np.float32))
    respond(weights, some_frames(2), circuit=other, seed=3)
    track(
        weights,
        init(weights, other, ShortTermStdp()),
        some_frames(2),
        circuit=other,
        presentation=Streaming(intensity=1.0),
        short_term=ShortTermStdp(weight_dependence=0.2),
    )
    assert len(present_frames.signatures) == before
