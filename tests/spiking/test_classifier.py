"""The spiking circuit as an estimator: any labels, saved whole, followed live."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import SpikingClassifier, moraitis_2020

NAMES = np.array(["upright", "falling", "level", "rising"])


def pictures(n, seed=0):
    """Bars in four directions, 12 x 12 pixels, and their names."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:12, :12] - 5.5
    which = rng.integers(0, 4, n)
    tilt = np.radians(45 * which + rng.normal(0, 4, n))[:, None, None]
    across = x * np.cos(tilt) + y * np.sin(tilt)
    return (255 * np.exp(-((across / 1.2) ** 2))).astype(np.uint8), NAMES[which]


def small_preset():
    preset = moraitis_2020(n_inputs=144, n_neurons=16)
    long_term = replace(preset.long_term, weight_sum=30.0, theta_step_mv=0.1, rate_post=0.03)
    shown = replace(preset.training, intensity=4.0)
    return replace(preset, name="bars", long_term=long_term, training=shown, testing=shown, epochs=1)


@pytest.fixture(scope="module")
def fitted():
    return SpikingClassifier(preset=small_preset(), random_state=3).fit(*pictures(400), data="bars")


@pytest.fixture
def digits():
    return shipped_digits().pixels[5::10]


@pytest.fixture
def classifier():
    return SpikingClassifier.of(shipped_spiking())


def test_it_learns_named_bars_without_seeing_their_names(fitted):
    X, y = pictures(100, seed=1)
    assert fitted.classes_.tolist() == sorted(NAMES)
    assert np.mean(fitted.predict(X) == y) > 0.9
    assert fitted.score(X, y) > 0.9
    shares = fitted.predict_proba(X)
    assert shares.shape == (100, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_a_saved_model_is_the_same_model(fitted, tmp_path):
    fitted.save(tmp_path / "m.safetensors")
    again = SpikingClassifier.load(tmp_path / "m.safetensors")
    X, _ = pictures(30, seed=2)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.track_counts(X), fitted.track_counts(X))
    assert again.model_.data == "bars, shuffled"
    assert again.model_.preset.streaming == fitted.model_.preset.streaming


def test_learning_goes_on_after_loading_exactly_as_it_would_have(fitted, tmp_path):
    fitted.save(tmp_path / "m.safetensors")
    loaded, kept = SpikingClassifier.load(tmp_path / "m.safetensors"), copy.deepcopy(fitted)
    for one in (loaded, kept):
        one.partial_fit(*pictures(40, seed=5))
    assert loaded.model_.n_seen == 440
    np.testing.assert_array_equal(loaded.model_.weights.resting, kept.model_.weights.resting)
    assert not np.array_equal(kept.model_.weights.resting, fitted.model_.weights.resting)


def test_learning_in_parts_from_the_beginning():
    X, y = pictures(400)
    parts = SpikingClassifier(preset=small_preset(), random_state=3)
    parts.partial_fit(X[:150], y[:150], classes=NAMES).partial_fit(X[150:], y[150:])
    assert parts.model_.n_seen == 400
    assert np.mean(parts.predict(X) == y) > 0.9


def test_a_new_label_is_refused_and_nothing_is_lost(fitted):
    before = fitted.model_
    with pytest.raises(ValueError, match="labels must be among the classes"):
        fitted.partial_fit(pictures(3)[0], ["level", "sideways", "level"])
    assert fitted.model_ is before


def test_stepping_is_tracking_one_by_one(classifier, digits):
    whole = classifier.track(digits)
    one_by_one = np.array([classifier.step(frame) for frame in digits])
    np.testing.assert_array_equal(whole, one_by_one)
    assert classifier.place_.state.n_seen == len(digits)


def test_tracking_leaves_the_state_alone(classifier, digits):
    first = classifier.track_labels(digits)
    np.testing.assert_array_equal(classifier.track_labels(digits), first)
    assert classifier.place_.state.n_seen == 0


def test_reset_is_the_beginning(classifier, digits):
    first = classifier.track(digits)
    for _ in range(2):  # only a neuron that is active for longer than a frame is pulled
        classifier.step(digits[3])
    assert classifier.short_term_.any()
    assert not np.array_equal(classifier.track(digits), first)
    np.testing.assert_array_equal(classifier.reset().track(digits), first)
    np.testing.assert_array_equal(classifier.efficacy_, classifier.model_.weights.resting)


def test_time_lets_synapses_spring_back(classifier, digits):
    for _ in range(2):
        classifier.step(digits[0])
    pulled = classifier.short_term_
    assert pulled.any()
    halfway = copy.deepcopy(classifier).relax(1.0).relax(1.0).short_term_
    tau, frame = classifier.model_.preset.short_term.memory_ms, 350.0
    np.testing.assert_allclose(halfway, pulled * np.exp(-2 * frame / tau), rtol=1e-3, atol=1e-6)
    np.testing.assert_array_equal(copy.deepcopy(classifier).relax(0.0).short_term_, pulled)
    assert not classifier.relax(1e9).short_term_.any()


def test_a_gap_in_time_stamps_is_silence(classifier, digits):
    times = np.array([5.0, 6.0, 8.5])
    tracked = classifier.track_counts(digits[:3], times)
    np.testing.assert_array_equal(tracked[:2], classifier.track_counts(digits[:2]))
    classifier.step(digits[0], 5.0)
    classifier.step(digits[1], 6.0)
    classifier.relax(1.5)
    np.testing.assert_array_equal(tracked[2], classifier.track_counts(digits[2:3])[0])
    np.testing.assert_array_equal(tracked[2], classifier.track_counts(digits[2:3], [8.5])[0])


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ([0.0, 0.5], "times must be at least 1 apart"),
        ([3.0, 2.0], "times must never run backwards"),
        ([0.0], "times must hold one time stamp for each of 2 frames"),
        ([0.0, np.nan], "times must be finite"),
        (["now", "later"], "times must be numbers, dates or durations"),
        (np.array(["2020-01-01T00:00:00.0", "2020-01-01T00:00:00.2"], "M8[ms]"), "times must be at least 1 apart"),
    ],
)
def test_times_that_cannot_be_are_one_sentence(classifier, digits, times, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        classifier.track(digits[:2], times)


def test_dates_are_taken_at_their_word(classifier, digits):
    times = np.array(["2020-01-01T00:00:00.000", "2020-01-01T00:00:00.700"], "M8[ms]")
    np.testing.assert_array_equal(classifier.track(digits[:2], times), classifier.track(digits[:2], [0.0, 2.0]))


def test_static_weights_stay(digits):
    static = SpikingClassifier.of(shipped_spiking(), adapts=False)
    static.step(digits[0])
    assert not static.short_term_.any()
    adapting = SpikingClassifier.of(shipped_spiking())
    twice = np.repeat(digits, 2, axis=0)
    assert not np.array_equal(static.reset().track_counts(twice), adapting.track_counts(twice))


def test_frames_of_another_kind_are_refused_and_the_stream_goes_on(classifier, digits):
    classifier.step(digits[0])
    expected = classifier.track(digits[1:2])
    for bad, sentence in (
        (digits[1][:20], "784 pixels"),
        (digits[1] / 255, "multiply by 255"),
        (np.full((28, 28), np.nan), "uint8"),
    ):
        with pytest.raises(ValueError, match=sentence):
            classifier.step(bad)
    np.testing.assert_array_equal(classifier.step(digits[1]), expected[0])


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"preset": "diehl"}, "preset must be one of"),
        ({"preset": small_preset(), "n_neurons": 5}, "n_neurons must be None or 16"),
        ({"n_neurons": -1}, "n_neurons must be"),
        ({"random_state": -1}, "random_state must be >= 0"),
    ],
)
def test_bad_parameters_are_one_sentence(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        SpikingClassifier(**params).fit(*pictures(4))


def test_images_of_another_size_than_the_preset_are_one_sentence():
    with pytest.raises(ValueError, match="X must have 144 pixels"):
        SpikingClassifier(preset=small_preset()).fit(np.zeros((2, 4, 4), np.uint8), ["a", "b"])


def test_it_can_be_cloned_and_training_resumes_from_a_checkpoint(tmp_path):
    plain = SpikingClassifier(preset=small_preset(), random_state=1)
    again = clone(plain)
    X, y = pictures(50)
    said = []
    again.fit(X, y, checkpoint=tmp_path / "c", on_progress=lambda done, _: said.append(done))
    assert sum(said) == 100
    np.testing.assert_array_equal(plain.fit(X, y).model_.weights.resting, again.model_.weights.resting)
    assert (tmp_path / "c").exists()
