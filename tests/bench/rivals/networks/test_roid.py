"""Certain and diverse frames, weights averaged with the source, and a corrected prior, written plainly."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from springback_bench.rivals.networks.roid import Roid  # noqa: E402
from torch import nn  # noqa: E402


def network(norm):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Conv1d(2, 6, 3), norm, nn.ReLU(), nn.Flatten(), nn.Linear(24, 4)).eval()


def scaled(x):
    return (x - x.min()) / (x.max() - x.min())


def weights(p, trend):
    """How much each frame counts, (D,), in NumPy."""
    cosine = p @ trend / np.linalg.norm(p, axis=1) / np.linalg.norm(trend)
    diversity, certainty = scaled(1 - cosine), scaled((p * np.log(p)).sum(axis=1))
    return np.where(diversity < diversity.mean(), 0, np.exp(3 * diversity * certainty))


def corrected(p, recent):
    shares, k = recent.mean(axis=0), p.shape[-1]
    smooth = max(1 / len(recent), 1 / k) / shares.max()
    answer = p * (shares + smooth) / (1 + smooth * k)
    return answer / answer.sum()


def by_hand(net, frames, window, learning_rate, keep):
    """The whole method with `torch.optim.Adam`; group normalisation only."""
    norm = net[1].requires_grad_(True)
    source = [one.detach().clone() for one in norm.parameters()]
    adam = torch.optim.Adam(norm.parameters(), lr=learning_rate)
    trend, recent, answers = np.full(4, 1 / 4), [], []
    for t, frame in enumerate(frames):
        recent = [*recent, net(torch.from_numpy(frame)[None]).detach().softmax(dim=1)[0].numpy()][-window:]
        answers.append(corrected(recent[-1], np.array(recent)))
        if (t + 1) % window == 0:
            p = net(torch.from_numpy(frames[t + 1 - window : t + 1])).softmax(dim=1)
            clipped = p.clamp(max=0.99)
            ratios = -(clipped * (clipped / (1 - clipped) + 1e-5).log()).sum(dim=1)
            adam.zero_grad()
            (torch.from_numpy(weights(p.detach().numpy(), trend)) * ratios).mean().backward()
            adam.step()
            with torch.no_grad():
                for one, start in zip(norm.parameters(), source, strict=True):
                    one.copy_(keep * one + (1 - keep) * start)
            trend = 0.9 * trend + 0.1 * p.detach().numpy().mean(axis=0)
    return np.array(answers)


def test_it_follows_the_rule_of_the_article_with_the_window_as_a_batch():
    frames = np.random.default_rng(0).normal(size=(22, 2, 6)).astype(np.float32)
    settings = {"window": 5, "learning_rate": 0.05, "keep": 0.8}
    answers = Roid(network(nn.GroupNorm(2, 6)), (2, 6), **settings).track(frames)
    frozen = Roid(network(nn.GroupNorm(2, 6)), (2, 6), **{**settings, "learning_rate": 0.0}).track(frames)
    assert np.abs(answers - frozen).max() > 0.02
    assert np.allclose(answers, by_hand(network(nn.GroupNorm(2, 6)), frames, **settings), atol=1e-4)


def test_batch_normalisation_can_see_the_frames_of_the_window():
    frames = np.random.default_rng(0).normal(1.0, 2.0, size=(9, 2, 6)).astype(np.float32)
    net = network(nn.BatchNorm1d(6))
    answers = Roid(net, (2, 6), window=4, learning_rate=0.0, correct_prior=False).track(frames)
    net[1].train()
    for t in (0, 2, 8):
        with torch.no_grad():
            expected = net(torch.from_numpy(frames[max(0, t - 3) : t + 1])).softmax(dim=1)[-1]
        assert np.allclose(answers[t], expected, atol=1e-5)


def test_values_that_are_not_kept_are_those_of_the_source():
    model = Roid(network(nn.GroupNorm(2, 6)), (2, 6), window=2, learning_rate=0.5, keep=0.0)
    for frame in np.random.default_rng(0).normal(size=(6, 2, 6)):
        model.step(frame)
    assert model._state.steps[0] == 3
    assert np.array_equal(model._state.values, model._source)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"window": 1}, "window must be >= 2; got 1"), ({"keep": 1.5}, r"keep must be <= 1; got 1\.5")],
)
def test_bad_settings_are_refused_in_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        Roid(network(nn.GroupNorm(2, 6)), (2, 6), **wrong)


def test_the_prior_is_corrected_or_not():
    with pytest.raises(TypeError, match="correct_prior must be True or False; got 'no'"):
        Roid(network(nn.GroupNorm(2, 6)), (2, 6), correct_prior="no")
