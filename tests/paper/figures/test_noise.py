"""How hard the noise is, with a small circuit and a few digits."""

import io

import numpy as np
import pytest

from springback.data import NoiseObject, Omnist, load_mnist, make_omnist
from springback.files.container import read, write
from springback.spiking.evaluation import follow_video
from springback.streaming.records import NOISE_LABEL
from springback_paper.baselines import Lstm, SequenceTraining, classify, train_sequence
from springback_paper.figures import noise
from springback_paper.figures.noise import ADAPTING, DEFAULT, SAME, STATIC, NoiseSweep, draw, run
from springback_paper.inputs.scrambled_noise import with_scrambled_noise
from tests.paper.figures.small_circuit import small_model

SMALL = NoiseSweep(pixels=(0, 784), scrambled=(0.0, 1.0), n_train=60, n_test=6, passes=1, lanes=4, seeds=(5, 6))


@pytest.fixture(scope="module")
def images():
    return load_mnist("train")[:300], load_mnist("train")[5000:5050]


@pytest.fixture(scope="module")
def result(images):
    return run(SMALL, small_model(), *images)


def chosen(images, seed):
    rng = np.random.default_rng([seed, 1])
    return images[0][rng.permutation(300)[:60]], images[1][rng.permutation(50)[:6]]


def test_noises_stand_in_the_order_of_their_pixels_and_of_their_likeness(result):
    assert result.pixels == ("0", "200, repl.", "200", "784")
    assert result.kept == (0.0, 1.0)
    assert result.models == (SAME, DEFAULT, ADAPTING, STATIC)
    assert result.all_frames.shape == result.on_noise.shape == (6, 4, 2)
    lit = (result.examples > 0).sum(axis=(1, 2))
    assert lit[0] == 0
    assert lit[2] < lit[3] <= 180


def test_each_model_is_scored_on_the_video_with_the_noise(result, images):
    taught, tested = chosen(images, 6)
    crowded = Omnist(noise=NoiseObject(candidates=784))
    training = SequenceTraining(passes=1, lanes=4)
    videos = {
        3: lambda digits, seed: make_omnist(digits, seed=seed, params=crowded),
        5: lambda digits, seed: with_scrambled_noise(make_omnist(digits, seed=seed), digits, share=0.0, seed=seed),
    }
    usual = train_sequence(Lstm(seed=6), make_omnist(taught, seed=1_000_006), training)
    for row, make in videos.items():
        video = make(tested, 6)
        same = train_sequence(Lstm(seed=6), make(taught, 1_000_006), training)
        model = small_model()
        said = (
            classify(same, video),
            classify(usual, video),
            follow_video(model, video, seed=6).predicted,
            follow_video(model.static(), video, adapts=False, seed=6).predicted,
        )
        noisy = video.labels == NOISE_LABEL
        for place, answers in enumerate(said):
            assert result.all_frames[row, place, 1] == (answers == video.labels).mean()
            assert result.on_noise[row, place, 1] == (answers == video.labels)[noisy].mean()


def test_on_the_papers_noise_both_lstms_are_one(result):
    np.testing.assert_array_equal(result.all_frames[2, 0], result.all_frames[2, 1])


def test_without_torch_the_circuit_is_run_alone(images, monkeypatch):
    monkeypatch.setattr(noise, "is_installed", lambda _: False)
    alone = run(NoiseSweep(pixels=(), scrambled=(1.0,), n_test=4, seeds=(5,)), small_model(), *images)
    assert alone.models == (ADAPTING, STATIC)
    draw(alone).savefig(io.BytesIO(), format="png")


def test_the_record_survives_the_disk_and_is_drawn(result, tmp_path):
    write(tmp_path / "noise", "result", result)
    again = read(tmp_path / "noise", "result", type(result))
    np.testing.assert_array_equal(again.all_frames, result.all_frames)
    figure = draw(again)
    lines = [line for line in figure.axes[2].lines if len(line.get_xdata()) == 4]
    np.testing.assert_allclose(lines[0].get_ydata(), 100 * result.all_frames[:4, 0].mean(axis=-1))


@pytest.mark.parametrize(
    "wrong", [{"n_train": 0}, {"n_test": 0}, {"passes": 0}, {"lanes": 0}, {"seeds": ()}, {"scrambled": ()}]
)
def test_what_cannot_be_run_is_refused(wrong):
    with pytest.raises(ValueError, match=f"NoiseSweep.{next(iter(wrong))} must"):
        NoiseSweep(**wrong)
