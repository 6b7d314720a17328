"""The wheel alone, without any optional library: every command works, or says in one sentence what to install."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from springback.cli.app import COMMANDS
from springback.extras import EXTRAS
from tests.absent import without

ROOT = Path(__file__).parents[1]

RUN = """
import contextlib, io, json, sys
import springback
from springback.cli import main
said = []
for arguments in json.loads(sys.argv[1]):
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            main(arguments)
        except SystemExit as left:
            said.append([left.code, output.getvalue(), errors.getvalue()])
print(json.dumps([springback.__file__, said]))
"""

WORKING = [
    ["--version"],
    ["--help"],
    *([name, "--help"] for name in COMMANDS),
    ["data", "omnist", "--help"],
    ["data", "omnist", "--limit", "3", "--out", "o.safetensors"],
    ["reproduce", "--list"],
]
REFUSED = {
    ("tune", "elastic"): "springback tune needs optuna: pip install 'springback[tune]'",
    ("studio",): "springback studio needs fastapi: pip install 'springback[studio]'",
    ("reproduce", "--cluster", "tcp://127.0.0.1:9"): "--cluster needs distributed: pip install 'springback[cluster]'",
    ("bench",): "springback bench needs psutil: pip install 'springback[bench]'",
    ("bench", "streams"): "springback bench streams needs psutil: pip install 'springback[bench]'",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each command says: (exit code, output, errors)."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    lines = [*WORKING, *map(list, REFUSED)]
    done = subprocess.run(
        [sys.executable, "-c", without(*EXTRAS) + RUN, json.dumps(lines)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, answers = json.loads(done.stdout)
    assert Path(where).is_relative_to(place)
    return dict(zip(map(tuple, lines), answers, strict=True))


@pytest.mark.parametrize("line", WORKING, ids=" ".join)
def test_the_core_alone_does_what_needs_no_extra(line, said):
    code, output, errors = said[tuple(line)]
    assert code == 0, errors
    assert output


@pytest.mark.parametrize("line", REFUSED, ids=" ".join)
def test_the_core_alone_says_what_to_install(line, said):
    code, _, errors = said[line]
    assert code == 2
    assert errors == f"springback: {REFUSED[line]}\n"


def test_models_without_torch_are_refused_by_the_commands_that_would_need_it():
    code = without("torch") + RUN
    lines = [["studio", "--model", "cnn"], ["tune", "cnn-elastic"]]
    done = subprocess.run([sys.executable, "-c", code, json.dumps(lines)], capture_output=True, text=True, check=True)
    studio, tune = json.loads(done.stdout)[1]
    assert studio == [2, "", "springback: springback studio --model cnn needs torch: pip install 'springback[torch]'\n"]
    assert tune == [2, "", "springback: springback tune cnn-elastic needs torch: pip install 'springback[torch]'\n"]
