"""Your own images, parameters, frames and spikes on the command line."""

import numpy as np
import pytest

from springback.cli import main
from springback.spiking.model_file import load_spiking_model


def exit_code(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def bars(n, seed):
    """Bars in three directions, 10 x 10 pixels."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:10, :10] - 4.5
    which = rng.integers(0, 3, n)
    tilt = np.radians(60 * which + rng.normal(0, 4, n))[:, None, None]
    across = x * np.cos(tilt) + y * np.sin(tilt)
    images = 240 * np.exp(-((across / 1.2) ** 2)) + rng.uniform(0, 15, across.shape)
    return images.astype(np.uint8), np.array(["upright", "rising", "falling"])[which]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    for name, n, seed in (("mine", 200, 0), ("new", 60, 1)):
        images, labels = bars(n, seed)
        np.savez(folder / f"{name}.npz", images=images, labels=labels, frames=images)
    (folder / "my.toml").write_text(
        'based_on = "moraitis-2020"\nepochs = 1\n[circuit]\nn_neurons = 12\n'
        "[long_term]\nweight_sum = 25\ntheta_step_mv = 0.1\nrate_post = 0.03\n"
        "[training]\nintensity = 4\n[testing]\nintensity = 4\n[streaming]\nintensity = 5\n"
    )
    return folder


@pytest.fixture(scope="module")
def model(folder):
    out = folder / "m.safetensors"
    common = ["--images", str(folder / "mine.npz"), "--params", str(folder / "my.toml"), "--out", str(out)]
    assert exit_code(["train", *common, "--tests", str(folder / "new.npz")]) == 0
    return out


def test_training_on_own_images_keeps_their_labels_and_the_own_parameters(model):
    loaded = load_spiking_model(model)
    assert loaded.classes.tolist() == ["falling", "rising", "upright"]
    assert loaded.preset.circuit.n_inputs == 100
    assert loaded.preset.long_term.weight_sum == 25
    assert loaded.data.startswith("mine.npz (")


def test_own_frames_are_followed_and_answered_by_the_own_labels(model, folder, capsys):
    answers = folder / "answers.csv"
    assert exit_code(["follow", str(model), str(folder / "new.npz"), "--csv", "--out", str(answers)]) == 0
    said = capsys.readouterr().err
    assert "60 frames" in said
    assert "short-term STDP" in said
    assert "correct: " in said
    lines = answers.read_text().splitlines()
    assert lines[0] == "time,class,probability,frozen_class,frozen_probability,novelty"
    assert len(lines) == 61
    assert {one.split(",")[1] for one in lines[1:]} <= {"upright", "rising", "falling", ""}


def test_own_spikes_are_simulated(model, folder, capsys):
    lit = np.flatnonzero(bars(1, 5)[0].ravel() > 100)
    rng = np.random.default_rng(0)
    np.savez(folder / "in.npz", times=rng.uniform(0, 350, 40 * len(lit)), ids=np.tile(lit, 40))
    out = folder / "out.npz"
    command = ["simulate", str(model), "--spikes", str(folder / "in.npz"), "--unit", "ms", "--duration-ms", "350"]
    assert exit_code([*command, "--out", str(out)]) == 0
    assert "most spikes: neuron" in capsys.readouterr().out
    with np.load(out) as found:
        assert len(found["times"]) == len(found["ids"]) > 0
        assert found["times"].max() <= 0.35
    assert exit_code([*command, "--out", str(out)]) == 2  # it exists already


def test_every_preset_is_printed_and_can_be_trained_with(folder, capsys):
    assert exit_code(["params", "diehl-cook-2015", "--neurons", "5", "--inputs", "100"]) == 0
    (folder / "printed.toml").write_text(capsys.readouterr().out)
    out = folder / "p.safetensors"
    common = ["--images", str(folder / "mine.npz"), "--params", str(folder / "printed.toml"), "--limit", "20"]
    assert exit_code(["train", *common, "--out", str(out)]) == 0
    assert "to measure the accuracy, give new images with --tests" in capsys.readouterr().out
    assert load_spiking_model(out).preset.name == "diehl-cook-2015"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "train --images {}/mine.npz --params {}/my.toml --preset moraitis-2020 --out {}/x.safetensors",
            "--params must",
        ),
        ("train --tests {}/new.npz --out {}/x.safetensors", "--tests must be given together with --images"),
        ("train --images {}/mine.npz --params {}/my.toml --neurons 7 --out {}/x.safetensors", "--neurons must be left"),
        ("train --images {}/my.toml --out {}/x.safetensors", "is not an .npz file of plain arrays"),
        ("train --images {}/mine.npz --tests {}/mine.npz --out {}/x.safetensors", "the test images must not be among"),
        ("follow {}/m.safetensors omnist:2", "the model takes frames of 100 pixels; omnist:2 gives rows of 28 x 28"),
        ("simulate {}/m.safetensors --spikes {}/new.npz --unit ms", "must hold an array 'times'"),
        ("simulate {}/m.safetensors --spikes {}/in2.npz --unit hours", "unit must be one of"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(arguments, message, folder, model, capsys):
    del model
    np.savez(folder / "in2.npz", times=[1.0], ids=[0])
    assert exit_code(arguments.replace("{}", str(folder)).split()) == 2
    said = capsys.readouterr().err
    assert message in said.replace("\n", " ")
    assert len(said.strip().splitlines()) == 1
