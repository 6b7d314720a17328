"""`springback tune`: a shared search on training digits, its best trial as a preset."""

import csv
import subprocess
import sys
import textwrap
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.datasets import load_digits

from springback.check import DataError
from springback_paper.tuning import models
from springback_paper.tuning.models import SPACES, Tuning, preset_of, score
from springback_paper.tuning.shared_search import best_of, n_finished, study_of, work
from springback_paper.tuning.tuned_file import Tuned, load_tuned, save_tuned
from tests.absent import without
from tests.commands import springback, springback_alone
from tests.fuzz.mutations import resealed_json

SMALL = ["--train", 300, "--digits", 10, "--neurons", 20, "--trials", 4]
TUNING = Tuning(model="elastic", n_train=300, n_digits=10, neurons=20)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    done = springback("tune", "elastic", *SMALL, "--folder", folder, "--out", folder / "best.json", "--workers", 1)
    return folder, done


def test_the_best_trial_is_written_and_scores_again_what_it_scored(tuned):
    folder, done = tuned
    assert done.returncode == 0, done.stderr
    best = load_tuned(folder / "best.json")
    assert best.tuning == TUNING
    assert best.n_trials >= 4
    assert score(best.tuning, best.values, again=True) == pytest.approx(best.accuracy)
    assert best.preset().kappa == best.values["kappa"]
    assert f"{100 * best.accuracy:.2f} %" in done.stdout


def test_every_trial_is_kept_as_csv_and_the_best_on_the_second_video_wins(tuned):
    folder, _ = tuned
    best = load_tuned(folder / "best.json")
    with (folder / "best.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == best.n_trials
    for row in rows:
        values = {name: float(row[name]) for name in SPACES["elastic"]}
        assert score(TUNING, values) == pytest.approx(float(row["accuracy"]))
    second = [float(row["accuracy_on_second_video"]) for row in rows]
    chosen = rows[int(np.argmax(second))]
    assert max(second) == best.accuracy
    assert {name: float(chosen[name]) for name in best.values} == best.values


def test_the_second_video_shows_other_digits():
    first, second = (models._held_out(TUNING, again) for again in (False, True))
    assert (len(first), len(second)) == (10, 30)
    assert not {one.tobytes() for one in first.pixels} & {one.tobytes() for one in second.pixels}


@pytest.mark.more
def test_run_again_the_search_goes_on_instead_of_beginning_anew(tuned):
    folder, _ = tuned
    study = study_of(TUNING, str(folder / "trials.journal"))
    before = n_finished(study)
    assert before == 4
    done = springback("tune", "elastic", *SMALL[:-1], 6, "--folder", folder, "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert 6 <= n_finished(study) <= 7  # two workers may each begin the last
    assert (folder / "elastic.json").exists()


@pytest.mark.more
def test_two_processes_share_a_database(tmp_path):
    place = f"sqlite:///{tmp_path / 'trials.db'}"
    study_of(TUNING, place)
    code = f"""
        from springback_paper.tuning.shared_search import work
        from springback_paper.tuning.models import Tuning
        print(work(Tuning(**{asdict(TUNING)!r}), {place!r}, 4, %d, None))
    """
    commands = [[sys.executable, "-c", textwrap.dedent(code % worker)] for worker in range(2)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    added = [int(process.communicate(timeout=600)[0]) for process in processes]
    study = study_of(TUNING, place)
    assert sum(added) == n_finished(study) >= 4
    values, accuracy = best_of(study)
    assert score(TUNING, values) == pytest.approx(accuracy)


def test_another_tuning_is_another_study_of_the_same_storage(tmp_path):
    place = str(tmp_path / "trials.journal")
    work(TUNING, place, 1, 0, None)
    assert n_finished(study_of(TUNING, place)) == 1
    assert n_finished(study_of(Tuning(model="elastic", n_train=301, n_digits=10, neurons=20), place)) == 0
    assert best_of(study_of(Tuning(model="spiking"), place)) is None


def test_trials_lie_in_the_space(tmp_path):
    place = str(tmp_path / "trials.journal")
    work(TUNING, place, 2, 0, None)
    for trial in study_of(TUNING, place).trials:
        for name, span in SPACES["elastic"].items():
            assert span.low <= trial.params[name] <= span.high


def test_a_spiking_network_is_trained_once_and_its_best_stream_is_a_preset(tmp_path):
    arguments = ["tune", "spiking", *SMALL[:-1], 2, "--folder", tmp_path, "--workers", 1]
    done = springback(*arguments)
    assert done.returncode == 0, done.stderr
    (trained,) = (tmp_path / "tasks").iterdir()
    written = trained.stat().st_mtime_ns
    best = load_tuned(tmp_path / "spiking.json")
    preset = best.preset()
    assert preset.short_term.pull == best.values["pull"]
    assert preset.streaming.intensity == best.values["intensity"]
    assert preset.circuit.n_neurons == 20
    assert springback(*arguments).returncode == 0
    assert trained.stat().st_mtime_ns == written


@pytest.mark.more
@pytest.mark.parametrize("model", ["spiking-static", "paper", "paper-static"])
def test_what_the_search_of_another_network_finds_is_where_that_network_streams(model, tmp_path):
    done = springback("tune", model, *SMALL[:-1], 2, "--folder", tmp_path, "--workers", 1)
    assert done.returncode == 0, done.stderr
    best = load_tuned(tmp_path / f"{model}.json")
    preset, start = best.preset(), best.tuning.starting_preset
    assert preset.name == f"{start.name}, tuned"
    changed = preset.static if model.endswith("static") else preset.streaming
    assert changed.intensity == best.values["intensity"]
    kept = (preset.streaming, start.streaming) if model.endswith("static") else (preset.static, start.static)
    assert kept[0] == kept[1]
    assert preset.short_term.pull == start.short_term.pull


def test_no_test_digit_is_touched(monkeypatch):
    from springback_paper.tuning import models as tuning

    asked = []
    real = tuning.digits
    monkeypatch.setattr(tuning, "digits", lambda split, limit=None: asked.append(split) or real(split, limit))
    score(TUNING, {"kappa": 40.0, "pull": 10.0, "memory": 1.0, "beta": 1.0})
    assert set(asked) == {"train"}


@pytest.mark.parametrize("model", ["spiking", "paper-static", "elastic", "cnn-elastic"])
def test_what_was_found_comes_back_from_its_file(model, tmp_path):
    values = {name: span.low for name, span in SPACES[model].items()}
    tuned = Tuned(tuning=Tuning(model=model), values=values, accuracy=0.9, n_trials=3)
    save_tuned(tuned, tmp_path / "one.json")
    assert load_tuned(tmp_path / "one.json") == tuned


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:20],
        lambda text: text.replace('"pull"', '"push"'),
        lambda text: text.replace("springback tuned preset", "recipe"),
        lambda _text: "[]",
        lambda _text: "[" * 100_000,
        lambda text: text.replace('"seed": 0', '"seed": 1'),
        lambda text: resealed_json(text.replace('"seed": 0', '"seed": -1').encode()).decode(),
        lambda text: resealed_json(text.replace('"neurons": 400', f'"neurons": 1{"0" * 400}').encode()).decode(),
        lambda text: resealed_json(text.replace('"accuracy": 0.9', '"accuracy": 1e9').encode()).decode(),
        lambda text: resealed_json(text.replace('"accuracy": 0.9', '"accuracy": NaN').encode()).decode(),
        lambda text: resealed_json(text.replace('"kappa"', '"kap\\npa"').encode()).decode(),
    ],
)
def test_a_damaged_preset_is_one_sentence(damage, tmp_path):
    path = tmp_path / "one.json"
    values = {name: span.low for name, span in SPACES["elastic"].items()}
    save_tuned(Tuned(tuning=Tuning(model="elastic"), values=values, accuracy=0.9, n_trials=3), path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(DataError, match="is not a springback tuned preset"):
        load_tuned(path)


def test_values_outside_the_model_are_refused():
    with pytest.raises(ValueError, match="the values must be among kappa, pull, memory, beta"):
        preset_of(Tuning(model="elastic"), {"push": 1.0})


def test_without_optuna_it_says_what_to_install(tmp_path):
    done = springback_alone("tune", "elastic", "--folder", tmp_path, prelude=without("optuna"))
    assert done.returncode == 2
    assert done.stderr.strip() == "springback: springback tune needs optuna: pip install 'springback[tune]'"
    assert not list(tmp_path.iterdir())


def eight_by_eight(folder):
    digits = load_digits()
    pixels = np.rint(digits.images[:300] * 255 / 16).astype(np.uint8)
    np.savez(folder / "mine.npz", images=pixels[:250], labels=digits.target[:250])
    np.savez(folder / "stream.npz", frames=pixels[250:].repeat(2, axis=0), labels=digits.target[250:300].repeat(2))
    np.savez(folder / "strange.npz", frames=pixels[250:], labels=digits.target[250:300] + 90)


@pytest.mark.parametrize(("model", "start"), [("spiking", 3.35), ("paper", 18.2)])
def test_a_circuit_of_your_own_images_is_tuned_on_a_stream_of_them(model, start, tmp_path):
    eight_by_eight(tmp_path)
    own = ["--images", tmp_path / "mine.npz", "--neurons", 16, "--trials", 2, "--finalists", 1]
    own += ["--folder", tmp_path, "--workers", 1, *(["--frames", tmp_path / "stream.npz"] if model == "paper" else [])]
    done = springback("tune", model, *own)
    assert done.returncode == 0, done.stderr
    best = load_tuned(tmp_path / f"{model}.json")
    preset = best.preset()
    assert (preset.circuit.n_inputs, preset.circuit.n_neurons) == (64, 16)
    assert preset.streaming.intensity == best.values["intensity"]
    assert start / 3 < best.tuning.space["intensity"].low < start < best.tuning.space["intensity"].high
    again = springback("tune", model, *own)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    if model == "spiking":
        trained = springback(
            "train", "--images", tmp_path / "mine.npz", "--neurons", 16, "--out", tmp_path / "mine.safetensors"
        )
        assert trained.returncode == 0, trained.stderr
        arguments = [tmp_path / "mine.safetensors", tmp_path / "stream.npz", "--tuned", tmp_path / "spiking.json"]
        followed = springback("follow", *arguments)
        assert followed.returncode == 0, followed.stderr
        assert f"intensity {preset.streaming.intensity:g}" in followed.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["elastic", "--images", "mine.npz"], "Tuning.model with images of your own must be one of 'spiking'"),
        (["spiking", "--frames", "stream.npz"], "--frames must come with --images"),
        (["spiking", "--images", "mine.npz", "--frames", "strange.npz"], "the labels of --frames must be among"),
        (["spiking", "--images", "mine.npz", "--frames", "mine.npz"], "must hold an array 'frames'"),
    ],
)
def test_images_that_cannot_be_tuned_on_are_refused_in_one_sentence(arguments, sentence, tmp_path, monkeypatch):
    eight_by_eight(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = springback("tune", *arguments)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())
