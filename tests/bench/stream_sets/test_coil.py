"""Objects on a turntable: the order of the views, and the turns."""

import io
import tarfile

import numpy as np
import pytest

from springback.check import DataError
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets import coil
from springback_bench.stream_sets.coil import features_in, shortest_tour, turning


@pytest.mark.parametrize("n", [5, 24, 72])
def test_the_tour_recovers_a_circle(n):
    angles = 2 * np.pi * np.arange(n) / n
    mixed = np.random.default_rng(n).permutation(n)
    circle = np.stack([np.cos(angles), np.sin(angles), np.full(n, 0.5)], axis=1)[mixed]
    tour = shortest_tour(unit_rows(circle).astype(np.float64))
    steps = np.diff(mixed[tour], append=mixed[tour[0]]) % n
    assert set(steps) in ({1}, {n - 1})


def test_the_tour_is_the_same_for_the_same_views():
    views = unit_rows(np.random.default_rng(0).normal(size=(20, 5))).astype(np.float64)
    assert (shortest_tour(views) == shortest_tour(views)).all()
    assert sorted(shortest_tour(views)) == list(range(20))


@pytest.fixture
def views():
    """Features that say which object from which side, (100, 72, 2)."""
    objects, sides = np.meshgrid(np.arange(100), np.arange(72), indexing="ij")
    return np.stack([objects, sides], axis=-1).astype(np.float32)


def test_an_object_turns_by_one_view_a_frame(views):
    stream = turning(views, np.arange(40), None, np.random.default_rng(0))
    for one in range(40):
        sides = stream.features[stream.labels == one, 1]
        assert 18 <= len(sides) < 72
        assert len(set(np.diff(sides) % 72)) == 1
        assert set(np.diff(sides) % 72) <= {1, 71}
    assert (stream.features[:, 0] == stream.labels).all()
    assert (stream.objects == stream.labels).all()


def test_an_object_appears_in_the_middle_of_the_side_that_was_learned(views):
    first = np.random.default_rng(1).integers(0, 72, 100)
    stream = turning(views, np.arange(40), first, np.random.default_rng(0))
    begins = np.flatnonzero(np.diff(stream.labels, prepend=-1))
    assert (stream.features[begins, 1] == (first[stream.labels[begins]] + 2) % 72).all()


def package_with(values, path):
    content = io.BytesIO()
    np.save(content, values, allow_pickle=True)
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(coil._MEMBER)
        member.size = len(content.getvalue())
        archive.addfile(member, io.BytesIO(content.getvalue()))
    return path


@pytest.mark.parametrize(
    ("values", "part"),
    [
        (np.ones(7), "must hold 9,216,000 finite numbers; got float64 (7,)"),
        (np.array([{"a": 1}], object), "allow_pickle"),
    ],
)
def test_a_package_with_other_numbers_is_refused(values, part, tmp_path):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        features_in(package_with(values, tmp_path / "package"))
    assert part in str(caught.value)


def test_numbers_that_are_not_finite_are_refused(tmp_path, monkeypatch):
    for name, size in (("_OBJECTS", 2), ("_VIEWS", 3), ("_FEATURES", 4)):
        monkeypatch.setattr(coil, name, size)
    assert features_in(package_with(np.ones((2, 3, 4)), tmp_path / "whole")).shape == (2, 3, 4)
    with pytest.raises(DataError, match="finite"):
        features_in(package_with(np.full(24, np.nan), tmp_path / "nan"))
