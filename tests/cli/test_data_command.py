"""`springback data`, as a user types it."""

import pytest

from springback.data import load_mnist, load_video, make_omnist
from tests.commands import springback, springback_alone


def test_version():
    done = springback_alone("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("springback 0.")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["data", "omnist", "--split", "exam"], "'exam' is not one of 'train', 'test'"),
        (["data", "omnist", "--seed", "x"], "--seed"),
        (["data", "omnist", "--seed", "-1"], "--seed"),
        (["data", "omnist", "--preview", "strip.txt"], "--preview must end in .png or .svg; got 'strip.txt'"),
        (["data", "mnist", "--bogus"], "--bogus"),
        (["data", "cifar"], "cifar"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_exit_code_2(arguments, part):
    done = springback(*arguments)
    assert done.returncode == 2
    assert part in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_damaged_data_home_is_one_sentence_and_exit_code_2(tmp_path):
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"rubbish")
    done = springback("data", "mnist", "--data-home", tmp_path)
    assert done.returncode == 2
    assert "must have 47,040,016 bytes; got 7" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_environment_names_the_data_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SPRINGBACK_DATA", str(tmp_path))
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"rubbish")
    assert str(tmp_path) in springback("data", "mnist").stderr


def test_omnist_writes_the_video_and_draws_its_preview(tmp_path):
    out, preview = tmp_path / "o.safetensors", tmp_path / "o.png"
    done = springback("data", "omnist", "--limit", 4, "--seed", 3, "--out", out, "--preview", preview)
    assert done.returncode == 0, done.stderr
    expected = make_omnist(load_mnist("test")[:4], seed=3)
    assert expected.name in done.stdout
    assert (load_video(out).frames == expected.frames).all()
    assert preview.read_bytes().startswith(b"\x89PNG")
