"""The example digit and its most active neurons, on a circuit that rests at mean digits."""

import io
from dataclasses import replace

import numpy as np
import pytest

from springback.spiking.inference import init, track
from springback.spiking.recorded_runs import record_stream
from springback_paper.figures import fig_3c as active_neurons
from springback_paper.figures.example_digit import choose_example, digit_stretches
from springback_paper.figures.fig_3c import draw as draw_active_neurons
from tests.paper.figures.small_circuit import PRESET, small_model, small_video


def plain_answers(counts, neuron_labels):
    rates = np.stack([counts[:, neuron_labels == one].mean(axis=1) for one in range(10)], axis=1)
    return [int(np.argmax(row)) if row.max() > 0 else 10 for row in rates]


def follows_the_rule(shown, label):
    model = small_model()
    answers = []
    for short_term in (None, PRESET.short_term):
        state = init(model.weights, model.preset.circuit, short_term)
        _, counts = track(
            model.weights,
            state,
            shown.frames,
            circuit=model.preset.circuit,
            presentation=PRESET.streaming,
            short_term=short_term,
        )
        answers.append(plain_answers(counts, model.neuron_labels))
    static, adapting = answers
    n = int((shown.labels == label).sum())
    return static[0] == label and static[n - 1] != label and adapting == shown.labels.tolist()


@pytest.fixture(scope="module")
def result():
    return active_neurons.run(small_model(), small_video())


@pytest.mark.parametrize("label", [0, 8])
def test_the_example_is_the_first_digit_that_follows_the_rule(label):
    example = choose_example(small_model(), small_video(), label=label)
    tried = digit_stretches(small_video(), label)[: example.passed_over + 1]
    assert example.meets_rule
    assert [follows_the_rule(shown, label) for shown in tried] == [False] * example.passed_over + [True]
    assert example.digit == tried[-1].digit[0]


def test_without_a_digit_that_follows_the_rule_the_first_is_shown_and_said_to_break_it():
    never_pulled = replace(PRESET, short_term=replace(PRESET.short_term, pull=0.0))
    example = choose_example(replace(small_model(), preset=never_pulled), small_video(), label=9)
    assert not example.meets_rule
    assert example.digit == small_video().digit[np.argmax(small_video().labels == 9)]


def test_a_video_without_the_class_is_refused():
    one_digit = small_video().stretch(0, 10)
    other = (int(one_digit.labels[0]) + 1) % 10
    with pytest.raises(ValueError, match=f"video must show a {other}; got 'none'"):
        active_neurons.run(small_model(), one_digit, label=other)


def test_stretches_hold_a_digit_and_the_noise_after_it():
    video = small_video()
    stretches = [one for label in range(10) for one in digit_stretches(video, label)]
    assert sum(map(len, stretches)) == len(video)
    for one in stretches:
        n = len(one) - 4
        assert len(set(one.digit[:n].tolist())) == 1
        assert one.labels[n:].tolist() == [10] * 4
        assert one.rows_hidden[0] == 0


def test_telling_frames_are_the_new_ones_the_last_and_two_of_noise():
    example = choose_example(small_model(), small_video())
    n = example.n_shown
    assert example.telling_frames == (0, 1, 2, 3, 4, 5, 6, 7, n - 1, n, n + 1)


def test_the_most_active_neurons_come_first_and_the_first_of_equals(result):
    example = choose_example(small_model(), small_video())
    for counts, neurons, spikes in (
        (example.static_counts, result.static_neurons, result.static_spikes),
        (example.adapting_counts, result.adapting_neurons, result.adapting_spikes),
    ):
        for row, chosen, shown in zip(counts, neurons, spikes, strict=True):
            ranked = sorted(range(len(row)), key=lambda k, row=row: (-row[k], k))[:9]
            assert chosen.tolist() == ranked
            assert shown.tolist() == [row[k] for k in ranked]


def test_maps_are_weights_and_efficacies_of_these_neurons(result):
    model = small_model()
    frame, place = 3, 0
    neuron = int(result.adapting_neurons[frame, place])
    resting = model.weights.resting[:, neuron].reshape(28, 28)
    np.testing.assert_array_equal(result.adapting_resting[frame, place], resting)
    recording = record_stream(
        model.weights,
        result.frames,
        circuit=model.preset.circuit,
        presentation=PRESET.streaming,
        short_term=PRESET.short_term,
        neurons=[neuron],
    )
    short_term = recording.short_term[(frame + 1) * 700 - 1, :, 0].reshape(28, 28)
    assert short_term.max() > 0.5
    np.testing.assert_allclose(result.adapting_efficacy[frame, place], resting + short_term, rtol=1e-5, atol=1e-6)


def test_more_neurons_than_there_are_cannot_be_the_most_active():
    with pytest.raises(ValueError, match="n_most must be <= 40; got 41"):
        active_neurons.run(small_model(), small_video(), n_most=41)


def mosaics(figure):
    return [axes.images[0].get_array() for axes in figure.axes if axes.images and axes.images[0].get_array().ndim == 3]


def test_every_telling_frame_has_a_column_with_its_answers(result):
    figure = draw_active_neurons(result)
    n = len(result.telling)
    assert len(mosaics(figure)) == 2 * n
    words = [axes.get_xlabel() for axes in figure.axes]
    right = ["noise" if one == 10 else str(one) for one in result.adapting_answers[list(result.telling)]]
    assert words[2 * n : 3 * n] == right
    figure.savefig(io.BytesIO(), format="png")


def test_a_silent_neuron_leaves_its_place_empty(result):
    figure = draw_active_neurons(result)
    column = result.telling.index(int(np.flatnonzero(result.labels == 10)[0]))
    noise = mosaics(figure)[len(result.telling) + column]
    assert (result.adapting_spikes[result.telling[column]] == 0).all()
    assert (np.asarray(noise)[:28, :28] == 0.94).all()


def test_maps_can_show_efficacies_in_place_of_weights(result):
    weights, efficacies = (mosaics(draw_active_neurons(result, of_efficacy=flag)) for flag in (False, True))
    n = len(result.telling)
    for before, after in zip(weights[:n], efficacies[:n], strict=True):
        np.testing.assert_array_equal(before, after)
    assert not np.array_equal(weights[n + 3], efficacies[n + 3])
