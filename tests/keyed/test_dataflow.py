"""The operator for bytewax: one state for each key, which survives a crash of a worker."""

import json
import os
import socket
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bytewax")

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.testing import TestingSink, TestingSource, run_main

from springback.heads import ElasticHead
from springback.keyed import KeyedStreams
from springback.keyed.dataflow import Answer, KeyLogic, Refused, follow_keyed
from springback.keyed.states import states_of
from tests.keyed.flow_of_cameras import CAMERAS, N_FRAMES, frames_of, make_head

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240


def run(items, *, recovery=None, **options):
    found = []
    flow = Dataflow("flow")
    frames = op.input("in", flow, TestingSource(items, batch_size=3))
    op.output("out", follow_keyed("follow", frames, make_head(), **options), TestingSink(found))
    run_main(flow, **({} if recovery is None else {"recovery_config": recovery, "epoch_interval": timedelta(0)}))
    return found


def items_of(n_frames):
    return [(camera, frames_of(camera)[number]) for number in range(n_frames) for camera in CAMERAS]


@pytest.mark.parametrize("compact", [True, False])
def test_the_answers_are_those_of_the_library(compact):
    items = items_of(8)
    streams = KeyedStreams(make_head(), compact=compact)
    for (key, row), (found_key, answer) in zip(items, sorted_like(items, run(items, compact=compact)), strict=True):
        expected = streams.follow(key, row[None])
        assert found_key == key
        assert (answer.posterior == expected.posterior[0]).all()
        assert answer.label == expected.posterior[0].argmax()
        assert answer.static_label == expected.at_rest[0].argmax()
        assert answer.novelty == expected.novelty[0]


def sorted_like(items, found):
    """The answers in the order of the items; bytewax only keeps the order of each key."""
    places = {camera: iter([one for one in found if one[0] == camera]) for camera in CAMERAS}
    return [next(places[key]) for key, _ in items]


def test_times_and_features_come_from_the_items():
    items = [("a", {"at": 1.0, "row": np.ones(16)}), ("a", {"at": 9.0, "row": np.ones(16)})]
    found = run(items, features=lambda item: item["row"], time=lambda item: item["at"])
    expected = KeyedStreams(make_head()).follow("a", np.ones((2, 16)), [1.0, 9.0])
    assert (np.array([answer.posterior for _, answer in found]) == expected.posterior).all()


def test_a_bad_item_is_emitted_with_its_reason_and_changes_nothing():
    bad = np.full(16, np.nan)
    items = [("a", np.ones(16)), ("a", bad), ("a", np.ones(16))]
    first, refused, second = (answer for _, answer in run(items, on_refused="emit"))
    assert isinstance(refused, Refused)
    assert "must" in refused.why
    assert isinstance(first, Answer)
    expected = KeyedStreams(make_head()).follow("a", np.ones((2, 16)))
    assert (second.posterior == expected.posterior[1]).all()


def test_a_bad_item_ends_the_dataflow_otherwise():
    with pytest.raises(RuntimeError):
        run([("a", np.ones(15))])


def test_an_idle_key_is_forgotten():
    states = states_of(make_head(), compact=True)
    logic = KeyLogic(lambda: states, states.rest(), lambda x: x, None, None, timedelta(0), "stop")
    logic.on_batch([np.ones(16)])
    assert logic.notify_at() is not None
    assert logic.on_notify() == ((), True)
    patient = KeyLogic(lambda: states, states.rest(), lambda x: x, None, None, timedelta(days=1), "stop")
    assert patient.on_notify() == ((), False)


def test_a_model_without_a_state_is_refused_when_the_dataflow_is_made():
    flow = Dataflow("flow")
    frames = op.input("in", flow, TestingSource([]))
    with pytest.raises(TypeError, match="model must be an ElasticHead"):
        follow_keyed("follow", frames, object())


def test_a_dataflow_that_was_stopped_continues_from_its_snapshots(tmp_path):
    items = items_of(10)
    init_db_dir(tmp_path, 1)
    recovery = RecoveryConfig(str(tmp_path))
    half = len(items) // 2
    before = run([*items[:half], TestingSource.ABORT(), *items[half:]], recovery=recovery)
    after = run(items, recovery=recovery)
    whole = {(key, n): answer for n, (key, answer) in enumerate(sorted_like(items, run(items)))}
    seen = [(key, answer) for key, answer in [*before, *after]]
    assert len(after) < len(items)  # it did not begin again
    for key in CAMERAS:
        last = [answer for one, answer in seen if one == key][-1]
        wanted = [answer for (one, _), answer in whole.items() if one == key][-1]
        assert (last.posterior == wanted.posterior).all()


def free_ports(n):
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [one.getsockname()[1] for one in opened]
    for one in opened:
        one.close()
    return ports


def start_workers(folder, recovery):
    addresses = ";".join(f"127.0.0.1:{port}" for port in free_ports(2))
    words = ["-m", "bytewax.run", f"tests.keyed.flow_of_cameras:make_flow('{folder}')"]
    words += ["-r", str(recovery), "-s", "0", "-b", "0", "-a", addresses]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return [
        subprocess.Popen(
            [sys.executable, *words, "-i", str(number)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in range(2)
    ]


def answers_in(folder):
    """Every line that a worker wrote whole: (camera, frame, posterior, file)."""
    found = []
    for path in sorted(folder.glob("answers-*.jsonl")):
        for line in path.read_text().split("\n")[:-1]:
            one = json.loads(line)
            found.append((one["camera"], one["frame"], one["posterior"], path.name))
    return found


@pytest.mark.waits
def test_a_killed_worker_resumes_with_the_same_answers(tmp_path):
    recovery = tmp_path / "recovery"
    recovery.mkdir()
    init_db_dir(recovery, 2)
    (tmp_path / "pause").touch()
    workers = start_workers(tmp_path, recovery)
    try:
        end = time.monotonic() + PATIENCE_S
        while len(answers_in(tmp_path)) < 10 * len(CAMERAS):
            assert time.monotonic() < end
            assert all(one.poll() is None for one in workers), workers[0].communicate()[1]
            time.sleep(0.05)
        workers[1].kill()
        for one in workers:  # the other worker notices that its peer is gone
            if one.poll() is None:
                one.terminate()
            one.communicate(timeout=PATIENCE_S)
    finally:
        for one in workers:
            one.kill()
            one.communicate(timeout=PATIENCE_S)
    first_run = answers_in(tmp_path)
    assert max(frame for _, frame, _, _ in first_run) < N_FRAMES - 1  # it was killed on the way
    (tmp_path / "pause").unlink()
    workers = start_workers(tmp_path, recovery)
    for one in workers:
        _, said = one.communicate(timeout=PATIENCE_S)
        assert one.returncode == 0, said
    streams = KeyedStreams(make_head())
    wanted = {camera: streams.follow(camera, frames_of(camera)).posterior for camera in CAMERAS}
    found = answers_in(tmp_path)
    for camera, frame, posterior, _ in found:
        assert posterior == wanted[camera][frame].tolist()
    assert {(camera, frame) for camera, frame, _, _ in found} == {(c, n) for c in CAMERAS for n in range(N_FRAMES)}
    old = {name for *_, name in first_run}
    resumed_at = min(frame for _, frame, _, name in found if name not in old)
    assert resumed_at > 0  # from the snapshots, not from the beginning
    assert len({name for *_, name in found if name not in old}) == 2  # both workers had keys


def test_the_weights_are_shared_by_all_threads_of_a_process():
    head = ElasticHead(np.eye(3), np.zeros(3))
    one, other = states_of(head, compact=True), states_of(head, compact=True)
    assert one._exact._head.weight is other._exact._head.weight
