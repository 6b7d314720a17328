"""Peers run as processes of their own; one that is missing or fails is told, never invented."""

import json

import numpy as np
import pytest

from springback_bench.speed import spiking_peers
from springback_bench.speed.growth import exponent
from springback_bench.speed.work import spikes_of

pytestmark = pytest.mark.waits


def test_without_its_environment_a_peer_is_absent(tmp_path, monkeypatch):
    monkeypatch.setattr(spiking_peers, "BENCH_PYTHON", tmp_path / "nothing")
    answer = spiking_peers.run_script("brian2", tmp_path / "work.npz", {"mode": "test"})
    assert list(answer) == ["absent"]
    assert ".venv-bench" in answer["absent"]


@pytest.mark.parametrize(
    ("script", "limit_s", "expected"),
    [
        ("import sys; print('noise'); print('{\"images_per_s\": 2.0}')", 120.0, {"images_per_s": 2.0}),
        ("import nowhere_at_all", 120.0, {"absent": "ModuleNotFoundError: No module named 'nowhere_at_all'"}),
        ("raise SystemExit(3)", 120.0, {"absent": "exit code 3"}),
        ("import time; time.sleep(600)", 2.0, {"absent": "did not finish within 2 s"}),
    ],
)
def test_a_script_is_believed_only_if_it_ends_well(tmp_path, monkeypatch, script, limit_s, expected):
    (tmp_path / "peers").mkdir()
    (tmp_path / "peers" / "run_springback.py").write_text(script)
    monkeypatch.setattr(spiking_peers, "HERE", tmp_path)
    assert spiking_peers.run_script("springback", tmp_path / "work.npz", {}, limit_s=limit_s) == expected


def test_every_contender_has_a_script():
    for contender in spiking_peers.CONTENDERS:
        assert (spiking_peers.HERE / "peers" / f"run_{contender.peer}.py").is_file()


def test_springback_as_a_contender_counts_its_spikes(tmp_path):
    rng = np.random.default_rng(0)
    images = (rng.random((3, 784)) < 0.2).astype(np.uint8) * np.uint8(250)
    which, when = spikes_of(images)
    resting = rng.random((784, 400), np.float32)
    resting *= 78 / resting.sum(axis=0)
    theta = np.full(400, 20.0, np.float32)
    work = tmp_path / "work.npz"
    np.savez(work, images=images, spike_input=which, spike_step=when, resting=resting, theta=theta)
    answer = spiking_peers.run_script("springback", work, {"mode": "test", "n_images": 3, "repeats": 1})
    assert json.loads(json.dumps(answer))["n_images"] == 3
    assert answer["spikes_per_image"] > 0
    assert answer["images_per_s"] > 1


def test_drawn_spikes_have_the_rates_of_their_pixels():
    images = np.zeros((4, 784), np.uint8)
    images[:, :100] = 255
    which, when = spikes_of(images)
    assert which.max() < 100
    assert ((when % 1000) < 700).all()
    assert len(which) / (4 * 100 * 0.35) == pytest.approx(63.75, rel=0.05)


def test_exponents_are_those_of_power_laws():
    assert exponent([1, 2, 4, 8], [3, 12, 48, 192]) == pytest.approx(2.0)
    assert exponent([1], [3]) is None
    assert exponent([1, 2], [0.0, 1.0]) is None
