"""The two-dimensional example runs, and shows what it says."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).parents[2] / "examples" / "springs_2d.py"
    spec = importlib.util.spec_from_file_location("springs_2d", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_elastic_observer_keeps_what_the_frozen_one_loses(example):
    _, elastic, frozen = example.watch()
    shown = slice(0, len(example.ONE))
    assert (elastic[shown] == 0).all()
    assert frozen[shown][-1] != 0


def test_in_silence_the_centroids_spring_back(example):
    centroids, elastic, _ = example.watch()
    away = np.linalg.norm(centroids - example.RESTING, axis=2).max(axis=1)
    silent = np.flatnonzero(elastic[: len(example.ONE) + len(example.SILENCE)] == -1)
    assert (np.diff(away[silent]) < 0).all()
    assert away[silent[-1]] < 0.25 * away[len(example.ONE) - 1]


def test_the_animation_has_a_picture_for_every_frame(example, tmp_path):
    path = tmp_path / "springs.gif"
    example.animate(path, example.STREAM[:4])
    with Image.open(path) as picture:
        assert picture.n_frames == 4
