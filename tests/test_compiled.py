"""The disk cache of compiled code follows its sources, and is left out where it cannot be written."""

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pooch
import pytest

import springback
from springback.compiled import cache_folder, njit, watch_compiling

CALLEE = (
    "from springback.compiled import njit\nfrom package.numbers.chosen import NUMBER\n"
    "@njit(cache=True)\ndef inner(x):\n    return x + NUMBER\n"
)
CALLER = (
    "from springback.compiled import njit\nfrom package.callee import inner\n"
    "@njit(cache=True)\ndef outer(x):\n    return inner(x)\n"
)
PACKAGE = Path(springback.__file__).parent
NOWHERE = "/proc/nowhere"
"""A folder that not even an administrator can make."""


def run(code, folder, **environment):
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def answer(folder, **environment):
    """What the package answers, and whether it had to be compiled."""
    code = (
        "from springback.compiled import watch_compiling\nheard = []\n"
        "with watch_compiling(heard.append):\n    from package.caller import outer; print(outer(1), any(heard))"
    )
    return run(code, folder, **environment)


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "work" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "caller.py").write_text(CALLER)
    (folder / "callee.py").write_text(CALLEE)
    (folder / "numbers").mkdir()
    (folder / "numbers" / "chosen.py").write_text("NUMBER = 1\n")
    return folder


@pytest.mark.parametrize("chosen", [False, True], ids=["beside the sources", "in NUMBA_CACHE_DIR"])
def test_a_change_in_a_file_of_another_folder_is_seen_wherever_the_cache_is(package, tmp_path, chosen):
    cache = tmp_path / "cache"
    environment = {"NUMBA_CACHE_DIR": str(cache)} if chosen else {}
    assert answer(package.parent, **environment) == "2 True"
    place = cache if chosen else package / "__pycache__" / "compiled"
    first = set(place.rglob("*.nbc"))
    assert first
    assert answer(package.parent, **environment) == "2 False"
    (package / "numbers" / "chosen.py").write_text("NUMBER = 41\n")
    assert answer(package.parent, **environment) == "42 True"
    assert not first & set(place.rglob("*.nbc"))


@pytest.mark.parametrize(
    ("compiled", "edited"),
    [
        ("heads/compiled/gate.py", "heads/continuity.py"),
        ("heads/compiled/observer.py", "heads/scale.py"),
        ("spiking/composed/_kernel.py", "spiking/_random.py"),
        ("spiking/_present.py", "spiking/encoding.py"),
    ],
)
def test_compiled_code_of_the_package_follows_the_other_packages_that_it_uses(tmp_path, compiled, edited):
    folders = []
    for name in ("before", "after"):
        copy = tmp_path / name / "springback"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "models"))
        if name == "after":
            with (copy / edited).open("a") as file:
                file.write("LATER = 1\n")
        module = ".".join(("springback", *Path(compiled).with_suffix("").parts))
        folders.append(cache_folder(copy / compiled, module))
    assert folders[0].name != folders[1].name
    assert folders[1] == cache_folder(folders[1].parents[3] / Path(compiled).name, module)


def test_two_copies_of_a_package_share_a_chosen_folder_without_disturbing_each_other(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "source.py").write_text(f"name = {name!r}\n")
    cache = str(tmp_path / "cache")
    folders = [cache_folder(tmp_path / name / "source.py", "source", cache) for name in ("one", "two")]
    assert all(folder.is_dir() for folder in folders)


def test_where_the_sources_cannot_be_written_to_the_cache_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "home" / name)
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "__pycache__").write_text("not a folder")
    (sources / "source.py").write_text("")
    folder = cache_folder(sources / "source.py", "source", NOWHERE)
    assert folder.is_relative_to(tmp_path / "home" / "springback" / "compiled")


@pytest.mark.parametrize("home", [NOWHERE, "~/.cache"], ids=["read-only home", "no home"])
def test_without_any_place_there_is_no_cache(tmp_path, monkeypatch, home):
    monkeypatch.setattr(pooch, "os_cache", lambda name: Path(home) / name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "__pycache__").write_text("not a folder")
    (tmp_path / "source.py").write_text("")
    assert cache_folder(tmp_path / "source.py", "source") is None
    assert {path.name for path in tmp_path.iterdir()} == {"__pycache__", "source.py"}


def test_a_full_disk_is_not_used_as_a_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda _: Path(NOWHERE))
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    (tmp_path / "source.py").write_text("")
    assert cache_folder(tmp_path / "source.py", "source") is None


def test_a_read_only_installation_without_a_home_works(tmp_path):
    copy = tmp_path / "springback"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "models"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("nothing can be written here")
    code = (
        "import springback, springback.spiking, springback.elastic, springback.data, springback_bench.rivals, numpy\n"
        "from springback_bench.rivals.markov_filter import MarkovFilter\n"
        "sure = MarkovFilter(2).track(numpy.full((3, 2), 0.5))\n"
        "print(springback.__file__, sure.shape)"
    )
    environment = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR"), NOWHERE)
    before = sorted(tmp_path.rglob("*"))
    assert run(code, tmp_path, PYTHONPATH=str(tmp_path), **environment) == f"{copy / '__init__.py'} (3, 2)"
    assert sorted(tmp_path.rglob("*")) == before


def test_compiling_is_told_once_and_logged_for_our_own_functions(caplog):
    caplog.set_level(logging.INFO, "springback")

    def triple(x):
        return 3 * x

    triple.__module__ = "springback.somewhere"
    compiled = njit()(triple)
    heard = []
    with watch_compiling(heard.append):
        assert [compiled(2), compiled(3)] == [6, 9]
    assert heard == [True, False]
    assert [record.getMessage() for record in caplog.records] == [
        f"compiling springback.somewhere.{triple.__qualname__} (once)"
    ]


def test_a_function_that_belongs_to_no_module_can_be_compiled():
    made = {}
    exec("def half(x):\n    return x / 2", {"__name__": None}, made)
    assert njit()(made["half"])(4.0) == 2.0


def test_every_compiled_function_of_the_package_is_kept_this_way():
    sources = [
        path for path in PACKAGE.parent.glob("springback*/**/*.py") if path.name not in ("compiled.py", "roofline.py")
    ]
    assert [path.name for path in sources if "from numba import njit" in path.read_text()] == []
