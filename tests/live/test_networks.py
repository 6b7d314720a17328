"""Networks in ONNX files that follow a video, sound and rows; the same answers as `track` in PyTorch."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")
pytest.importorskip("av")

import onnx

import torch
from springback.check import DataError
from springback.heads.onnx.layout import METADATA_KEY
from springback.live import ModelOptions, open_model, open_source
from springback.torch import Observer, elasticize, export_onnx, track
from tests.live.conftest import posteriors
from tests.live.test_media_sources import PICTURES, decoded

SCALE = {"mean": [0.5] * 3, "std": [0.5] * 3}
STORED = {"kind": "pictures", "height": 6, "width": 6, "channels": "rgb", "fit": "crop", **SCALE}


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    plain = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 3)
    ).eval()
    return elasticize(plain, settings=Observer(novelty_odds=0.05))


@pytest.fixture(scope="module")
def files(network, tmp_path_factory):
    """The network with and without a word about its input."""
    place = tmp_path_factory.mktemp("onnx")
    example = torch.zeros(1, 3, 6, 6)
    export_onnx(network, place / "told.onnx", example, classes=["red", "green", "blue"], preparation=STORED)
    told = onnx.load(place / "told.onnx")
    for entry in told.metadata_props:
        if entry.key == METADATA_KEY:
            entry.value = json.dumps(json.loads(entry.value) | {"preparation": None})
    onnx.save(told, place / "silent.onnx")
    return place


def test_a_network_follows_a_video_as_track_follows_its_pictures(files, network, video):
    frames = torch.tensor(PICTURES.prepare(decoded(video)))
    wanted = track(network, frames[:, None])[:, 0].softmax(dim=-1).numpy()
    told = open_model(files / "told.onnx")
    assert told.classes == ("red", "green", "blue")
    found = posteriors(open_source(str(video)), told)
    assert np.allclose(found, wanted, atol=1e-5)
    silent = open_model(files / "silent.onnx", ModelOptions(preparation=SCALE))
    assert (posteriors(open_source(str(video)), silent) == found).all()


def test_the_stream_of_a_network_continues_from_its_state(files, video):
    pictures = PICTURES.prepare(decoded(video))
    whole = open_model(files / "told.onnx").answer(pictures, None).posterior
    first, second = (open_model(files / "told.onnx") for _ in range(2))
    first.answer(pictures[:13], None)
    second.model.set_state(first.model.get_state())
    assert (second.answer(pictures[13:], None).posterior == whole[13:]).all()


def test_pictures_without_a_word_about_their_scale_are_refused(files, video):
    with pytest.raises(
        DataError, match="which takes 3 x 6 x 6 numbers, does not say how pictures become these: give the mean"
    ):
        posteriors(open_source(str(video)), open_model(files / "silent.onnx"))
    with pytest.raises(DataError, match=r"told.onnx says fit = crop; leave fit = stretch out"):
        open_model(files / "told.onnx", ModelOptions(preparation={"fit": "stretch"}))
