"""The compiled recursion against the sum over the whole history, and the laws a stream must keep."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from springback.elastic import (
    Elasticity,
    Exponential,
    ExponentialSum,
    Windowed,
    efficacy,
    expected,
    init,
    prepare,
    read,
    relax,
    short_term,
    step,
    track,
)
from springback.elastic._dense import run_dense
from springback.elastic._reading import read_dense

KERNELS = {
    "exponential": Exponential(memory=2.0, odds=1.7),
    "sum of exponentials": ExponentialSum(weights=(1.0, 0.4), memories=(1.0, 7.0)),
    "power law": Windowed(function=lambda lag: 1 / (1 + lag) ** 1.5, frames=9),
    "exponential in a long window": Windowed(function=Exponential(memory=0.5), frames=100),
}
MODELS = {
    "exponential": {"likelihood": "exponential", "kappa": 8.0},
    "exponential, maximum": {"likelihood": "exponential", "inference": "maximum"},
    "linear, bias on the sphere": {"likelihood": "linear", "bias_rule": "sphere"},
    "linear, bias on the circle": {"likelihood": "linear", "bias_rule": "circle"},
    "linear, line": {"likelihood": "linear", "bias_rule": "line"},
    "linear, no bias": {"likelihood": "linear", "bias_rule": "zero"},
    "linear, soft-max": {"likelihood": "linear", "inference": "softmax", "kappa": 5.0},
}
PULLS = {
    "given pull": {"pull": 2.0},
    "derived pull": {"pull": None, "beta": 0.4},
    "given pull, elastic biases": {"pull": 1.0, "beta": 0.5},
    "biases as in Algorithm 1": {"pull": None, "beta": 0.4, "bias_update": "algorithm"},
}


def a_stream(dtype=np.float64, frames=60, n=10, k=5, seed=3):
    rng = np.random.default_rng(seed)
    resting = np.abs(rng.normal(size=(k, n))).astype(dtype)
    prior = rng.dirichlet(np.full(k, 5.0))
    x = np.abs(rng.normal(size=(frames, n))) * (rng.random((frames, n)) < 0.7)
    x[7] = 0
    return resting, prior, x.astype(dtype), np.cumsum(rng.exponential(size=frames))


def a_model(dtype=np.float64, **options):
    resting, prior, _, _ = a_stream(dtype)
    return prepare(Elasticity(**{"kappa": 8.0, "pull": 2.0, **options}), resting, prior)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("likelihood", MODELS)
@pytest.mark.parametrize("pulls", PULLS)
def test_recursion_equals_the_sum_over_the_whole_history(oracle, kernel, likelihood, pulls):
    resting, prior, x, times = a_stream()
    params = Elasticity(**MODELS[likelihood], **PULLS[pulls], kernel=KERNELS[kernel])
    model = prepare(params, resting, prior)
    state, response = track(model, init(model), x, times)
    posterior, short, priors = oracle.follow(params, resting, prior, x, times)
    np.testing.assert_allclose(response.posterior, posterior, rtol=1e-9, atol=1e-12)
    last, _ = track(model, init(model), x[:-1], times[:-1])
    waited = relax(model, last, times[-1] - times[-2])
    np.testing.assert_allclose(short_term(model, waited), short[-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(expected(model, waited), priors[-1], rtol=1e-9)
    assert state.clock[0] == times[-1]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "option",
    [
        {"weight_dependence": 0.3},
        {"weight_dependence": -0.6},
        {"unit_inputs": False},
        {"novelty_threshold": 0.75},
        {"pull_threshold": 0.05},
        {"weight_dependence": -0.6, "pull_threshold": 0.05, "beta": 2.0},
    ],
    ids=str,
)
def test_options_equal_the_sum_over_the_whole_history(oracle, kernel, option):
    resting, prior, x, times = a_stream()
    params = Elasticity(**{"kappa": 8.0, "pull": 2.0, "kernel": KERNELS[kernel], **option})
    model = prepare(params, resting, prior)
    _, response = track(model, init(model), x, times)
    posterior, _, _ = oracle.follow(params, resting, prior, x, times)
    np.testing.assert_allclose(response.posterior, posterior, rtol=1e-9, atol=1e-12)
    plain = oracle.follow(replace(params, **dict.fromkeys(option, None) | PLAIN), resting, prior, x, times)[0]
    assert np.abs(plain - posterior).max() > 1e-3, "the option had no influence"


def test_biases_of_the_theorem_and_of_the_algorithm_give_different_posteriors():
    resting, prior, x, times = a_stream()
    posterior = {}
    for update in ("theorem", "algorithm"):
        model = prepare(Elasticity(kappa=8.0, pull=None, beta=4.0, bias_update=update), resting, prior)
        posterior[update] = track(model, init(model), x, times)[1].posterior
    difference = np.abs(posterior["theorem"] - posterior["algorithm"]).max()
    assert 0.05 < difference < 0.5
    np.testing.assert_allclose(posterior["theorem"][0], posterior["algorithm"][0])


def test_biases_of_the_algorithm_need_beta_and_a_known_name():
    with pytest.raises(ValueError, match=r"Elasticity.bias_update must be 'theorem' unless beta is given; got 'alg"):
        Elasticity(bias_update="algorithm")
    with pytest.raises(ValueError, match=r"Elasticity.bias_update must be one of 'theorem', 'algorithm'; got 'both'"):
        Elasticity(beta=1.0, bias_update="both")


PLAIN = {"weight_dependence": 1.0, "unit_inputs": True, "novelty_threshold": None, "pull_threshold": 0.0, "beta": None}


def test_single_precision_agrees_with_double():
    _, _, x, times = a_stream()
    double, single = a_model(), a_model(np.float32)
    a, b = track(double, init(double), x, times)[1], track(single, init(single), x, times)[1]
    assert b.posterior.dtype == np.float32
    np.testing.assert_allclose(a.posterior, b.posterior, atol=2e-5)
    np.testing.assert_allclose(a.log_density, b.log_density, atol=2e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS)
@given(cuts=st.lists(st.integers(0, 60), max_size=4), stamped=st.booleans())
@settings(max_examples=10, deadline=None)
def test_any_chunking_gives_the_same_state_bit_for_bit(dtype, kernel, cuts, stamped):
    _, _, x, times = a_stream(dtype)
    model = a_model(dtype, kernel=KERNELS[kernel], beta=0.7)
    whole, response = track(model, init(model), x, times if stamped else None)
    state, pieces = init(model), []
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True):
        state, piece = track(model, state, x[start:stop], times[start:stop] if stamped else None)
        pieces.append(piece.posterior)
    assert np.concatenate(pieces).tobytes() == response.posterior.tobytes()
    for a, b in zip(whole, state, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("likelihood", ["exponential", "linear"])
def test_no_pull_is_the_static_model_bit_for_bit(dtype, kernel, likelihood):
    _, _, x, _ = a_stream(dtype)
    model = a_model(dtype, pull=0.0, kernel=KERNELS[kernel], likelihood=likelihood)
    state, response = track(model, init(model), x)
    static = read(model, init(model), x)
    assert response.posterior.tobytes() == static.posterior.tobytes()
    assert not short_term(model, state).any()


@pytest.mark.parametrize("kernel", KERNELS)
def test_reading_moves_nothing_and_rows_do_not_influence_each_other(kernel):
    _, _, x, _ = a_stream()
    model = a_model(kernel=KERNELS[kernel])
    state, _ = track(model, init(model), x[:20])
    before = [part.tobytes() for part in state]
    together = read(model, state, x[20:]).posterior
    alone = np.concatenate([read(model, state, row).posterior for row in x[20:]])
    assert together.tobytes() == alone.tobytes()
    assert [part.tobytes() for part in state] == before


def test_tracking_leaves_the_given_state_and_weights_alone():
    _, _, x, _ = a_stream()
    model = a_model()
    state = init(model)
    track(model, state, x)
    assert not state.stored.any()
    with pytest.raises(ValueError, match="read-only"):
        model.constants.by_feature[0, 0] = 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_silence_only_lets_time_pass(kernel):
    _, _, x, _ = a_stream()
    model = a_model(kernel=KERNELS[kernel])
    state, _ = track(model, init(model), x[:5])
    silent, response = track(model, state, np.zeros((4, 10)))
    np.testing.assert_allclose(short_term(model, silent), short_term(model, relax(model, state, 4.0)), rtol=1e-12)
    np.testing.assert_allclose(response.posterior, np.tile(model.constants.prior, (4, 1)))
    assert (response.similarity == 0).all()
    assert np.isnan(response.log_density).all()


@given(elapsed=st.floats(0, 1e4))
@settings(max_examples=30, deadline=None)
def test_the_short_term_part_springs_back_exponentially(elapsed):
    model = a_model(kernel=Exponential(memory=3.0))
    state, _ = track(model, init(model), a_stream()[2][:5])
    left = short_term(model, relax(model, state, elapsed))
    np.testing.assert_allclose(left, short_term(model, state) * np.exp(-elapsed / 3.0), rtol=1e-9, atol=1e-28)


def test_a_state_at_rest_has_its_centroids_where_they_rest():
    model = a_model()
    state, _ = track(model, init(model), a_stream()[2])
    np.testing.assert_array_equal(efficacy(model, init(model)), model.constants.resting)
    assert (efficacy(model, state) != model.constants.resting).any()
    with pytest.raises(TypeError, match="elapsed"):
        relax(model, state)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_step_is_one_frame_of_a_track_and_both_can_move_the_state_in_place(kernel):
    _, _, x, times = a_stream()
    model = a_model(kernel=KERNELS[kernel])
    whole, response = track(model, init(model), x, times)
    state = init(model)
    for t, row in enumerate(x):
        moved, one = step(model, state, row, times[t], in_place=True)
        assert moved is state
        assert one.posterior[0].tobytes() == response.posterior[t].tobytes()
    again, _ = track(model, here := init(model), x, times, in_place=True)
    assert again is here
    for a, b, c in zip(whole, state, again, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


@pytest.mark.parametrize(
    ("x", "time", "sentence"),
    [
        (np.ones((2, 10)), None, r"x must be one frame of shape \(10,\); got \(2, 10\)"),
        (np.ones(9), None, r"x must be one frame of shape \(10,\); got \(9,\)"),
        (np.full(10, np.inf), None, "x must be finite everywhere"),
        (np.ones(10), 3.0, "time must be >= 4, the time of the last frame; got 3.0"),
        (np.ones(10), [5.0, 6.0], "time must be one time stamp"),
        (np.ones(10), np.nan, "time must be finite everywhere"),
    ],
)
def test_a_step_that_cannot_be_taken_leaves_the_state_as_it_was(x, time, sentence):
    model = a_model()
    state, _ = track(model, init(model), a_stream()[2][:5])
    before = [part.tobytes() for part in state]
    with pytest.raises(ValueError, match=sentence):
        step(model, state, x, time, in_place=True)
    assert [part.tobytes() for part in state] == before


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_permuting_the_centroids_permutes_the_posterior(seed):
    resting, prior, x, _ = a_stream(seed=seed)
    order = np.random.default_rng(seed).permutation(len(resting))
    params = Elasticity(kappa=8.0, pull=2.0, beta=1.0)
    here, there = prepare(params, resting, prior), prepare(params, resting[order], prior[order])
    a, b = track(here, init(here), x)[1].posterior, track(there, init(there), x)[1].posterior
    np.testing.assert_allclose(a[:, order], b, rtol=1e-9, atol=1e-12)


@given(seed=st.integers(0, 10**6), kappa=st.floats(0.1, 2000), pull=st.floats(0, 1e4))
@settings(max_examples=30, deadline=None)
def test_posteriors_are_probabilities(seed, kappa, pull):
    resting, prior, x, _ = a_stream(seed=seed)
    model = prepare(Elasticity(kappa=kappa, pull=pull), resting - 0.5, prior)
    posterior = track(model, init(model), x - 0.3)[1].posterior
    assert (posterior >= 0).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-9)


def test_the_posterior_of_a_frame_is_the_one_before_its_own_pull():
    model = a_model()
    x = a_stream()[2][0]
    state, response = step(model, init(model), x)
    assert response.posterior.tobytes() == read(model, init(model), x).posterior.tobytes()
    assert read(model, state, x).posterior.max() > response.posterior.max()


def test_pull_threshold_keeps_its_error_bound():
    resting, _, x, _ = a_stream(frames=100)
    prior = np.array([0.0009, 0.2991, 0.3, 0.2, 0.2])
    nearly_blind = {"kappa": 1e-4, "pull": 2.0, "kernel": Exponential(memory=5.0)}
    exact = prepare(Elasticity(**nearly_blind), resting, prior)
    rough = prepare(Elasticity(**nearly_blind, pull_threshold=1e-3), resting, prior)
    a, b = (short_term(m, track(m, init(m), x)[0]) for m in (exact, rough))
    gap = np.linalg.norm(a - b, axis=1)
    bound = 2.0 * 1e-3 / (1 - np.exp(-1 / 5.0))
    assert 0.3 * bound < gap[0] <= bound
    assert (gap[1:] < 1e-6).all()


def test_pull_threshold_hardly_changes_the_posterior():
    _, _, x, _ = a_stream(frames=400)
    sharp = {"kappa": 30.0, "kernel": Exponential(memory=5.0)}
    exact, rough = a_model(**sharp), a_model(**sharp, pull_threshold=1e-5)
    worst = np.abs(track(exact, init(exact), x)[1].posterior - track(rough, init(rough), x)[1].posterior).max()
    bound = 2.0 * 1e-5 / (1 - np.exp(-1 / 5.0))
    assert 0 < worst < 30.0 * 2 * bound


def test_followed_lengths_do_not_drift_over_a_long_stream():
    rng = np.random.default_rng(5)
    resting = np.abs(rng.normal(size=(6, 12))).astype(np.float32)
    model = prepare(Elasticity(kappa=5.0, pull=3.0, kernel=Exponential(memory=4.0)), resting)
    state = init(model)
    x = np.abs(rng.normal(size=(50_000, 12))).astype(np.float32)
    state, _ = track(model, state, x)
    short = short_term(model, state)
    a = model.constants.weights[0] * state.scale[0]
    np.testing.assert_allclose(a * state.resting_overlap[0], (short * resting).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(a * a * state.overlap[0, 0], (short * short).sum(axis=1), rtol=1e-5)


def test_long_silence_leaves_no_denormal_numbers():
    model = a_model(np.float32)
    state, _ = track(model, init(model), a_stream(np.float32)[2])
    for _ in range(100):
        state = relax(model, state, 5.0)
    stored = np.abs(state.stored[state.stored != 0])
    assert stored.size == 0 or stored.min() > np.finfo(np.float32).tiny


def count_compiled_loops():
    for dtype in (np.float32, np.float64):
        for options in ({}, {"beta": 1.0}, {"weight_dependence": 0.2}, {"likelihood": "linear"}):
            model = a_model(dtype, **options)
            track(model, init(model), a_stream(dtype)[2])
            read(model, init(model), a_stream(dtype)[2])
    return len(run_dense.signatures), len(read_dense.signatures)


def test_the_loops_are_compiled_once_per_dtype_with_and_without_moving_biases():
    """In a process of its own: what other tests have compiled does not count."""
    code = f"import runpy; print(runpy.run_path({__file__!r})['count_compiled_loops']())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(4, 4)"


def test_fitting_and_reading_do_not_compile_what_moves():
    """In a process of its own: what other tests have compiled does not count."""
    code = (
        "import numpy as np\nfrom springback.elastic import ElasticClustering, _dense, _inference\n"
        "ElasticClustering(2, random_state=0).fit(np.eye(4)).predict(np.eye(4))\n"
        "print([len(one.signatures) for one in (_dense.run_dense, _dense._relax, _dense._pull, _inference.biases)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0, 0, 0, 0]"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"kappa": 0.0}, "Elasticity.kappa must be > 0; got 0.0"),
        ({"pull": -1.0}, "Elasticity.pull must be >= 0; got -1.0"),
        ({"pull": None}, "Elasticity.pull must be a number unless beta is given; got None"),
        ({"beta": 0.0}, "Elasticity.beta must be > 0; got 0.0"),
        ({"weight_dependence": 1.5}, "Elasticity.weight_dependence must be <= 1; got 1.5"),
        ({"likelihood": "gaussian"}, "Elasticity.likelihood must be one of"),
        ({"novelty_threshold": 2.0}, "Elasticity.novelty_threshold must be <= 1; got 2.0"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(ValueError, match=sentence.replace(".", r"\.")):
        Elasticity(**{"pull": 1.0, **wrong})


def test_bad_inputs_are_refused_at_the_door():
    model = a_model()
    with pytest.raises(ValueError, match="finite everywhere"):
        track(model, init(model), [[np.nan] * 10])
    with pytest.raises(ValueError, match="shape"):
        track(model, init(model), [[1.0, 2.0]])
    with pytest.raises(ValueError, match="never run backwards"):
        track(model, init(model), np.ones((2, 10)), [3.0, 1.0])
    with pytest.raises(ValueError, match="finite everywhere"):
        prepare(Elasticity(pull=1.0), np.array([[np.inf]]))
