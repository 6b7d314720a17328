"""Frames become independent coin flips with the right chances."""

import numpy as np
import pytest
from scipy import stats

from springback.spiking import Recorder, Weights, init, init_training, respond, track, train
from springback.spiking.constants import spike_odds
from springback.spiking.encoding import (
    draw_spikes,
    fill_alias_table,
    new_alias_table,
    poisson_distribution,
    spike_train,
    spikes_bound,
)
from springback.spiking.inference import STREAMING
from springback.spiking.params import Circuit, LongTermStdp, Presentation, Streaming
from springback.spiking.training import TRAINING
from tests.spiking.oracle import random_bits, stream_key


def raster(frame, intensity, n_steps, key):
    """Spikes of a frame as a dense (n_steps, n) array."""
    rates = spike_odds(Presentation(intensity_max=200.0), intensity, 0.5)
    total = rates[frame].sum()
    which, first = np.zeros(spikes_bound(total, n_steps), np.int32), np.zeros(n_steps + 1, np.int64)
    n = draw_spikes(frame, rates, n_steps, np.uint64(key), new_alias_table(len(frame), total, len(which)), which, first)
    dense = np.zeros((n_steps, len(frame)), int)
    np.add.at(dense, (np.repeat(np.arange(n_steps), np.diff(first)), which[:n]), 1)
    return dense


def plain_spikes(frame, rates, n_steps, key):
    """The same in the order in which it is defined: step by step, a number for the count, then one for each pixel."""
    alias_table = new_alias_table(len(frame), rates[frame].sum(), 0)
    n_lit, total = fill_alias_table(frame, rates, alias_table)
    lowest, n_entries = poisson_distribution(total, alias_table.cumulative)
    numbers = random_bits(key)
    found = []
    for _ in range(n_steps):
        level = (next(numbers) >> 11) / 2**53
        count = lowest + int(np.searchsorted(alias_table.cumulative[: n_entries - 1], level, side="right"))
        picked = []
        for bits in (next(numbers) for _ in range(count)):
            at = ((bits >> 32) * n_lit) >> 32
            keep = (bits & 0xFFFFFFFF) < int(alias_table.share[at])
            picked.append(int(alias_table.pixel[at] if keep else alias_table.alias[at]))
        found.append(list(dict.fromkeys(picked)))
    return found


@pytest.mark.parametrize("intensity", [0.3, 2.0, 20.0, 60.0])
def test_the_numbers_are_drawn_in_the_order_of_the_definition(intensity):
    frame = np.random.default_rng(3).integers(0, 256, 60).astype(np.uint8) * (np.arange(60) % 3 > 0).astype(np.uint8)
    rates, n_steps = spike_odds(Presentation(intensity_max=200.0), intensity, 0.5), 300
    total = rates[frame].sum()
    which, first = np.zeros(spikes_bound(total, n_steps), np.int32), np.zeros(n_steps + 1, np.int64)
    draw_spikes(
        frame, rates, n_steps, np.uint64(2**64 - 5), new_alias_table(len(frame), total, len(which)), which, first
    )
    by_step = [which[first[t] : first[t + 1]].tolist() for t in range(n_steps)]
    assert by_step == plain_spikes(frame, rates, n_steps, 2**64 - 5)


def test_what_does_not_fit_is_dropped():
    frame, rates = np.full(20, 255, np.uint8), spike_odds(Presentation(intensity_max=200.0), 60.0, 0.5)
    which, first = np.full(12, -1, np.int32), np.zeros(51, np.int64)
    n = draw_spikes(frame, rates, 50, np.uint64(1), new_alias_table(20, rates[frame].sum(), 1000), which[:10], first)
    assert n == first[-1] <= 10
    assert which[10:].tolist() == [-1, -1]


@pytest.mark.parametrize("intensity", [2.0, 60.0])
def test_each_pixel_spikes_with_probability_rate_times_dt(intensity):
    frame = np.array([0, 1, 10, 60, 128, 200, 255, 255, 0, 33], np.uint8)
    n_steps = 200_000
    dense = raster(frame, intensity, n_steps, 99)
    assert dense.max() == 1
    chance = frame / 8 * intensity * 0.5e-3
    expected = n_steps * chance
    spread = np.sqrt(n_steps * chance * (1 - chance)) + 1e-9
    assert np.abs((dense.sum(axis=0) - expected) / spread).max() < 4.5
    assert dense[:, frame == 0].sum() == 0


def test_pixels_and_steps_are_independent():
    dense = raster(np.full(6, 255, np.uint8), 20.0, 100_000, 5).astype(float)
    across = np.corrcoef(dense.T) - np.eye(6)
    assert np.abs(across).max() < 0.02
    assert np.abs(np.corrcoef(dense[1:, 0], dense[:-1, 0])[0, 1]) < 0.02


def test_gaps_between_spikes_are_geometric():
    dense = raster(np.array([255], np.uint8), 20.0, 100_000, 7)
    gaps = np.diff(np.flatnonzero(dense[:, 0]))
    chance = 255 / 8 * 20 * 0.5e-3
    observed = np.bincount(np.minimum(gaps, 11), minlength=12)[1:]
    expected = len(gaps) * np.append(stats.geom.pmf(np.arange(1, 11), chance), stats.geom.sf(10, chance))
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.01, 1.0, 3.2, 40.0, 1500.0])
def test_counts_follow_the_poisson_distribution(mean):
    table = np.zeros(int(2 * (12 * np.sqrt(mean) + 40)) + 2)
    lowest, n = poisson_distribution(mean, table)
    np.testing.assert_allclose(table[:n], stats.poisson.cdf(lowest + np.arange(n), mean), atol=1e-12)
    assert stats.poisson.cdf(lowest - 1, mean) < 1e-12


def test_a_black_frame_gives_no_spikes():
    assert raster(np.zeros(5, np.uint8), 2.0, 100, 1).sum() == 0


@pytest.mark.parametrize("purpose", [STREAMING, TRAINING])
def test_each_presentation_draws_numbers_of_its_own_which_the_same_seed_repeats(purpose):
    circuit = Circuit(n_inputs=40, n_neurons=2)
    frames = np.full((12, 40), 255, np.uint8)  # equal frames: only the random numbers differ
    intensities = [2.0] if purpose == STREAMING else [2.0, 2.5]

    def drawn(seed):
        recorder = Recorder(input_spikes=True)
        if purpose == STREAMING:
            weights = Weights(np.zeros((40, 2), np.float32), np.full(2, 20.0, np.float32))
            shown = Streaming(intensity=2.0, show_ms=100.0)
            track(
                weights,
                init(weights, circuit, None),
                frames,
                circuit=circuit,
                presentation=shown,
                seed=seed,
                recorder=recorder,
            )
        else:
            shown = Presentation(intensity=2.0, intensity_step=0.5, intensity_max=2.5, show_ms=100.0, spikes_min=10**6)
            train(
                init_training(circuit, LongTermStdp()),
                frames,
                circuit=circuit,
                stdp=LongTermStdp(),
                presentation=shown,
                seed=seed,
                recorder=recorder,
            )
        run = recorder.recording()
        assert len(run.shown) == 12 * len(intensities)
        found = {}
        for number, attempt, begins in run.shown.tolist():
            mine = (run.in_step >= begins) & (run.in_step < begins + 200)
            steps = run.in_step[mine] - begins
            found[number, attempt] = [run.in_index[mine][steps == t].tolist() for t in range(200)]
        return found

    first, other = drawn(3), drawn(2**64 - 1)
    assert drawn(3) == first
    assert len({str(spikes) for spikes in (*first.values(), *other.values())}) == len(first) + len(other)
    for seed, found in ((3, first), (2**64 - 1, other)):
        for (number, attempt), spikes in found.items():
            rates = spike_odds(Presentation(), intensities[attempt], circuit.dt_ms)
            key = stream_key(seed, purpose, number, attempt)
            assert spikes == plain_spikes(frames[number], rates, 200, key), (seed, number, attempt)


def test_given_spikes_are_sorted_by_step():
    train = spike_train(np.array([9, 8, 7, 6]), np.array([3, 0, 3, 1]), 5)
    assert train.which.tolist() == [8, 6, 9, 7]
    assert train.first.tolist() == [0, 1, 2, 2, 4, 4]


def test_an_intensity_of_more_than_a_spike_per_step_is_refused():
    with pytest.raises(ValueError, match="intensity must keep the brightest pixel below one spike per step"):
        respond(
            Weights(np.ones((4, 2), np.float32), np.full(2, 20.0, np.float32)),
            np.zeros((1, 4), np.uint8),
            circuit=Circuit(n_inputs=4, n_neurons=2),
            presentation=Presentation(intensity=63.0, intensity_max=63.0),
        )
    just_one = Presentation(rate_hz_per_level=1 / 255, intensity=2000.0, intensity_max=2000.0, spikes_min=0)
    with pytest.raises(ValueError, match="intensity must keep the brightest pixel below one spike per step"):
        spike_odds(just_one, 2000.0, 0.5)
    assert np.isfinite(spike_odds(just_one, 1999.0, 0.5)).all()
