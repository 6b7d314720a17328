"""The random continuous environment, against enumeration of every possible past, simulation and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from springback.data.environment import RandomContinuousEnvironment

IRREGULAR = np.array([0.0, 0.3, 1.7, 1.9, 4.0])


def power_law(ages):
    return 1.0 / (1.0 + ages) ** 2


def small_world(**changes):
    settings = {
        "means": np.array([[-1.0], [1.2]]),
        "spreads": np.array([0.5, 0.8]),
        "prior": np.array([0.7, 0.3]),
        "diffusion": 0.6,
        "beta": 0.4,
        "decay": 2.0,
    }
    return RandomContinuousEnvironment(**(settings | changes))


def log_normal(point, centre, variance):
    return sum(
        -0.5 * (a - b) ** 2 / variance - 0.5 * math.log(2 * math.pi * variance)
        for a, b in zip(point, centre, strict=True)
    )


def every_past(world, points, times):
    """All (labels, log of joint density) of a sequence: each observation continues an earlier one or is novel."""
    f = world.decay if callable(world.decay) else lambda age: math.exp(-age / world.decay)
    n_classes = len(world.means)
    prior = [1 / n_classes] * n_classes if world.prior is None else world.prior
    spreads = [world.spreads] * n_classes if np.isscalar(world.spreads) else world.spreads
    pasts = [([], set(), 0.0)]
    for t, point in enumerate(points):
        grown = []
        for labels, superseded, log_joint in pasts:
            odds = [0.0 if i in superseded else float(f(times[t] - times[i])) for i in range(t)]
            log_total = math.log(sum(odds) + world.beta)
            for i in range(t):
                if odds[i] == 0.0:
                    continue
                log_move = log_normal(point, points[i], world.diffusion**2 * (times[t] - times[i]))
                gone = superseded | {i} if world.identity == "object" else superseded
                grown.append(([*labels, labels[i]], gone, log_joint + math.log(odds[i]) - log_total + log_move))
            for k in range(n_classes):
                log_new = math.log(world.beta * prior[k]) + log_normal(point, world.means[k], spreads[k] ** 2)
                grown.append(([*labels, k], superseded, log_joint - log_total + log_new))
        pasts = grown
    return [(labels, log_joint) for labels, _, log_joint in pasts]


def enumerate_posterior(world, points, times, of=-1):
    """(P(C_of | all points), log p(all points)) by adding up every possible past."""
    pasts = every_past(world, points, times)
    log_joint = np.array([value for _, value in pasts])
    log_total = logsumexp(log_joint)
    shares = np.exp(log_joint - log_total)
    label = np.array([labels[of] for labels, _ in pasts])
    return np.array([shares[label == k].sum() for k in range(len(world.means))]), log_total


def enumerate_forward(world, points, times):
    posteriors, totals = zip(
        *(enumerate_posterior(world, points[: t + 1], times[: t + 1]) for t in range(len(times))), strict=True
    )
    return np.array(posteriors), np.diff(totals, prepend=0.0)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "changes",
    [{}, {"beta": 0.02, "decay": 10.0}, {"beta": 5.0}, {"decay": power_law}, {"prior": None, "spreads": 0.7}],
    ids=["default", "rarely novel", "often novel", "power law", "alike"],
)
def test_posterior_and_likelihood_equal_the_sum_over_every_possible_past(changes, seed):
    world = small_world(**changes)
    points = world.sample(IRREGULAR, seed=seed).points
    posterior, log_likelihood = enumerate_forward(world, points, IRREGULAR)
    assert np.abs(world.exact_posterior(points, IRREGULAR) - posterior).max() < 1e-10
    assert np.abs(world.log_likelihood(points, IRREGULAR) - log_likelihood).max() < 1e-10


def test_three_classes_in_three_dimensions_equal_the_sum_over_every_possible_past():
    means = np.random.default_rng(4).normal(size=(3, 3))
    world = small_world(means=means, spreads=np.array([0.5, 1.0, 0.7]), prior=np.array([0.2, 0.5, 0.3]))
    points = world.sample(IRREGULAR[:4], seed=9).points
    posterior, log_likelihood = enumerate_forward(world, points, IRREGULAR[:4])
    assert np.abs(world.exact_posterior(points, IRREGULAR[:4]) - posterior).max() < 1e-10
    assert np.abs(world.log_likelihood(points, IRREGULAR[:4]) - log_likelihood).max() < 1e-10


def test_later_observations_tell_nothing_about_an_earlier_label():
    world = small_world()
    points = world.sample(IRREGULAR, seed=5).points
    filtered = world.exact_posterior(points, IRREGULAR)
    for t in range(5):
        assert enumerate_posterior(world, points, IRREGULAR, of=t)[0] == pytest.approx(filtered[t], abs=1e-10)


@pytest.mark.parametrize(
    ("changes", "posterior_error", "nats_lost"),
    [({}, (0.015, 0.034), (-0.01, 0.05)), ({"beta": 0.02, "decay": 10.0}, (0.001, 0.015), (0.11, 0.24))],
    ids=["default", "rarely novel"],
)
def test_where_objects_count_once_the_theorem_is_off_by_a_little(changes, posterior_error, nats_lost):
    """The bounds are four standard errors around the means of 800 other worlds: 0.0245 and 0.020; 0.006 and 0.174."""
    world = small_world(identity="object", **changes)
    errors, losses = [], []
    for seed in range(200):
        points = world.sample(IRREGULAR, seed=seed).points
        posterior, log_likelihood = enumerate_forward(world, points, IRREGULAR)
        theorem = world.infer(points, IRREGULAR)
        assert theorem.posterior[:2] == pytest.approx(posterior[:2], abs=1e-10)
        errors.append(np.abs(theorem.posterior - posterior)[2:, 0].mean())
        losses.append((log_likelihood - theorem.log_likelihood)[2:].mean())
    assert posterior_error[0] < np.mean(errors) < posterior_error[1]
    assert nats_lost[0] < np.mean(losses) < nats_lost[1]


def test_where_objects_count_once_later_observations_do_tell():
    world = small_world(identity="object")
    changes = []
    for seed in range(30):
        points = world.sample(IRREGULAR, seed=seed).points
        at_once = enumerate_posterior(world, points[:2], IRREGULAR[:2])[0]
        changes.append(np.abs(enumerate_posterior(world, points, IRREGULAR, of=1)[0] - at_once).max())
    assert max(changes) > 1e-3


def test_784_dimensions_do_not_underflow():
    rng = np.random.default_rng(0)
    world = RandomContinuousEnvironment(
        means=rng.uniform(0.0, 1.0, (10, 784)), spreads=0.3, diffusion=0.02, beta=0.1, decay=3.0
    )
    seen = world.sample(60, seed=1)
    inferred = world.infer(seen.points, seen.times)
    assert np.isfinite(inferred.log_likelihood).all()
    assert inferred.posterior.sum(axis=1) == pytest.approx(np.ones(60))
    assert (inferred.posterior.argmax(axis=1) == seen.labels).all()
    far_away = world.infer(seen.points + 1e4 * np.arange(60)[:, None], seen.times)
    assert np.isfinite(far_away.log_likelihood).all()
    assert np.isfinite(far_away.posterior).all()
    two = small_world(means=world.means[:2].copy())
    posterior, log_likelihood = enumerate_forward(two, seen.points[:3], seen.times[:3])
    assert two.exact_posterior(seen.points[:3], seen.times[:3]) == pytest.approx(posterior, abs=1e-10)
    assert two.log_likelihood(seen.points[:3], seen.times[:3]) == pytest.approx(log_likelihood, rel=1e-12)


def normal_density(x, mean, spread):
    return math.exp(-((x - mean) ** 2) / (2 * spread**2)) / (spread * math.sqrt(2 * math.pi))


def test_a_long_watch_gives_the_plain_recursion():
    world = small_world()
    seen = world.sample(600, seed=3)
    inferred = world.infer(seen.points, seen.times)
    posterior = np.zeros((600, 2))
    for t in range(600):
        joint = world.beta * world.prior * stats.norm.pdf(seen.points[t, 0], world.means[:, 0], world.spreads)
        for i in range(t):
            age = seen.times[t] - seen.times[i]
            near = normal_density(seen.points[t, 0], seen.points[i, 0], 0.6 * math.sqrt(age)) if age < 80 else 0.0
            joint = joint + math.exp(-age / 2.0) * near * posterior[i]
        posterior[t] = joint / joint.sum()
        if t in (0, 255, 256, 257, 599):
            odds = np.exp(-(seen.times[t] - seen.times[:t]) / 2.0).sum() + world.beta
            assert inferred.log_likelihood[t] == pytest.approx(math.log(joint.sum() / odds), abs=1e-10)
    assert np.abs(inferred.posterior - posterior).max() < 1e-10


@pytest.fixture(scope="module")
def many_short_watches():
    """8,000 watches of three looks: points (n, 3), labels (n, 3), posterior of class 0 (n, 3)."""
    world = small_world()
    times = np.array([0.0, 1.0, 1.5])
    watches = [world.sample(times, seed=rng) for rng in np.random.default_rng(21).spawn(8_000)]
    points = np.array([seen.points[:, 0] for seen in watches])
    labels = np.array([seen.labels for seen in watches])
    posterior = np.array([world.exact_posterior(seen.points, times)[:, 0] for seen in watches])
    return points, labels, posterior


def test_simulated_classes_in_a_cell_of_observations_are_as_frequent_as_the_posterior_says(many_short_watches):
    points, labels, posterior = many_short_watches
    cells = (np.digitize(points, [-0.9, -0.3, 0.6]) * [1, 4, 16]).sum(axis=1)
    scores = []
    for cell in np.unique(cells):
        inside = cells == cell
        believed = posterior[inside, 2]
        variance = (believed * (1 - believed)).sum()
        if variance > 3:
            scores.append(((labels[inside, 2] == 0) - believed).sum() / math.sqrt(variance))
    assert len(scores) > 25
    assert np.abs(scores).max() < 4
    assert stats.chi2.sf(np.square(scores).sum(), len(scores)) > 1e-3


def test_the_posterior_is_calibrated(many_short_watches):
    _, labels, posterior = many_short_watches
    for t in range(3):
        believed = posterior[:, t]
        for low in np.arange(0.0, 1.0, 0.1):
            chosen = (believed >= low) & (believed < low + 0.1)
            variance = (believed[chosen] * (1 - believed[chosen])).sum()
            if variance > 3:
                assert abs(((labels[chosen, t] == 0) - believed[chosen]).sum()) < 4.5 * math.sqrt(variance)
        given_to_truth = np.where(labels[:, t] == 0, believed, 1 - believed)
        promised = believed**2 + (1 - believed) ** 2
        gap = given_to_truth - promised
        assert abs(gap.mean()) < 4 * gap.std() / math.sqrt(len(gap))


def test_the_likelihood_is_a_density():
    world = small_world()
    past = np.array([[-0.8], [0.1]])
    grid = np.linspace(-12.0, 12.0, 4001)
    times = np.array([0.0, 1.0, 1.5])
    density = [math.exp(world.log_likelihood(np.vstack([past, [[x]]]), times)[2]) for x in grid]
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("decay", [3.0, power_law], ids=["exponential", "power law"])
def test_novel_and_continued_observations_come_with_the_odds_beta_and_f(decay):
    world = small_world(decay=decay)
    n_steps, lags = 40, 8
    counts = np.zeros(lags + 2)
    for rng in np.random.default_rng(8).spawn(300):
        parents = world.sample(n_steps, seed=rng).parents
        lag = np.arange(n_steps) - parents
        kind = np.where(parents < 0, 0, np.minimum(lag, lags + 1))
        counts += np.bincount(kind, minlength=lags + 2)
    f = (lambda age: math.exp(-age / 3.0)) if decay == 3.0 else power_law
    expected = np.zeros(lags + 2)
    for t in range(n_steps):
        odds = np.array([f(float(age)) for age in range(1, t + 1)])
        total = odds.sum() + world.beta
        expected[0] += world.beta / total
        for age, odd in enumerate(odds, start=1):
            expected[min(age, lags + 1)] += odd / total
    assert stats.chisquare(counts, 300 * expected).pvalue > 1e-3


def test_novel_objects_follow_the_prior_and_the_spread_of_their_class():
    world = small_world(beta=1e9)
    seen = world.sample(6000, seed=12)
    assert seen.novel.all()
    counts = np.bincount(seen.labels, minlength=2)
    assert stats.chisquare(counts, 6000 * world.prior).pvalue > 1e-3
    for k in range(2):
        standard = (seen.points[seen.labels == k, 0] - world.means[k, 0]) / world.spreads[k]
        assert stats.kstest(standard, "norm").pvalue > 1e-3


@pytest.mark.parametrize("identity", ["observation", "object"])
def test_the_variance_of_a_move_grows_as_diffusion_squared_times_the_time_passed(identity):
    world = small_world(means=np.zeros((2, 3)), decay=6.0, beta=0.2, identity=identity)
    times = np.cumsum(np.random.default_rng(2).exponential(1.0, 4000) + 1e-3)
    seen = world.sample(times, seed=4)
    went_on = np.flatnonzero(~seen.novel)
    moves = seen.points[went_on] - seen.points[seen.parents[went_on]]
    ages = times[went_on] - times[seen.parents[went_on]]
    for low, high in ((0.0, 0.7), (0.7, 2.0), (2.0, 5.0), (5.0, 50.0)):
        chosen = (ages > low) & (ages <= high)
        assert chosen.sum() > 100
        standard = (moves[chosen] / (0.6 * np.sqrt(ages[chosen])[:, None])).ravel()
        assert stats.kstest(standard, "norm").pvalue > 1e-3


def test_a_continued_object_keeps_its_class_and_its_name():
    seen = small_world().sample(500, seed=6)
    went_on = np.flatnonzero(~seen.novel)
    assert (seen.parents[went_on] < went_on).all()
    assert (seen.labels[went_on] == seen.labels[seen.parents[went_on]]).all()
    assert (seen.objects[went_on] == seen.objects[seen.parents[went_on]]).all()
    assert (seen.objects[seen.novel] == np.arange(seen.novel.sum())).all()
    assert (seen.novel == (seen.parents == -1)).all()


def test_where_objects_count_once_each_goes_on_from_where_it_was_last_seen():
    seen = small_world(identity="object", decay=8.0).sample(400, seed=6)
    last = {}
    for t in range(400):
        if not seen.novel[t]:
            assert seen.parents[t] == last[seen.objects[t]]
        last[seen.objects[t]] = t
    branching = small_world(decay=8.0).sample(400, seed=6).parents
    assert len(np.unique(branching[branching >= 0])) < (branching >= 0).sum()


def test_where_objects_count_once_the_share_of_novel_ones_follows_the_objects_last_seen():
    world = small_world(identity="object", decay=4.0)
    came, expected, variance = 0, 0.0, 0.0
    for rng in np.random.default_rng(13).spawn(200):
        seen = world.sample(30, seed=rng)
        last = {}
        for t in range(30):
            chance = world.beta / (world.beta + sum(math.exp(-(t - when) / 4.0) for when in last.values()))
            came, expected, variance = came + seen.novel[t], expected + chance, variance + chance * (1 - chance)
            last[seen.objects[t]] = t
    assert abs(came - expected) < 4 * math.sqrt(variance)


def test_irregular_times_are_kept_and_a_stretched_clock_is_the_same_world():
    world = small_world()
    seen = world.sample(IRREGULAR, seed=7)
    assert (seen.times == IRREGULAR).all()
    slow = replace(world, decay=world.decay * 10, diffusion=world.diffusion / math.sqrt(10))
    stretched = slow.sample(10 * IRREGULAR, seed=7)
    assert stretched.points == pytest.approx(seen.points)
    assert slow.exact_posterior(seen.points, 10 * IRREGULAR) == pytest.approx(
        world.exact_posterior(seen.points, IRREGULAR)
    )


def test_an_overwhelming_beta_gives_the_static_mixture():
    world = small_world(beta=1e15)
    seen = small_world().sample(50, seed=3)
    joint = world.prior * stats.norm.pdf(seen.points, world.means[:, 0], world.spreads)
    inferred = world.infer(seen.points, seen.times)
    assert inferred.posterior == pytest.approx(joint / joint.sum(axis=1, keepdims=True), abs=1e-10)
    assert inferred.log_likelihood == pytest.approx(np.log(joint.sum(axis=1)), abs=1e-10)


def test_a_kernel_that_forgets_at_once_gives_the_static_mixture():
    forgetful, static = small_world(decay=np.zeros_like), small_world(beta=1e15)
    points = small_world().sample(20, seed=3).points
    assert forgetful.exact_posterior(points, np.arange(20.0)) == pytest.approx(
        static.exact_posterior(points, np.arange(20.0)), abs=1e-10
    )
    assert forgetful.sample(20, seed=3).novel.all()


def test_a_sample_depends_on_the_seed_alone_and_a_longer_one_begins_with_the_shorter():
    world = small_world()
    a, b, longer, other = world.sample(50, 5), world.sample(50, 5), world.sample(80, 5), world.sample(50, 6)
    for field in ("points", "times", "labels", "parents", "objects", "novel"):
        assert (getattr(a, field) == getattr(b, field)).all()
        assert (getattr(a, field) == getattr(longer, field)[:50]).all()
    assert not np.allclose(a.points, other.points)
    assert len(a) == 50
    rng = np.random.default_rng(5)
    assert not np.allclose(world.sample(50, rng).points, world.sample(50, rng).points)


def test_the_world_does_not_share_memory_with_the_caller():
    means, times = np.array([[-1.0], [1.0]]), np.arange(3.0)
    world = small_world(means=means)
    seen = world.sample(times, seed=0)
    means[:], times[:] = 99.0, 99.0
    assert world.means.tolist() == [[-1.0], [1.0]]
    assert seen.times.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        world.means[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"means": np.zeros(3)}, "means must have shape"),
        ({"means": np.zeros((0, 2))}, "means must have at least one class"),
        ({"means": np.array([[np.nan], [0.0]])}, "means must be finite"),
        ({"spreads": 0.0}, "spreads must be > 0; got 0.0"),
        ({"spreads": np.array([1.0, -1.0])}, "spreads must be > 0"),
        ({"spreads": np.ones(3)}, "spreads must have shape"),
        ({"diffusion": -0.1}, "diffusion must be > 0; got -0.1"),
        ({"beta": 0.0}, "beta must be > 0; got 0.0"),
        ({"beta": math.inf}, "beta must be finite"),
        ({"decay": 0.0}, "decay must be > 0; got 0.0"),
        ({"prior": np.array([0.5, 0.4])}, "prior must sum to one; got 0.9"),
        ({"prior": np.array([1.5, -0.5])}, "prior must be > 0"),
        ({"prior": np.ones(1)}, "prior must have shape"),
        ({"identity": "person"}, "identity must be one of 'observation', 'object'; got 'person'"),
    ],
)
def test_a_bad_world_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=f"RandomContinuousEnvironment.{sentence}"):
        small_world(**changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"means": [[0.0]]}, "means must be a NumPy array; got list"), ({"decay": "slow"}, "decay must be a number")],
)
def test_a_world_of_the_wrong_type_is_refused(changes, sentence):
    with pytest.raises(TypeError, match=sentence):
        small_world(**changes)


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (0, "times must be >= 1; got 0"),
        (np.array([0.0, 1.0, 1.0]), "times must increase at every step; got 'a step of 0'"),
        (np.array([1.0, 0.5]), "times must increase"),
        (np.array([0.0, np.inf]), "times must be finite"),
        (np.zeros((2, 2)), "times must have shape"),
        (np.array([]), "times must have at least one entry"),
    ],
)
def test_bad_times_are_refused(times, sentence):
    with pytest.raises(ValueError, match=sentence):
        small_world().sample(times, seed=1)


@pytest.mark.parametrize("seed", [None, 1.5, "seven"])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(TypeError, match="seed must be a whole number"):
        small_world().sample(3, seed=seed)


@pytest.mark.parametrize(
    ("decay", "sentence"),
    [
        (lambda ages: -ages, "must be finite and >= 0"),
        (lambda ages: ages * np.nan, "must be finite and >= 0"),
        (lambda _: np.ones(7), "must have shape"),
    ],
)
def test_a_bad_decay_function_is_refused_when_it_is_used(decay, sentence):
    with pytest.raises(ValueError, match=sentence):
        small_world(decay=decay).sample(3, seed=1)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (np.zeros((3, 2)), "points must have shape"),
        (np.zeros((2, 1)), "points must have shape"),
        (np.array([[0.0], [np.nan], [0.0]]), "points must be finite"),
    ],
)
def test_bad_points_are_refused(points, sentence):
    with pytest.raises(ValueError, match=sentence):
        small_world().infer(points, np.arange(3.0))
