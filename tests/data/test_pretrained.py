import hashlib
import shutil

import numpy as np
import pytest

from springback.check import DataError
from springback.data import pretrained as shipped
from springback.streaming import readout
from springback_studio.controls import defaults_of


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(shipped.models_folder(), tmp_path / "models")
    return tmp_path / "models"


def test_shipped_models_are_small():
    sizes = [path.stat().st_size for path in shipped.models_folder().iterdir()]
    assert sum(sizes) < 1_000_000


def test_shipped_digits_are_ten_of_each_class_and_have_ink():
    digits = shipped.shipped_digits()
    assert (np.bincount(digits.labels) == 10).all()
    assert (digits.pixels.reshape(100, -1).sum(axis=1) > 1000).all()


def test_most_neurons_have_a_class_and_every_class_has_neurons():
    labels = shipped.shipped_spiking().neuron_labels
    assert (labels != readout.UNLABELLED).mean() > 0.9
    assert set(range(10)) <= set(labels.tolist())


def test_the_elastic_threshold_on_the_slider_is_the_shipped_one():
    assert abs(defaults_of("elastic")["threshold"] - shipped.shipped_elastic().noise_elastic) < 0.005


def test_a_changed_file_is_refused(folder):
    path = folder / "digits.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="checksum differs"):
        shipped.read_file("digits", folder)


def test_a_missing_file_is_refused_with_the_command_that_makes_it(folder):
    (folder / "cnn.safetensors").unlink()
    with pytest.raises(DataError, match=r"python -m springback_paper\.pretraining"):
        shipped.read_file("cnn", folder)


def test_an_oversized_file_is_refused_unread(folder):
    (folder / "cnn.safetensors").write_bytes(b"\0" * (shipped.LARGEST_FILE + 1))
    with pytest.raises(DataError, match="must not exceed"):
        shipped.read_file("cnn", folder)


def test_a_file_of_another_kind_is_refused_even_with_its_checksum(folder):
    path = folder / "digits.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"springback":"data"', b'"springback":"none"'))
    lines = f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
    (folder / shipped.CHECKSUMS).write_text(lines)
    with pytest.raises(DataError, match="not a springback data file"):
        shipped.read_file("digits", folder)
