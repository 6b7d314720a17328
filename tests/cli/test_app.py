"""`springback` itself: what it lists; what it loads to say so is in tests/test_architecture.py."""

from importlib import import_module

import pytest

from springback.cli import main
from springback.cli.app import APPLICATIONS, COMMANDS
from tests.commands import springback


def help_of(capsys, *name):
    with pytest.raises(SystemExit) as ended:
        main([*name, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_each_command_what_the_command_says_of_itself(name, capsys):
    word = name.replace("-", "_")
    module = import_module(f"{APPLICATIONS.get(name, 'springback')}.cli.{word}")
    own = module.app.info.help if hasattr(module, "app") else getattr(module, word).__doc__.split("\n\n")[0]
    assert COMMANDS[name] == own
    assert own.split(";")[0].split(":")[0][:40] in " ".join(help_of(capsys, name).split())


def test_help_lists_every_command(capsys):
    shown = help_of(capsys)
    assert all(f" {name} " in shown for name in COMMANDS)


def test_help_of_the_studio_leaves_room_for_sentences_in_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = help_of(capsys, "studio")
    assert "Which model to show: spiking," in shown  # in one line, beside the name and the type of the option
    assert "--weight-dependence " in shown
    assert "922337203685" not in shown


def test_an_unknown_command_is_one_sentence():
    done = springback("emulate")
    assert done.returncode == 2
    assert "emulate" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
