"""The torch layer agrees with `springback.elastic`, and with the plain formula, up to rounding."""

import numpy as np
import pytest

import torch
from springback import elastic
from springback.torch import CentroidSprings, Springs, WindowSprings, algorithm

SETTINGS = {
    "soft-max": {"likelihood": "exponential", "kappa": 20.0, "pull": 3.0},
    "one in the paper": {"likelihood": "exponential", "pull": 0.7},
    "raw inputs": {"likelihood": "exponential", "kappa": 20.0, "pull": 3.0, "unit_inputs": False},
    "winner takes all": {"likelihood": "exponential", "inference": "maximum", "kappa": 20.0, "pull": 3.0},
    "weight dependence": {"likelihood": "exponential", "kappa": 20.0, "pull": 3.0, "weight_dependence": -0.3},
    "moving biases": {"likelihood": "exponential", "kappa": 20.0, "pull": 3.0, "beta": 1.5},
    "derived pull": {"likelihood": "exponential", "kappa": 5.0, "pull": None, "beta": 0.8},
    "only biases move": {"likelihood": "exponential", "kappa": 5.0, "pull": 0.0, "beta": 0.8},
    "novelty": {"likelihood": "exponential", "kappa": 20.0, "pull": 3.0, "novelty_threshold": 0.75, "beta": 2.0},
    "linear": {"likelihood": "linear", "pull": 3.0},
    "linear, the paper's line": {"likelihood": "linear", "pull": 3.0, "bias_rule": "line", "beta": 2.0},
    "linear, moving biases": {"likelihood": "linear", "pull": None, "beta": 1.0},
    "linear, no biases": {"likelihood": "linear", "pull": 3.0, "bias_rule": "zero", "weight_dependence": 0.4},
    "linear, soft-max": {
        "likelihood": "linear",
        "pull": 3.0,
        "inference": "softmax",
        "kappa": 8.0,
        "novelty_threshold": 0.7,
    },
    "linear, winner takes all": {"likelihood": "linear", "pull": 3.0, "inference": "maximum"},
}


def a_stream(seed=3, steps=60, units=5, features=7):
    rng = np.random.default_rng(seed)
    resting = rng.uniform(0, 1, (units, features))
    prior = rng.dirichlet(np.full(units, 4.0))
    frames = (
        rng.normal(size=(steps, features)) * rng.uniform(0.5, 3, (steps, 1)) + resting[rng.integers(0, units, steps)]
    )
    frames[[5, 6, 30]] = 0
    return resting, prior, frames


@pytest.mark.parametrize("memory", [0.8, 4.0])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_layer_equals_elastic_clustering(name, memory):
    resting, prior, frames = a_stream()
    params = elastic.Elasticity(kernel=elastic.Exponential(memory=memory), **SETTINGS[name])
    model = elastic.prepare(params, resting, prior)
    state, response = elastic.track(model, elastic.init(model), frames)

    springs = CentroidSprings(memory=memory, **SETTINGS[name])
    weight, bias = torch.from_numpy(resting), torch.from_numpy(np.log(prior))
    start = algorithm.init(springs, weight, 1)
    end, answer = algorithm.track(springs, weight, bias, start, torch.from_numpy(frames).unsqueeze(1))

    np.testing.assert_allclose(answer.posterior[:, 0], response.posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(algorithm.short_term(end)[0], elastic.short_term(model, state), rtol=1e-8, atol=1e-11)
    assert response.posterior.max(axis=1).std() > 0.01
    if name == "novelty":
        pulling = response.similarity >= 0.75
        assert pulling.any()
        assert not pulling.all()


@pytest.mark.parametrize("seed", [0, 1])
def test_springs_are_the_formula_written_in_numpy(seed):
    rng = np.random.default_rng(seed)
    weight, bias, frames = rng.normal(size=(4, 6)), rng.normal(size=4), rng.normal(size=(30, 6))
    pull, memory = 7.0, 5 / 3
    short, outputs = np.zeros((4, 6)), []
    for x in frames:
        unit = x / np.sqrt(x @ x)
        short = np.exp(-1 / memory) * short
        logits = weight @ x + bias + short @ unit
        joint = np.exp(logits - logits.max())
        short = short + pull * np.outer(joint / joint.sum(), unit)
        outputs.append(logits)

    springs = Springs(pull=pull, memory=memory, continuity=0.0)
    tensors = torch.from_numpy(weight), torch.from_numpy(bias)
    start = algorithm.init(springs, tensors[0], 1)
    end, answer = algorithm.track(springs, *tensors, start, torch.from_numpy(frames).unsqueeze(1))
    np.testing.assert_allclose(answer.output[:, 0], outputs, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(algorithm.short_term(end)[0], short, rtol=1e-10, atol=1e-12)


def test_with_raw_inputs_the_output_is_that_of_the_efficacy():
    rng = np.random.default_rng(4)
    weight, frames = rng.normal(size=(4, 6)), rng.normal(size=(20, 6))
    springs = Springs(pull=0.5, memory=3.0, unit_inputs=False, continuity=0.0)
    state = algorithm.init(springs, torch.from_numpy(weight), 1)
    for x in torch.from_numpy(frames):
        efficacy = torch.from_numpy(weight) + springs.decay * algorithm.short_term(state)[0]
        state, response = algorithm.step(springs, torch.from_numpy(weight), None, state, x.unsqueeze(0))
        torch.testing.assert_close(response.output[0], efficacy @ x)


def test_moving_biases_of_a_layer_are_the_logarithm_of_what_is_expected():
    rng = np.random.default_rng(5)
    weight, bias = torch.from_numpy(rng.normal(size=(3, 4))), torch.from_numpy(rng.normal(size=3))
    springs = Springs(pull=0.0, beta=0.7, memory=2.0)
    state, past = algorithm.init(springs, weight, 1), []
    prior = np.exp(bias.numpy()) / np.exp(bias.numpy()).sum()
    for t, x in enumerate(torch.from_numpy(rng.normal(size=(12, 4)))):
        decays = [np.exp(-(t - i) / 2.0) for i in range(t)]
        seen = sum((d * q for d, q in zip(decays, past, strict=True)), np.zeros(3))
        expected = (seen + 0.7 * prior) / (sum(decays) + 0.7)
        state, response = algorithm.step(springs, weight, bias, state, x.unsqueeze(0))
        past.append(response.posterior[0].numpy())
        joint = expected * np.exp((weight @ x).numpy())
        np.testing.assert_allclose(past[-1], joint / joint.sum(), rtol=1e-10)


def test_novel_inputs_of_a_layer_pull_nothing():
    springs = Springs(pull=3.0, novelty_threshold=0.9)
    weight = torch.eye(2, dtype=torch.float64)
    state = algorithm.init(springs, weight, 2)
    x = torch.tensor([[5.0, 0.1], [5.0, 4.0]], dtype=torch.float64)
    state, _ = algorithm.step(springs, weight, None, state, x)
    pulled = algorithm.short_term(state).abs().amax(dim=(1, 2))
    assert pulled[0] > 2
    assert pulled[1] == 0


@pytest.mark.parametrize("rule", ["ratio", "maximum"])
def test_a_layer_pulls_by_other_posteriors_too(rule):
    springs = Springs(pull=3.0, inference=rule)
    weight = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    state = algorithm.init(springs, weight, 2)
    state, response = algorithm.step(springs, weight, None, state, torch.tensor([[3.0, 1.0], [0.0, -1.0]]))
    first = {"ratio": [0.75, 0.25, 0.0], "maximum": [1.0, 0.0, 0.0]}[rule]
    torch.testing.assert_close(response.posterior[0], torch.tensor(first))
    if rule == "ratio":
        torch.testing.assert_close(response.posterior[1], torch.full((3,), 1 / 3))
        assert algorithm.short_term(state)[1].abs().max() == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_frame_that_is_not_a_number_leaves_no_trace(bad):
    springs = Springs(pull=3.0, beta=1.0)
    weight, frames = torch.eye(3), torch.ones(3, 1, 3)
    frames[1, 0, 1] = bad
    silent = frames.clone()
    silent[1] = 0
    end, _ = algorithm.track(springs, weight, None, algorithm.init(springs, weight, 1), frames)
    same, _ = algorithm.track(springs, weight, None, algorithm.init(springs, weight, 1), silent)
    assert all(torch.equal(a, b) for a, b in zip(end, same, strict=True))


@pytest.mark.parametrize("beta", [None, 1.0])
def test_a_long_window_equals_the_matrix_and_a_short_one_forgets_in_bounds(beta):
    rng = np.random.default_rng(6)
    weight, frames = torch.from_numpy(rng.normal(size=(5, 6))), torch.from_numpy(rng.normal(size=(40, 3, 6)))
    pull, memory = 2.0, 2.0
    whole = Springs(pull=pull, memory=memory, beta=beta)
    _, wanted = algorithm.track(whole, weight, None, algorithm.init(whole, weight, 3), frames)
    long = WindowSprings(pull=pull, memory=memory, beta=beta, window=40)
    _, got = algorithm.track(long, weight, None, algorithm.init(long, weight, 3), frames)
    torch.testing.assert_close(got.output, wanted.output)
    short = WindowSprings(pull=pull, memory=memory, beta=beta, window=12)
    _, near = algorithm.track(short, weight, None, algorithm.init(short, weight, 3), frames)
    bound = pull * np.exp(-13 / memory) / (1 - np.exp(-1 / memory))
    assert 0 < (near.output - wanted.output).abs().max() < 3 * bound
