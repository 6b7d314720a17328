"""Formats of data and of results."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from springback.check import DataError
from springback.data import load_video, save_video
from springback.data.own_file import load_images_file
from springback.files.container import read, write
from springback.files.records import from_json
from springback.files.regular import read_bytes
from springback.streaming import metrics
from springback.streaming.records import Images, Video
from springback_bench.stream_sets import Head, Stream, StreamSplit
from springback_bench.stream_sets.split_file import load_split, save_split
from springback_paper.results.results_json import check_results, collect
from springback_paper.results.scores import Scores
from springback_paper.tuning.models import SPACES, Tuning
from springback_paper.tuning.tuned_file import Tuned, load_tuned, save_tuned
from tests.fuzz.formats.circuits import FRAMES
from tests.fuzz.formats.format import Format, require_finite, written


def video() -> Format:
    frames = np.random.default_rng(1).integers(0, 256, (7, 6, 5), dtype=np.uint8)
    labels = np.array([3, 3, 10, 0, 9, 10, 1])
    noisy = labels == 10
    hidden = np.where(noisy, -1, 2).astype(np.int16)
    ink = np.where(noisy, np.nan, 0.4).astype(np.float32)
    whole = Video(labels, hidden, ink, np.where(noisy, -1, 2), (6, 5), lambda start, stop: frames[start:stop], "small")

    def use(video: Video) -> None:
        answers = np.zeros(len(video), np.int64)
        metrics.confusion(answers, video.labels)
        metrics.accuracy_by_rows(answers, video)
        metrics.accuracy_by_ink(answers, video)
        assert video.frames.shape == (len(video), *video.frame_shape)

    return Format("video", (written(lambda path: save_video(whole, path)),), load_video, use)


def stream_split() -> Format:
    rng = np.random.default_rng(2)

    def stream(length: int) -> Stream:
        features = rng.normal(size=(length, 3)).astype(np.float32)
        labels, times = rng.integers(-1, 2, length), np.cumsum(rng.uniform(0.1, 1, length))
        return Stream(features=features, labels=labels, times=times, objects=np.arange(length))

    head = Head(weight=np.eye(2, 3, dtype=np.float32), bias=np.ones(2, np.float32), centre=np.zeros(3, np.float32))
    whole = StreamSplit(name="small", split=1, head=head, validation=(stream(4),), test=(stream(5), stream(6)))
    content = written(lambda path: save_split(whole, path, version=1))

    def use(split: StreamSplit) -> None:
        for one in (*split.validation, *split.test):
            require_finite(split.head.logits(one.features), one.times)
            assert one.frames_away().shape == one.labels.shape
        split.head.accuracy(split.test)

    return Format("stream split", (content,), lambda path: load_split(path, "small", 1, version=1), use)


def own_images() -> Format:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, images=FRAMES, labels=np.array(["a", "b", "a", "c"]))

    def use(images: Images) -> None:
        assert len(images) == len(images.labels)

    return Format("own images", (written(write),), load_images_file, use, sealed=False)


def record() -> Format:
    scores = Scores(
        n_train=9,
        n_test=4,
        n_frames=66,
        mnist_test={"elastic": 0.8},
        omnist_test={"elastic": 0.85},
        by_rows_hidden={"elastic": {"0": 0.9, "noise": 0.95}},
        by_ink_hidden={"elastic": {"0-10": 0.9, "noise": 0.95}},
    )

    def use(scores: Scores) -> None:
        check_results(collect([scores], seeds=[0], speed={}, environment={}))

    content = written(lambda path: write(path, "result", scores, about={"seconds": "1.0"}))
    return Format("record of scores", (content,), lambda path: read(path, "result", Scores), use)


def tuned() -> Format:
    content = []
    for model, space in SPACES.items():
        values = {name: (span.low + span.high) / 2 for name, span in space.items()}
        found = Tuned(tuning=Tuning(model=model), values=values, accuracy=0.9, n_trials=3)
        content.append(written(lambda path, found=found: save_tuned(found, path)))
    return Format("tuned preset", tuple(content), load_tuned, lambda found: found.preset())


def results() -> Format:
    scores = Scores(n_train=1, n_test=1, n_frames=9, omnist_test={"elastic": 0.95, "spiking_static": 0.7})
    found = collect([scores], seeds=[0], speed={}, environment={})

    def load(path: Path) -> Any:
        try:
            content = from_json(read_bytes(path), dict[str, Any])
            check_results(content)
        except (TypeError, ValueError) as error:
            raise DataError(str(error)) from error
        return content

    return Format("results", (json.dumps(found).encode(),), load, lambda _found: None, sealed=False)
