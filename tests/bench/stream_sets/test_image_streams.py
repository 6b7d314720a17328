"""Videos of images through the paper's CNN."""

import numpy as np
import pytest

import torch
from springback.data import load_mnist
from springback.data.catalogue import folder_of
from springback.data.pretrained import shipped_cnn, shipped_digits
from springback.streaming.records import NOISE_LABEL, Images
from springback_bench.stream_sets import _image_network, stream_sets
from springback_bench.stream_sets._image_network import Film, image_split
from springback_bench.stream_sets._small_network import digit_network, get_weights
from springback_paper.baselines.model_file import set_weights
from springback_paper.baselines.models import Cnn


@pytest.fixture(autouse=True)
def _few_images(monkeypatch):
    monkeypatch.setattr(_image_network, "N_VALIDATION", 3)
    monkeypatch.setattr(_image_network, "N_TEST", 4)
    monkeypatch.setattr(_image_network, "_EXAMPLES", 20)


def test_the_network_is_the_shipped_one():
    frames = shipped_digits().pixels
    model = Cnn().eval()
    set_weights(model, shipped_cnn())
    with torch.inference_mode():
        expected = model.features(torch.tensor(frames) / 255).numpy()
    network = _image_network._for_digits()
    np.testing.assert_allclose(network.features(frames[:, None]), expected, atol=1e-5)
    head = network.head(frames[:, None])
    np.testing.assert_array_equal(head.weight, shipped_cnn()["head.weight"])
    np.testing.assert_allclose(head.centre, expected.mean(axis=0), atol=1e-5)


def test_splits_show_other_images_and_validation_shows_training_images():
    seen = []

    def film(images, seed):
        seen.append((images.pixels.tobytes(), seed))
        return Film([images.pixels], images.labels, np.arange(len(images)))

    for split in range(3):
        made = image_split("omnist", split, film, folder_of(None), lambda _: None)
        assert (len(made.validation[0]), len(made.test[0])) == (3, 4)
    assert len({pixels for pixels, _ in seen}) == len({seed for _, seed in seen}) == 6
    train, test = load_mnist("train").pixels[-9:], load_mnist("test").pixels[:12]
    assert b"".join(pixels for pixels, _ in seen[::2][::-1]) == train.tobytes()
    assert b"".join(pixels for pixels, _ in seen[1::2]) == test.tobytes()


@pytest.mark.parametrize("name", ["omnist", "turning", "unseparated"])
def test_a_video_of_digits_becomes_a_stream(name):
    made = stream_sets()[name].make(0, folder_of(None), lambda _: None)
    (stream,) = made.test
    assert made.head.weight.shape == (11, 400)
    assert (NOISE_LABEL in stream.labels) == (name != "unseparated")
    assert stream.labels[0] == load_mnist("test").labels[0]
    assert len(np.unique(stream.objects)) == (4 if name == "unseparated" else 8)
    assert (np.diff(stream.objects) >= 0).all()
    assert made.head.logits(stream.features[:1]).argmax() == stream.labels[0]


def test_the_network_for_clothing_is_trained_without_the_last_images_once(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    pixels = np.zeros((60, 28, 28), np.uint8)
    pixels[:30, :14], pixels[30:, 14:] = 200, 200
    images = Images(pixels + rng.integers(0, 20, pixels.shape, dtype=np.uint8), np.repeat([2, 5], 30))
    monkeypatch.setattr(_image_network, "_HELD_OUT", 20)
    trained_on, told = [], []
    train = _image_network.SmallNetwork.train

    def spy(self, inputs, labels, **options):
        trained_on.append((inputs, labels))
        train(self, inputs, labels, **options)

    monkeypatch.setattr(_image_network.SmallNetwork, "train", spy)
    first = _image_network._for_clothing(images, tmp_path, told.append)
    again = _image_network._for_clothing(images, tmp_path, told.append)
    ((inputs, labels),) = trained_on
    assert told == ["training a network on Fashion-MNIST"]
    assert len(inputs) == 44
    assert (labels[40:] == NOISE_LABEL).all()
    np.testing.assert_array_equal(inputs[:40, 0], images.pixels[:40])
    for name, weights in get_weights(first).items():
        np.testing.assert_array_equal(get_weights(again)[name], weights)
    assert not np.array_equal(get_weights(first)["10.weight"], get_weights(digit_network())["10.weight"])
