"""Each network against plain NumPy."""

import numpy as np
import pytest
from scipy.signal import correlate2d

import torch
from springback_paper.baselines import Cnn, Lstm, Mlp, Rnn, n_parameters

RNG = np.random.default_rng(0)


def weights(model):
    return {name: one.detach().numpy().astype(float) for name, one in model.state_dict().items()}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def frames(*shape):
    return RNG.random((*shape, 28, 28)).astype(np.float32)


def test_the_mlp_is_two_matrices_and_a_rectification():
    model, x = Mlp(n_hidden=7, seed=3), frames(4)
    w = weights(model)
    hidden = np.maximum(x.reshape(4, -1) @ w["hidden.weight"].T + w["hidden.bias"], 0)
    np.testing.assert_allclose(model.features(torch.tensor(x)).detach(), hidden, atol=1e-5)
    np.testing.assert_allclose(model(torch.tensor(x)).detach(), hidden @ w["head.weight"].T + w["head.bias"], atol=1e-5)


def filtered_and_pooled(maps, kernels, bias):
    out = []
    for kernel, offset in zip(kernels, bias, strict=True):
        total = sum(correlate2d(one, part, mode="same") for one, part in zip(maps, kernel, strict=True))
        total = np.maximum(total + offset, 0)
        height, width = total.shape
        out.append(total.reshape(height // 2, 2, width // 2, 2).max(axis=(1, 3)))
    return np.array(out)


def test_the_cnn_filters_rectifies_pools_twice_and_has_a_dense_layer():
    model, x = Cnn(n_filters=3, n_hidden=6, seed=1).eval(), frames(2)
    w = weights(model)
    for image, got in zip(x, model.features(torch.tensor(x)).detach().numpy(), strict=True):
        maps = filtered_and_pooled(image[None].astype(float), w["first.weight"], w["first.bias"])
        maps = filtered_and_pooled(maps, w["second.weight"], w["second.bias"])
        hidden = np.maximum(w["hidden.weight"] @ maps.ravel() + w["hidden.bias"], 0)
        np.testing.assert_allclose(got, hidden, atol=1e-5)


def test_dropout_hides_two_fifths_of_the_hidden_units_only_while_training():
    model, x = Cnn(seed=0), torch.tensor(frames(20))
    lit = model.eval().features(x) > 0
    kept = (model.train().features(x) > 0)[lit].float().mean()
    assert 0.55 < kept < 0.65
    assert torch.equal(model.eval().features(x), model.features(x))


def test_the_rnn_is_the_tanh_recursion():
    model, x = Rnn(n_hidden=5, seed=2), frames(4, 3)
    w = weights(model)
    h = np.zeros((3, 5))
    logits, (last,) = model(torch.tensor(x))
    for t in range(4):
        h = np.tanh(
            x[t].reshape(3, -1) @ w["cells.weight_ih_l0"].T + w["cells.bias_ih_l0"] + h @ w["cells.weight_hh_l0"].T
        )
        np.testing.assert_allclose(logits[t].detach(), h @ w["head.weight"].T, atol=1e-5)
    np.testing.assert_allclose(last[0].detach(), h, atol=1e-5)


def test_the_lstm_has_three_gates_and_a_cell():
    model, x = Lstm(n_hidden=5, seed=2), frames(4, 3)
    w = weights(model)
    h = c = np.zeros((3, 5))
    logits, state = model(torch.tensor(x))
    for t in range(4):
        drive = x[t].reshape(3, -1) @ w["cells.weight_ih_l0"].T + w["cells.bias_ih_l0"] + h @ w["cells.weight_hh_l0"].T
        enter, forget, new, leave = np.split(drive, 4, axis=1)
        c = sigmoid(forget) * c + sigmoid(enter) * np.tanh(new)
        h = sigmoid(leave) * np.tanh(c)
        np.testing.assert_allclose(logits[t].detach(), h @ w["head.weight"].T, atol=1e-5)
    np.testing.assert_allclose(state[0][0].detach(), h, atol=1e-5)
    np.testing.assert_allclose(state[1][0].detach(), c, atol=1e-5)


@pytest.mark.parametrize("kind", [Rnn, Lstm])
def test_a_stream_in_two_parts_is_the_whole_stream(kind):
    model, x = kind(n_hidden=4), torch.tensor(frames(9, 2))
    whole, last = model(x)
    early, state = model(x[:4])
    late, end = model(x[4:], state)
    torch.testing.assert_close(torch.cat([early, late]), whole)
    for one, other in zip(end, last, strict=True):
        torch.testing.assert_close(one, other)


def test_the_parameter_counts_are_those_of_the_paper():
    assert n_parameters(Mlp()) == 784 * 40 + 40 + 40 * 11 + 11
    assert n_parameters(Cnn()) == (25 * 8 + 8) + (25 * 64 + 8) + (8 * 49 * 400 + 400) + (400 * 11 + 11)
    assert n_parameters(Rnn()) == 400 * (784 + 400 + 1) + 400 * 11
    assert n_parameters(Lstm()) == 315_990


@pytest.mark.parametrize("kind", [Mlp, Cnn, Rnn, Lstm])
def test_the_seed_alone_sets_the_first_weights(kind):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = kind(seed=1), kind(seed=1), kind(seed=2)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(first.head.weight, again.head.weight)
    assert not torch.equal(first.head.weight, other.head.weight)


@pytest.mark.parametrize("kind", [Mlp, Cnn, Rnn, Lstm])
def test_no_units_or_a_negative_seed_are_refused(kind):
    with pytest.raises(ValueError, match="n_hidden must be >= 1; got 0"):
        kind(n_hidden=0)
    with pytest.raises(ValueError, match="seed must be >= 0; got -1"):
        kind(seed=-1)


def test_a_dropout_above_one_is_refused():
    with pytest.raises(ValueError, match="dropout must be <= 1"):
        Cnn(dropout=1.5)
