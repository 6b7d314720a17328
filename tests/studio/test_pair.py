"""The studio shows what the library computes: frame by frame the same as its own functions on the whole stream."""

from dataclasses import replace

import numpy as np
import pytest

from springback import elastic, spiking
from springback.data import pretrained as shipped
from springback.spiking.inference import init, track
from springback.streaming import readout
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.pretraining import CNN_SPRINGS
from springback_studio.controls import checked_settings, defaults_of
from springback_studio.elastic_pair import ElasticPair
from springback_studio.inputs import stream_round
from springback_studio.spiking_pair import SpikingPair

N = 24
FRAMES = stream_round(3, 0).source(0, N)


def test_the_sliders_of_the_cnn_begin_where_it_was_measured():
    settings = defaults_of("cnn")
    assert {name: settings[name] for name in CNN_SPRINGS} == CNN_SPRINGS


def test_spiking_pair_are_the_librarys_stream_spike_for_spike():
    model = shipped.shipped_spiking()
    settings = checked_settings(
        "spiking", {"pull": 0.13, "memory": 500.0, "weight_dependence": -0.2, "threshold": -4.0}
    )
    pair = SpikingPair(model, settings, seed=5)
    answers = [pair.step(frame) for frame in FRAMES]
    changed = replace(model.preset.short_term, pull=0.13, memory_ms=500.0, weight_dependence=-0.2)
    shown = replace(model.preset.streaming, threshold_shift_mv=-4.0)
    for which, short_term in enumerate((changed, None)):
        state, counts = track(
            model.weights,
            init(model.weights, model.preset.circuit, short_term),
            FRAMES,
            circuit=model.preset.circuit,
            presentation=shown,
            short_term=short_term,
            seed=5,
        )
        assert counts.sum() > 100
        assert (np.stack([pair[which].response for pair in answers]) == counts).all()
        assert [pair[which].predicted for pair in answers] == readout.classify(counts, model.neuron_labels).tolist()
        if short_term is not None:
            units = np.arange(400)
            expected = spiking.short_term_of(state, model.preset.circuit)[:, units].T
            assert expected.any()
            assert (pair.short_term(units) == expected).all()


def test_spikes_in_the_raster_are_those_that_are_counted():
    pair = SpikingPair(shipped.shipped_spiking(), defaults_of("spiking"))
    for frame in FRAMES[:4]:
        for answer in pair.step(frame):
            assert (np.bincount(answer.events["unit"], minlength=400) == answer.response).all()
            assert (np.diff(answer.events["moment"].astype(int)) >= 0).all()


def test_elastic_pair_are_the_librarys_track():
    model, params = shipped.shipped_elastic(), ElasticOmnist()
    settings = checked_settings("elastic", {"pull": 12.0, "memory": 2.0, "threshold": 0.5})
    pair = ElasticPair(model, settings)
    answers = [pair.step(frame) for frame in FRAMES]
    elasticities = (
        elastic.Elasticity(kappa=params.kappa, pull=12.0, beta=params.beta, kernel=elastic.Exponential(memory=2.0)),
        elastic.Elasticity(kappa=params.kappa, pull=0.0),
    )
    for which, (elasticity, threshold) in enumerate(zip(elasticities, (0.5, model.noise_frozen), strict=True)):
        prepared = elastic.prepare(elasticity, model.resting)
        state, response = elastic.track(prepared, elastic.init(prepared), brightness(FRAMES, params.power))
        named = (response.posterior @ model.label_shares).argmax(axis=1)
        expected = np.where(response.similarity < threshold, 10, named)
        assert [pair[which].predicted for pair in answers] == expected.tolist()
        if which == 0:
            assert np.allclose(pair.short_term(np.arange(400)), elastic.short_term(prepared, state), atol=1e-6)


def test_cnn_pair_are_the_librarys_elastic_model():
    torch = pytest.importorskip("torch")
    from springback.torch import Springs, elasticize, track
    from springback_paper.baselines import Cnn
    from springback_paper.baselines.model_file import set_weights
    from springback_studio.cnn_pair import CnnPair

    settings = checked_settings("cnn", {"pull": 9.0, "memory": 3.0})
    pair = CnnPair(shipped.shipped_cnn(), settings)
    answers = [pair.step(frame) for frame in FRAMES]
    plain = Cnn().eval()
    set_weights(plain, shipped.shipped_cnn())
    frames = torch.tensor(FRAMES)[:, None] / 255
    adapting = track(elasticize(plain, Springs(pull=9.0, memory=3.0)), frames)[:, 0].softmax(1)
    with torch.no_grad():
        static = plain(frames[:, 0]).softmax(1)
    for which, expected in enumerate((adapting, static)):
        shown = np.stack([pair[which].posterior for pair in answers])
        assert np.abs(shown - expected.numpy()).max() < 1e-4


@pytest.mark.parametrize("kind", ["spiking", "elastic"])
def test_without_pull_nothing_is_stretched(kind):
    settings = checked_settings(kind, {"pull": 0.0})
    make = {"spiking": lambda: SpikingPair(shipped.shipped_spiking(), settings)}
    make["elastic"] = lambda: ElasticPair(shipped.shipped_elastic(), settings)
    pair = make[kind]()
    for frame in FRAMES[:3]:
        pair.step(frame)
    assert not pair.short_term(np.arange(400)).any()


@pytest.mark.parametrize("kind", ["spiking", "elastic"])
def test_settings_change_without_letting_go_of_what_is_stretched(kind):
    settings = defaults_of(kind)
    pair = (
        SpikingPair(shipped.shipped_spiking(), settings)
        if kind == "spiking"
        else ElasticPair(shipped.shipped_elastic(), settings)
    )
    for frame in FRAMES[:3]:
        pair.step(frame)
    before = pair.short_term(np.arange(400))
    pair.set({**settings, "weight_dependence": 0.1})
    assert before.any()
    assert (pair.short_term(np.arange(400)) == before).all()
    pair.restart()
    assert not pair.short_term(np.arange(400)).any()


def test_the_threshold_slider_moves_every_threshold_at_once():
    pair = SpikingPair(shipped.shipped_spiking(), defaults_of("spiking"))
    pair.step(FRAMES[0])
    pair.set({**defaults_of("spiking"), "threshold": 8.0})
    loud = pair.step(FRAMES[0])[0].response.sum()
    pair.set({**defaults_of("spiking"), "threshold": -8.0})
    assert pair.step(FRAMES[0])[0].response.sum() > loud
