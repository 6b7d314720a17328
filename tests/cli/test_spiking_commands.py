"""`springback train`, and `springback follow` with a circuit, as a user types them; killed and resumed."""

import json
import shutil
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from springback.check import DataError
from springback.cli.options import PresetName
from springback.data import load_mnist, make_omnist
from springback.files.locks import sole_writer
from springback.live import open_source
from springback.live.sources import occluded
from springback.spiking.evaluation import follow_video
from springback.spiking.model_file import load_spiking_model, save_spiking_model
from springback.spiking.params import ShortTermStdp, Streaming
from springback.spiking.presets import PRESETS
from springback_paper.tuning.models import SPACES, Tuning
from springback_paper.tuning.tuned_file import Tuned, load_tuned, save_tuned
from tests.commands import command_line, springback, springback_alone

pytestmark = pytest.mark.waits

SMALL = ["--neurons", "100", "--limit", "3000", "--seed", "7"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "m.safetensors"
    done = springback("train", *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "accuracy on the 10,000 test images" in done.stdout
    return out


KILLED = """
import os
from springback.spiking import fitting
save = fitting.save_checkpoint
def save_and_die(*arguments, **options):
    save(*arguments, **options)
    os._exit(9)
fitting.save_checkpoint = save_and_die
"""


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory):
    """The folder of a training that was killed after its first checkpoint."""
    folder = tmp_path_factory.mktemp("killed")
    assert springback_alone("train", *SMALL, "--out", folder / "m.safetensors", prelude=KILLED).returncode == 9
    return folder


@pytest.fixture
def killed(killed_once, tmp_path):
    (checkpoint,) = (path for path in killed_once.iterdir() if path.suffix != ".lock")
    shutil.copy(checkpoint, tmp_path)
    return tmp_path


def test_videos_have_the_names_of_their_image_sets(monkeypatch):
    asked = []
    for name in ("omnist", "fashion-mnist"):
        load = lambda split, name=name, **_: asked.append((name, split)) or load_mnist("test")[:3]  # noqa: E731
        monkeypatch.setitem(occluded._SETS, name, load)
        with open_source(f"{name}:2") as source:
            assert len(source.read()) > 20
    assert asked == [("omnist", "test"), ("fashion-mnist", "test")]
    with pytest.raises(
        DataError, match=r"may be followed by a number of images, such as omnist:500; got 'omnist:many'"
    ):
        open_source("omnist:many")


def test_every_preset_has_its_name_on_the_command_line():
    assert [name.value for name in PresetName] == list(PRESETS)


def test_training_leaves_a_model_and_nothing_else(model):
    assert [path.name for path in model.parent.iterdir()] == ["m.safetensors"]
    loaded = load_spiking_model(model)
    assert loaded.preset.circuit.n_neurons == 100
    assert loaded.seed == 7
    assert (loaded.neuron_labels >= 0).sum() > 50


@pytest.mark.more
def test_training_killed_at_any_point_resumes_to_the_same_bits(model, tmp_path):
    out = tmp_path / "m.safetensors"
    command = command_line("train", *SMALL, "--out", out)
    checkpoint = tmp_path / "m.safetensors.checkpoint"
    killed = 0
    for patience_s in (0.0, 0.4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 240
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while process.poll() is None and time.monotonic() < deadline:
            if checkpoint.exists() and checkpoint.stat().st_mtime_ns != before:
                break
            time.sleep(0.005)
        time.sleep(patience_s)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed >= 1
    assert checkpoint.exists()
    done = springback("train", *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == model.read_bytes()


def test_a_second_training_with_the_same_file_is_refused(tmp_path):
    out = tmp_path / "model.safetensors"
    with sole_writer(out):
        done = springback("train", *SMALL, "--out", out)
    assert done.returncode == 2
    assert f"another process is writing {out}: wait until it has ended, or name another file" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_of_another_training_is_refused(killed):
    done = springback("train", *SMALL[:-1], "8", "--out", killed / "m.safetensors")
    assert done.returncode == 2
    assert "is of another training: its seed is 7, not 8" in done.stderr


def test_a_model_follows_a_video_better_with_short_term_stdp(model):
    adapted, frozen = (springback("follow", model, "omnist:60", *flags) for flags in ([], ["--frozen"]))
    right = [float(done.stderr.split("correct: ")[1].split()[0]) for done in (adapted, frozen)]
    assert right[0] > right[1] + 15
    network, video = load_spiking_model(model), make_omnist(load_mnist("test")[:60], seed=0)
    scores = follow_video(network, video, seed=0), follow_video(network.static(), video, adapts=False, seed=0)
    for done, score in zip((adapted, frozen), scores, strict=True):
        answered = [json.loads(line)["class"] for line in done.stdout.splitlines()]
        assert answered == score.predicted.tolist()
        assert f"correct: {100 * score.accuracy:.2f} %, of {len(video):,} labelled frames" in done.stderr
        for rows, share in score.by_rows_hidden.items():
            assert f"{rows if rows == 'noise' else rows + ' rows hidden'}: {100 * share:.1f} %" in done.stderr


def test_a_stream_takes_what_tune_has_found(model, tmp_path):
    own = {name: (span.low + span.high) / 2 for name, span in SPACES["spiking"].items()} | {"pull": 0.0}
    save_tuned(Tuned(tuning=Tuning(model="spiking"), values=own, accuracy=1.0, n_trials=1), tmp_path / "spiking.json")
    done = springback("follow", model, "omnist:5", "--tuned", tmp_path / "spiking.json")
    preset = load_tuned(tmp_path / "spiking.json").preset()
    own_settings = load_spiking_model(model).streaming_as(preset.streaming, preset.short_term)
    score = follow_video(own_settings, make_omnist(load_mnist("test")[:5], seed=0), seed=0)
    assert f"correct: {100 * score.accuracy:.2f} %" in done.stderr


def test_a_model_streams_with_the_settings_it_was_made_with_unless_others_are_named(model, tmp_path):
    own = load_spiking_model(model).streaming_as(Streaming(intensity=2.5), ShortTermStdp(pull=0.0))
    own = replace(own, preset=replace(own.preset, name="mine"))
    save_spiking_model(own, tmp_path / "own.safetensors")
    video = make_omnist(load_mnist("test")[:5], seed=0)
    done = springback("follow", tmp_path / "own.safetensors", "omnist:5")
    expected = follow_video(own, video, seed=0).accuracy
    assert f"correct: {100 * expected:.2f} %" in done.stderr
    assert "preset mine, short-term STDP; the model was trained on mnist train, first 3000, shuffled" in done.stderr
    assert video.name in done.stderr
    named = springback("follow", tmp_path / "own.safetensors", "omnist:5", "--preset", "moraitis-2020")
    preset = PRESETS["moraitis-2020"](n_neurons=100)
    expected = follow_video(own.streaming_as(preset.streaming, preset.short_term), video, seed=0).accuracy
    assert f"correct: {100 * expected:.2f} %" in named.stderr
    assert "preset moraitis-2020" in named.stderr


def test_parameters_of_another_model_are_one_sentence(model, tmp_path):
    save_tuned(Tuned(tuning=Tuning(model="elastic"), values={}, accuracy=1.0, n_trials=1), tmp_path / "one.json")
    done = springback("follow", model, "omnist", "--tuned", tmp_path / "one.json")
    assert done.returncode == 2
    assert "holds no parameters of a circuit" in done.stderr


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: content[: len(content) // 2], "damaged"),
        (lambda _content: b"hello", "damaged"),
        (
            lambda content: content.replace(b'"springback":"model"', b'"springback":"moddl"'),
            "must hold a saved model",
        ),
    ],
)
def test_a_damaged_model_is_one_sentence(model, tmp_path, damage, sentence):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(damage(model.read_bytes()))
    done = springback("follow", bad, "omnist:5")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_model_or_video_is_one_sentence(model, tmp_path):
    for arguments in ([tmp_path / "none.safetensors"], [model, tmp_path / "none.npz"]):
        done = springback("follow", *arguments)
        assert done.returncode == 2
        assert "does not exist" in done.stderr


def test_an_existing_model_is_replaced_only_when_asked(model):
    content = model.read_bytes()
    done = springback("train", *SMALL, "--out", model)
    assert done.returncode == 2
    assert done.stderr == f"springback: --out {model} exists already; add --overwrite to replace it\n"
    assert model.read_bytes() == content


def test_a_disk_that_fills_up_keeps_the_last_good_checkpoint(killed):
    (checkpoint,) = killed.iterdir()
    good = checkpoint.read_bytes()
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))"
    done = springback_alone("train", *SMALL, "--out", killed / "m.safetensors", prelude=full)
    assert done.returncode == 2
    assert f"{checkpoint} cannot be written (File too large)" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in killed.iterdir()} == {checkpoint.name: good}
