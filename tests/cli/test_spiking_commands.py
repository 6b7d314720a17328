"""`springback train` and `springback stream`, as a user types them; killed and resumed."""

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from springback.cli import stream
from springback.cli.names import PresetName
from springback.datasets import load_mnist, make_omnist
from springback.locks import sole_writer
from springback.paper.tuning.models import SPACES, Tuning
from springback.paper.tuning.tuned_file import Tuned, load_tuned, save_tuned
from springback.spiking.model_file import load_model, save_model
from springback.spiking.params import ShortTermStdp, Streaming
from springback.spiking.presets import PRESETS
from springback.spiking.recognition import follow_video
from tests.cli.test_data_command import springback

pytestmark = pytest.mark.waits

SMALL = ["--neurons", "100", "--limit", "6000", "--seed", "7"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "m.safetensors"
    done = springback("train", *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "accuracy on the 10,000 test images" in done.stdout
    return out


def test_videos_have_the_names_of_their_image_sets_on_the_command_line(monkeypatch):
    asked = []
    monkeypatch.setattr(stream, "load_images", lambda which, *_: asked.append(which) or load_mnist("test")[:1])
    for name in ("omnist", "fashion-mnist"):
        stream._video(name, 0, None, None)
    assert asked == ["mnist", "fashion-mnist"]


def test_every_preset_has_its_name_on_the_command_line():
    assert [name.value for name in PresetName] == list(PRESETS)


def test_training_leaves_a_model_and_nothing_else(model):
    assert [path.name for path in model.parent.iterdir()] == ["m.safetensors"]
    loaded = load_model(model)
    assert loaded.preset.circuit.n_neurons == 100
    assert loaded.seed == 7
    assert (loaded.neuron_labels >= 0).sum() > 50


@pytest.mark.more
def test_training_killed_at_any_point_resumes_to_the_same_bits(model, tmp_path):
    out = tmp_path / "m.safetensors"
    command = [sys.executable, "-c", "from springback.cli import main; main()", "train", *SMALL, "--out", str(out)]
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


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    out = tmp_path / "m.safetensors"
    command = [sys.executable, "-c", "from springback.cli import main; main()", "train", *SMALL, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "m.safetensors.checkpoint"
    deadline = time.monotonic() + 240
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    done = springback("train", *SMALL[:-1], "8", "--out", out)
    assert done.returncode == 2
    assert "is of another training: its seed is 7, not 8" in done.stderr


def test_a_model_follows_a_video_better_with_short_term_stdp(model):
    adapted, static = (springback("stream", model, "--limit", 60, *flags) for flags in ([], ["--no-short-term"]))
    right = [float(done.stdout.split("accuracy: ")[1].split()[0]) for done in (adapted, static)]
    assert right[0] > right[1] + 15
    assert "rows hidden" in adapted.stdout
    assert "noise" in adapted.stdout


def test_a_stream_takes_what_tune_has_found(model, tmp_path):
    own = {name: (span.low + span.high) / 2 for name, span in SPACES["spiking"].items()} | {"pull": 0.0}
    save_tuned(Tuned(tuning=Tuning(model="spiking"), values=own, accuracy=1.0, n_trials=1), tmp_path / "spiking.json")
    done = springback("stream", model, "--limit", 5, "--tuned", tmp_path / "spiking.json")
    preset = load_tuned(tmp_path / "spiking.json").preset()
    own_settings = load_model(model).streaming_as(preset.streaming, preset.short_term)
    score = follow_video(own_settings, make_omnist(load_mnist("test")[:5], seed=0), seed=0)
    assert f"accuracy: {100 * score.accuracy:.2f} %" in done.stdout


def test_a_model_streams_with_the_settings_it_was_made_with_unless_others_are_named(model, tmp_path):
    own = load_model(model).streaming_as(Streaming(intensity=2.5), ShortTermStdp(pull=0.0))
    own = replace(own, preset=replace(own.preset, name="mine"))
    save_model(own, tmp_path / "own.safetensors")
    video = make_omnist(load_mnist("test")[:5], seed=0)
    done = springback("stream", tmp_path / "own.safetensors", "--limit", 5)
    expected = follow_video(own, video, seed=0).accuracy
    assert f"accuracy: {100 * expected:.2f} %" in done.stdout
    assert "preset mine; the model was trained on mnist train, first 6000, shuffled" in done.stdout
    assert video.name in done.stdout
    named = springback("stream", tmp_path / "own.safetensors", "--limit", 5, "--preset", "moraitis-2020")
    preset = PRESETS["moraitis-2020"](n_neurons=100)
    expected = follow_video(own.streaming_as(preset.streaming, preset.short_term), video, seed=0).accuracy
    assert f"accuracy: {100 * expected:.2f} %" in named.stdout
    assert "preset moraitis-2020" in named.stdout


def test_parameters_of_another_model_are_one_sentence(model, tmp_path):
    save_tuned(Tuned(tuning=Tuning(model="elastic"), values={}, accuracy=1.0, n_trials=1), tmp_path / "one.json")
    done = springback("stream", model, "--tuned", tmp_path / "one.json")
    assert done.returncode == 2
    assert "holds no parameters of a spiking network" in done.stderr


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: content[: len(content) // 2], "damaged"),
        (lambda _content: b"hello", "damaged"),
        (
            lambda content: content.replace(b'"springback":"spiking model"', b'"springback":"spiking moddl"'),
            "not a springback",
        ),
    ],
)
def test_a_damaged_model_is_one_sentence(model, tmp_path, damage, sentence):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(damage(model.read_bytes()))
    done = springback("stream", bad)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_missing_model_or_video_is_one_sentence(model, tmp_path):
    for arguments in ([tmp_path / "none"], [model, "--data", tmp_path / "none"]):
        done = springback("stream", *arguments)
        assert done.returncode == 2
        assert "does not exist" in done.stderr


def test_an_existing_model_is_replaced_only_when_asked(model):
    content = model.read_bytes()
    done = springback("train", *SMALL, "--out", model)
    assert done.returncode == 2
    assert done.stderr == f"springback: --out {model} exists already; add --overwrite to replace it\n"
    assert model.read_bytes() == content


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))"
KILLED = """
import os
from springback.spiking import fitting
save = fitting.save_checkpoint
def save_and_die(*arguments, **options):
    save(*arguments, **options)
    os._exit(9)
fitting.save_checkpoint = save_and_die
"""


def test_a_disk_that_fills_up_keeps_the_last_good_checkpoint(tmp_path):
    out = tmp_path / "m.safetensors"
    arguments = ["train", *SMALL, "--out", str(out)]

    def train(prelude):
        code = f"{prelude}\nfrom springback.cli import main; main()"
        return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)

    assert train(KILLED).returncode == 9
    (checkpoint,) = (path for path in tmp_path.iterdir() if path.suffix != ".lock")
    good = checkpoint.read_bytes()
    done = train(FULL)
    assert done.returncode == 2
    assert f"{checkpoint} cannot be written (File too large)" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {checkpoint.name: good}
