"""Training: what is learned, what is kept normalised, and when thresholds decay."""

from dataclasses import replace

import numpy as np
import pytest

from springback.spiking import (
    Circuit,
    ExcitatoryNeuron,
    LongTermStdp,
    Presentation,
    Recorder,
    init_training,
    learned,
    respond,
    train,
)
from springback.spiking.fitting import train_model, train_models
from springback.spiking.presets import Preset, springback_2026
from springback.streaming.records import Images

CIRCUIT = Circuit(n_inputs=64, n_neurons=16)
STDP = LongTermStdp(weight_sum=8.0, rate_post=0.05)
BLACK = np.zeros((1, 8, 8), np.uint8)


def pictures(n, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, 8, 8)) ** 3 * 255).astype(np.uint8)


def theta_after(n_black, **changes):
    stdp = replace(STDP, tau_theta_ms=1000.0, **changes)
    state = init_training(CIRCUIT, stdp, seed=0)
    state, _ = train(state, np.repeat(BLACK, n_black, axis=0), circuit=CIRCUIT, stdp=stdp)
    return float(learned(state, stdp, CIRCUIT).theta[0])


@pytest.mark.parametrize(("decays_at_rest", "ms_per_image"), [(False, 350.0), (True, 500.0)])
def test_thresholds_decay_in_pauses_only_where_they_should(decays_at_rest, ms_per_image):
    decayed = theta_after(2, theta_decays_at_rest=decays_at_rest)
    assert decayed == pytest.approx(STDP.theta_start_mv * np.exp(-2 * ms_per_image / 1000.0), rel=1e-3)


def test_weights_are_normalised_before_each_image_not_only_when_they_are_read():
    state = init_training(CIRCUIT, STDP, seed=1)
    state, counts = train(state, pictures(30), circuit=CIRCUIT, stdp=STDP, seed=1)
    assert counts[-1].any()
    assert not np.allclose(state.resting.sum(axis=0), 8.0, rtol=1e-5)  # the last image has moved them
    after, _ = train(state, BLACK, circuit=CIRCUIT, stdp=STDP, seed=1)
    np.testing.assert_allclose(after.resting.sum(axis=0), 8.0, rtol=1e-5)


def test_a_shuffled_preset_is_the_plain_one_on_images_in_that_order():
    preset = Preset(name="small", circuit=CIRCUIT, long_term=STDP)
    images = Images(pictures(60), np.arange(60) % 10)
    order = np.random.default_rng([5, 60]).permutation(60)
    shuffled = train_model(images, replace(preset, shuffled=True), seed=5)
    by_hand = train_model(images[order], preset, seed=5)
    plain = train_model(images, preset, seed=5)
    np.testing.assert_array_equal(shuffled.weights.resting, by_hand.weights.resting)
    assert not np.array_equal(shuffled.weights.resting, plain.weights.resting)
    assert springback_2026().shuffled


def test_each_epoch_shows_all_images_again_in_another_order_if_they_are_shuffled():
    preset = Preset(name="small", circuit=CIRCUIT, long_term=STDP)
    images = Images(pictures(60), np.arange(60) % 10)
    twice = train_model(images, replace(preset, epochs=2), seed=5)
    by_hand = train_model(images[np.tile(np.arange(60), 2)], preset, seed=5)
    np.testing.assert_array_equal(twice.weights.resting, by_hand.weights.resting)
    assert (twice.n_seen, twice.data) == (120, "unnamed, 2 times")
    orders = [np.random.default_rng(key).permutation(60) for key in ([5, 60], [5, 60, 1])]
    shuffled = train_model(images, replace(preset, epochs=2, shuffled=True), seed=5)
    by_hand = train_model(images[np.concatenate(orders)], preset, seed=5)
    np.testing.assert_array_equal(shuffled.weights.resting, by_hand.weights.resting)


def test_a_sweep_gives_the_models_of_single_trainings_for_any_number_of_workers_and_draws_presets_as_it_goes():
    images = Images(np.full((20, 2, 2), 200, np.uint8), np.arange(20) % 10)
    begin = springback_2026(n_inputs=4, n_neurons=3)
    drawn = []

    def presets():
        for epochs in (1, 2, 3, 1, 1, 1, 1):
            drawn.append(epochs)
            yield replace(begin, epochs=epochs)

    single = [train_model(images, preset).weights.resting for preset in presets()]
    for workers in (1, 3):
        drawn.clear()
        sweep = train_models(images, presets(), workers=workers)
        first = next(sweep).weights.resting
        assert len(drawn) <= 1 + workers * 2  # not all of them
        found = [first, *(model.weights.resting for model in sweep)]
        assert all(np.array_equal(one, other) for one, other in zip(found, single, strict=True))


def test_learning_rates_and_the_pace_of_thresholds_decay_from_epoch_to_epoch():
    images = Images(pictures(60), np.arange(60) % 10)
    preset = Preset(name="small", circuit=CIRCUIT, long_term=STDP, epochs=2, rate_decay=0.25)
    found = train_model(images, preset, seed=5)
    state = init_training(CIRCUIT, STDP, seed=5)
    for factor in (1.0, 0.25):
        rates = {name: getattr(STDP, name) * factor for name in ("rate_pre", "rate_post", "theta_step_mv")}
        stdp = replace(STDP, **rates, tau_theta_ms=STDP.tau_theta_ms / factor)
        state, _ = train(state, images.pixels, circuit=CIRCUIT, stdp=stdp, presentation=preset.training, seed=5)
    by_hand = learned(state, STDP, CIRCUIT)
    np.testing.assert_array_equal(found.weights.resting, by_hand.resting)
    np.testing.assert_array_equal(found.weights.theta, by_hand.theta)
    assert found.data == "unnamed, 2 times, rates times 0.25 after each"


def test_trained_neurons_can_have_one_threshold():
    images = Images(pictures(60), np.arange(60) % 10)
    preset = Preset(name="small", circuit=CIRCUIT, long_term=STDP)
    own, equal = (train_model(images, one, seed=5).weights for one in (preset, replace(preset, threshold_mv=17.0)))
    np.testing.assert_array_equal(equal.resting, own.resting)
    assert (equal.theta == 17).all()
    assert np.ptp(own.theta) > 0


def test_an_interrupted_training_of_several_epochs_goes_on_where_it_stopped(tmp_path):
    brief = Presentation(intensity=8.0, show_ms=60.0, rest_ms=20.0, spikes_min=0)
    preset = Preset(name="small", circuit=CIRCUIT, long_term=STDP, training=brief, epochs=3)
    images = Images(pictures(700), np.arange(700) % 10)
    whole = train_model(images, preset, seed=5)
    assert np.ptp(whole.weights.theta) > 0  # Neurons have spiked.
    done = 0

    def stop(n, _):
        nonlocal done
        done += n
        if done >= 1500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_model(images, preset, seed=5, checkpoint=tmp_path / "one", on_progress=stop)
    again = train_model(images, preset, seed=5, checkpoint=tmp_path / "one")
    np.testing.assert_array_equal(again.weights.resting, whole.weights.resting)
    assert again.n_seen == 2100


@pytest.mark.parametrize("spikes_min", [1, 3, 4])
def test_an_image_is_shown_again_until_it_gives_just_that_many_spikes(spikes_min):
    weights = train_model(Images(pictures(60), np.zeros(60, int)), Preset(circuit=CIRCUIT, long_term=STDP)).weights
    faint = pictures(40, seed=3) // 3
    shown = Presentation(intensity=1.0, intensity_step=0.5, spikes_min=spikes_min)
    spikes = respond(weights, faint, circuit=CIRCUIT, presentation=shown).sum(axis=1)
    once = respond(weights, faint, circuit=CIRCUIT, presentation=replace(shown, spikes_min=0)).sum(axis=1)
    assert (once < spikes_min).any()
    assert spikes.min() >= spikes_min
    stopped = respond(weights, faint, circuit=CIRCUIT, presentation=replace(shown, spikes_min=spikes_min + 1))
    assert stopped.sum(axis=1).min() >= spikes_min + 1


def test_an_image_with_just_enough_spikes_is_not_shown_again():
    weights = learned(init_training(CIRCUIT, STDP, seed=2), STDP, CIRCUIT)
    shown = Presentation(intensity=12.0, intensity_step=6.0, intensity_max=48.0, spikes_min=0)
    for image in pictures(5, seed=3)[:, None]:
        once = respond(weights, image, circuit=CIRCUIT, presentation=shown)
        assert once.sum() > 0
        enough = respond(weights, image, circuit=CIRCUIT, presentation=replace(shown, spikes_min=int(once.sum())))
        np.testing.assert_array_equal(enough, once)
        again = respond(weights, image, circuit=CIRCUIT, presentation=replace(shown, spikes_min=int(once.sum()) + 1))
        assert again.sum() > once.sum()


def test_an_image_grows_brighter_up_to_the_largest_intensity_and_no_further():
    shown = Presentation(intensity=1.0, intensity_step=0.5, intensity_max=2.5, spikes_min=1)
    deaf = replace(CIRCUIT, n_inputs=784, excitatory=ExcitatoryNeuron(threshold_offset_mv=900.0))

    def input_spikes(presentation):
        """Input spikes of each time that a white image is shown to neurons which never fire."""
        recorder = Recorder(input_spikes=True)
        state = init_training(deaf, STDP, seed=0)
        _, counts = train(
            state,
            np.full((1, 784), 255, np.uint8),
            circuit=deaf,
            stdp=STDP,
            presentation=presentation,
            recorder=recorder,
        )
        assert counts.sum() == 0
        run = recorder.recording()
        assert run.shown[:, 1].tolist() == list(range(len(run.shown)))
        return np.histogram(run.in_step, [*run.shown[:, 2], run.n_steps])[0]

    per_step = 255 * shown.rate_hz_per_level * CIRCUIT.dt_ms * 1e-3 * np.array([1.0, 1.5, 2.0, 2.5])
    n = 784 * 700
    seen = input_spikes(shown)
    assert len(seen) == 4
    assert np.abs((seen - n * per_step) / np.sqrt(n * per_step * (1 - per_step))).max() < 4
    assert input_spikes(replace(shown, spikes_min=0)).tolist() == seen[:1].tolist()
