"""`springback` itself: what it lists, and how little it needs to say so."""

import subprocess
import sys
from importlib import import_module

import pytest

from springback.cli.app import COMMANDS
from tests.cli.test_data_command import springback

HEAVY = ("numba", "sklearn", "matplotlib", "torch")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_each_command_what_the_command_says_of_itself(name):
    word = name.replace("-", "_")
    module = import_module(f"springback.cli.{word}")
    own = module.app.info.help if hasattr(module, "app") else getattr(module, word).__doc__.split("\n\n")[0]
    assert COMMANDS[name] == own
    assert own.split(";")[0].split(":")[0][:40] in " ".join(springback(name, "--help").stdout.split())


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_load_no_heavy_library(flag):
    code = f"""
import sys
from springback.cli import main
try:
    main([{flag!r}])
except SystemExit as done:
    assert done.code == 0
sys.exit(", ".join(set(sys.modules) & set({HEAVY!r})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
    assert "springback" in done.stdout


def test_help_lists_every_command():
    shown = springback("--help").stdout
    assert all(f" {name} " in shown for name in COMMANDS)


def test_an_unknown_command_is_one_sentence():
    done = springback("emulate")
    assert done.returncode == 2
    assert "emulate" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
