"""A recorder that is given to `track`: what it holds, that it goes on, and when it is refused."""

import numpy as np
import pytest

from springback.spiking import (
    Circuit,
    Presentation,
    ShortTermStdp,
    Streaming,
    Weights,
    init,
    init_recorder,
    record_stream,
    track,
)

SMALL = Circuit(n_inputs=64, n_neurons=16)
SHOWN = Streaming(intensity=4.0)
RNG = np.random.default_rng(0)
WEIGHTS = Weights(RNG.uniform(0, 1.5, (64, 16)).astype(np.float32), np.full(16, 20.0, np.float32))
FRAMES = RNG.integers(0, 256, (5, 8, 8), dtype=np.uint8)
HOW = {"circuit": SMALL, "presentation": SHOWN, "short_term": ShortTermStdp(pull=0.05), "seed": 3}


def begun():
    return init(WEIGHTS, SMALL, HOW["short_term"])


def test_a_recorder_given_to_several_calls_holds_what_one_call_records():
    whole = record_stream(WEIGHTS, FRAMES, **HOW, neurons=[2, 7], every_steps=9)
    recorder = init_recorder(SMALL, SHOWN, 5, neurons=[2, 7], every_steps=9, short_term=True)
    state = begun()
    for frames in (FRAMES[:2], FRAMES[2:]):
        state, _ = track(WEIGHTS, state, frames, **HOW, recorder=recorder)
    assert len(whole.out_index) > 20
    for found, expected in zip(recorder.spikes(), (whole.out_index, whole.out_step), strict=True):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(
        recorder.samples(), (whole.sample_step, whole.potential_mv, whole.short_term), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_steps_are_counted_from_where_recording_began():
    state, _ = track(WEIGHTS, begun(), FRAMES[:3], **HOW)
    recorder = init_recorder(SMALL, SHOWN, 1, neurons=[0], every_steps=100)
    _, counts = track(WEIGHTS, state, FRAMES[3:4], **HOW, recorder=recorder)
    neuron, step = recorder.spikes()
    np.testing.assert_array_equal(np.bincount(neuron, minlength=16), counts[0])
    assert 0 <= step.min() <= step.max() < recorder.n_steps == 700
    np.testing.assert_array_equal(recorder.samples()[0], np.arange(7) * 100)


def test_recording_changes_no_spike():
    _, counts = track(WEIGHTS, begun(), FRAMES, **HOW)
    _, recorded = track(WEIGHTS, begun(), FRAMES, **HOW, recorder=init_recorder(SMALL, SHOWN, 5))
    np.testing.assert_array_equal(counts, recorded)


@pytest.mark.parametrize(
    ("recorder", "error", "message"),
    [
        (lambda: init_recorder(SMALL, SHOWN, 4), ValueError, "recorder must have room for the 3500 steps"),
        (lambda: init_recorder(Circuit(n_inputs=63, n_neurons=16), SHOWN, 5), ValueError, "made for this circuit"),
        (
            lambda: init_recorder(Circuit(n_inputs=64, n_neurons=99), SHOWN, 5, neurons=[20]),
            ValueError,
            "made for this circuit",
        ),
        (lambda: init_recorder(SMALL, Presentation(), 5), ValueError, "Presentation.spikes_min must be 0"),
        (lambda: [], TypeError, "recorder must be made by init_recorder; got list"),
    ],
)
def test_a_recorder_that_does_not_fit_is_refused(recorder, error, message):
    with pytest.raises(error, match=message):
        track(WEIGHTS, begun(), FRAMES, **HOW, recorder=recorder())
