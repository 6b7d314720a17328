"""A dataflow for the tests: frames of some cameras, answered by one head; each worker writes to a file of its own."""

import json
import os
import time
from pathlib import Path

import bytewax.operators as op
import numpy as np
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from springback.heads import ElasticHead
from springback.keyed.dataflow import follow_keyed

N_CLASSES, N_FEATURES, N_FRAMES, N_PARTS = 3, 16, 80, 2
CAMERAS = tuple(f"camera {number}" for number in range(6))


def make_head() -> ElasticHead:
    rng = np.random.default_rng(3)
    return ElasticHead(rng.normal(size=(N_CLASSES, N_FEATURES)), np.zeros(N_CLASSES))


def frames_of(camera: str) -> np.ndarray:
    """What a camera shows: things that stay for a while."""
    rng = np.random.default_rng(CAMERAS.index(camera))
    things = rng.normal(size=(N_FRAMES // 10, N_FEATURES)).repeat(10, axis=0)
    return (things + 0.8 * rng.normal(size=things.shape)).astype(np.float32)


class Part(StatefulSourcePartition):
    """Some of the cameras; it waits a moment after each round while a file says so."""

    def __init__(self, cameras, pause, number):
        self._frames = {camera: frames_of(camera) for camera in cameras}
        self._pause, self._number = pause, number

    def next_batch(self):
        if self._number == N_FRAMES:
            raise StopIteration
        if self._pause.exists():
            time.sleep(0.02)
        number, self._number = self._number, self._number + 1
        return [(camera, (number, frames[number])) for camera, frames in self._frames.items()]

    def snapshot(self):
        return self._number


class Cameras(FixedPartitionedSource):
    def __init__(self, pause):
        self._pause = pause

    def list_parts(self):
        return [str(number) for number in range(N_PARTS)]

    def build_part(self, step_id, for_part, resume_state):  # noqa: ARG002
        return Part(CAMERAS[int(for_part) :: N_PARTS], self._pause, resume_state or 0)


class Lines(StatelessSinkPartition):
    def __init__(self, path):
        self._file = path.open("a")

    def write_batch(self, items):
        for camera, answer in items:
            said = {"camera": camera, "frame": answer.item[0], "posterior": answer.posterior.tolist()}
            self._file.write(json.dumps(said) + "\n")
        self._file.flush()


class Files(DynamicSink):
    def __init__(self, folder):
        self._folder = folder

    def build(self, step_id, worker_index, worker_count):  # noqa: ARG002
        return Lines(self._folder / f"answers-{worker_index}-{os.getpid()}.jsonl")


def make_flow(folder: str) -> Dataflow:
    place = Path(folder)
    flow = Dataflow("cameras")
    frames = op.input("frames", flow, Cameras(place / "pause"))
    followed = follow_keyed("follow", frames, make_head(), features=lambda item: item[1])
    op.output("answers", followed, Files(place))
    return flow
