"""The paper's network and its open points, with a few neurons on a few digits."""

from dataclasses import replace

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.spiking.evaluation import follow_video, recognise_images
from springback.spiking.fitting import train_model
from springback.spiking.presets import moraitis_2020
from springback_paper.figures import paper_network
from springback_paper.figures.paper_network import AS_WRITTEN, DELAYS, MEASURES, PRESET, PaperNetwork, run

SMALL = PaperNetwork(n_held_out=100, n_digits=6, n_delayed=2, neurons=20)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")[:400]


@pytest.fixture(scope="module")
def result(digits):
    return run(SMALL, digits, seeds=(0,))


def test_a_variant_is_the_plain_network_with_that_one_thing_changed(result, digits):
    preset = replace(moraitis_2020(n_neurons=20), epochs=1, shuffled=False)
    model, held = train_model(digits[:300], preset, seed=0), digits[300:]
    video = make_omnist(held[:: 100 // 6][:6], seed=0)
    wanted = [
        recognise_images(model, held, seed=0).accuracy,
        follow_video(model, video, adapts=False, seed=0).accuracy,
        follow_video(model.static(), video, adapts=False, seed=0).accuracy,
        follow_video(model, video, seed=0).accuracy,
    ]
    np.testing.assert_allclose(result.mean[result.variants.index(AS_WRITTEN)], wanted)
    assert PRESET in result.variants
    assert moraitis_2020().epochs == 3


def test_delays_of_zero_change_nothing(digits):
    model = train_model(digits[:300], replace(moraitis_2020(n_neurons=20), epochs=1), seed=0)
    video = make_omnist(digits[300:302], seed=0)

    class Nothing:
        def integers(self, low, _high, shape):
            return np.full(shape, low)

    late = paper_network._Delays.draw(model, Nothing())
    for adapts in (False, True):
        wanted = np.concatenate(
            [
                follow_video(model, video.stretch(*bounds), adapts=adapts, seed=number).predicted
                for number, bounds in enumerate(video.shard_bounds(2))
            ]
        )
        assert late.right(model, video, adapts=adapts, seed=0) == np.mean(wanted == video.labels)


def test_still_digits_are_not_shown_with_delays(result):
    row = result.mean[result.variants.index(DELAYS)]
    assert np.isnan(row[MEASURES.index("still digits")])
    assert np.isfinite(row[1:]).all()
