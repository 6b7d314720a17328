"""The disk cache of compiled code follows its sources."""

import subprocess
import sys

from springback.compiled import discard_stale_code

CALLEE = "from numba import njit\n@njit(cache=True)\ndef inner(x):\n    return x + {number}\n"
CALLER = (
    "from numba import njit\nfrom room.callee import inner\n@njit(cache=True)\ndef outer(x):\n    return inner(x)\n"
)
INIT = "from springback.compiled import discard_stale_code\ndiscard_stale_code(__file__)\n"


def answer(folder):
    code = "from room.caller import outer; print(outer(1))"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_change_in_a_called_file_is_seen(tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text(INIT)
    (room / "caller.py").write_text(CALLER)
    (room / "callee.py").write_text(CALLEE.format(number=1))
    assert answer(tmp_path) == "2"
    assert list((room / "__pycache__").glob("*.nbc"))
    (room / "callee.py").write_text(CALLEE.format(number=41))
    assert answer(tmp_path) == "42"


def test_an_unchanged_folder_keeps_its_cache(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    discard_stale_code(str(tmp_path / "__init__.py"))
    kept = tmp_path / "__pycache__" / "some.nbc"
    kept.write_bytes(b"code")
    discard_stale_code(str(tmp_path / "__init__.py"))
    assert kept.exists()
    (tmp_path / "new.py").write_text("x = 1\n")
    discard_stale_code(str(tmp_path / "__init__.py"))
    assert not kept.exists()
