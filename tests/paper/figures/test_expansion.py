"""A neuron that expands to an unfamiliar form."""

import io
from dataclasses import replace

import numpy as np
import pytest

from springback.streaming import readout
from springback_paper.figures import expansion
from springback_paper.figures.example_digit import digit_stretches, spikes_to
from springback_paper.figures.expansion import draw as draw_expansion
from tests.paper.figures.small_circuit import PRESET, small_model, small_video


@pytest.fixture(scope="module")
def result():
    return expansion.run(small_model(), small_video())


def test_of_all_digits_that_are_kept_the_one_with_the_most_unfamiliar_ink_is_shown(result):
    model = small_model().streaming_as(short_term=replace(PRESET.short_term, weight_dependence=0.1))
    shares = {}
    for shown in digit_stretches(small_video(), 9):
        counts = spikes_to(model, shown.frames)
        last = int(np.flatnonzero(shown.labels == 9)[-1])
        neuron = int(np.argmax(counts[last]))
        answer = readout.classify(counts, model.neuron_labels)[last]
        if answer == 9 and model.neuron_labels[neuron] == 9 and counts[0, neuron] > 0:
            weights = model.weights.resting[:, neuron]
            ink = shown.frames[last].ravel().astype(float)
            shares[int(shown.digit[0])] = sum(ink[weights < weights.mean()]) / sum(ink)
    assert 1 < len(shares) < result.n_tried
    np.testing.assert_allclose(result.candidates, list(shares.values()))
    assert result.digit == max(shares, key=shares.__getitem__)
    assert result.unfamiliar == pytest.approx(max(shares.values()))


def test_the_efficacies_come_to_match_the_last_frame(result):
    assert result.efficacy_overlap > 2 * result.resting_overlap
    assert result.spikes[-1] > 0
    assert result.static_spikes[-1] == 0
    pulled = result.efficacy > result.resting
    assert (result.frames.max(axis=0)[pulled] > 0).all()


def test_the_neuron_springs_back_after_the_digit(result):
    below_the_noise = slice(20, None)
    stretched, relaxed = ((one - result.resting)[below_the_noise] for one in (result.efficacy, result.relaxed))
    assert stretched.max() > 1.0
    assert relaxed.max() < 1.5 * np.exp(-4 * 350 / PRESET.short_term.memory_ms) * stretched.max()


def test_only_the_first_digits_of_the_class_are_tried():
    few = expansion.run(small_model(), small_video(), n_digits=12)
    assert few.n_tried == 12


def test_a_class_that_is_lost_everywhere_is_refused():
    deaf = small_model().streaming_as(replace(PRESET.streaming, intensity=0.0))
    with pytest.raises(ValueError, match=r"recognised to its last frame; got '17 lost'"):
        expansion.run(deaf, small_video())


def test_frames_spikes_and_the_three_maps_are_drawn():
    result = expansion.run(small_model(), small_video())
    figure = draw_expansion(result)
    pictures = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images]
    n = len(result.frames)
    np.testing.assert_array_equal(pictures[:n], result.frames)
    np.testing.assert_array_equal(pictures[n : n + 3], [result.resting, result.efficacy, result.relaxed])
    words = [text.get_text() for text in figure.axes[n - 1].texts]
    assert words == [str(result.spikes[-1]), str(result.static_spikes[-1])]
    figure.savefig(io.BytesIO(), format="png")
