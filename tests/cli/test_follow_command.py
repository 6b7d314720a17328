"""`springback follow`, as a user types it."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from springback.elastic import ElasticClassifier, ElasticClustering
from springback.files.container import kind_of
from springback.files.locks import sole_writer
from springback.heads import ElasticHead, NoneOfThese, Observer
from tests.commands import command_line, springback

LONG_S = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A head, a classifier, another head, and a recorded stream in several formats."""
    place = tmp_path_factory.mktemp("follow")
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(3, 4))
    ElasticHead(weight, np.zeros(3), Observer(novelty_odds=0.05)).save(place / "head.safetensors")
    ElasticHead(-weight, np.zeros(3)).save(place / "other.safetensors")
    still = np.eye(4)[:3]
    clusters = ElasticClustering(3, resting=still, novelty_threshold=0.1)
    ElasticClassifier(clusters, novel_label="new").fit(still, ["cat", "dog", "eel"]).save(place / "animals.safetensors")
    rows = np.abs(np.repeat(rng.normal(size=(6, 4)), 5, axis=0) + rng.normal(0, 0.2, (30, 4)))
    rows[0] = [0, 0, 0, 1]
    rows = rows.round(4)
    truth = np.repeat(["cat", "dog", "eel"], 10)
    lines = [",".join([f"{0.1 * k:.1f}", *map(str, row), truth[k]]) for k, row in enumerate(rows.tolist())]
    (place / "rows.csv").write_text("\n".join(["time,a,b,c,d,animal", *lines]) + "\n")
    (place / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows.tolist()))
    np.save(place / "rows.npy", rows)
    (place / "empty.csv").write_text("\n \n")
    return place


@pytest.fixture
def follow(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def run(*arguments):
        done = springback("follow", *arguments)
        return done.returncode, done.stdout, " ".join(done.stderr.split())

    return run


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_every_frame_is_answered_as_track_answers_it(follow, folder):
    rows = np.load(folder / "rows.npy")
    head = ElasticHead.load(folder / "head.safetensors")
    wanted = head.track_response(rows)
    code, said, summary = follow("head.safetensors", "rows.jsonl")
    assert code == 0
    found = lines_of(said)
    assert [one["class"] for one in found] == wanted.posterior.argmax(axis=1).tolist()
    assert [one["frozen_class"] for one in found] == wanted.frozen.argmax(axis=1).tolist()
    assert np.allclose([one["probability"] for one in found], wanted.posterior.max(axis=1), atol=1e-6)
    assert np.allclose([one["novelty"] for one in found], wanted.novelty, atol=1e-6)
    assert [one["time"] for one in found] == list(range(30))
    assert summary.startswith("30 frames in")
    assert wanted.posterior.argmax(axis=1).tolist() != wanted.frozen.argmax(axis=1).tolist()


def test_answers_that_wait_are_those_of_a_recorded_stream_each_at_its_own_frame(follow, folder):
    rows = np.load(folder / "rows.npy")
    head = ElasticHead.load(folder / "head.safetensors")
    wanted, at_once = head.track(rows, lag=3), head.track_response(rows)
    code, said, summary = follow("head.safetensors", "rows.jsonl", "--lag", "3", "--probabilities")
    assert code == 0, summary
    found = lines_of(said)
    assert [one["time"] for one in found] == list(range(30))
    assert np.allclose([list(one["probabilities"].values()) for one in found], wanted, atol=1e-6)
    assert np.abs(wanted - at_once.posterior).max() > 0.05
    assert np.allclose([one["novelty"] for one in found], at_once.novelty, atol=1e-6)
    assert lines_of(follow("head.safetensors", "rows.jsonl", "--lag", "3", "--frames", "28")[1])[-1]["time"] == 27


def test_frames_of_no_known_class_are_refused_with_the_promised_rate(follow, folder):
    rng = np.random.default_rng(5)
    head = ElasticHead.load(folder / "head.safetensors")
    known = 3 * head.weight[rng.integers(0, 3, 400)] + rng.normal(0, 0.3, (400, 4))
    np.save(folder / "known.npy", known[:200])
    np.save(folder / "new.npy", np.concatenate([known[200:], rng.normal(0, 0.1, (50, 4))]))
    code, said, summary = follow("head.safetensors", "new.npy", "--none-of-these", "known.npy", "--false-alarms", "0.1")
    assert code == 0, summary
    refused = np.array([one["class"] == "none of these" for one in lines_of(said)])
    rule = NoneOfThese(known[:200] @ head.weight.T)
    wanted = rule.refuses(np.load(folder / "new.npy") @ head.weight.T, false_alarms=0.1)
    assert refused.tolist() == wanted.tolist()
    assert refused[200:].all()
    assert 0.02 < refused[:200].mean() < 0.2


def test_known_rows_of_one_key_count_as_one(follow, folder):
    rng, head = np.random.default_rng(5), ElasticHead.load(folder / "head.safetensors")
    known = 3 * head.weight[rng.integers(0, 3, 400)] + rng.normal(0, 0.3, (400, 4))
    cameras = np.arange(400) // 40
    texts = [",".join(map(repr, row.tolist())) for row in known]
    rows = ["camera,a,b,c,d", *(f"{key},{text}" for key, text in zip(cameras, texts, strict=True))]
    (folder / "cameras.csv").write_text("\n".join(rows) + "\n")
    asked = ("head.safetensors", "cameras.csv", "--key", "camera", "--none-of-these", "cameras.csv", "--false-alarms")
    code, said, _ = follow(*asked, "0.1")
    assert code == 0
    refused = [one["class"] == "none of these" for one in lines_of(said)]
    rule = NoneOfThese(known @ head.weight.T, cameras)
    assert refused == rule.refuses(known @ head.weight.T, false_alarms=0.1).tolist()
    assert "false_alarms must be at least 0.091 with so few groups" in follow(*asked, "0.05")[2]


def test_a_classifier_answers_with_its_labels_and_the_summary_counts_right_ones(follow, folder):
    model = ElasticClassifier.load(folder / "animals.safetensors")
    rows = np.load(folder / "rows.npy")
    code, said, summary = follow("animals.safetensors", "rows.csv", "--label", "animal")
    found = lines_of(said)
    assert code == 0
    assert [one["class"] for one in found] == model.track_labels(rows).tolist()
    assert found[0]["class"] == "new"
    assert [one["time"] for one in found] == [round(0.1 * k, 1) for k in range(30)]
    right = np.mean(model.track_labels(rows) == np.repeat(["cat", "dog", "eel"], 10))
    assert f"correct: {100 * right:.2f} % with memory" in summary


def test_time_stamps_count_if_a_step_is_given(follow, folder):
    rows, seconds = np.load(folder / "rows.npy"), np.round(0.1 * np.arange(30), 1)
    head = ElasticHead.load(folder / "head.safetensors")
    said = follow("head.safetensors", "rows.csv", "--label", "animal", "--step", 0.25)[1]
    head.memory_in_ = "time"  # in steps of the given length
    wanted = head.track(rows, seconds / 0.25)
    assert np.allclose([one["probability"] for one in lines_of(said)], wanted.max(axis=1), atol=1e-6)


def test_a_table_has_the_same_answers(follow):
    wanted = lines_of(follow("head.safetensors", "rows.npy")[1])
    table = follow("head.safetensors", "rows.npy", "--csv")[1].splitlines()
    assert table[0] == "time,class,probability,frozen_class,frozen_probability,novelty"
    assert [float(line.split(",")[2]) for line in table[1:]] == [one["probability"] for one in wanted]


def test_classes_can_be_named(follow, folder):
    (folder / "names.txt").write_text("up\ndown\nleft\n")
    for names in ("up,down,left", "names.txt"):
        found = lines_of(follow("head.safetensors", "rows.npy", "--classes", names)[1])
        assert {one["class"] for one in found} <= {"up", "down", "left"}


def test_a_run_continues_where_the_last_one_stopped(follow, tmp_path):
    whole = follow("head.safetensors", "rows.jsonl")[1].splitlines()
    state = tmp_path / "kept.state"
    both = ("--state", state, "--save-state", state)
    code, first, said = follow("head.safetensors", "rows.jsonl", "--frames", 11, *both)
    assert code == 0
    assert "does not exist yet: starting from rest" in said
    (tmp_path / "rest.jsonl").write_text("".join(f"{line}\n" for line in _json_lines()[11:]))
    second = follow("head.safetensors", tmp_path / "rest.jsonl", *both)[1]
    assert [_answer(line) for line in (first + second).splitlines()] == [_answer(line) for line in whole]


def kept_in(folder):
    return ("--state", folder / "kept.state", "--save-state", folder / "kept.state", "--out", folder / "answers")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.npy"])
@pytest.mark.parametrize("form", [[], ["--csv"]])
def test_a_file_goes_on_where_the_state_stands(name, form, follow, tmp_path):
    about = ["head.safetensors", name, *(["--label", "animal", "--step", 0.1] if name == "rows.csv" else []), *form]
    whole = follow(*about)[1]
    kept = kept_in(tmp_path)
    follow(*about, *kept, "--frames", 11)
    with (tmp_path / "answers").open("ab") as file:
        file.write(b"what a killed run has written after its last state\n")
    for frames, where in ((7, 10), (100, 17), (1, 29)):
        code, said, notes = follow(*about, *kept, "--frames", frames)
        assert (code, said) == (0, "")
        assert f"the state was saved after frame {where}" in notes
    assert (tmp_path / "answers").read_text() == whole


def test_on_standard_output_the_answers_after_the_last_state_of_a_killed_run_come_again(follow, tmp_path):
    whole = follow("head.safetensors", "rows.jsonl")[1].splitlines()
    kept = kept_in(tmp_path)[:4]
    first = follow("head.safetensors", "rows.jsonl", *kept, "--frames", 11)[1].splitlines()
    last_state = (tmp_path / "kept.state").read_bytes()
    first += follow("head.safetensors", "rows.jsonl", *kept, "--frames", 7)[1].splitlines()
    (tmp_path / "kept.state").write_bytes(last_state)  # as if that run had been killed before it wrote its own
    _, again, notes = follow("head.safetensors", "rows.jsonl", *kept)
    assert "the state was saved after frame 10 of" in notes
    assert (first, again.splitlines()) == (whole[:18], whole[11:])


def test_a_state_says_where_it_stands_and_the_file_can_be_read_from_its_beginning(follow, tmp_path):
    kept = kept_in(tmp_path)[:4]
    _, first, said = follow("head.safetensors", "rows.csv", "--label", "animal", "--frames", 30, *kept)
    assert "kept.state was saved after frame 29 (time 2.9) of" in said
    code, again, said = follow("head.safetensors", "rows.csv", "--label", "animal", "--from-start", *kept)
    assert (code, len(again.splitlines())) == (0, 30)
    assert "which is now read from its beginning" in said
    assert again != first


def test_a_file_that_is_no_longer_the_same_is_refused(follow, folder, tmp_path):
    table = (folder / "rows.csv").read_text().splitlines()
    path = tmp_path / "log.csv"
    path.write_text("\n".join(table))
    about = ("head.safetensors", path, "--label", "animal", *kept_in(tmp_path)[:4])
    assert follow(*about)[0] == 0
    for changed in (table[:20], [table[0], *reversed(table[1:])]):
        path.write_text("\n".join(changed))
        code, said, why = follow(*about)
        assert (code, said) == (2, "")
        assert "has changed since: frame 29 of it is different: add --from-start" in why
    path.write_text("\n".join([*table, *table[1:3]]))
    assert len(follow(*about)[1].splitlines()) == 2


def test_answers_that_are_there_are_not_replaced_unless_the_user_wants_so(follow, tmp_path):
    out = ("--out", tmp_path / "answers")
    assert follow("head.safetensors", "rows.npy", *out)[0] == 0
    before = (tmp_path / "answers").read_bytes()
    code, _, said = follow("head.safetensors", "rows.npy", *out)
    assert (code, (tmp_path / "answers").read_bytes()) == (2, before)
    assert "exists already; add --overwrite" in said
    assert follow("head.safetensors", "rows.npy", "--frames", 3, *out, "--overwrite")[0] == 0
    assert before.startswith((tmp_path / "answers").read_bytes())


def test_a_line_that_a_killed_run_left_unfinished_is_cut_off_where_a_source_cannot_be_read_again(folder, tmp_path):
    about, lines = ("head.safetensors", "-", *kept_in(tmp_path)), (folder / "rows.jsonl").read_text().splitlines(True)

    def follow(given):
        subprocess.run(command_line("follow", *about), cwd=folder, input="".join(given), text=True, check=True)

    follow(lines[:5])
    first = (tmp_path / "answers").read_text()
    later = first.splitlines(keepends=True)[-1]
    (tmp_path / "answers").write_text(first + later + later[:20])
    follow(lines[5:8])
    found = (tmp_path / "answers").read_text()
    assert found.startswith(first + later)
    assert len(lines_of(found)) == 5 + 1 + 3


@pytest.mark.parametrize("name", ["kept.state", "answers"])
def test_a_second_run_with_the_same_file_is_refused(name, follow, tmp_path):
    with sole_writer(tmp_path / name):
        code, said, why = follow("head.safetensors", "rows.npy", *kept_in(tmp_path))
    assert (code, said) == (2, "")
    assert f"another process is writing {tmp_path / name}: wait until it has ended, or name another file" in why


def _json_lines():
    return Path("rows.jsonl").read_text().splitlines()


def _answer(line):
    return {name: value for name, value in json.loads(line).items() if name != "time"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["other.safetensors"], "is the state of another model, or of a model that has changed since"),
        (["head.safetensors", "--step", 1], "was written without the length of a step; use time in the same way"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(arguments, part, follow, tmp_path):
    state = tmp_path / "kept.state"
    assert follow("head.safetensors", "rows.jsonl", "--save-state", state)[0] == 0
    model, *options = arguments
    code, _, said = follow(model, "rows.csv", "--label", "animal", *options, "--state", state)
    assert code == 2
    assert part in said


def test_a_bad_line_is_skipped_or_ends_the_run(follow, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join([*_json_lines()[:5], "[1, 2", *_json_lines()[5:]]))
    code, said, summary = follow("head.safetensors", path)
    assert (code, len(said.splitlines())) == (0, 30)
    assert "1 line or frame could not be used: line 6: Input data was truncated: '[1, 2'" in summary
    code, said, summary = follow("head.safetensors", path, "--on-bad", "stop")
    assert code == 2
    assert "line 6: Input data was truncated: '[1, 2' (--on-bad skip leaves such frames out)" in summary


def test_good_rows_before_a_bad_one_are_answered_before_the_run_stops(follow, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join([*_json_lines()[:5], "[1, 2", *_json_lines()[5:]]))
    code, said, _ = follow("head.safetensors", path, "--on-bad", "stop")
    assert (code, said.splitlines()) == (2, follow("head.safetensors", "rows.jsonl")[1].splitlines()[:5])


def test_labels_with_leading_zeros_are_right_and_strange_ones_are_counted_apart(follow, folder, tmp_path):
    names = ("01", "02", "03")
    answers = lines_of(follow("head.safetensors", "rows.npy", "--classes", ",".join(names))[1])
    rows = np.load(folder / "rows.npy").tolist()
    truth = [*(one["class"] for one in answers[:20]), *["1"] * 6, *[""] * 4]
    lines = [",".join([*map(str, row), label]) for row, label in zip(rows, truth, strict=True)]
    (tmp_path / "labels.csv").write_text("\n".join(["a,b,c,d,kind", *lines]))
    arguments = ("head.safetensors", tmp_path / "labels.csv", "--label", "kind", "--classes", ",".join(names))
    code, _, summary = follow(*arguments)
    assert code == 0
    assert "correct: 100.00 % with memory" in summary
    assert "of 20 labelled frames" in summary
    assert "6 frames have labels that the model cannot answer, not counted above, such as '1'" in summary


def test_a_stream_of_rubbish_is_one_sentence_and_exit_code_2(follow, tmp_path):
    (tmp_path / "rubbish.csv").write_text("1,2,3,x\n" * 9)
    code, said, summary = follow("head.safetensors", tmp_path / "rubbish.csv")
    assert (code, said) == (2, "")
    assert "springback: none of 9 lines or frames could be used: line 1: features must be numbers; got 'x'" in summary


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["head.safetensors", "rows.csv"], "the model takes 4 features; these rows have 5 (a, b, c, d, animal)"),
        (["head.safetensors", "nothing.csv"], "nothing.csv does not exist"),
        (["nothing.safetensors"], "MODEL nothing.safetensors does not exist"),
        (["rows.npy"], "a model must be a file ending in"),
        (["head.safetensors", "rows.npy", "--classes", "a,b"], "a name for each of the 3 classes"),
        (["head.safetensors", "rows.npy", "--mean", "0.5"], "takes rows of features, so mean cannot be used"),
        (["head.safetensors", "rows.npy", "--step", "0"], "--step must be > 0"),
        (["animals.safetensors", "rows.npy", "--none-of-these", "rows.npy"], "animals.safetensors has no logits"),
        (
            ["head.safetensors", "rows.npy", "--none-of-these", "rows.npy", "--false-alarms", "0.01"],
            "be at least 0.032",
        ),
        (["head.safetensors", "rows.npy", "--lag", "2", "--save-state", "a.state"], "--lag must be 0 where a state is"),
        (["animals.safetensors", "rows.npy", "--lag", "2"], "animals.safetensors must answer at once"),
        (["head.safetensors", "rows.npy", "--classes", "a,b,a"], "names of classes must differ; got 'a' twice"),
        (["head.safetensors", "rows.npy", "--forget-after", "3"], "--forget-after must come with --key; got 3"),
        (["head.safetensors", "rows.npy", "--most-streams", "3"], "--most-streams must come with --key; got 3"),
        (["head.safetensors", "rows.npy", "--key", "k", "--forget-after", "inf"], "forget_after must be finite"),
        (["--scores", "empty.csv"], "empty.csv has no line that could name its columns"),
        (["head.safetensors", "rows.npy", "--state", "nothing.state"], "--state nothing.state does not exist"),
        (["head.safetensors", "head.safetensors"], "has several arrays: choose one of"),
    ],
)
def test_a_request_that_cannot_work_is_one_sentence(arguments, part, follow):
    code, said, summary = follow(*arguments)
    assert (code, said) == (2, "")
    assert part in summary


def test_the_view_shows_both_answers(follow):
    code, said, shown = follow("animals.safetensors", "rows.npy", "--view")
    assert (code, len(said.splitlines())) == (0, 30)
    for part in ("with memory", "frozen", "novelty", "rows.npy: 30 frames"):
        assert part in shown


@pytest.mark.waits
def test_answers_come_at_once_and_an_interrupt_is_a_clean_end(folder, tmp_path):
    state = tmp_path / "kept.state"
    command = command_line("follow", "head.safetensors", "--save-state", state)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, **pipes) as running:
        for line in (folder / "rows.jsonl").read_text().splitlines()[:3]:
            running.stdin.write(line.encode() + b"\n")
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["class"] in (0, 1, 2)
        running.stdin.write(b"[0.5, 1")
        running.stdin.flush()
        time.sleep(0.5)
        os.kill(running.pid, signal.SIGINT)
        running.wait(LONG_S)
        rest, said = running.communicate(timeout=LONG_S)
    assert running.returncode == 0
    assert rest == b""
    assert b"3 frames in" in said
    assert b"kept.state was saved after frame 2 of -" in said
    assert b"taken from the source but not answered: 7 bytes of an incomplete line" in said
    assert b"Traceback" not in said
    assert kind_of(state) == ("state", "SavedStream")


def mixed(folder, name, late=()):
    """Rows of three streams, of which none comes regularly; returns them and their keys."""
    rng = np.random.default_rng(4)
    keys, rows = rng.integers(0, 3, 40), np.abs(rng.normal(size=(40, 4))).round(3)
    lines = [
        f"{k / 4},camera {key},{','.join(map(str, row))}" for k, (key, row) in enumerate(zip(keys, rows, strict=True))
    ]
    (folder / name).write_text("\n".join(["time,camera,a,b,c,d", *lines, *late]) + "\n")
    return keys, rows


def test_mixed_streams_with_a_key_are_followed_as_each_by_itself(follow, folder):
    keys, rows = mixed(folder, "mixed.csv", late=["1.0,camera 0,1,1,1,1", "11.0,,1,1,1,1"])
    code, said, summary = follow("head.safetensors", "mixed.csv", "--key", "camera", "--step", "0.25")
    found = lines_of(said)
    assert code == 0
    assert [one["key"] for one in found] == [f"camera {key}" for key in keys]
    assert "streams with a memory of their own: 3" in summary
    assert "2 lines or frames could not be used" in summary
    assert "time 1.0 runs backwards" in summary
    assert "the key must say to which stream the row belongs; it is empty" in summary
    for key in range(3):
        (at,) = np.nonzero(keys == key)
        head = ElasticHead.load(folder / "head.safetensors")
        head.memory_in_ = "time"  # in steps of the given length
        wanted = head.track(rows[at], at.astype(float))
        probabilities = [found[one]["probability"] for one in at]
        assert np.allclose(probabilities, wanted.max(axis=1), rtol=0, atol=6e-7)
    table = follow("head.safetensors", "mixed.csv", "--key", "camera", "--csv")[1]
    assert table.startswith("time,class,probability,frozen_class,frozen_probability,novelty,key\n0.0,")
    assert table.endswith(",camera 0\n")


def test_mixed_streams_go_on_from_their_saved_states(follow, folder):
    mixed(folder, "parts.csv")
    whole = follow("head.safetensors", "parts.csv", "--key", "camera")[1]
    kept = ("--key", "camera", "--state", "parts.state", "--save-state", "parts.state", "--out", "parts.jsonl")
    assert follow("head.safetensors", "parts.csv", *kept, "--frames", "17")[0] == 0
    assert follow("head.safetensors", "parts.csv", *kept)[0] == 0
    assert (folder / "parts.jsonl").read_text() == whole
    code, _, summary = follow("head.safetensors", "parts.csv", "--ignore", "camera", "--state", "parts.state")
    assert code == 2
    assert "holds the states of several streams" in summary


def test_a_source_without_keys_is_refused_if_a_key_is_asked_for(follow):
    code, _, summary = follow("head.safetensors", "rows.npy", "--key", "camera")
    assert code == 2
    assert "the source does not say to which stream a frame belongs" in summary


def table_of_scores(folder, name="scores.csv"):
    """Two tracks, mixed; the middle row of each is mistaken."""
    rows = [(1, 0.9, 0.1), (2, 0.2, 0.8), (1, 0.8, 0.2), (2, 0.6, 0.4), (1, 0.45, 0.55), (2, 0.1, 0.9), (1, 7, 1)]
    (folder / name).write_text("\n".join(["track,cat,dog", *(",".join(map(str, row)) for row in rows)]) + "\n")


@pytest.mark.parametrize("given", [("--key", "track"), ("--label", "right"), ("--classes", "01,02")])
def test_scores_of_classes_that_are_numbers_have_their_names(follow, folder, given):
    more = {"--key": ("track", 7, 7, 7), "--label": ("right", "01", "02", "02")}
    columns = [("01", 0.9, 0.3, 0.2), ("02", 0.1, 0.7, 0.8), *([more[given[0]]] if given[0] in more else [])]
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (folder / "numbers.csv").write_text("\n".join(lines) + "\n")
    code, said, summary = follow("--scores", "numbers.csv", *given, "--csv")
    assert code == 0, summary
    assert [line.split(",")[3] for line in said.splitlines()[1:]] == ["01", "02", "02"]


def test_class_scores_are_followed_without_a_model_and_with_all_probabilities(follow, folder):
    table_of_scores(folder)
    code, said, summary = follow("--scores", "scores.csv", "--key", "track", "--probabilities")
    found = lines_of(said)
    assert code == 0
    assert [one["class"] for one in found] == ["cat", "dog", "cat", "dog", "cat", "dog", "cat"]
    assert [one["frozen_class"] for one in found][3:5] == ["cat", "dog"]
    assert all(abs(sum(one["probabilities"].values()) - 1) < 1e-5 for one in found)
    assert list(found[0]["probabilities"]) == ["cat", "dog"]
    assert "answers changed from one frame to the next: 0 times, 4 frozen" in summary
    (folder / "late.csv").write_text("\n\n" + (folder / "scores.csv").read_text())
    assert follow("--scores", "late.csv", "--key", "track", "--probabilities")[1] == said
    table = follow("--scores", "scores.csv", "--key", "track", "--csv", "--probabilities", "--classes", "dog,cat")[1]
    assert table.splitlines()[0].endswith("novelty,key,probability of dog,probability of cat")
    assert table.count("\n") == 8


def test_streams_of_many_keys_are_bounded_and_forgotten_ones_start_at_rest(follow, folder):
    table_of_scores(folder)
    summary = follow("--scores", "scores.csv", "--key", "track", "--most-streams", "1")[2]
    assert "streams with a memory of their own: 1" in summary
    summary = follow("--scores", "scores.csv", "--key", "track", "--forget-after", "0")[2]
    assert "streams with a memory of their own: 0" in summary


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name a MODEL, or with --scores a source of class scores"),
        (("head.safetensors", "--scores", "rows.csv"), "with --scores there is no MODEL"),
        (("--scores", "rows.npy"), "say with --classes which classes the scores are of"),
        (
            ("--scores", "unnamed.csv"),
            "unnamed.csv begins with a row of numbers, which names no classes: give their names (--classes)",
        ),
        (("--scores", "bad.csv", "--label", "animal"), "3 lines or frames could not be used"),
    ],
)
def test_scores_that_cannot_be_followed_are_refused_in_one_sentence(follow, arguments, sentence, folder):
    (folder / "unnamed.csv").write_text("0.5,0.5\n0.9,0.1\n")
    if "animal" in arguments:
        (folder / "bad.csv").write_text("a,b,animal\n-1,2,a\n0,0,b\n-3,-4,a\n")
    code, _, summary = follow(*arguments)
    assert code != 0
    assert sentence in summary


def test_a_report_without_labels_says_how_continuous_the_stream_is(follow):
    summary = follow("head.safetensors", "rows.jsonl")[2]
    assert "answers changed from one frame to the next:" in summary
    assert "% of frames continue what was seen before" in summary
    assert "memory changed the answer to" in summary
