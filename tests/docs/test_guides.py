"""The guides from nothing to answers, run in small: their commands as they are, on small streams of the same form."""

import runpy
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from glob import glob
from pathlib import Path

import numpy as np
import pytest

from springback.cli import main
from springback_bench.stream_sets import Head, Stream, StreamSplit, stream_sets
from springback_bench.stream_sets.split_file import save_split
from tests.docs.test_building import load

section_of = load("guide_notebooks").section_of


def small_stream(rng, width):
    """Eight objects of twelve frames; each begins as its class and wanders away."""
    labels = np.repeat(rng.integers(0, 3, 8), 12)
    walk = rng.normal(0, 0.35, (8, 12, width))
    walk[:, 0] = 0
    features = 2 * np.eye(3, width)[labels] + walk.cumsum(axis=1).reshape(-1, width)
    return Stream(
        features=features.astype(np.float32),
        labels=labels,
        times=np.arange(96) * 0.32,
        objects=np.repeat(np.arange(8), 12),
    )


@pytest.fixture(autouse=True)
def _data_home(tmp_path, monkeypatch):
    """A data home in which the stream sets of the guides are made already, but small."""
    rng = np.random.default_rng(0)
    head = Head(weight=np.eye(3, 6, dtype=np.float32), bias=np.zeros(3, np.float32), centre=np.zeros(6, np.float32))
    streams = tuple(small_stream(rng, 6) for _ in range(4))
    split = StreamSplit(name="", split=0, head=head, validation=streams[:2], test=streams[2:])
    (tmp_path / "home" / "streams").mkdir(parents=True)
    for name in ("hapt", "topic-rolling"):
        path = tmp_path / "home" / "streams" / f"{name}-0.safetensors"
        save_split(replace(split, name=name), path, version=stream_sets()[name].version)
    monkeypatch.setenv("SPRINGBACK_DATA", str(tmp_path / "home"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


def run(command, *more):
    """One command of a page in this process, with its redirection and its wildcards."""
    words = [one for word in shlex.split(command) for one in (sorted(glob(word)) if "*" in word else [word])]
    out = Path(words[words.index(">") + 1]) if ">" in words else Path("said.txt")
    words = words[1 : words.index(">")] if ">" in words else words[1:]
    with out.open("w") as file, redirect_stdout(file):
        with pytest.raises(SystemExit) as done:
            main([*words, *more])
        assert done.value.code == 0, command


@pytest.mark.more
def test_a_network_follows_a_video_of_covered_digits_better_than_without_memory(capsys):
    for library in ("torch", "onnx", "onnxscript", "onnxruntime", "av"):
        pytest.importorskip(library)
    page = section_of("camera")
    for name, content in load("commands").files_of(page).items():
        Path(name).write_text(content.replace("[:40]", "[:8]"))
    runpy.run_path("digits.py")
    run("springback follow digits.onnx digits.mp4 > answers.jsonl")
    capsys.readouterr()
    runpy.run_path("compare.py")
    elastic, static = (float(line.split()[1]) for line in capsys.readouterr().out.splitlines())
    assert elastic > static + 5


@pytest.mark.more
def test_a_network_follows_a_meeting(monkeypatch, capsys):
    for library in ("torch", "onnx", "onnxscript", "onnxruntime", "av", "soundfile"):
        pytest.importorskip(library)
    import torch
    from springback_bench.stream_sets import _resemblyzer, voice_files
    from springback_bench.stream_sets.recordings import Turn

    class Small(torch.nn.Module):
        """Mel windows -> features, as the encoder gives them, but small."""

        lstm = torch.nn.LSTM(40, 1)

        def forward(self, mels):
            return mels.mean(dim=1)[:, :6] + 0.1

    rng = np.random.default_rng(0)
    head = Head(weight=np.eye(2, 6, dtype=np.float32), bias=np.zeros(2, np.float32), centre=np.zeros(6, np.float32))
    stream = small_stream(rng, 6)
    stream = replace(stream, labels=stream.labels % 2)
    split = StreamSplit(name="meeting", split=0, head=head, validation=(stream,), test=(stream,))
    said = [Turn(name, rng.normal(0, 0.1, 32_000).astype(np.float32)) for name in ("ada", "bob")]
    monkeypatch.setattr(voice_files, "load_stream", lambda *_, **__: split)
    monkeypatch.setattr(voice_files, "council_meetings", lambda *_: [said] * 5)
    monkeypatch.setattr(voice_files, "stored", lambda *_: Path())
    monkeypatch.setattr(voice_files, "wheel_member", lambda *_: b"")
    monkeypatch.setattr(_resemblyzer, "pretrained", lambda _: Small())
    page = section_of("microphone")
    commands = load("commands")
    for name, content in commands.files_of(page).items():
        Path(name).write_text(content)
    for command in commands.commands_of(page):
        runpy.run_path("compare.py") if command == "python compare.py" else run(command)
    assert "% of 13 windows right" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["sensor_log", "sentence_embeddings"])
def test_the_commands_of_a_guide_work_in_an_empty_folder(name, capsys):
    page = section_of(name)
    commands = load("commands").commands_of(page)
    assert len(commands) >= 4
    for command in commands:
        run(command, *(["--trials", "3"] if " tune-stream " in command else []))
    answers = Path("answers.csv" if name == "sensor_log" else "answers.jsonl").read_text().splitlines()
    assert len(answers) == 96 + (name == "sensor_log")
    assert "of 96 labelled frames" in capsys.readouterr().err
