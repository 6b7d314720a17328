"""The same data on every processor, and results that differ by rounding alone.

Processors are pretended: NumPy, OpenBLAS, PyTorch, the C library and Numba are each told to use fewer instructions than
the machine has. What is promised to whom is in docs/reproduce.md.
"""

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.machine_runs import data, training_order

ROOT = Path(__file__).parents[1]

ROUNDING = {"float32": 1e-4, "float64": 1e-9}
"""How far results may lie apart between processors, relative to the largest of the array."""
SPIKES_MOVED = 0.01
"""The share of spike counts that may differ between processors in these short runs; none has been seen to."""

PROCESSORS = {
    "AVX2": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ",
    },
    "SSE4.2, without fused multiply-add": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "NUMBA_CPU_NAME": "generic",
        "OPENBLAS_CORETYPE": "Nehalem",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX2,-AVX,-FMA",
    },
}

KNOWN = {
    "omnist": "a8c67856a0491ef4d0496b10bd9ff13c9687d17bc0f7bc4eacfbf57d16a8abd8",
    "omnist labels": "4dca6bcec86794759b32b66c55dcb4358cffd1eda7e3092c5cfbb21f1252a2e0",
    "omnist ink": "5d0021da002adf4c2681169a1f6b5fc6fabe2212446f3a66f79a28a529e66838",
    "turning": "493243887d32fca370d14e83e3f61856c048ef7f15cecad531858a61e5219b34",
    "moving": "4f93d19ac85c3acdcd59dc62ab53a7d275e8b246eef4ae7c2fa528dd0ce14ec0",
    "fading": "fc78ea80253b6d34ef15bff4f3981f9ef326ca12bc7e6275ffe80f626981e525",
    "noise": "173e110ff7d3217784595e0e0b20726b9968cc819579c024ca2a9b0b71a25d48",
    "head": "86b39e2f4df1014f5d80751bf32b6d3e6723f38a6edb54c8470298009ab6de4d",
    "world": "6f0573998f53af26d1cf4705a9de4d5cb416ed46b159a544dff3c651d49e8b7e",
    "input spikes": "6a68a00b915f9a07af35202a5e0506f2957a2080749a4b60799da40b97fdeb42",
    "training order": "0c00e833949f48fc7cd7c0215a661016af957ca1d13e2536123c580e6fc7482d",
}
"""SHA-256 of what the generators make. A change of these bytes is a new version of that generator."""


def run_on(pretended: dict[str, str], folder: Path) -> dict[str, np.ndarray]:
    """Data and results of `tests.machine_runs` in a process with these variables."""
    path = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    settings = {name for processor in PROCESSORS.values() for name in processor}
    outside = {name: value for name, value in os.environ.items() if name not in settings}
    environment = {**outside, "PYTHONPATH": os.pathsep.join(path), **pretended}
    command = [sys.executable, "-m", "tests.machine_runs", str(folder / "made.npz")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "made.npz") as made:
        return {name: made[name] for name in made.files}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return run_on({}, tmp_path_factory.mktemp("here"))


def check_pretence(wanted: dict[str, str], used: dict[str, str]) -> None:
    """The libraries have believed what they were told."""
    assert used["blas"] in (wanted["OPENBLAS_CORETYPE"], "none")
    assert used["torch"] == wanted["ATEN_CPU_CAPABILITY"].upper()
    assert used["numba"] == wanted.get("NUMBA_CPU_NAME", "host")
    assert not set(used["numpy"].split()) & set(wanted["NPY_DISABLE_CPU_FEATURES"].split())


def named(made: dict[str, np.ndarray], kind: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(kind): array for name, array in made.items() if name.startswith(kind)}


def digests(made: dict[str, np.ndarray]) -> dict[str, str]:
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in named(made, "data/").items()}


def check_rounding(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        atol = ROUNDING[array.dtype.name] * float(np.abs(array).max())
        np.testing.assert_allclose(theirs[name], array, rtol=0, atol=atol, err_msg=name)


def check_spikes(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    assert ours.keys() == theirs.keys()
    for name, counts in ours.items():
        answered = np.count_nonzero(counts)
        assert answered > 50
        assert np.count_nonzero(counts != theirs[name]) <= SPIKES_MOVED * answered, name


def test_data_are_the_known_bytes():
    made = dict(data())
    made["data/training order"] = training_order()
    assert digests(made) == KNOWN


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the pretended processors are x86-64")
@pytest.mark.more
@pytest.mark.timeout(1800)  # The first time, all code is compiled anew for a processor without fused multiply-add.
@pytest.mark.parametrize("processor", PROCESSORS)
def test_another_processor_makes_the_same_data_and_the_same_results_but_for_rounding(processor, here, tmp_path):
    there = run_on(PROCESSORS[processor], tmp_path)
    check_pretence(PROCESSORS[processor], dict(one.split("=") for one in there["processor"].tolist()))
    assert digests(there) == KNOWN
    for name, content in named(here, "file/").items():
        assert there[f"file/{name}"].tobytes() == content.tobytes()
    check_rounding(named(here, "result/"), named(there, "result/"))
    check_spikes(named(here, "spikes/"), named(there, "spikes/"))


def test_the_page_states_these_tolerances():
    page = (ROOT / "docs" / "reproduce.md").read_text()
    for stated in (f"{ROUNDING['float32']:.0e}", f"{ROUNDING['float64']:.0e}", f"{SPIKES_MOVED:.0%}"):
        assert stated.replace("e-0", "e-").replace("%", " %") in page
