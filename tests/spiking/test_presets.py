"""The named sets of parameters say what their sources say."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from springback.spiking import SpikingClassifier, Streaming
from springback.spiking.evaluation import recognise_images
from springback.spiking.fitting import train_model
from springback.spiking.presets import PRESETS, moraitis_2020, springback_2026
from springback_paper.inputs.digits import digits

CIRCUIT = {  # Table 1 of the paper; thresholds, weights and the time step from Diehl & Cook (2015)
    "dt_ms": 0.5,
    "excitatory": {
        "tau_membrane_ms": 100.0,
        "v_rest_mv": -65.0,
        "v_reset_mv": -65.0,
        "threshold_offset_mv": -72.0,
        "refractory_ms": 5.0,
        "e_excitatory_mv": 0.0,
        "e_inhibitory_mv": -100.0,
    },
    "inhibitory": {
        "tau_membrane_ms": 10.0,
        "v_rest_mv": -60.0,
        "v_reset_mv": -45.0,
        "v_threshold_mv": -40.0,
        "refractory_ms": 2.0,
        "e_excitatory_mv": 0.0,
        "exact_step": False,
    },
    "tau_excitatory_ms": 1.0,
    "tau_inhibitory_ms": 2.0,
    "weight_to_inhibitory": 10.4,
    "weight_from_inhibitory": 17.0,
}
LONG_TERM = {  # Diehl & Cook (2015)
    "rate_pre": 1e-4,
    "rate_post": 1e-2,
    "tau_pre_ms": 20.0,
    "tau_post_1_ms": 20.0,
    "tau_post_2_ms": 40.0,
    "weight_max": 1.0,
    "weight_sum": 78.0,
    "weight_length": None,
    "weight_start_max": 0.3,
    "theta_start_mv": 20.0,
    "theta_step_mv": 0.05,
    "tau_theta_ms": 1e7,
    "theta_decays_at_rest": False,
}
SHOWN = {
    "intensity": 2.0,
    "rate_hz_per_level": 0.125,
    "show_ms": 350.0,
    "rest_ms": 150.0,
    "spikes_min": 5,
    "intensity_step": 1.0,
    "intensity_max": 32.0,
}
STREAM = SHOWN | {"intensity": 3.0, "rest_ms": 0.0, "spikes_min": 0, "threshold_shift_mv": 0.0}
SHORT_TERM = {  # Table 1, and the weight dependence that the paper leaves open
    "pull": 0.7,
    "weight_dependence": -0.3,
    "memory_ms": 300.0,
    "tau_trace_ms": 20.0,
    "efficacy_max": None,
    "intrinsic": None,
    "delay_ms": None,
    "pause_ms": 200.0,
}
PUBLISHED = {
    "circuit": CIRCUIT | {"n_inputs": 784, "n_neurons": 400},
    "long_term": LONG_TERM,
    "training": SHOWN,
    "testing": SHOWN,
    "streaming": STREAM,
    "static": STREAM,
    "short_term": SHORT_TERM,
    "shuffled": False,
    "epochs": 1,
    "rate_decay": 1.0,
    "threshold_mv": None,
}
FOUND = PUBLISHED | {
    "circuit": CIRCUIT | {"n_inputs": 784, "n_neurons": 400, "tau_inhibitory_ms": 5.0},
    "long_term": LONG_TERM
    | {
        "rate_post": 0.1,
        "rate_pre": 0.0,
        "tau_pre_ms": 17.0,
        "tau_post_2_ms": 120.0,
        "theta_step_mv": 0.064,
        "weight_length": 7.5,
        "weight_max": 4.0,
    },
    "training": SHOWN | {"intensity": 2.4},
    "testing": SHOWN | {"intensity": 2.5},
    "streaming": STREAM | {"intensity": 3.35, "threshold_shift_mv": -1.38},
    "static": STREAM | {"intensity": 4.64, "threshold_shift_mv": -4.72},
    "short_term": SHORT_TERM
    | {
        "pull": 0.129,
        "weight_dependence": -0.165,
        "memory_ms": 610.0,
        "tau_trace_ms": 145.0,
        "efficacy_max": 5.11,
        "delay_ms": 398.0,
        "pause_ms": 335.0,
    },
    "shuffled": True,
    "epochs": 3,
    "rate_decay": 0.25,
    "threshold_mv": 57.0,
}
EARLY = PUBLISHED | {  # inhibition acts after 1 ms, as in Diehl & Cook's code
    "circuit": PUBLISHED["circuit"] | {"inhibitory": CIRCUIT["inhibitory"] | {"exact_step": True}},
}
DECAYING = EARLY | {"long_term": LONG_TERM | {"theta_decays_at_rest": True}}
PAPER = EARLY | {
    "shuffled": True,
    "epochs": 3,
    "static": STREAM | {"intensity": 3.47},
    "short_term": SHORT_TERM | {"weight_dependence": -0.45},
}
WANTED = {"moraitis-2020": PAPER, "diehl-cook-2015": DECAYING, "springback-2026": FOUND}


@pytest.mark.parametrize("name", PRESETS)
def test_every_value_of_a_preset_is_that_of_its_source(name):
    assert asdict(PRESETS[name]()) == WANTED[name] | {"name": name}


@pytest.mark.parametrize("n_neurons", [10, 40, 100, 1600, 6400])
def test_thresholds_settle_at_the_same_value_in_a_circuit_of_any_size(n_neurons):
    few, many = (springback_2026(n_neurons=n).long_term for n in (400, n_neurons))
    # In balance, what the spikes of a neuron add is what decays: step * spikes per neuron = theta * time / tau.
    assert many.theta_step_mv * many.tau_theta_ms / n_neurons == pytest.approx(
        few.theta_step_mv * few.tau_theta_ms / 400
    )


def test_larger_circuits_see_the_images_more_often_and_end_with_the_same_rate():
    presets = [springback_2026(n_neurons=n) for n in (10, 400, 1600, 6400)]
    assert [one.epochs for one in presets] == [3, 3, 4, 6]
    last = [one.long_term.rate_post * one.rate_decay ** (one.epochs - 1) for one in presets]
    assert last == pytest.approx([0.1 / 16] * 4)


@pytest.mark.parametrize("n_inputs", [64, 144, 3136])
def test_an_image_of_another_size_drives_its_neuron_as_strongly(n_inputs):
    def drive(n):
        image = np.full(n, 0.3)  # as bright as before, with another number of pixels
        weights = image / np.linalg.norm(image) * springback_2026(n_inputs=n).long_term.weight_length
        return weights @ image

    assert drive(n_inputs) == pytest.approx(drive(784))


def test_a_circuit_of_forty_neurons_recognises_most_digits():
    train, others = digits("train", 3000)[:2000], digits("train", 3000)[2000:]
    model = train_model(train, springback_2026(n_neurons=40), seed=0)
    assert recognise_images(model, others).accuracy > 0.6


@pytest.mark.parametrize("name", ["moraitis-2020", "diehl-cook-2015"])
def test_images_as_bright_as_digits_leave_a_preset_as_it_is_and_others_keep_its_total_drive(name):
    published, same = PRESETS[name](), PRESETS[name](brightness=33.318)
    assert asdict(same) == asdict(published)
    small = PRESETS[name](n_inputs=64, n_neurons=100, brightness=77.9)
    share = 64 * 77.9 / (784 * 33.318)
    assert small.long_term.weight_sum == pytest.approx(78.0 * share)
    for shown in ("training", "testing", "streaming", "static"):
        drive = getattr(small, shown).intensity * small.long_term.weight_sum
        assert drive == pytest.approx(getattr(published, shown).intensity * 78.0)
    assert small.streaming.intensity * small.short_term.pull == pytest.approx(
        published.streaming.intensity * published.short_term.pull
    )
    with pytest.raises(ValueError, match="brightness must be > 0"):
        PRESETS[name](brightness=0.0)


def eight_by_eight(n):
    digits = load_digits()
    return np.rint(digits.images[:n] * 255 / 16).astype(np.uint8), digits.target[:n]


def faint_for(preset):
    return replace(preset, streaming=Streaming(intensity=0.1))


def test_a_circuit_of_small_images_answers_a_stream_and_one_that_stays_silent_says_so():
    pixels, labels = eight_by_eight(150)
    circuit = SpikingClassifier(16, preset="moraitis-2020").fit(pixels, labels)
    assert circuit.model_.preset.circuit.n_inputs == 64
    assert circuit.track_counts(pixels[:20]).sum() > 20
    faint = replace(circuit.model_.preset, streaming=Streaming(intensity=0.5))
    silent = SpikingClassifier.of(replace(circuit.model_, preset=faint))
    with pytest.warns(UserWarning, match="no neuron fired in 10 frames that are not dark"):
        silent.track(pixels[:10])
    with pytest.warns(UserWarning, match=r"pass brightness=\d+\.?\d*, the mean of the training images"):
        SpikingClassifier(preset=faint_for(moraitis_2020(n_inputs=64, n_neurons=16))).fit(pixels, labels)
    with pytest.warns(UserWarning, match="below the thresholds; raise Preset.streaming.intensity"):
        SpikingClassifier(preset=faint_for(faint)).fit(pixels, labels)
    silent.track(pixels[:9])  # too few to tell
    silent.track(np.zeros_like(pixels[:20]))  # nothing to see
