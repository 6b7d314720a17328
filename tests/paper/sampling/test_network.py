"""The sampling networks against their posterior, against the elastic recursion, and against a plain reference."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from springback.spiking.encoding import SpikeTrain, spike_train
from springback_paper.sampling.network import (
    DRIVEN,
    init,
    posterior,
    respond,
    sampling_weights,
    short_term_of,
    track,
    track_spikes,
)
from springback_paper.sampling.params import (
    DerivedKernel,
    ExponentialKernel,
    SamplingCircuit,
    SamplingStdp,
    SpikingInput,
)
from springback_paper.sampling.state import SamplingWeights
from tests.spiking.oracle import random_bits, stream_key

NEURONS = {
    "exponential": SamplingCircuit(neuron="exponential", kappa=6.0),
    "relu": SamplingCircuit(neuron="relu", threshold=0.6),
}
SPIKING = {name: replace(circuit, spikes=SpikingInput()) for name, circuit in NEURONS.items()}
EVERY = {**NEURONS, **{f"{name}, spiking input": circuit for name, circuit in SPIKING.items()}}


def some_weights(n_inputs=12, n_neurons=5, seed=1):
    rng = np.random.default_rng(seed)
    return sampling_weights(rng.random((n_inputs, n_neurons)), rng.random(n_neurons) + 0.5)


def some_frames(n, n_inputs=12, seed=2):
    return np.random.default_rng(seed).integers(0, 256, (n, n_inputs), np.uint8)


def bits(state, response):
    digest = hashlib.sha256()
    for array in (*response, short_term_of(state)):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


@pytest.mark.parametrize("name", NEURONS)
def test_spike_shares_converge_to_the_posterior(name):
    weights, frame = some_weights(), some_frames(1)
    seen = respond(weights, np.repeat(frame, 1000, axis=0), circuit=NEURONS[name], seed=3).counts.sum(axis=0)
    q = posterior(weights, frame[0], circuit=NEURONS[name])
    assert seen.sum() > 30_000
    assert stats.chisquare(seen, q * seen.sum()).pvalue > 0.01
    other = posterior(weights, frame[0], circuit=replace(NEURONS[name], kappa=5.5, threshold=0.55))
    assert stats.chisquare(seen, other * seen.sum()).pvalue < 1e-6


@pytest.mark.parametrize("name", NEURONS)
def test_the_posterior_is_the_textbook_one(name):
    weights, frame = some_weights(), some_frames(1)[0].astype(float)
    u = np.array([w @ frame / np.linalg.norm(w) / np.linalg.norm(frame) for w in weights.resting.T.astype(float)])
    joint = np.exp(6.0 * u) * weights.prior if name == "exponential" else np.maximum(u + weights.prior - 0.6, 0)
    np.testing.assert_allclose(posterior(weights, frame, circuit=NEURONS[name]), joint / joint.sum(), rtol=1e-6)


@pytest.mark.parametrize("name", NEURONS)
def test_the_posterior_of_many_inputs_is_that_of_each(name):
    weights, frames = some_weights(), some_frames(7)
    frames[3] = 0
    together = posterior(weights, frames, circuit=NEURONS[name])
    assert not together[3].any()
    for frame, found in zip(frames, together, strict=True):
        np.testing.assert_allclose(found, posterior(weights, frame, circuit=NEURONS[name]))


@pytest.mark.parametrize("name", EVERY)
def test_the_summed_rate_is_the_chosen_one(name):
    circuit = replace(EVERY[name], rate_hz=80.0)
    counts = respond(some_weights(), np.full((500, 12), 255, np.uint8), circuit=circuit, seed=4).counts
    n_steps, chance = 500 * 700, 1 - np.exp(-80.0 * 0.5e-3)
    spread = np.sqrt(n_steps * chance * (1 - chance))
    missed = 0 if circuit.spikes is None else 500 * 5 * chance
    assert abs(counts.sum() - n_steps * chance) < 4 * spread + missed


@pytest.mark.parametrize("name", NEURONS)
def test_with_a_given_inhibition_the_rate_follows_the_input_and_the_shares_stay(name):
    weights, frame = some_weights(), some_frames(1)
    inhibition = 1.0 if name == "exponential" else 0.02
    circuit = replace(NEURONS[name], inhibition=inhibition)
    x = frame[0] / np.linalg.norm(frame[0].astype(float))
    u = x @ weights.resting.astype(float)
    rates = (
        np.exp(6.0 * u + np.log(weights.prior) - inhibition)
        if name == "exponential"
        else np.maximum(u + weights.prior - 0.6, 0) / inhibition
    )
    counts = respond(weights, np.repeat(frame, 1000, axis=0), circuit=circuit, seed=5).counts.sum(axis=0)
    expected = 1000 * 700 * -np.expm1(-rates.sum() * 0.5e-3)
    assert expected > 3000
    assert abs(counts.sum() - expected) < 4 * np.sqrt(expected)
    assert stats.chisquare(counts, rates / rates.sum() * counts.sum()).pvalue > 0.01


@pytest.mark.parametrize("beta", [None, 20.0])
@pytest.mark.parametrize("name", NEURONS)
def test_mean_synapses_follow_the_elastic_recursion(name, beta):
    weights, frames = some_weights(), some_frames(2)
    stdp = SamplingStdp(pull=0.01, weight_dependence=0.4, memory_ms=150.0, beta=beta)
    circuit = replace(NEURONS[name], rate_hz=400.0, show_ms=200.0)
    runs = np.array(
        [
            short_term_of(track(weights, init(weights, circuit), frames, circuit=circuit, short_term=stdp, seed=s)[0])
            for s in range(300)
        ]
    )
    mean, error = runs.mean(axis=0), runs.std(axis=0) / np.sqrt(len(runs))
    wanted = recursion(weights, frames, circuit, stdp)
    assert wanted.max() > 0.05
    # Beyond the statistical error, the mean of Q differs from Q at the mean by the variance of F, of order pull.
    assert np.abs(mean - wanted).max() < 4 * error.max() + 0.02 * wanted.max()
    assert (
        np.abs(mean - recursion(weights, frames, circuit, replace(stdp, weight_dependence=0.0))).max()
        > 0.1 * wanted.max()
    )


def recursion(weights, frames, circuit, stdp):
    """The elastic recursion with Q itself in the place of samples."""
    resting = weights.resting.astype(float)
    theta = np.maximum(stdp.weight_dependence + (1 - stdp.weight_dependence) * resting / resting.max(axis=0), 0)
    chance = 1 - np.exp(-circuit.rate_hz * circuit.dt_ms * 1e-3)
    keep = np.exp(-circuit.dt_ms / stdp.memory_ms)
    short, calls = np.zeros_like(resting), np.zeros(resting.shape[1])
    for frame in frames:
        x = frame / np.linalg.norm(frame.astype(float))
        for _ in range(round(circuit.show_ms / circuit.dt_ms)):
            short, calls = short * keep, calls * keep
            prior = weights.prior
            if stdp.beta is not None:
                prior = (calls + stdp.beta * prior) / (calls.sum() + stdp.beta)
            g = resting + short
            u = x @ g / np.linalg.norm(g, axis=0)
            linear = circuit.neuron == "relu"
            joint = np.maximum(u + prior - circuit.threshold, 0) if linear else np.exp(circuit.kappa * u) * prior
            q = joint / joint.sum()
            short += chance * stdp.pull * theta * x[:, None] * q
            calls += chance * q
    return short


def plain_twin(weights, train, circuit, stdp, seed):
    """Everything again, slow and plain, with the whole history of spikes kept: output spikes and F."""
    resting = weights.resting.astype(float)
    theta = np.maximum(stdp.weight_dependence + (1 - stdp.weight_dependence) * resting / resting.max(axis=0), 0)
    shape = circuit.spikes.kernel.exponentials(circuit.dt_ms)
    luck = ((bits >> 11) / 2**53 for bits in random_bits(stream_key(seed, DRIVEN, 0, 1)))
    n_steps = len(train.first) - 1
    spikes = np.zeros((n_steps, len(resting)))
    for t in range(n_steps):
        np.add.at(spikes[t], train.which[train.first[t] : train.first[t + 1]], 1)
    past, counts = [], np.zeros(resting.shape[1], int)
    rate = circuit.rate_hz * circuit.dt_ms * 1e-3
    for t in range(n_steps):
        draw = next(luck)
        if circuit.inhibition is None and draw >= 1 - np.exp(-rate):
            continue
        if circuit.inhibition is not None and draw >= 1 - np.exp(-bound(circuit, len(counts)) * circuit.dt_ms * 1e-3):
            continue
        lags = np.arange(t, -1, -1)
        seen = (shape.share * shape.keep ** lags[:, None]).sum(axis=1) @ spikes[: t + 1]
        felt = seen
        if circuit.spikes.epsp_ms is not None:
            felt = spikes[max(0, t + 1 - round(circuit.spikes.epsp_ms / circuit.dt_ms)) : t + 1].sum(axis=0)
        if not (seen.any() and felt.any()):
            continue
        seen, felt = seen / np.linalg.norm(seen), felt / np.linalg.norm(felt)
        f = [np.exp(-(t - then) * circuit.dt_ms / stdp.memory_ms) for then, _, _ in past]
        short, calls = np.zeros_like(resting), np.zeros(len(counts))
        for left, (_, k, x) in zip(f, past, strict=True):
            short[:, k] += left * stdp.pull * theta[:, k] * x
            calls[k] += left
        prior = weights.prior
        if stdp.beta is not None:
            prior = (calls + stdp.beta * prior) / (sum(f) + stdp.beta)
        u = felt @ (resting + short) / np.linalg.norm(resting + short, axis=0)
        if circuit.silence_below is not None and u.max() < circuit.silence_below:
            continue
        linear = circuit.neuron == "relu"
        joint = np.maximum(u + prior - circuit.threshold, 0) if linear else np.exp(circuit.kappa * u) * prior
        if joint.sum() == 0:
            continue
        if circuit.inhibition is not None:
            summed = joint.sum() / (circuit.inhibition if linear else np.exp(circuit.inhibition))
            if draw >= 1 - np.exp(-summed * circuit.dt_ms * 1e-3):
                continue
        winner = int(np.searchsorted(np.cumsum(joint), next(luck) * joint.sum(), side="right"))
        counts[winner] += 1
        past.append((t, winner, seen))
    short = np.zeros_like(resting)
    for then, k, x in past:
        short[:, k] += np.exp(-(n_steps - 1 - then) * circuit.dt_ms / stdp.memory_ms) * stdp.pull * theta[:, k] * x
    return counts, short


def bound(circuit, n_neurons):
    linear = circuit.neuron == "relu"
    rate = (
        (n_neurons * (1 - circuit.threshold) + 1) / circuit.inhibition
        if linear
        else np.exp(circuit.kappa - circuit.inhibition)
    )
    return rate * (1 + 1e-5 * (1 + circuit.kappa))


@pytest.mark.parametrize("name", NEURONS)
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"spikes": SpikingInput(kernel=ExponentialKernel(tau_ms=30.0), epsp_ms=10.0)},
        {"spikes": SpikingInput(kernel=DerivedKernel(switch_rate_hz=20.0), epsp_ms=None)},
        {"silence_below": 0.7},
        {"inhibition": 0.01},
    ],
    ids=["derived kernel", "exponential kernel", "membrane feels the estimate", "silence", "given inhibition"],
)
def test_the_compiled_loop_agrees_with_a_plain_twin_spike_for_spike(name, change):
    rng = np.random.default_rng(6)
    weights, circuit = some_weights(), replace(SPIKING[name], rate_hz=200.0, **change)
    stdp = SamplingStdp(pull=0.2, weight_dependence=0.5, memory_ms=100.0, beta=30.0)
    train = spike_train(rng.integers(0, 12, 300), rng.integers(0, 700, 300), 800)
    state, response = track_spikes(weights, init(weights, circuit), train, circuit=circuit, short_term=stdp, seed=7)
    counts, short = plain_twin(weights, train, circuit, stdp, seed=7)
    assert counts.sum() > 15
    np.testing.assert_array_equal(response.counts[0], counts)
    np.testing.assert_allclose(short_term_of(state), short, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NEURONS)
def test_what_inputs_said_outlasts_the_frame_as_long_as_the_kernel_does(name):
    weights, remembers = some_weights(), SpikingInput(kernel=ExponentialKernel(tau_ms=100.0), epsp_ms=None)
    circuit = replace(SPIKING[name], rate_hz=200.0, spikes=remembers)
    seen = spike_train(np.repeat(np.arange(12), 3), np.tile([20, 50, 90], 12), 100)
    state, _ = track_spikes(weights, init(weights, circuit), seen, circuit=circuit, seed=7)
    nothing = spike_train(np.zeros(0, int), np.zeros(0, int), 200)
    _, response = track_spikes(weights, state, nothing, circuit=circuit, seed=8)
    assert response.counts.sum() > 5
    for _ in range(40):
        state, response = track_spikes(weights, state, nothing, circuit=circuit, seed=9)
    assert response.counts.sum() == 0


@pytest.mark.parametrize("name", NEURONS)
@pytest.mark.parametrize("tau_ms", [0.4, 3.0, 1e5])
def test_the_reference_agrees_for_any_time_constant_of_the_short_term_part(name, tau_ms):
    rng = np.random.default_rng(19)
    weights, circuit = some_weights(), replace(SPIKING[name], rate_hz=300.0)
    stdp = SamplingStdp(pull=2.0, weight_dependence=-0.2, memory_ms=tau_ms, beta=2.0)
    train = spike_train(rng.integers(0, 12, 400), rng.integers(0, 900, 400), 900)
    state, response = track_spikes(weights, init(weights, circuit), train, circuit=circuit, short_term=stdp, seed=20)
    counts, short = plain_twin(weights, train, circuit, stdp, seed=20)
    assert counts.sum() > 50
    np.testing.assert_array_equal(response.counts[0], counts)
    np.testing.assert_allclose(short_term_of(state), short, rtol=1e-4, atol=2e-6 if tau_ms < 10 else 1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_without_pull_the_run_is_the_static_one_bit_for_bit(name):
    weights, frames, circuit = some_weights(), some_frames(20), EVERY[name]
    start = init(weights, circuit)
    still = track(weights, start, frames, circuit=circuit, seed=8)
    held = track(weights, start, frames, circuit=circuit, short_term=SamplingStdp(pull=0.0), seed=8)
    moved = track(weights, start, frames, circuit=circuit, short_term=SamplingStdp(pull=1.0), seed=8)
    assert bits(*still) == bits(*held) != bits(*moved)


@pytest.mark.parametrize("name", EVERY)
def test_any_division_of_a_stream_into_calls_gives_the_same_bits(name):
    weights, frames, circuit, stdp = some_weights(), some_frames(12), EVERY[name], SamplingStdp(beta=50.0)
    after, whole = track(weights, init(weights, circuit), frames, circuit=circuit, short_term=stdp, seed=9)
    state, parts = init(weights, circuit), []
    for rows in (slice(0, 1), slice(1, 6), slice(6, 6), slice(6, 12)):
        state, part = track(weights, state, frames[rows], circuit=circuit, short_term=stdp, seed=9)
        parts.append(part.counts)
    np.testing.assert_array_equal(whole.counts, np.concatenate(parts))
    np.testing.assert_array_equal(short_term_of(after), short_term_of(state))
    _, other = track(weights, init(weights, circuit), frames, circuit=circuit, short_term=stdp, seed=10)
    assert not np.array_equal(whole.counts, other.counts)


@pytest.mark.parametrize("name", SPIKING)
def test_images_seen_from_rest_do_not_depend_on_workers_or_on_each_other(name):
    weights, frames = some_weights(), some_frames(1200)
    one = respond(weights, frames, circuit=SPIKING[name], seed=11)
    two = respond(weights, frames, circuit=SPIKING[name], seed=11, workers=2)
    np.testing.assert_array_equal(one.counts, two.counts)
    np.testing.assert_array_equal(
        one.counts[:700], respond(weights, frames[:700], circuit=SPIKING[name], seed=11).counts
    )
    changed = frames.copy()
    changed[:-1] = 255
    np.testing.assert_array_equal(one.counts[-1], respond(weights, changed, circuit=SPIKING[name], seed=11).counts[-1])


def test_the_short_term_part_decays_exponentially_and_vanishes():
    weights, circuit, stdp = some_weights(), NEURONS["exponential"], SamplingStdp(pull=0.5, memory_ms=200.0)
    state, _ = track(weights, init(weights, circuit), some_frames(1), circuit=circuit, short_term=stdp, seed=12)
    start, blank = short_term_of(state), np.zeros((1, 12), np.uint8)
    later, _ = track(weights, state, blank, circuit=circuit, short_term=stdp, seed=12)
    np.testing.assert_allclose(short_term_of(later), start * np.exp(-350.0 / 200.0), rtol=1e-5)
    last, _ = track(weights, later, np.zeros((12, 12), np.uint8), circuit=circuit, short_term=stdp, seed=12)
    assert start.max() > 1
    assert not short_term_of(last).any()


@pytest.mark.parametrize("name", EVERY)
def test_blank_frames_cause_no_output_spikes(name):
    weights = some_weights()
    blank = np.zeros((5, 12), np.uint8)
    _, response = track(weights, init(weights, EVERY[name]), blank, circuit=EVERY[name], seed=13)
    assert not response.counts.any()
    assert not response.similarity.any()


def test_neurons_stay_silent_while_no_similarity_reaches_the_bound():
    weights, circuit = sampling_weights(np.eye(4)), SamplingCircuit(silence_below=0.9)
    near, far = np.array([[255, 40, 0, 0]], np.uint8), np.array([[255, 255, 0, 0]], np.uint8)
    assert respond(weights, near, circuit=circuit).counts.sum() > 10
    assert respond(weights, far, circuit=circuit).counts.sum() == 0


def test_the_threshold_of_the_paper_silences_many_relu_neurons():
    weights, frames = some_weights(n_neurons=100), some_frames(20)
    assert respond(weights, frames, circuit=SamplingCircuit(neuron="relu", threshold=1.0)).counts.sum() == 0
    assert respond(weights, frames, circuit=SamplingCircuit(neuron="relu", threshold=0.5)).counts.sum() > 100


@pytest.mark.parametrize("name", EVERY)
def test_weights_and_state_given_by_the_caller_stay_as_they_were(name):
    weights, circuit = some_weights(), EVERY[name]
    start = init(weights, circuit)
    before = [array.copy() for array in (*weights, *start.state)]
    track(weights, start, some_frames(5), circuit=circuit, short_term=SamplingStdp(), seed=14)
    for array, was in zip((*weights, *start.state), before, strict=True):
        np.testing.assert_array_equal(array, was)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "stdp",
    [
        SamplingStdp(pull=1e6, memory_ms=1e6),
        SamplingStdp(pull=1e-6, memory_ms=0.1, beta=1e-6),
        SamplingStdp(pull=5.0, weight_dependence=-5.0, memory_ms=1.0, beta=1e6),
    ],
    ids=["huge pull", "tiny pull", "negative c"],
)
def test_extreme_plasticity_gives_finite_numbers(name, stdp):
    weights, circuit = some_weights(), replace(EVERY[name], rate_hz=1500.0)
    frames = np.concatenate([some_frames(20), np.full((5, 12), 255, np.uint8), np.zeros((5, 12), np.uint8)])
    state, response = track(weights, init(weights, circuit), frames, circuit=circuit, short_term=stdp, seed=15)
    assert np.isfinite(short_term_of(state)).all()
    assert np.isfinite(response.similarity).all()
    assert np.abs(response.similarity).max() <= 1 + 1e-4


def test_analog_frames_can_be_real_numbers_and_their_scale_does_not_matter():
    weights, frames = some_weights(), some_frames(10)
    as_bytes = respond(weights, frames, circuit=NEURONS["exponential"], seed=16).counts
    as_reals = respond(weights, frames.astype(np.float32) * 1e3, circuit=NEURONS["exponential"], seed=16).counts
    np.testing.assert_array_equal(as_bytes, as_reals)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (lambda: sampling_weights(np.zeros((3, 2))), "no neuron without weights"),
        (lambda: sampling_weights(np.full((3, 2), np.nan)), "finite"),
        (lambda: sampling_weights(np.eye(2), np.array([1.0, 0.0])), "prior must be > 0"),
        (lambda: respond(some_weights(), some_frames(2, 9), circuit=NEURONS["relu"]), "12 pixels each"),
        (lambda: respond(some_weights(), some_frames(2).astype(np.float32), circuit=SPIKING["relu"]), "of uint8"),
        (lambda: respond(some_weights(), np.full((1, 12), np.nan, np.float32), circuit=NEURONS["relu"]), "finite"),
        (lambda: respond(some_weights(), some_frames(2), circuit=NEURONS["relu"], seed=-1), "seed must be >= 0"),
        (
            lambda: respond(
                SamplingWeights(np.eye(2, dtype=np.float32), np.ones(2)), some_frames(1, 2), circuit=NEURONS["relu"]
            ),
            "sum to 1",
        ),
        (lambda: drive(NEURONS["relu"], [0], [0]), "SamplingCircuit.spikes must be given"),
        (lambda: drive(SPIKING["relu"], [12], [0]), "lie within 0 ... 11"),
        (lambda: drive(SPIKING["relu"], [0] * 13, [0] * 13), "be at most 12"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(bad, sentence):
    with pytest.raises(ValueError, match=sentence):
        bad()


def drive(circuit, which, step):
    weights = some_weights()
    return track_spikes(
        weights, init(weights, circuit), spike_train(np.array(which), np.array(step), 5), circuit=circuit
    )


def test_a_train_whose_steps_do_not_cover_its_spikes_is_refused():
    weights, train = some_weights(), SpikeTrain(np.zeros(3, np.int32), np.array([0, 2]))
    with pytest.raises(ValueError, match="rise from 0 to the number of spikes"):
        track_spikes(weights, init(weights, SPIKING["relu"]), train, circuit=SPIKING["relu"])


def test_a_state_of_another_network_is_refused():
    weights, other = some_weights(), some_weights(n_neurons=6)
    with pytest.raises(ValueError, match="made for these weights"):
        track(weights, init(other, NEURONS["relu"]), some_frames(1), circuit=NEURONS["relu"])
