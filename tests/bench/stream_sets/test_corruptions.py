"""Photographs under corruptions that come and go."""

from itertools import groupby

import numpy as np
import pytest

from springback_bench.stream_sets import corruptions, load_stream
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets.cifar import Photographs


@pytest.fixture
def photographs(monkeypatch):
    monkeypatch.setattr(corruptions, "FRAMES_PER_KIND", 12)
    rng = np.random.default_rng(0)
    return Photographs(rng.integers(0, 256, (120, 32, 32, 3), np.uint8), rng.integers(0, 10, 120))


@pytest.mark.parametrize("in_runs", [True, False])
def test_no_photograph_comes_twice(photographs, in_runs):
    validation, test = corruptions.frames_of(photographs, 0, in_runs=in_runs)
    assert len(validation.objects) == 3 * 12
    assert len(test.objects) == 6 * 12
    together = np.concatenate([validation.objects, test.objects])
    assert len(np.unique(together)) == len(together)
    for part in (validation, test):
        np.testing.assert_array_equal(part.labels, photographs.labels[part.objects])


def test_both_orders_have_the_same_photographs(photographs):
    first, second = (corruptions.frames_of(photographs, 1, in_runs=in_runs) for in_runs in (True, False))
    for one, other in zip(first, second, strict=True):
        assert set(one.objects.tolist()) == set(other.objects.tolist())


def test_the_corruption_is_gone_at_the_ends_of_its_time_and_strongest_in_the_middle(photographs):
    _, test = corruptions.frames_of(photographs, 0, in_runs=False)
    change = np.abs(test.pixels.astype(float) - photographs.pixels[test.objects]).mean(axis=(1, 2, 3)).reshape(6, 12)
    assert (change[:, [0, -1]] == 0).all()
    assert (change[:, 5:7].mean(axis=1) > change[:, [1, -2]].mean(axis=1)).all()


def test_the_test_has_other_kinds_of_corruption_than_the_validation(photographs, monkeypatch):
    used = []
    monkeypatch.setattr(corruptions, "corrupted", lambda frame, kind, *_: used.append(kind) or frame)
    for split in range(corruptions.SPLITS):
        used.clear()
        corruptions.frames_of(photographs, split, in_runs=True)
        assert len(set(used[:36])) == 3
        assert len(set(used[36:])) == 6
        assert not set(used[:36]) & set(used[36:])


def test_classes_come_in_runs():
    labels = np.random.default_rng(0).integers(0, 10, 3000)
    found = corruptions.runs(np.arange(3000), labels, np.random.default_rng(1))
    assert sorted(found.tolist()) == list(range(3000))
    lengths = [len(list(run)) for _, run in groupby(labels[found])]
    assert np.mean(lengths) > 8
    assert max(lengths) < 60


def test_other_names_and_splits_are_refused():
    with pytest.raises(ValueError, match="name must be one of"):
        corruptions.corrupted_frames("coil-known")
    with pytest.raises(ValueError, match="split must be"):
        corruptions.corrupted_frames("corruptions-iid", 3)


def test_features_are_those_of_the_frames(photographs, monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    from springback_bench.stream_sets import _resnet

    monkeypatch.setattr(corruptions, "unseen_photographs", lambda *_: photographs)
    monkeypatch.setattr(
        corruptions, "training_photographs", lambda count, *_: Photographs(*(a[:count] for a in photographs))
    )
    network = _resnet.GroupNormResNet()
    kept(tmp_path, "corruptions-network", lambda: _resnet.get_weights(network))
    split = load_stream("corruptions-iid", 2, data_home=tmp_path)
    model, validation, test = corruptions.corrupted_frames("corruptions-iid", 2, data_home=tmp_path)
    for frames, stream in ((validation, split.validation[0]), (test, split.test[0])):
        np.testing.assert_array_equal(stream.labels, frames.labels)
        np.testing.assert_array_equal(stream.objects, frames.objects)
        with torch.inference_mode():
            logits = model(_resnet.as_input(frames.pixels)).numpy()
        np.testing.assert_allclose(split.head.logits(stream.features), logits, atol=1e-4)
    assert model is not corruptions.corrupted_frames("corruptions-iid", 2, data_home=tmp_path).model
