"""Formats of everything else that has learned: estimators, shipped models, the baselines of the paper."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import torch
from springback.check import DataError
from springback.data import pretrained as shipped
from springback.elastic import ElasticClassifier, ElasticClustering
from springback.files.container import kind_of, read
from springback.files.models import load_model as load_any
from springback.heads import (
    ElasticHead,
    ElasticLinearClassifier,
    KeyedStreams,
    LearningObserver,
    Observer,
    Scale,
    Springs,
)
from springback.heads.stream_pipeline import StreamPipeline
from springback.live.follower import Follower, ModelOptions
from springback.live.frames import Signal
from springback.live.position import Position, load_state, numbered_pieces, save_state
from springback.live.sources.source import Source
from springback.streaming.records import Images
from springback_paper.baselines import Lstm, Mlp, SequenceTraining, answers
from springback_paper.baselines.checkpoint import Progress, describe_training, resume
from springback_paper.baselines.checkpoint import save_checkpoint as save_baseline_checkpoint
from springback_paper.baselines.learning import Learner
from springback_paper.baselines.model_file import load_baseline, save_baseline, weights_of
from tests.fuzz.formats.format import Format, require_finite, written


def saved_model() -> Format:
    rng = np.random.default_rng(4)
    rows, kinds = rng.normal(size=(12, 3)), np.array(["a", "b", "c"] * 4)
    weight, bias, centre = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    clustering = ElasticClustering(3, random_state=0, novelty_threshold="auto", beta=0.5)
    piped = make_pipeline(StandardScaler(), PCA(3), SelectKBest(k=2), Normalizer(), LogisticRegression())
    models = (
        ElasticHead(weight, bias, Observer(depth=4), centre=centre),
        ElasticHead(weight, bias, Springs(pull=2.0), scale=Scale(3.0, 0.5)),
        ElasticHead(weight, bias, LearningObserver(depth=4)),
        clustering.fit(rows),
        ElasticClassifier(clustering, novel_label="none").fit(rows, kinds),
        ElasticLinearClassifier(piped, Observer(depth=4)).fit(rows, np.arange(12) % 3),
        StreamPipeline([("scale", StandardScaler()), ("model", clustering)]).fit(rows),
        ElasticLinearClassifier.of_scores(["c", "a", "b"]),
    )
    rows = np.abs(rows)  # some are class scores
    for model in models:
        for row in rows[:6]:
            model.step(row)

    def use(model: Any) -> None:
        width = model.n_inputs if isinstance(model, ElasticHead) else model.n_features_in_
        require_finite(model.track(np.resize(rows[:2], (2, width))))
        model.set_state(model.get_state())

    return Format("saved model", tuple(written(model.save) for model in models), load_any, use)


def stream_state() -> Format:
    rng = np.random.default_rng(5)

    def head() -> Follower:
        return Follower(ElasticHead(rng.normal(size=(3, 4)), np.zeros(3), Observer(depth=4)), "head")

    moved = head()
    moved.answer(rng.normal(size=(6, 4)), None)
    about = {"model": "of this head", "step_s": None}
    position = Position(
        source="rows.csv",
        frames=5,
        taken=6,
        digest="9f86d081884c7d65",
        stamp=0.5,
        seconds=0.5,
        out="out",
        out_bytes=900,
    )
    content = tuple(
        written(lambda path, position=position: save_state(path, moved, position=position, **about))
        for position in (position, None)
    )

    def load(path: Path) -> tuple[bytes, Position | None]:
        found = head()
        position = load_state(path, found, **about)
        return found.model.get_state(), position

    def use(loaded: tuple[bytes, Position | None]) -> None:
        state, position = loaded
        found = head()
        found.model.set_state(state)
        require_finite(found.answer(np.ones((2, 4)), None).posterior)
        if position is not None:
            assert 0 <= position.frames <= position.taken
            list(numbered_pieces(Nothing(), replace(position, frames=0)))

    return Format("stream state", content, load, use)


def keyed_streams() -> Format:
    """What `follow --key` keeps."""
    rng = np.random.default_rng(6)

    def head() -> Follower:
        options = ModelOptions(keyed=True, most_streams=3, forget_after=5.0)
        return Follower(ElasticHead(np.eye(3, 4), np.zeros(3), Observer(depth=4)), "head", options)

    moved, about = head(), {"model": "of this head", "step_s": None}
    moved.answer(rng.normal(size=(6, 4)), None, list("abcaba"))

    def load(path: Path) -> tuple[dict[str, bytes], list[Any]]:
        found = head()
        load_state(path, found, **about)
        streams: Any = found.streams
        states = {key: streams.states.snapshot(key) for key in streams.states}
        return states, [streams.clock, *map(streams.last_of, states)]

    def use(loaded: tuple[dict[str, bytes], list[Any]]) -> None:
        found, (states, (clock, *last)) = head(), loaded
        found.streams.restore(clock, zip(states, states.values(), last, strict=True))  # type: ignore[union-attr]
        require_finite(found.answer(np.ones((4, 4)), None, list("abad")).posterior)

    return Format("keyed streams", (written(lambda path: save_state(path, moved, **about)),), load, use)


def compact_state() -> Format:
    rows = np.random.default_rng(7).normal(size=(6, 4))

    def streams() -> KeyedStreams[str]:
        return KeyedStreams(ElasticHead(np.eye(3, 4), np.zeros(3), Observer(depth=4)))

    moved = streams()
    moved.follow("door", rows)

    def load(path: Path) -> bytes:
        found = streams()
        try:
            found.restore("door", path.read_bytes())
        except ValueError as error:
            raise DataError(str(error)) from error
        return found.snapshot("door")

    def use(state: bytes) -> None:
        found = streams()
        found.restore("door", state)
        require_finite(found.follow("door", np.ones((2, 4))).posterior)

    return Format("compact state", (moved.snapshot("door"),), load, use)


def state_bytes() -> Format:
    rng = np.random.default_rng(5)
    weight = rng.normal(size=(3, 4))
    moved = ElasticHead(weight, np.zeros(3), Observer(depth=4))
    moved.track_response(rng.normal(size=(6, 4)), in_place=True)

    def load(path: Path) -> ElasticHead:
        try:
            return ElasticHead(weight, np.zeros(3), Observer(depth=4)).set_state(path.read_bytes())
        except ValueError as error:
            raise DataError(str(error)) from error

    def use(head: ElasticHead) -> None:
        require_finite(head.track(np.ones((2, 4))))

    return Format("state bytes", (moved.get_state(),), load, use)


class Nothing(Source):
    """A source that has ended."""

    signal = Signal(kind="rows")

    def read(self) -> None:
        return None


def shipped_model() -> Format:
    names = {record.__name__: name for name, (_, record, _) in shipped.FILES.items()}
    content = [(shipped.models_folder() / f"{name}.safetensors").read_bytes() for name in ("digits", "cnn", "spiking")]

    def load(path: Path) -> Any:
        kind, record, then = shipped.FILES[names.get(kind_of(path)[1], "digits")]
        return read(path, kind, record, then, largest=shipped.LARGEST_FILE)

    def use(found: Any) -> None:
        parts = (
            found.values() if isinstance(found, dict) else vars(found).values() if hasattr(found, "__dict__") else ()
        )
        require_finite(*(part for part in parts if isinstance(part, np.ndarray)))

    return Format("shipped model", tuple(content), load, use)


def baseline_model() -> Format:
    content = tuple(
        written(lambda path, model=model: save_baseline(model, path, data="none", seed=0))
        for model in (Mlp(n_hidden=2), Lstm(n_hidden=2))
    )
    images = Images(np.random.default_rng(0).integers(0, 256, (2, 28, 28), dtype=np.uint8), np.zeros(2, np.int64))

    def use(model: Any) -> None:
        require_finite(*weights_of(model).values(), answers.classify(model, images))

    return Format("baseline model", content, load_baseline, use)


def baseline_checkpoint() -> Format:
    model, training = Lstm(n_hidden=2), SequenceTraining(passes=1, lanes=2, n_frames=3)
    learner = Learner(model, 0.01)
    logits, state = model(torch.rand(3, 2, 28, 28))
    learner.learn(logits.flatten(0, 1), torch.zeros(6, dtype=torch.int64))
    described = describe_training(model, training, seed=0, data="none")
    progress = Progress(1, 6, tuple(part.detach() for part in state))
    content = written(lambda path: save_baseline_checkpoint(path, model, learner, progress, described))

    def load(path: Path) -> Any:
        fresh = Lstm(n_hidden=2)
        again = Learner(fresh, 0.01)
        found = resume(path, fresh, again, described, n_lessons=4, state_shape=(1, 2, 2))
        return fresh, again, found

    def use(loaded: Any) -> None:
        fresh, again, found = loaded
        logits, _ = fresh(torch.rand(3, 2, 28, 28), found.state or None)
        require_finite(logits.detach().numpy(), *again.moments().values())

    return Format("baseline checkpoint", (content,), load, use)
