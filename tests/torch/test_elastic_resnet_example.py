"""The example runs and shows what it says, on a few hundred pictures."""

import importlib.util
from pathlib import Path

import pytest

import torch


@pytest.fixture(autouse=True)
def on_one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parents[2] / "examples" / "elastic_resnet.py"
    spec = importlib.util.spec_from_file_location("elastic_resnet", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.more
@pytest.mark.timeout(1800)
def test_the_elastic_network_beats_the_static_one_on_the_video(example):
    # Over ten seeds, the smallest gains were 26 points with labels, 10 with the default observer, and 0 without labels.
    rows, settings = example.compare(images=1000, epochs=4, batch=16, digits=64, n_streams=8, n_trials=40)
    accuracy = {what: video for what, _, video in rows}
    assert accuracy["elastic, tuned"] > accuracy["static"] + 0.15
    assert accuracy["elastic, tuned without labels"] > accuracy["static"] - 0.005
    assert accuracy["elastic, default observer"] > accuracy["static"] + 0.05
    assert set(settings) == {"default observer", "default springs", "tuned without labels", "tuned"}


def test_pictures_have_the_shape_of_cifar(example):
    shown = example.as_images(torch.full((2, 28, 28), 255, dtype=torch.uint8).numpy())
    assert shown.shape == (2, 3, 32, 32)
    assert shown[:, :, 2:30, 2:30].min() == 1
    assert shown.sum() == 2 * 3 * 28 * 28
