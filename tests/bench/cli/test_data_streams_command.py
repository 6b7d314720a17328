"""`springback data streams`, with a stream set that needs nothing from outside."""

import numpy as np
import pytest

from springback_bench.cli import data_streams
from springback_bench.stream_sets import Head, Stream, StreamSet, StreamSplit, catalogue
from tests.commands import springback


def make(split, home, report):
    report("drawing")
    assert home.is_dir()
    eye = np.eye(4, dtype=np.float32)
    right = Stream(features=eye, labels=np.array([0, 1, 3, -1]), times=np.arange(4.0), objects=np.arange(4))
    return StreamSplit(
        name="tiny",
        split=split,
        head=Head(weight=eye, bias=np.zeros(4, np.float32), centre=np.zeros(4, np.float32)),
        validation=(right,),
        test=(right, right),
    )


@pytest.fixture(autouse=True)
def _tiny_sets(monkeypatch):
    about = {"splits": 2, "make": make, "source": "Nowhere (CC0).", "step": "1 frame"}
    sets = {
        "tiny": StreamSet(name="tiny", title="Which of four?", real=False, **about),
        "needy": StreamSet(name="needy", title="Which of none?", needs=("onnxruntime", "numpy"), **about),
    }
    monkeypatch.setattr(catalogue, "stream_sets", lambda: sets)
    monkeypatch.setattr(data_streams, "stream_sets", lambda: sets)


@pytest.fixture
def run(tmp_path):
    def run(*arguments):
        done = springback("data", "streams", *arguments, "--data-home", tmp_path)
        return done.returncode, done.stdout, done.stderr

    return run


def test_all_stream_sets_are_listed_with_their_sources(run, monkeypatch):
    monkeypatch.setattr(data_streams, "is_installed", lambda library: library == "numpy")
    code, said, _ = run()
    assert code == 0
    assert said.splitlines() == [
        "tiny: Which of four?",
        "    drawn by springback; 2 splits; one step is 1 frame; not made yet",
        "    Nowhere (CC0).",
        "needy: Which of none?",
        "    recorded; 2 splits; one step is 1 frame; not made yet",
        "    Nowhere (CC0).",
        "    needs onnxruntime: pip install 'springback[onnx]'",
        "    needs numpy (installed)",
    ]


def test_a_stream_set_is_made_and_then_listed_with_its_sizes(run, tmp_path):
    code, said, _ = run("tiny")
    assert code == 0
    assert said.splitlines() == [
        f"tiny, split {split}: 4 frames for validation and 8 for the test, 4 classes; "
        "the frozen network answers 66.67 % of the frames for validation correctly"
        for split in (0, 1)
    ]
    assert len(list((tmp_path / "streams").iterdir())) == 2
    assert "4 frames for validation and 8 for the test in split 0, 4 classes" in run()[1]


def test_a_stream_set_is_written_as_tables_and_a_model_that_follow_reads(run, tmp_path):
    code, said, _ = run("tiny", "--write", str(tmp_path / "files"))
    assert code == 0
    assert said.splitlines()[-1].endswith(": head.safetensors, practice-0.csv, test-0.csv, test-1.csv")
    files = (tmp_path / "files" / name for name in ("head.safetensors", "test-1.csv"))
    assert springback("follow", *files, "--label=label").returncode == 0


def test_tables_of_several_sets_would_overwrite_each_other(run):
    assert "--write must come with one NAME" in run("tiny", "needy", "--write", "files")[2]


def test_a_damaged_split_is_listed_as_not_made_and_made_again(run, tmp_path):
    run("tiny", "--split", "0")
    (tmp_path / "streams" / "tiny-0.safetensors").write_bytes(b"damaged")
    assert "not made yet" in run()[1]
    assert run("tiny", "--split", "0")[0] == 0
    assert "4 classes" in run()[1]


def test_one_split_is_made_alone(run, tmp_path):
    run("tiny", "--split", "1")
    assert [path.name for path in (tmp_path / "streams").iterdir()] == ["tiny-1.safetensors"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["tiny", "aquarium"], "NAME must be one of 'tiny', 'needy'; got 'aquarium'"),
        (["tiny", "--split", "2"], "--split must be <= 1; got 2"),
    ],
)
def test_a_wrong_request_is_one_sentence_before_anything_is_made(arguments, part, run, tmp_path):
    code, _, said = run(*arguments)
    assert code == 2
    assert part in " ".join(said.split())
    assert not list(tmp_path.iterdir())


def test_a_missing_library_is_named_before_anything_is_fetched(run, monkeypatch, tmp_path):
    monkeypatch.setattr("springback.extras.is_installed", lambda library: library == "numpy")
    code, _, said = run("needy")
    assert code == 2
    assert "the stream needy needs onnxruntime: pip install 'springback[onnx]'" in " ".join(said.split())
    assert not list(tmp_path.iterdir())


def test_the_help_teaches():
    shown = " ".join(springback("data", "streams", "--help").stdout.split())
    for part in ("fetched from the public registries", "never installed", "springback data streams coil-known"):
        assert part in shown
