"""Bad input of every kind, on every command: one sentence, exit code 2, no hang, and nothing left behind."""

import os
import shlex
import shutil
import socket

import numpy as np
import pytest

from springback.cli import app, file_checks, machine, main
from springback.cli.app import COMMANDS
from springback.data import catalogue, load_mnist, make_omnist, save_video
from springback.spiking import SpikingModel, Weights, save_spiking_model, springback_2026
from springback.streaming.records import Images
from tests.commands import springback_alone

HUGE = 10**30
LONG = "n" * 300
RUBBISH = b"\x00\xff rubbish" * 40

COMMAND_LINES = """
    # the command itself
    emulate
    --bogus
    train train
    # data
    data cifar
    data mnist --bogus
    data mnist --data-home {file}
    data mnist --data-home {file}/below
    data mnist --data-home {fifo}
    data mnist --data-home /proc/nowhere
    data mnist --data-home {long}
    data mnist --data-home {damaged_home}
    data mnist --data-home {sparse_home}
    data fashion-mnist --data-home /dev/null/home
    data omnist --split exam
    data omnist --images cifar
    data omnist --seed -1
    data omnist --seed x
    data omnist --seed 1.5
    data omnist --seed nan
    data omnist --seed 9223372036854775808
    data omnist --seed {huge}
    data omnist --limit 0
    data omnist --limit -3
    data omnist --limit inf
    data omnist --out a.mp4
    data omnist --out a
    data omnist --out {folder}
    data omnist --out {folder}.safetensors/../../x.mp4
    data omnist --out {file}/a.safetensors
    data omnist --out {fifo}/a.safetensors
    data omnist --out {existing}
    data omnist --out {fifo_named}
    data omnist --out {device_named}
    data omnist --out {link}
    data omnist --out {dangling}
    data omnist --out {loop}
    data omnist --out {long}.safetensors
    data omnist --out {long}/a.safetensors
    data omnist --out /proc/a.safetensors
    data omnist --out /dev/null
    data omnist --preview strip.txt
    data omnist --preview {folder}
    data omnist --preview {file}/strip.png
    data omnist --preview /proc/strip.png
    data omnist --preview {long}.svg
    data streams aquarium
    data streams omnist --split 3
    data streams omnist --split -1
    data streams --split
    data streams omnist --data-home {file}
    data streams omnist --data-home /proc/nowhere
    # train
    train
    train --out a.bin
    train --out {folder}
    train --out {existing}
    train --out {fifo_named}
    train --out {device_named}
    train --out {link}
    train --out {dangling}
    train --out {loop}
    train --out {file}/m.safetensors
    train --out {file}/deeper/m.safetensors
    train --out /proc/m.safetensors
    train --out /proc/self/m.safetensors
    train --out /sys/m.safetensors
    train --out {long}.safetensors
    train --out {almost_long}.safetensors
    train --out {long}/m.safetensors
    train --out m.safetensors --neurons 0
    train --out m.safetensors --neurons 100001
    train --out m.safetensors --neurons {huge}
    train --out m.safetensors --neurons nan
    train --out m.safetensors --seed -1
    train --out m.safetensors --seed 9223372036854775808
    train --out m.safetensors --seed {huge}
    train --out m.safetensors --workers 0
    train --out m.safetensors --workers 1000000
    train --out m.safetensors --limit 0
    train --out m.safetensors --preset best
    train --out m.safetensors --data cifar
    train --out m.safetensors --data-home {file}
    train --out m.safetensors --data-home /proc/nowhere
    train --out m.safetensors --neurons
    # follow, with circuits
    follow none.safetensors omnist:5
    follow {folder} omnist:5
    follow {fifo} omnist:5
    follow /dev/zero omnist:5
    follow /dev/null omnist:5
    follow {sparse} omnist:5
    follow {rubbish} omnist:5
    follow {empty} omnist:5
    follow {video} omnist:5
    follow {loop} omnist:5
    follow {dangling} omnist:5
    follow {file}/m.safetensors omnist:5
    follow {long} omnist:5
    follow /proc/self/mem omnist:5
    follow {rubbish} omnist:5 --seed 9223372036854775808
    follow {rubbish} omnist:0
    follow {rubbish} omnist:5 --preset best
    follow {model} /dev/zero
    follow {model} {sparse}
    follow {model} {rubbish}
    follow {model} {model}
    follow {model} none
    follow {model} omnist:5 --tuned {fifo}
    follow {model} omnist:5 --tuned /dev/zero
    follow {model} omnist:5 --tuned {sparse}
    follow {model} omnist:5 --tuned {rubbish}
    follow {model} omnist:5 --tuned {empty}
    follow {model} omnist:5 --tuned none.json
    follow {model} omnist:5 --data-home {file}
    # reproduce
    reproduce --only fig_9
    reproduce --seeds 0
    reproduce --seeds 1000000000
    reproduce --seeds {huge}
    reproduce --workers 0
    reproduce --workers 1000000
    reproduce --workers {huge}
    reproduce --limit 1
    reproduce --neurons 1
    reproduce --neurons {huge}
    reproduce --out {file}
    reproduce --out {file}/results
    reproduce --out {fifo}
    reproduce --out /proc/results
    reproduce --out {long}
    reproduce --data-home {file}
    # tune
    tune
    tune perceptron
    tune elastic --trials 0
    tune elastic --trials {huge}
    tune elastic --workers 1000000
    tune elastic --seed 9223372036854775808
    tune elastic --train 5
    tune elastic --train 60000
    tune elastic --digits 0
    tune elastic --neurons 1
    tune elastic --neurons {huge}
    tune elastic --folder {file}
    tune elastic --folder /proc/tuning
    tune elastic --folder {long}
    tune elastic --out {existing}
    tune elastic --out {file}/best.json
    tune elastic --out {fifo_named}
    tune elastic --out /proc/best.json
    tune elastic --storage {fifo}
    tune elastic --storage /dev/zero
    tune elastic --storage {sparse}
    tune elastic --storage {rubbish}
    tune elastic --storage {folder}
    tune elastic --storage /proc/journal
    tune elastic --storage {file}/journal
    tune elastic --storage nosuch://host/base
    tune elastic --storage postgresql://me:secret@127.0.0.1:9/base
    tune elastic --storage sqlite:///{file}/tune.db
    tune elastic --storage sqlite:///{rubbish}
    tune elastic --storage ://
    # studio
    studio --digit 12
    studio --digit seven
    studio --example 10
    studio --occlude 29
    studio --pull nan
    studio --pull inf
    studio --pull -1
    studio --pull 1e400
    studio --weight-dependence 2
    studio --memory 0
    studio --intensity nan
    studio --threshold inf
    studio --speed 0
    studio --frames 2001
    studio --seed 9223372036854775808
    studio --port 70000
    studio --port -1
    studio --port {busy_port}
    studio --host 0.0.0.0
    studio --host 192.0.2.1 --allow-remote
    studio --drawing xyz
    studio --drawing {long}
    studio --digit 3 --drawing xyz
    studio --model perceptron
    # bench
    bench --out {file}
    bench --out {file}/below
    bench --out /proc/bench
    bench --bogus
    bench --quick streams
    bench streams --stream perceptron
    bench streams --method perceptron
    bench streams --workers 0
    bench streams --workers 1000000
    bench streams --out {file}
    # follow
    follow
    follow nowhere.safetensors
    follow {folder}
    follow {rubbish} {file}
    follow {model} nowhere.csv
    follow {model} {folder}
    follow {model} ftp://somewhere
    follow {model} --frames 0
    follow {model} --step -1
    follow {model} --on-bad ignore
    follow {model} --fit bend
    # tune-stream
    tune-stream
    tune-stream {model}
    tune-stream nowhere.safetensors a.csv
    tune-stream {rubbish} {file}
    tune-stream {model} nowhere.csv
    tune-stream {model} {file} --trials 0
    tune-stream {model} {file} --seed -1
    # simulate
    simulate
    simulate nowhere.safetensors --spikes in.npz --unit ms
    simulate {model} --unit ms
    simulate {model} --spikes nowhere.npz --unit ms
    simulate {model} --spikes {file} --unit ms
    simulate {model} --spikes {file} --unit days
    simulate {model} --spikes {file} --unit ms --duration-ms -1
    # params
    params
    params best
    params moraitis-2020 --neurons 0
    params moraitis-2020 --inputs 0
"""

LINES = [line.strip() for line in COMMAND_LINES.splitlines()]
LINES = [line for line in LINES if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """What the command lines name, none of which may change."""
    home = tmp_path_factory.mktemp("things")
    named = {"huge": HUGE, "long": LONG, "almost_long": "n" * 238}
    for name in ("file", "rubbish", "empty", "existing.safetensors", "damaged_home/train-images-idx3-ubyte"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(b"" if name == "empty" else RUBBISH)
    (home / "folder").mkdir()
    for name in ("fifo", "fifo_named.safetensors"):
        os.mkfifo(home / name)
    (home / "link.safetensors").symlink_to(home / "existing.safetensors")
    (home / "dangling.safetensors").symlink_to(home / "nothing")
    (home / "loop.safetensors").symlink_to(home / "loop.safetensors")
    (home / "device_named.safetensors").symlink_to("/dev/zero")
    for name in ("sparse", "sparse_home/train-images-idx3-ubyte"):
        (home / name).parent.mkdir(exist_ok=True)
        with (home / name).open("wb") as file:
            file.truncate(100 * 10**9)
    save_video(make_omnist(Images(np.zeros((1, 28, 28), np.uint8), np.array([4]))), home / "video")
    small = springback_2026(n_neurons=3)
    weights = Weights(np.full((784, 3), 0.1, np.float32), np.full(3, 20, np.float32))
    model = SpikingModel(preset=small, weights=weights, neuron_labels=np.arange(3), data="none")
    save_spiking_model(model, home / "model")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        named["busy_port"] = busy.getsockname()[1]
        yield home, named | {path.name.partition(".")[0]: path for path in home.iterdir()}


def state_of(folder):
    """Every name below a folder, with what would show that it was touched."""
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {path: (one.st_mode, one.st_size, one.st_mtime_ns, one.st_ino) for path, one in found.items()}


def run(arguments, capsys):
    """Exit code, output and errors of the command in this process."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return left.value.code, *capsys.readouterr()


def one_sentence(errors):
    assert errors.startswith("springback: ")
    assert len(errors.strip().splitlines()) == 1
    assert "Traceback" not in errors
    assert "internal error" not in errors
    return errors


@pytest.mark.timeout(120)
@pytest.mark.parametrize("line", LINES)
def test_bad_input_is_one_sentence_and_exit_code_2(line, places, tmp_path, monkeypatch, capsys):
    home, named = places
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalogue, "_fetch", lambda *_: pytest.fail("nothing may be fetched for a bad command line"))
    before = state_of(home)
    code, _, errors = run(shlex.split(line.format(**named)), capsys)
    assert code == 2, errors
    one_sentence(errors)
    assert "secret" not in errors
    assert not list(tmp_path.iterdir())
    assert state_of(home) == before


def test_the_list_is_long_and_names_every_command():
    assert len(LINES) > 150
    assert {line.split()[0] for line in LINES} >= set(COMMANDS)


def test_control_characters_of_a_name_do_not_reach_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, _, errors = run(["follow", "one\nname\x1b[31m[bold]"], capsys)
    assert code == 2
    assert one_sentence(errors) == "springback: MODEL one name?[31m[bold] does not exist\n"


def test_what_does_not_fit_in_memory_is_refused_with_what_it_would_take(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(machine, "memory_bytes", lambda: 8 * 10**9)
    for command in (["train", "--out", "m.safetensors"], ["reproduce"], ["tune", "elastic"]):
        code, _, errors = run([*command, "--neurons", "100000"], capsys)
        assert code == 2
        assert " GB of memory; this machine has 8.0 GB" in one_sentence(errors)
    assert not list(tmp_path.iterdir())


def test_what_takes_long_is_said_before_it_begins(monkeypatch, capsys):
    monkeypatch.setattr(machine, "memory_bytes", lambda: 64 * 10**9)
    machine.refuse_too_large("--neurons 100000", 11.4e9, seconds=15_000)
    assert capsys.readouterr().err == "--neurons 100000 takes about 4 h 10 min and 11.4 GB of memory\n"


def test_too_little_room_on_the_disk_is_refused_with_what_it_would_take(tmp_path, monkeypatch, capsys):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(file_checks.shutil, "disk_usage", lambda _: usage)
    code, _, errors = run(["train", "--out", str(tmp_path / "m.safetensors")], capsys)
    assert code == 2
    assert "bytes; only 1,000 are free there" in one_sentence(errors)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), "no space left on device"),
        (PermissionError(13, "Permission denied", "a/b"), "a/b: permission denied"),
        (MemoryError(), "there is not enough memory for this; try smaller numbers"),
        (OverflowError("int too large"), "a number is too large (int too large)"),
    ],
)
def test_an_error_of_the_system_is_one_sentence(error, sentence, monkeypatch, capsys):
    monkeypatch.setattr(app, "app_of", lambda _: (_ for _ in ()).throw(error))
    assert run(["data"], capsys) == (2, "", f"springback: {sentence}\n")


def test_a_fault_of_springback_says_so_and_how_to_see_more(monkeypatch, capsys):
    monkeypatch.setattr(app, "app_of", lambda _: {}["nothing"])
    code, _, errors = run(["data"], capsys)
    assert code == 1
    assert errors.startswith("springback: internal error: KeyError: 'nothing' (set SPRINGBACK_TRACEBACK=1 to see where")
    monkeypatch.setenv("SPRINGBACK_TRACEBACK", "1")
    code, _, errors = run(["data"], capsys)
    assert code == 1
    assert "Traceback" in errors


def test_a_folder_that_has_vanished_is_one_sentence(tmp_path):
    gone = str(tmp_path / "gone")
    prelude = f"import os; os.mkdir({gone!r}); os.chdir({gone!r}); os.rmdir({gone!r})"
    done = springback_alone("train", "--out", "m.safetensors", prelude=prelude)
    assert done.returncode == 2
    assert one_sentence(done.stderr) == "springback: the current folder no longer exists; change to another one\n"


def test_a_full_disk_leaves_no_half_written_video(tmp_path):
    load_mnist("test")  # fetched before the disk is full
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))"
    done = springback_alone("data", "omnist", "--limit", 9, "--out", tmp_path / "o.safetensors", prelude=limit)
    assert done.returncode == 2
    assert f"{tmp_path / 'o.safetensors'} cannot be written (File too large)" in one_sentence(done.stderr)
    assert not list(tmp_path.iterdir())


def test_closed_streams_change_nothing_but_what_is_read():
    done = springback_alone("data", "omnist", "--seed", "x", prelude="import sys; sys.stdout = sys.stderr = None")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_output_that_nobody_reads_is_no_error():
    prelude = "import os, sys; ends = os.pipe(); os.close(ends[0]); os.dup2(ends[1], 1)"
    done = springback_alone("--help", prelude=prelude)
    assert done.returncode == 1
    assert done.stderr == ""
