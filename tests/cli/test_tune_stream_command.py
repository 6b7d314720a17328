"""`springback tune-stream`, as a user types it."""

import csv

import numpy as np
import pytest

from springback.elastic import ElasticClassifier, ElasticClustering
from springback.heads import ElasticHead, ElasticLinearClassifier, Springs
from tests.commands import springback

KINDS = ("ant", "bee", "cow")


def wander(seed):
    """Twelve objects of three kinds; each begins as a typical one and then wanders."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.integers(0, 3, 12), 12)
    steps = rng.normal(0, 0.22, (12, 12, 4))
    steps[:, 0] = 0
    return np.eye(3, 4)[truth] + steps.cumsum(axis=1).reshape(144, 4), truth


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tune")
    ElasticHead(4 * np.eye(3, 4), np.zeros(3), Springs(pull=0.0)).save(place / "head.safetensors")
    linear = ElasticLinearClassifier(settings=Springs(pull=0.0)).fit(np.eye(3, 4), KINDS)
    linear.save(place / "linear.safetensors")
    clustering = ElasticClustering(3, resting=np.eye(3, 4), kappa=20.0, pull=0.1)
    ElasticClassifier(clustering).fit(np.eye(3, 4), KINDS).save(place / "kinds.safetensors")
    for seed in (1, 2):
        rows, truth = wander(seed)
        lines = [",".join([*map(str, row), KINDS[k]]) for row, k in zip(rows.tolist(), truth, strict=True)]
        (place / f"{seed}.csv").write_text("\n".join(["a,b,c,d,kind", *lines]) + "\n")
    noise = np.random.default_rng(3).normal(size=(60, 4))
    np.save(place / "noise.npy", noise)
    return place


@pytest.fixture
def tune(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)

    def run(*arguments, out=tmp_path / "tuned.safetensors"):
        done = springback("tune-stream", *arguments, *(["--out", out] if out else []))
        return done.returncode, " ".join((done.stdout + done.stderr).split()), out

    return run


def accuracy(model, seed):
    rows, truth = wander(seed)
    return np.mean(model.track(rows).argmax(axis=1) == truth)


MODELS = {"head": ElasticHead, "kinds": ElasticClassifier, "linear": ElasticLinearClassifier}


def test_class_names_with_leading_zeros_are_labels_as_they_stand(tune, folder, tmp_path):
    text = (folder / "1.csv").read_text()
    for number, kind in enumerate(KINDS, 1):
        text = text.replace(f",{kind}\n", f",0{number}\n")
    (tmp_path / "zeros.csv").write_text(text)
    options = ["--columns", "a,b,c,d", "--label", "kind", "--trials", 2, "--classes", "01,02,03"]
    code, said, out = tune("head.safetensors", tmp_path / "zeros.csv", *options)
    assert code == 0, said
    assert f"accuracy: {100 * accuracy(ElasticHead.load(out), 1):.2f} % with memory" in said


@pytest.mark.parametrize("name", ["kinds", "linear"])
def test_a_model_with_named_columns_takes_its_own_and_does_not_warn_about_their_names(name, tune, folder, tmp_path):
    model = MODELS[name].load(folder / f"{name}.safetensors")
    model.feature_names_in_ = np.array(list("abcd"), object)
    model.save(tmp_path / "named.safetensors")
    code, said, _ = tune(tmp_path / "named.safetensors", "1.csv", "--label", "kind", "--trials", 2)
    assert code == 0, said
    assert "feature names" not in said


@pytest.mark.parametrize("name", MODELS)
def test_settings_chosen_with_labels_are_those_of_the_new_model(name, tune, folder):
    options = ["--columns", "a,b,c,d", "--label", "kind", "--trials", 12]
    names = ["--classes", ",".join(KINDS)] if name == "head" else []
    code, said, out = tune(f"{name}.safetensors", "1.csv", *options, *names)
    assert code == 0, said
    kind = MODELS[name]
    before, after = kind.load(folder / f"{name}.safetensors"), kind.load(out)
    assert accuracy(after, 1) > accuracy(before, 1)
    assert f"accuracy: {100 * accuracy(after, 1):.2f} % with memory" in said
    with out.with_suffix(".csv").open() as file:
        tried = list(csv.DictReader(file))
    assert len(tried) == (13 if name == "kinds" else 49)
    assert max(float(one["accuracy"]) for one in tried) == accuracy(after, 1)


@pytest.mark.parametrize(("name", "criterion"), [("head", "agreement"), ("kinds", "log-likelihood")])
def test_no_labels_are_needed(name, criterion, tune):
    code, said, out = tune(f"{name}.safetensors", "1.csv", "2.csv", "--columns", "a,b,c,d", "--trials", 6)
    assert code == 0, said
    assert criterion in said
    assert out.exists()


def test_a_stream_without_memory_leaves_the_model_without(tune):
    code, said, out = tune("head.safetensors", "noise.npy", "--trials", 4)
    assert code == 0, said
    assert "The frozen head is used" in said
    assert ElasticHead.load(out).settings.pull == 0


def test_a_choice_without_labels_says_how_sure_it_is_and_what_was_not_tested(tune):
    code, said, _ = tune("head.safetensors", "1.csv", "2.csv", "--columns", "a,b,c,d", "--trials", 4)
    assert code == 0, said
    assert "Agreement on the later 144 frames" in said
    for part in (
        "frozen head: ",
        "untuned default: ",
        "best settings of the first part: ",
        " ± ",
        "over the frozen head",
    ):
        assert part in said
    assert "is used: " in said or "are used: " in said
    assert "without labels nothing can tell whether" in said
    assert "--label" in said


def test_the_model_is_replaced_only_if_asked(tune, folder, tmp_path):
    mine = tmp_path / "mine.safetensors"
    content = (folder / "kinds.safetensors").read_bytes()
    mine.write_bytes(content)
    options = ["1.csv", "--columns", "a,b,c,d", "--trials", 3]
    code, said, _ = tune(mine, *options, out=None)
    assert code == 0, said
    assert mine.read_bytes() == content
    assert f"written to {mine.with_name('mine-tuned.safetensors')}" in said
    assert "exists already; add --overwrite" in tune(mine, *options, out=None)[1]
    assert tune(mine, *options, "--in-place", out=None)[0] == 0
    assert mine.read_bytes() != content
    assert mine.with_name("mine.safetensors.previous").read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (
            ["head.safetensors", "1.csv", "--label", "kind"],
            "no label of 1.csv is one of the classes of the model, 0, 1",
        ),
        (["head.safetensors", "1.csv"], "the model takes 4 features; these rows have 5"),
        (["head.safetensors", "1.csv", "--in-place"], "--out must be left out with --in-place"),
        (["head.safetensors", "none.csv"], "none.csv does not exist"),
    ],
)
def test_a_request_that_cannot_work_is_one_sentence(arguments, part, tune):
    code, said, out = tune(*arguments)
    assert code == 2
    assert part in said
    assert not out.exists()


def with_gaps(place):
    """The first stream in tenths of a second, with two seconds between its objects; the seconds."""
    rows, truth = wander(1)
    seconds = np.arange(144) / 10 + 2.0 * (np.arange(144) // 12)
    lines = [
        f"{t:.1f}," + ",".join(map(str, row)) + f",{KINDS[k]}" for t, row, k in zip(seconds, rows, truth, strict=True)
    ]
    place.write_text("\n".join(["time,a,b,c,d,kind", *lines]) + "\n")
    return seconds.round(1)


@pytest.mark.parametrize("name", ["kinds", "linear"])
def test_gaps_between_time_stamps_count_if_a_step_is_given(name, tune, tmp_path):
    seconds, (rows, truth) = with_gaps(tmp_path / "timed.csv"), wander(1)
    options = [tmp_path / "timed.csv", "--columns", "a,b,c,d", "--label", "kind", "--trials", 12]
    code, said, out = tune(f"{name}.safetensors", *options, "--step", 0.1)
    assert code == 0, said
    model = MODELS[name].load(out)
    timed = np.mean(model.track(rows, seconds / 0.1).argmax(axis=1) == truth)
    assert f"accuracy: {100 * timed:.2f} % with memory" in said
    tried = out.with_suffix(".csv").read_text()
    assert tune(f"{name}.safetensors", *options, "--overwrite")[0] == 0
    assert out.with_suffix(".csv").read_text() != tried
    code, said, _ = tune(f"{name}.safetensors", *options, "--step", 1, "--overwrite")
    assert code == 2
    assert "--step must be about 0.1, the usual time between two frames; got 1" in said
    rows_at_once = (tmp_path / "timed.csv").read_text().splitlines()
    at_once = [rows_at_once[0], *("7" + line[line.index(",") :] for line in rows_at_once[1:])]
    (tmp_path / "timed.csv").write_text("\n".join(at_once) + "\n")
    code, said, _ = tune(f"{name}.safetensors", *options, "--step", 1, "--overwrite")
    assert code == 2
    assert "most frames have the time stamp of the one before, so time cannot be used: leave --step out" in said
