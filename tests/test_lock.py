"""The locks: everything that pyproject.toml asks for, with hashes; and the audit never takes silence for safety."""

import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
REPRODUCE_LOCK = (ROOT / "reproduce.lock").read_text()
UV_LOCK = (ROOT / "tools" / "uv.lock").read_text()
NOT_LOCKED = {"torch", "executorch", "brian2", "pyspark", "supervision"}
"""Each machine takes the build of torch that suits it; others go with certain versions of it, or have no wheel."""
UNREACHABLE = 3
verdict = runpy.run_path(str(ROOT / "tools" / "audit"))["verdict"]


def pins(lock):
    return re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", lock, flags=re.MULTILINE)


LOCKED = {name: Version(version) for name, version in pins(LOCK)}


def asked_for():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = about["project"]["optional-dependencies"]
    extras["brian2"] = extras["brian2"][:1]  # which comes with an older NumPy than the lock has
    lists = [about["project"]["dependencies"], *extras.values()]
    return [Requirement(one) for each in (*lists, about["build-system"]["requires"]) for one in each]


@pytest.mark.parametrize("wanted", asked_for(), ids=str)
def test_what_the_project_asks_for_is_locked_within_its_range(wanted):
    name = canonicalize_name(wanted.name)
    if name in NOT_LOCKED:
        assert name not in LOCKED
    else:
        assert LOCKED[name] in wanted.specifier


@pytest.mark.parametrize(
    ("lock", "at_least"), [(LOCK, 100), (REPRODUCE_LOCK, 20), (UV_LOCK, 1)], ids=["tests", "reproduction", "uv"]
)
def test_every_locked_package_has_hashes_and_no_index_is_named(lock, at_least):
    blocks = re.split(r"\n(?=[a-z0-9])", lock.strip())
    assert len(blocks) == len(pins(lock)) >= at_least
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in lock
    assert "--index" not in lock
    assert "--find-links" not in lock


def test_the_reproduction_has_the_versions_of_the_tests_and_none_of_their_tools():
    found = {name: Version(version) for name, version in pins(REPRODUCE_LOCK)}
    assert found.items() <= LOCKED.items()
    assert not found.keys() & {"pytest", "mypy", "mkdocs", "onnxruntime", "fastapi"}
    core = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {canonicalize_name(Requirement(one).name) for one in core} <= found.keys()


@pytest.mark.more
def test_everything_can_be_installed_on_every_python_and_platform():
    done = subprocess.run([ROOT / "tools" / "lock", "--check"], capture_output=True, text=True, check=False)
    if done.returncode == UNREACHABLE:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": resolves\n") == 12


def test_the_constraints_are_the_versions_of_the_lock_and_torch():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    found = {one.name: one.specifier for one in pins}
    assert found.keys() == LOCKED.keys() | {"torch"}
    assert all(str(found[name]) == f"=={version}" for name, version in LOCKED.items())


SAFE = {"name": "safe", "version": "1", "vulns": []}
WEAK = {"name": "weak", "version": "2", "vulns": [{"id": "X-1", "fix_versions": ["3"]}]}
SKIPPED = {"name": "unknown", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "code", "part"),
    [
        ([SAFE], 0, "0 known weaknesses in 1 packages"),
        ([SAFE, WEAK, SKIPPED], 1, "weak 2: X-1, mended in 3"),
        ([SAFE, SKIPPED], 3, "NOT AUDITED, because the advisory service did not answer: unknown"),
        ([SKIPPED], 3, "NOT AUDITED: the advisory service did not answer"),
        ([], 3, "NOT AUDITED: the advisory service did not answer"),
    ],
    ids=["safe", "weak", "one is not known", "none is known", "nothing"],
)
def test_the_audit_passes_only_what_was_looked_at(packages, code, part):
    text, found = verdict(packages)
    assert found == code
    assert part in text
