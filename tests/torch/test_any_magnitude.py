"""One frame of any magnitude, or a whole stream of it, leaves all forms of a head in agreement."""

import numpy as np
import pytest
from scipy.special import softmax

import torch
from springback.heads import ElasticHead, follow
from springback.heads.onnx import OnnxStream
from springback.torch import (
    CentroidSprings,
    LearningObserver,
    Observer,
    Springs,
    WindowSprings,
    elasticize,
    export_onnx,
    get_state,
    reset,
    step,
    track,
)
from torch import nn

FACTORS = [1e3, 1e5, 1e8, 1e10, 1e15, 1e19, 1e30]
AGREE = 2e-6
SETTINGS = {
    "observer": Observer(),
    "learning observer": LearningObserver(),
    "observer that averages": Observer(gain=0.5),
    "springs": Springs(pull=2.0, memory=3.0),
    "window": WindowSprings(pull=2.0, memory=3.0, window=20),
    "tuned window": WindowSprings(pull=2.0, memory=3.0, window=20, tuning=3.0),
    "centroids": CentroidSprings(pull=0.5, memory=3.0, likelihood="exponential", kappa=3.0),
}


def a_stream(n_frames=120):
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(5, 8)), 0.1 * rng.normal(size=5)
    objects = rng.normal(size=(5, 8))[np.repeat(rng.integers(0, 5, n_frames // 10), 10)]
    rows = objects + 0.6 * rng.normal(size=objects.shape)
    return weight.astype(np.float32), bias.astype(np.float32), rows.astype(np.float32)


WEIGHT, BIAS, ROWS = a_stream()


def with_glitch(factor, at=50):
    rows = ROWS.copy()
    rows[at] *= np.float32(factor)
    return rows


def a_model(settings, weight=WEIGHT):
    plain = nn.Linear(8, 5)
    plain.weight.data, plain.bias.data = torch.from_numpy(weight), torch.from_numpy(BIAS)
    return elasticize(plain, settings)


def in_torch(settings, rows, weight=WEIGHT):
    """The answers of the layer, frame by frame in torch, because gradients are recorded."""
    model = reset(a_model(settings, weight), 1)
    return np.array([model(torch.from_numpy(row[None]))[0].detach().double().softmax(dim=0).numpy() for row in rows])


def compiled(settings, rows, weight=WEIGHT):
    with torch.no_grad():
        return softmax(track(a_model(settings, weight), torch.from_numpy(rows)[:, None])[:, 0].double().numpy(), axis=1)


def assert_all_agree(settings, rows, weight=WEIGHT):
    wanted = follow(settings, weight, BIAS, rows)
    assert np.isfinite(wanted).all()
    for found in (
        ElasticHead(weight, BIAS, settings).track(rows),
        in_torch(settings, rows, weight),
        compiled(settings, rows, weight),
    ):
        np.testing.assert_allclose(found, wanted, atol=AGREE)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("settings", [Observer(), LearningObserver()], ids=["observer", "learning observer"])
def test_all_forms_of_the_observers_agree_after_one_glitch(settings, factor):
    assert_all_agree(settings, with_glitch(factor))


@pytest.mark.parametrize("factor", [1e10, 1e30])
@pytest.mark.parametrize("name", list(SETTINGS)[2:])
def test_all_forms_of_other_memories_agree_after_one_glitch(name, factor):
    assert_all_agree(SETTINGS[name], with_glitch(factor))


@pytest.mark.parametrize("factor", [1e-30, 1e19, 1e30])
@pytest.mark.parametrize("name", SETTINGS)
def test_all_forms_agree_if_features_are_large_and_weights_small(name, factor):
    factor = np.float32(factor)
    assert_all_agree(SETTINGS[name], ROWS * factor, WEIGHT / factor)


@pytest.mark.more
def test_an_exported_observer_agrees_after_a_glitch_and_at_any_magnitude(tmp_path):
    factor = np.float32(1e30)
    for weight, streams in (
        (WEIGHT, [with_glitch(factor) for factor in FACTORS]),
        (WEIGHT / factor, [ROWS * factor]),
    ):
        export_onnx(a_model(Observer(), weight), tmp_path / "head.onnx")
        onnx = OnnxStream(tmp_path / "head.onnx", threads=1)
        for rows in streams:
            np.testing.assert_allclose(onnx.track(rows), follow(Observer(), weight, BIAS, rows), atol=AGREE)


def test_exported_springs_agree_after_a_glitch(tmp_path):
    settings = SETTINGS["tuned window"]
    export_onnx(a_model(settings), tmp_path / "head.onnx")
    onnx = OnnxStream(tmp_path / "head.onnx", threads=1)
    for factor in (1e10, 1e30):
        rows = with_glitch(factor)
        np.testing.assert_allclose(onnx.track(rows), follow(settings, WEIGHT, BIAS, rows), atol=AGREE)


def spreads(rows):
    """The running scale of the stream after each row."""
    head, found = ElasticHead(WEIGHT, BIAS), []
    for row in rows:
        head.step(row)
        found.append(float(head.state_.memory.spread[0, 0]))
    return np.array(found)


@pytest.mark.parametrize("factor", [1e-30, 1e-10, 1e3, 1e30])
@pytest.mark.parametrize("at", [0, 1, 5, 31, 32, 50])
def test_one_frame_moves_the_scale_by_a_bounded_factor(at, factor):
    usual, disturbed = spreads(ROWS), spreads(with_glitch(factor, at))
    ratio = disturbed[-1] / usual[-1]
    assert 0.2 < ratio < 8
    if at >= 31:
        assert 0.5 < ratio < 1.3


def test_a_lasting_change_of_scale_is_followed():
    rows = np.concatenate([ROWS[:100], *[100 * ROWS] * 10])
    assert spreads(rows)[-1] > 0.5 * spreads(100 * ROWS)[-1]


def test_frames_that_differ_by_a_usual_amount_are_averaged_as_they_are():
    reach = np.ptp(ROWS @ WEIGHT.T + BIAS, axis=1)
    means = np.cumsum(reach) / np.arange(1, len(reach) + 1)
    assert (reach[1:] < 8 * means[:-1]).all()  # no frame of this stream is cut
    np.testing.assert_allclose(spreads(ROWS), means, rtol=1e-5)


def test_the_state_after_a_huge_first_frame_can_be_stored():
    head = ElasticHead(WEIGHT, BIAS)
    head.step(1e36 * ROWS[0])
    again = ElasticHead(WEIGHT, BIAS).set_state(head.get_state())
    np.testing.assert_array_equal(again.track(ROWS), head.track(ROWS))


@pytest.mark.parametrize("recorded", [True, False], ids=["in torch", "compiled"])
def test_springs_that_keep_lengths_refuse_what_they_cannot_compute_with_and_do_not_move(recorded):
    settings, rows = Springs(pull=2.0, memory=3.0, unit_inputs=False), ROWS * np.float32(1e30)
    sentence = "rows must be scaled down until they can be computed with"
    with pytest.raises(ValueError, match=f"{sentence}; got NaN or infinity from row 1$"):
        ElasticHead(WEIGHT, BIAS, settings).track(rows)
    with torch.set_grad_enabled(recorded):
        model = reset(a_model(settings), 1)
        usual, huge = torch.from_numpy(ROWS[:1]), torch.from_numpy(rows[:1])
        model(usual)
        model(huge)
        before = get_state(model)
        with pytest.raises(ValueError, match=f"{sentence}; got NaN or infinity from row 0$"):
            model(huge)
        for name, part in get_state(model).items():
            torch.testing.assert_close(part, before[name], rtol=0, atol=0)
    with pytest.raises(ValueError, match=f"{sentence}; got NaN or infinity from row 1, stream 0$"):
        track(a_model(settings), torch.from_numpy(rows)[:, None])


@pytest.mark.parametrize("images_at_once", [9, 1024])
def test_a_recorded_stream_that_is_refused_late_has_moved_no_layer(images_at_once):
    settings, frames = Springs(pull=2.0, memory=3.0, unit_inputs=False), torch.from_numpy(ROWS)[:, None].repeat(1, 3, 1)
    frames[50:, 2] *= 1e30
    hidden, head = nn.Linear(8, 8, bias=False), nn.Linear(8, 5)
    hidden.weight.data = torch.eye(8)
    model = reset(elasticize(nn.Sequential(hidden, head), settings, layers=["0", "1"]), 3)
    step(model, frames[0])
    before, clock = get_state(model), model[0].clock
    with pytest.raises(ValueError, match=r"from row 5\d, stream 2$"):
        track(model, frames, images_at_once=images_at_once, in_place=True)
    for name, part in get_state(model).items():
        torch.testing.assert_close(part, before[name], rtol=0, atol=0)
    assert model[0].clock == model[1].clock == clock
