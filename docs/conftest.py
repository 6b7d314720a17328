"""Run the code of every page in an empty folder."""

import pytest

from springback.extras import is_installed

collect_ignore = ["extending.md"]
"""Its blocks are whole files, which `tests/docs/test_extending.py` writes and runs."""

if not (is_installed("neo") and is_installed("pynwb")):
    collect_ignore += ["circuits.md", "api/spiking.md"]


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.chdir(str(tmp_path))
