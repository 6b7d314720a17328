"""Tables, JSON lines and arrays: the same answers as `track`, and a sentence for what cannot be read."""

import json
import os
import threading

import numpy as np
import pytest
from safetensors.numpy import save_file

from springback.check import DataError
from springback.live import FrameError, Frames, RowLayout, Signal, Source, SourceOptions, Tally, open_source
from springback.live.following import BadFrameError
from springback.live.sources.csv_rows import CsvRows
from springback.live.sources.json_rows import JsonRows
from springback.live.sources.text import LineSplitter
from tests.live.conftest import HeadFollower, new_head, posteriors

FOUR = SourceOptions(layout=RowLayout(width=4))


def as_csv(rows, head="", row=lambda _, one: ",".join(map(repr, one))):
    return "".join(f"{line}\n" for line in [*([head] if head else []), *(row(k, one) for k, one in enumerate(rows))])


def as_json(rows, row=lambda _, one: one):
    return "".join(f"{json.dumps(row(k, one))}\n" for k, one in enumerate(rows))


FORMS = {
    "plain.csv": as_csv,
    "named.csv": lambda rows: as_csv(rows, "a,b,c,d"),
    "pandas.csv": lambda rows: as_csv(rows, "0,1,2,3"),
    "dated.csv": lambda rows: as_csv(
        rows, "time,a,b,c,d", lambda k, one: f"2024-05-01T12:00:{k:02d}," + ",".join(map(repr, one))
    ),
    "excel.csv": lambda rows: "\ufeff" + as_csv(rows, '"a","b","c","d"').replace("\n", "\r\n"),
    "lists.jsonl": as_json,
    "features.jsonl": lambda rows: as_json(rows, lambda k, one: {"time": k / 2, "features": one, "device": 7}),
    "objects.ndjson": lambda rows: as_json(rows, lambda k, one: {"time": k} | dict(zip("abcd", one, strict=True))),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_text_file_is_followed_as_track_follows_it(name, rows, expected, tmp_path):
    path = tmp_path / name
    path.write_text(FORMS[name](rows.tolist()))
    assert (posteriors(open_source(str(path), FOUR)) == expected).all()


def test_columns_that_are_called_by_numbers_are_found_by_them_and_after_a_reconnect_in_another_order():
    source = CsvRows(RowLayout(key="track"))
    assert source.parse([b"track,01,02", b"a,1,2"]).values.tolist() == [[1.0, 2.0]]
    source.begin_again()
    again = source.parse([b"02,track,01", b"4,a,3"])
    assert not again.bad
    assert again.values.tolist() == [[3.0, 4.0]]
    source.begin_again()
    assert source.parse([b"6,b,5", b"8,b,7"]).keys == ["b", "b"]


def test_arrays_are_followed_as_track_follows_them(rows, expected, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    save_file({"x": rows, "y": rows[:3]}, tmp_path / "rows.safetensors")
    for name in ("rows.npy", "rows.safetensors"):
        source = open_source(str(tmp_path / name), SourceOptions(tensor="x"))
        assert (posteriors(source) == expected).all()


def test_times_and_labels_of_an_array_file_are_found_beside_it(rows, tmp_path):
    times, labels = np.arange(40) * 0.5, np.arange(40) % 3
    save_file({"test.features": rows, "test.times": times, "test.labels": labels}, tmp_path / "s.safetensors")
    layout = RowLayout(label="labels")
    with open_source(str(tmp_path / "s.safetensors"), SourceOptions(tensor="test.features", layout=layout)) as source:
        found = source.read()
        assert source.read() is None
    assert found.stamps == times.tolist()
    assert found.labels == labels.tolist()


@pytest.mark.waits
def test_a_named_pipe_is_followed_while_it_is_written(rows, expected, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with pipe.open("w") as file:
            for row in rows.tolist():
                file.write(json.dumps(row) + "\n")
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    assert (posteriors(open_source(str(pipe), FOUR)) == expected).all()
    writer.join()


def test_time_stamps_are_used_if_a_step_is_given(rows, tmp_path):
    seconds = np.cumsum(np.random.default_rng(2).uniform(0.1, 3.0, 40))
    path = tmp_path / "timed.csv"
    path.write_text(
        as_csv(rows.tolist(), "time,a,b,c,d", lambda k, one: f"{float(seconds[k])!r}," + ",".join(map(repr, one)))
    )
    timed = posteriors(open_source(str(path), FOUR), step_s=0.5)
    head = new_head(4)
    head.memory_in_ = "time"  # in steps of the given length
    assert (timed == head.track(rows, seconds / 0.5)).all()
    assert not np.allclose(timed, new_head(4).track(rows))


def test_a_step_without_time_stamps_is_refused(rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    with pytest.raises(DataError, match="has no time stamps, so the length of a step cannot be used"):
        posteriors(open_source(str(tmp_path / "rows.npy")), step_s=1.0)


BAD_LINES = ["1,2,3", "1,2,3,x", "1,2,3,nan", "1,2,3,1e999", "'", "\x00,1,2,3"]


def test_bad_lines_are_counted_and_the_others_are_answered(rows, expected, tmp_path):
    lines = as_csv(rows.tolist()).splitlines()
    for place, bad in zip((30, 20, 12, 7, 3, 2), BAD_LINES, strict=True):
        lines.insert(place, bad)
    (tmp_path / "bad.csv").write_text("\n".join(lines))
    tally = Tally()
    assert (posteriors(open_source(str(tmp_path / "bad.csv"), FOUR), tally=tally) == expected).all()
    assert (tally.frames, tally.bad, len(tally.reasons)) == (40, 6, 5)
    assert tally.reasons[0].startswith("line 3: ")


def test_the_first_bad_line_ends_the_run_if_the_user_wants_so(rows, tmp_path):
    (tmp_path / "bad.csv").write_text(as_csv(rows[:2].tolist()) + "oops\n")
    with pytest.raises(BadFrameError, match=r"line 3: it must have 4 columns; got 1: 'oops'"):
        posteriors(open_source(str(tmp_path / "bad.csv"), FOUR), on_bad="stop")


def test_frames_that_run_backwards_are_bad(rows, tmp_path):
    stamps = [*range(20), 5, *range(20, 39)]
    path = tmp_path / "back.csv"
    path.write_text(as_csv(rows.tolist(), "time,a,b,c,d", lambda k, one: f"{stamps[k]}," + ",".join(map(repr, one))))
    tally = Tally()
    found = posteriors(open_source(str(path), FOUR), step_s=1.0, tally=tally)
    assert tally.reasons == ["time 5.0 runs backwards: the frame before it was at 19"]
    assert (found == new_head(4).track(np.delete(rows, 20, axis=0), np.arange(39))).all()


class Once(Source):
    """A source of a single piece."""

    def __init__(self, values):
        self.signal, self.left = Signal(kind="rows"), [Frames(values=values)]

    def read(self):
        return self.left.pop() if self.left else None


def test_a_frame_that_the_model_refuses_is_found_among_the_others(rows, expected):
    class Choosy(HeadFollower):
        def answer(self, inputs, times, keys=None):
            if (inputs > 1e30).any():
                raise FrameError("too large")
            return super().answer(inputs, times, keys)

    tally = Tally()
    found = posteriors(Once(np.insert(rows, 17, 1e31, axis=0)), Choosy(new_head(4)), tally=tally)
    assert (found == expected).all()
    assert tally.reasons == ["frame 17: too large"]


@pytest.mark.parametrize(
    ("layout", "head", "part"),
    [
        (RowLayout(width=4), "a,b,c", "the model takes 4 features; these rows have 3 (a, b, c)"),
        (
            RowLayout(width=4),
            "a,b,c,d,label",
            "these rows have 5 (a, b, c, d, label): name the columns",
        ),
        (RowLayout(columns=("a", "z")), "a,b", "the features must be among the columns a, b; got 'z'"),
        (RowLayout(time="when"), "a,b", "the time must be among the columns a, b; got 'when'"),
        (RowLayout(), "a,b,a", "two columns are called 'a'"),
        (RowLayout(usual=("x", "y")), "x,z", "fitted with the column 'y', which these rows do not have"),
    ],
)
def test_columns_that_do_not_fit_are_refused_before_the_first_row(layout, head, part):
    with pytest.raises(DataError) as caught:
        CsvRows(layout).parse([head.encode(), b"1,2,3,4"])
    assert part in str(caught.value)


def test_columns_are_taken_in_the_order_of_the_model():
    found = CsvRows(RowLayout(usual=("y", "x"))).parse([b"x,time,y", b"1,0,2"])
    assert found.values.tolist() == [[2.0, 1.0]]
    assert found.stamps == [0.0]


def test_columns_can_be_left_out():
    found = CsvRows(RowLayout(ignore=("id",), width=1)).parse([b"id,x", b"seven,1"])
    assert found.values.tolist() == [[1.0]]
    with pytest.raises(DataError, match="what is ignored must be among the columns id, x; got 'y'"):
        CsvRows(RowLayout(ignore=("y",))).parse([b"id,x"])


def test_labels_may_be_words_or_numbers():
    layout = RowLayout(label="kind")
    assert CsvRows(layout).parse([b"x,kind", b"1,cat", b"2,3"]).labels == ["cat", "3"]
    assert JsonRows(layout).parse([b'{"x": 1, "kind": "cat"}', b'{"kind": 3, "x": 2}']).labels == ["cat", 3]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"[1, 2]", "a list of 2"),
        (b'{"features": [1, 2, 3], "time": "soon"}', "a list of 3"),
        (b'{"features": [1, "x"], "time": 1}', "features must be numbers; got 'x'"),
        (b'{"features": [1, null], "time": 1}', "features must be finite; got NaN or infinity"),
        (b'{"features": [1, 2], "time": "soon"}', "a time stamp must be a number or a date"),
        (b'{"features": [1, 2]}', "it must have the key 'time'"),
        (b"7", "a line must be a list or an object; got int"),
        (b"[" * 100_000, "line 2: "),
    ],
)
def test_json_of_another_form_is_a_bad_line(line, part):
    rows = JsonRows(RowLayout(width=2))
    found = rows.parse([b'{"time": 0, "features": [0, 1]}', line])
    assert found.values.tolist() == [[0.0, 1.0]]
    assert len(found.bad) == 1
    assert part in found.bad[0].why


def test_a_line_that_is_too_long_is_skipped_without_being_kept():
    splitter = LineSplitter(longest=10)
    assert splitter.feed(b"1,2\n" + b"9" * 8) == [b"1,2"]
    assert splitter.feed(b"9" * 8) == []
    assert splitter.kept == 0
    assert splitter.feed(b"9\n3,4\n" + b"8" * 11 + b"\n") == [None, b"3,4", None]


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_lines_are_the_same_however_the_text_is_cut(cut):
    text = b"1,2\r\n\n3,4\n5"
    splitter, lines = LineSplitter(), []
    for start in range(0, len(text), cut):
        lines += splitter.feed(text[start : start + cut])
    assert [*lines, *splitter.end()] == [b"1,2", b"3,4", b"5"]


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("missing.csv", None, "does not exist"),
        ("pickle.npy", b"\x80\x04", "is not an NPY file"),
        ("rubbish.safetensors", b"12345678", "is not a safetensors file"),
        ("film.doc", b"", "is not a source: name a file ending in"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(name, content, part, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=part):
        open_source(str(tmp_path / name))
