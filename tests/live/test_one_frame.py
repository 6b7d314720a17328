"""The way of one row through `springback follow`: few functions in few files, so that a reader can go along."""

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import springback
from springback.heads import ElasticHead
from springback.live import Follower, answers, open_source
from springback.live.writers import JsonWriter

SRC = Path(springback.__file__).parent
LIVE = str(SRC / "live")
MOST_FUNCTIONS, MOST_MODULES = 14, 8


def functions_met(call):
    """The functions of the library that are called, without special methods; a model counts once for each call."""
    met, inside = [], []

    def note(frame, event, _):
        code = frame.f_code
        if not code.co_filename.startswith(str(SRC)) or code.co_name.startswith("<"):
            return
        if event == "call":
            if not inside and not code.co_name.startswith("__"):
                met.append((code.co_filename, code.co_qualname))
            if not code.co_filename.startswith(LIVE):
                inside.append(frame)
        elif event == "return" and inside and inside[-1] is frame:
            inside.pop()

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(dict.fromkeys(met))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_row_meets_few_functions_between_its_source_and_the_writer(tmp_path):
    pipe, out = tmp_path / "rows.csv", io.BytesIO()
    os.mkfifo(pipe)
    sender = os.open(pipe, os.O_RDWR)
    follower = Follower(ElasticHead(5 * np.eye(2), np.zeros(2)), "head")
    with open_source(str(pipe)) as source:
        given, writer = answers(source, follower), JsonWriter(out)
        os.write(sender, b"x,y\n1,0\n")
        writer.write(next(given))  # what happens only once is over
        os.write(sender, b"0,1\n")
        met = functions_met(lambda: writer.write(next(given)))
        given.close()
    os.close(sender)
    assert [json.loads(line)["class"] for line in out.getvalue().splitlines()] == [0, 1]
    names = [name.rpartition(".")[2] for _, name in met]
    assert names[0] == "answers"
    assert {"read", "parse", "answer", "write"} <= set(names)
    assert len(met) <= MOST_FUNCTIONS, names
    assert len({file for file, _ in met}) <= MOST_MODULES, met
