"""One bad frame never ends a stream, is never taken for a good one, and never spoils those around it."""

import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from springback.check import DataError
from springback.live import FrameError, Frames, RowLayout, Signal, Source, SourceOptions, Tally, answers, open_source
from springback.live.clock import Clock
from springback.live.follower import Follower, ModelOptions
from springback.live.following import BadFrameError
from springback.live.frames import Bad
from springback.live.labels import KnownLabels
from springback.live.position import PositionError, numbered_pieces, position_of
from springback.live.sources.csv_rows import CsvRows
from springback.live.sources.json_rows import JsonRows
from springback.live.sources.text import TextRows
from tests.live.conftest import HeadFollower, new_head

FOUR = SourceOptions(layout=RowLayout(width=4))


class Pieces(Source):
    """A source of pieces that are given."""

    def __init__(self, *pieces):
        self.signal, self.left = Signal(kind="rows"), list(pieces)

    def read(self):
        return self.left.pop(0) if self.left else None


def table(rows, head="time,a,b,c,d"):
    return "\n".join([head, *(f"{k}," + ",".join(map(repr, row)) for k, row in enumerate(rows.tolist()))]) + "\n"


@pytest.mark.parametrize("label", ["01", "007", "1e5", "0x1", "1_0", " 02 "])
def test_a_label_of_a_table_is_text_as_it_stands(label):
    layout = RowLayout(label="kind")
    for lines in ([f"1,{label}"], [f"1,{label}", "oops"]):
        found = CsvRows(layout).parse([b"x,kind", *(one.encode() for one in lines)])
        assert found.labels == [label.strip()]


def test_labels_with_leading_zeros_are_their_own_classes_unless_classes_are_numbers():
    texts, numbers = KnownLabels(["1", "01", "1.0"]), KnownLabels([0, 1, 2])
    assert [texts.place(one) for one in ("1", "01", "1.0", "001")] == [0, 1, 2, None]
    assert [numbers.place(one) for one in ("1", "01", 1.0, 1, "x", "1.5", 10**400)] == [1, 1, 1, 1, None, None, None]


def test_labels_that_the_model_cannot_answer_are_counted_apart(rows):
    follower = Follower(new_head(4), "head", ModelOptions(classes=("01", "02", "03")))
    truth = ["01", "1", "", None, "04", "04", "03"]
    tally = Tally()
    frames = Frames(values=rows[:7], labels=truth)
    (given,) = answers(Pieces(frames), follower, tally=tally)
    right = sum(truth[k] == given.labels[k] for k in (0, 6))
    assert (tally.labelled, tally.correct, tally.strange) == (2, right, 3)
    assert tally.strange_labels == ["'1'", "'04'"]


HUGE = "9" * 400


@pytest.mark.parametrize(
    "line",
    [
        f'{{"time": 1, "features": [{HUGE}, 2, 3, 4]}}',
        f'{{"time": {HUGE}, "features": [1, 2, 3, 4]}}',
        f'{{"time": -{HUGE * 20}, "features": [1, 2, 3, 4]}}',
        f'{{"time": {10**30}, "features": [1, 2, 3, 4]}}',
    ],
    ids=["feature", "time", "long time", "time that JSON can hold and a table of 64 bits cannot"],
)
def test_a_number_that_is_too_large_is_a_bad_line(line):
    good = '{"time": 0, "features": [1, 2, 3, 4]}'
    found = JsonRows(RowLayout(width=4)).parse([good.encode(), line.encode(), good.encode()])
    assert len(found) == 2
    assert [one.before for one in found.bad] == [1]
    assert len(found.bad[0].why) < 400
    message = TextRows(RowLayout(width=4)).message(line.encode())
    assert (len(message), len(message.bad)) == (0, 1)


@pytest.mark.parametrize(
    ("first", "strange"),
    [
        ("[1, 2, 3, 4]", "[[1], [2], [3], [4]]"),
        ('{"features": [1, 2, 3, 4]}', '{"features": [[1], [2], [3], [4]]}'),
        ('{"a": 1, "b": 2, "c": 3, "d": 4}', '{"a": [1], "b": [2], "c": [3], "d": [4]}'),
    ],
)
def test_numbers_in_lists_of_their_own_are_a_bad_line_among_plain_ones(first, strange):
    for width in (4, None):
        rows = JsonRows(RowLayout(width=width))
        found = rows.parse([first.encode(), strange.encode(), first.encode()])
        assert (found.values.shape, [one.before for one in found.bad]) == ((2, 4), [1])
    found = JsonRows(RowLayout(width=4)).parse([strange.encode(), first.encode()])
    assert (found.values.tolist(), len(found.bad)) == ([[1, 2, 3, 4]], 1)
    pictures = JsonRows(RowLayout()).parse([b"[[1, 2], [3, 4]]"] * 2)
    assert pictures.values.shape == (2, 2, 2)


def test_a_first_message_that_is_no_row_is_bad_and_settles_nothing():
    rows = TextRows(RowLayout(width=4))
    assert "does not fit" in rows.message(b"online").bad[0].why
    assert "does not fit" in rows.message(b"\xff\xfe").bad[0].why
    assert rows.message(b'{"time": 0, "features": [1, 2, 3, 4]}').values.tolist() == [[1, 2, 3, 4]]
    assert len(rows.message(b"online").bad) == 1


def connections(*parts, layout=None):
    """What a stream of lines gives whose connection is lost after each part."""
    rows = TextRows(layout or RowLayout(width=2))
    found = []
    for part in parts:
        found.append(rows.feed(part))
        rows.cut()
    return found


@pytest.mark.parametrize("head", [b"y,time,x", b"time,extra,y,x", b"time,x,y"])
def test_columns_are_found_by_name_after_a_new_connection(head):
    row = b",".join({b"time": b"7", b"x": b"1", b"y": b"2", b"extra": b"9"}[one] for one in head.split(b","))
    first, second = connections(b"time,x,y\n6,1,2\n", head + b"\n" + row + b"\n")
    assert first.values.tolist() == second.values.tolist() == [[1, 2]]
    assert (second.stamps, second.bad) == ([7.0], ())


def test_a_new_connection_without_names_goes_on_and_rubbish_at_its_beginning_is_bad():
    _, plain, rubbish = connections(b"time,x,y\n6,1,2\n", b"7,1,2\n", b"oops\n8,1,2\n")
    assert (len(plain), len(rubbish), len(rubbish.bad)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("first", "second", "part"),
    [
        (b"time,x,y\n6,1,2\n", b"time,x,z\n7,1,2\n", "'y' is missing"),
        (b"1,2\n", b"y,x\n2,1\n", "names its columns"),
    ],
)
def test_a_new_connection_with_other_columns_is_refused(first, second, part):
    with pytest.raises(DataError, match=part):
        connections(first, second)


def test_frames_before_a_bad_one_are_answered_before_the_run_ends(rows, expected, tmp_path):
    lines = table(rows).splitlines()
    lines.insert(18, "oops")
    (tmp_path / "bad.csv").write_text("\n".join(lines) + "\n")
    given = []
    with open_source(str(tmp_path / "bad.csv"), FOUR) as source:
        stream = answers(source, HeadFollower(new_head(4)), on_bad="stop")
        keep = (given.append(one.followed.posterior) for one in stream)
        with pytest.raises(BadFrameError, match="line 19"):
            list(keep)
    assert (np.concatenate(given) == expected[:17]).all()


def test_answers_that_wait_are_given_before_a_bad_frame_ends_the_run(rows):
    strange = np.insert(rows, 20, np.nan, axis=0)
    for stops in (Pieces(Frames(values=rows, bad=(Bad(20, "oops"),))), Pieces(Frames(values=strange))):
        follower, given = Follower(new_head(4), "head"), []
        follower.wait(3)
        with pytest.raises(BadFrameError):
            given.extend(one.followed.posterior for one in answers(stops, follower, on_bad="stop"))
        np.testing.assert_allclose(np.concatenate(given), new_head(4).track(rows[:20], lag=3), atol=1e-7)


def test_frames_whose_answers_still_wait_at_the_limit_are_told(rows):
    follower, tally = Follower(new_head(4), "head"), Tally()
    follower.wait(3)
    list(answers(Pieces(Frames(values=rows)), follower, limit=10, tally=tally))
    assert (tally.frames, tally.unanswered) == (10, 30)


@pytest.mark.parametrize("place", [0, 5, 39])
def test_one_time_stamp_in_the_far_future_is_bad_and_not_those_after_it(rows, place):
    seconds = np.arange(40.0)
    seconds[place] = 1e300
    tally = Tally()
    frames = Frames(values=rows, seconds=seconds)
    found = np.concatenate(
        [one.followed.posterior for one in answers(Pieces(frames), HeadFollower(new_head(4)), step_s=1.0, tally=tally)]
    )
    assert (tally.frames, tally.bad) == (39, 1)
    assert "1e+300 is more than 1e+09 after the frame" in tally.reasons[0]
    kept = np.delete(np.arange(40), place)
    assert (found == new_head(4).track(rows[kept], kept.astype(float))).all()


def test_how_far_time_may_leap_can_be_set():
    frames = Frames(values=np.eye(3), seconds=np.array([0.0, 5.0, 20.0]))
    assert len(Clock(0.5, 10).in_order(frames)) == 2
    assert len(Clock(0.5, 30).in_order(frames)) == 3
    assert len(Clock(0.5, 30, since_s=6.0).in_order(frames)) == 1
    assert len(Clock(None, 1).in_order(frames)) == 3


@pytest.mark.parametrize("kind", [TypeError, ValueError, AttributeError])
def test_a_bug_in_a_model_is_not_taken_for_a_bad_frame(kind, rows):
    class Broken(HeadFollower):
        def answer(self, inputs, times, keys=None):  # noqa: ARG002
            raise kind("a bug")

    class Refusing(HeadFollower):
        def answer(self, inputs, times, keys=None):  # noqa: ARG002
            raise FrameError("not that one")

    with pytest.raises(kind, match="a bug"):
        list(answers(Pieces(Frames(values=rows)), Broken(new_head(4))))
    tally = Tally()
    assert list(answers(Pieces(Frames(values=rows)), Refusing(new_head(4)), tally=tally)) == []
    assert tally.bad == 40


def test_a_value_error_in_a_saved_model_is_a_bad_frame_only_if_the_frame_is_to_blame(rows):
    follower, tally = Follower(new_head(4), "head.safetensors"), Tally()
    strange = rows.copy()
    strange[3, 0], strange[7, 1] = np.nan, 1e300  # infinity, in the precision of the head
    list(answers(Pieces(Frames(values=strange)), follower, tally=tally))
    assert (tally.frames, tally.bad) == (38, 2)

    def broken(*_args, **_options):
        raise ValueError("operands could not be broadcast together")

    follower.model.track_response = broken
    with pytest.raises(RuntimeError, match="ValueError in the model: operands could not be broadcast"):
        list(answers(Pieces(Frames(values=rows)), follower, tally=Tally()))


def test_a_limit_counts_answers_and_what_was_taken_beyond_it_is_told(rows):
    seconds = np.arange(40.0)
    seconds[3] = -1
    tally = Tally()
    list(
        answers(
            Pieces(Frames(values=rows, seconds=seconds)), HeadFollower(new_head(4)), step_s=1, limit=10, tally=tally
        )
    )
    assert (tally.frames, tally.bad, tally.unanswered) == (10, 1, 29)


def test_what_was_taken_from_a_pipe_is_answered_before_the_run_ends(rows):
    many = np.tile(rows, (80, 1))
    for recorded, wanted in ((False, len(many)), (True, 1024)):
        source, tally, seen = Pieces(Frames(values=many)), Tally(), []
        source.recorded = recorded
        stream = answers(source, HeadFollower(new_head(4)), is_stopped=lambda seen=seen: bool(seen), tally=tally)
        for given in stream:
            seen.append(given)
        assert (tally.frames, tally.unanswered) == (wanted, 0)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """A hundred pictures of noise, and where the packet of each of them is."""
    av = pytest.importorskip("av", reason="the extra video is not installed")
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        for _ in range(100):
            picture = rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode())
    with av.open(str(path)) as file:
        return path, [(one.pos, one.size) for one in file.demux(video=0) if one.size]


def test_a_damaged_packet_of_a_video_is_bad_and_the_others_are_seen(clip, tmp_path):
    path, packets = clip
    content = bytearray(path.read_bytes())
    for number in (30, 31, 70):
        start, size = packets[number]
        content[start : start + size] = bytes(size)
    (tmp_path / "clip.mp4").write_bytes(content)
    with open_source(str(tmp_path / "clip.mp4")) as source:
        found = list(iter(source.read, None))
    stamps = [one.stamps[0] for one in found if len(one)]
    assert stamps == [k / 10 for k in range(100) if k not in (30, 31, 70)]
    assert [bad.why.split(" cannot")[0] for one in found for bad in one.bad] == ["packet 30", "packet 31", "packet 70"]


@pytest.mark.parametrize(
    "script",
    [
        "ffconcat version 1.0\nfile clip.mp4\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nclip.mp4\n#EXT-X-ENDLIST\n",
    ],
    ids=["concat", "playlist"],
)
def test_a_script_that_names_another_file_is_no_video(script, clip):
    path = clip[0].with_name("x.mp4")
    path.write_text(script)
    with pytest.raises(DataError, match="cannot be read as a video in an MP4"):
        open_source(str(path))


def test_a_file_name_that_looks_like_a_protocol_is_a_file(clip, tmp_path, monkeypatch):
    (tmp_path / "http:clip.mp4").write_bytes(clip[0].read_bytes())
    monkeypatch.chdir(tmp_path)
    with open_source("http:clip.mp4") as source:
        assert len(list(iter(source.read, None))) >= 100


def test_positions_of_all_frames_are_found_again(rows, tmp_path):
    lines = table(rows).splitlines()
    for place in (30, 12, 1):
        lines.insert(place, "oops")
    lines.insert(20, "")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    with open_source(str(path), FOUR) as source:
        (given,) = answers(source, HeadFollower(new_head(4)))
    for last in (0, 1, 10, 17, 38, 39):
        part = given.frames.select(slice(0, last + 1))
        shorter = replace(given, frames=part, labels=given.labels[: last + 1])
        position = position_of(shorter, "rows.csv")
        assert position.frames == last + 1
        with open_source(str(path), FOUR) as source:
            rest = [stamp for one in numbered_pieces(source, position) for stamp in one.stamps or ()]
        assert rest == given.frames.stamps[last + 1 :]
    path.write_text("\n".join([*lines[:-1], "39,1,2,3,4"]))
    with open_source(str(path), FOUR) as source, pytest.raises(PositionError, match="has changed since: frame 39"):
        list(numbered_pieces(source, position))


MEMORY = """
import resource, sys
from springback.live import RowLayout, SourceOptions, open_source
source = open_source(sys.argv[1], SourceOptions(layout=RowLayout(width=4)))
print("ready", flush=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
bad, good = [], []
while len(good) < 1:
    found = source.read()
    bad += found.bad
    good += found.values.tolist()
print(*(one.why for one in bad), good, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, sep="|")
"""


@pytest.mark.waits
def test_a_message_that_is_too_large_is_bad_and_is_not_kept(broker):
    command = [sys.executable, "-c", MEMORY, f"mqtt://127.0.0.1:{broker.port}/hall/+"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        too_long = threading.Timer(90, running.kill)
        too_long.start()
        try:
            assert running.stdout.readline() == "ready\n"
            broker.publish([b"online", b"7" * 100_000_000, b"[1, 2, 3, 4]"])
            said = running.stdout.readline()
        finally:
            too_long.cancel()
            running.kill()
    assert said, "the message was kept, and has not been read after 90 s"
    no_row, too_large, good, grown = said.strip().split("|")
    assert good == "[[1.0, 2.0, 3.0, 4.0]]"
    assert "a message does not fit" in no_row
    assert "must have at most 16,777,216 bytes; one has 100,000,0" in too_large
    assert int(grown) < 60
