"""Every format that springback reads: a whole file of it, how it is loaded, and how what was loaded is used."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from springback import circuits, metrics, readout
from springback import pretrained as shipped
from springback.check import DataError
from springback.datasets import load_video, save_video
from springback.datasets.own_file import load_images_file
from springback.datasets.streams import Head, Stream, StreamSplit
from springback.datasets.streams.split_file import load_split, save_split
from springback.elastic import ElasticClassifier, ElasticClustering
from springback.heads import ElasticHead, ElasticLinearClassifier, Observer, Scale, Springs
from springback.live.models.saved import SavedFollower
from springback.live.state_file import load_state, save_state
from springback.loading import load_model as load_any
from springback.outside import from_json, read_bytes
from springback.paper.baselines import Lstm, Mlp, SequenceTraining, answers
from springback.paper.baselines.checkpoint import Progress, describe_training, resume
from springback.paper.baselines.checkpoint import save_checkpoint as save_baseline_checkpoint
from springback.paper.baselines.learning import Learner
from springback.paper.baselines.model_file import load_model as load_baseline
from springback.paper.baselines.model_file import save_model as save_baseline
from springback.paper.baselines.model_file import weights_of
from springback.paper.results import check_results, collect
from springback.paper.runner.record_file import load_record, save_record
from springback.paper.scores import Scores
from springback.paper.tuning.models import SPACES, Tuning
from springback.paper.tuning.tuned_file import Tuned, load_tuned, save_tuned
from springback.records import Images, Video
from springback.saved_model import SavedModel
from springback.spiking import SpikingClassifier, load_run_state, save_run_state, simulate_spikes
from springback.spiking._checkpoint import load_checkpoint, save_checkpoint
from springback.spiking._place_arrays import place_arrays
from springback.spiking.exchange import spikes_of
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_model, save_model
from springback.spiking.monitors import Monitor, Recorder, open_recording
from springback.spiking.network import init, track
from springback.spiking.params import Circuit, LongTermStdp, Presentation, ShortTermStdp, Streaming
from springback.spiking.preset_file import load_preset, preset_text
from springback.spiking.presets import PRESETS, Preset
from springback.spiking.training import check_training_state, init_training, train
from springback.spiking.weights import Weights
from springback.storage import read_tensors
from springback.stream_pipeline import StreamPipeline

CIRCUIT = Circuit(n_inputs=12, n_neurons=5)
STDP = LongTermStdp(weight_sum=3.0)
RESTLESS = Presentation(show_ms=50.0, rest_ms=0.0, intensity=6.0)
NAMING: dict[str, Any] = {"circuit": CIRCUIT, "long_term": STDP, "training": RESTLESS, "seed": 3, "data": "noise"}
FRAMES = np.random.default_rng(0).integers(0, 256, (4, 12), dtype=np.uint8)


@dataclass(frozen=True)
class Format:
    """A format.

    content  whole files of it
    load     reads one, or raises `DataError`
    use      works with what was read; may refuse it with `ValueError`, must not give NaN or crash
    sealed   whether a file carries a digest, so that no change to it goes unseen
    """

    name: str
    content: tuple[bytes, ...]
    load: Callable[[Path], Any]
    use: Callable[[Any], None]
    sealed: bool = True

    @property
    def is_json(self) -> bool:
        return self.content[0][:1] == b"{"


def written(write: Callable[[Path], None]) -> bytes:
    """What a function writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "file")
        return (Path(folder) / "file").read_bytes()


def require_finite(*arrays: Any) -> None:
    """Fail where a number is NaN or infinite."""
    for array in arrays:
        assert np.isfinite(array).all(), "a number is not finite"


def spiking_model() -> Format:
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 1, (12, 5)).astype(np.float32), np.full(5, 20.0, np.float32))
    content = []
    for tau in (300.0, np.full(5, 200.0), np.full((12, 5), 250.0)):
        preset = Preset(
            name="small",
            circuit=CIRCUIT,
            streaming=Streaming(intensity=4.0),
            short_term=ShortTermStdp(pull=0.5, memory_ms=tau),
        )
        classes = np.array(["a", "b", "c", "d", "e"]) if np.ndim(tau) == 1 else readout.DIGITS
        model = SpikingModel(
            preset=preset, weights=weights, neuron_labels=np.arange(5), classes=classes, data="noise", n_seen=9
        )
        content.append(written(lambda path, model=model: save_model(model, path)))

    def use(model: SpikingModel) -> None:
        preset = model.preset
        how = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": preset.short_term}
        state = init(model.weights, preset.circuit, preset.short_term)
        frames = np.resize(FRAMES[:1], (1, preset.circuit.n_inputs))
        for _ in range(2):
            state, counts = track(model.weights, state, frames, **how)
        require_finite(state.circuit.v, state.circuit.ge)
        readout.classify(counts, model.neuron_labels, model.classes)

    return Format("spiking model", tuple(content), load_model, use)


def spiking_stream() -> Format:
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 1, (12, 5)).astype(np.float32), np.full(5, 20.0, np.float32))
    shown, stdp = Streaming(intensity=9.0), ShortTermStdp(pull=0.5)
    preset = Preset(name="small", circuit=CIRCUIT, streaming=shown, short_term=stdp)
    model = SpikingModel(preset=preset, weights=weights, neuron_labels=np.arange(5), data="noise", n_seen=9)
    content = []
    for adapts in (True, False):
        classifier = SpikingClassifier.of(model, adapts=adapts)
        for frame in FRAMES:
            classifier.step(frame)
        content.append(written(classifier.save))

    def use(classifier: SpikingClassifier) -> None:
        width = classifier.model_.preset.circuit.n_inputs
        require_finite(classifier.step(np.resize(FRAMES[0], width)), classifier.short_term_)

    return Format("spiking stream", tuple(content), SpikingClassifier.load, use)


def saved_model() -> Format:
    rng = np.random.default_rng(4)
    rows, kinds = rng.normal(size=(12, 3)), np.array(["a", "b", "c"] * 4)
    weight, bias, centre = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    clustering = ElasticClustering(3, random_state=0, novelty="auto", beta=0.5)
    piped = make_pipeline(StandardScaler(), PCA(3), SelectKBest(k=2), Normalizer(), LogisticRegression())
    models = (
        ElasticHead(weight, bias, Observer(depth=4), centre=centre),
        ElasticHead(weight, bias, Springs(pull=2.0), scale=Scale(3.0, 0.5)),
        clustering.fit(rows),
        ElasticClassifier(clustering, novel_label="none").fit(rows, kinds),
        ElasticLinearClassifier(piped, Observer(depth=4)).fit(rows, np.arange(12) % 3),
        StreamPipeline([("scale", StandardScaler()), ("model", clustering)]).fit(rows),
    )
    for model in models:
        for row in rows[:6]:
            model.step(row)

    def use(model: Any) -> None:
        width = model.n_inputs if isinstance(model, ElasticHead) else model.n_features_in_
        require_finite(model.track(np.resize(rows[:2], (2, width))))
        model.set_state(model.get_state())

    return Format("saved model", tuple(written(model.save) for model in models), load_any, use)


def training_checkpoint() -> Format:
    state = init_training(CIRCUIT, STDP, seed=3)
    state, _ = train(state, FRAMES, circuit=CIRCUIT, stdp=STDP, presentation=RESTLESS, seed=3)
    assert state.circuit.tally[1] > 0

    def use(state: Any) -> None:
        after, _ = train(state, FRAMES[:1], circuit=CIRCUIT, stdp=STDP, presentation=RESTLESS, seed=3)
        check_training_state(after, CIRCUIT)
        require_finite(after.resting, after.circuit.theta, after.circuit.v)

    content = written(lambda path: save_checkpoint(state, path, **NAMING))
    return Format("training checkpoint", (content,), lambda path: load_checkpoint(path, **NAMING), use)


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

    content = written(lambda path: save_record(scores, path, metadata={"seconds": "1.0"}))
    return Format("record of scores", (content,), lambda path: load_record(path, Scores), use)


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


def shipped_model() -> Format:
    readers = {
        "digits": shipped.digits_of,
        "spiking": shipped.spiking_of,
        "elastic": shipped.elastic_of,
        "cnn": shipped.cnn_of,
    }
    content = {name: (shipped.models_folder() / f"{name}.safetensors").read_bytes() for name in readers}
    markers = {"digits": "pixels", "spiking": "theta", "elastic": "label_shares", "cnn": "head.bias.code"}

    def load(path: Path) -> Any:
        tensors, _ = read_tensors(path, kind=shipped.KIND, largest=shipped.LARGEST_FILE)
        name = next((name for name, marker in markers.items() if marker in tensors), "digits")
        return readers[name](tensors)

    def use(found: Any) -> None:
        parts = (
            found.values() if isinstance(found, dict) else vars(found).values() if hasattr(found, "__dict__") else ()
        )
        require_finite(*(part for part in parts if isinstance(part, np.ndarray)))

    return Format("shipped model", (content["digits"], content["cnn"], content["spiking"]), load, use)


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


def stream_state() -> Format:
    rng = np.random.default_rng(5)

    def head() -> SavedFollower:
        return SavedFollower(ElasticHead(rng.normal(size=(3, 4)), np.zeros(3), Observer(depth=4)), "head")

    moved = head()
    moved.answer(rng.normal(size=(6, 4)), None)
    content = written(lambda path: save_state(path, moved, model="of this head", step_s=None))

    def load(path: Path) -> bytes:
        found = head()
        load_state(path, found, model="of this head", step_s=None)
        return found.get_state()

    def use(state: bytes) -> None:
        found = head()
        found.set_state(state)
        require_finite(found.answer(np.ones((2, 4)), None).posterior)

    return Format("stream state", (content,), load, use)


def recording() -> Format:
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 3, (12, 5)).astype(np.float32), np.full(5, 20.0, np.float32))
    watched = [Monitor("potential_mv", every_steps=50), Monitor("G", inputs=[1, 7], at_steps=[3, 90])]
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(watched, partner_spikes=True, input_spikes=True, folder=f"{folder}/run") as recorder:
            shown = Streaming(intensity=9.0)
            track(weights, init(weights, CIRCUIT, None), FRAMES, circuit=CIRCUIT, presentation=shown, recorder=recorder)
        content = (Path(folder) / "run" / "part-000000.safetensors").read_bytes()

    def load(path: Path) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "part-000000.safetensors").symlink_to(path)
            found = open_recording(folder)
            kinds = [spikes_of(found, kind) for kind in ("out", "partner", "in")]
            return found.n_steps, kinds, [one.values for one in found.samples.values()]

    def use(found: Any) -> None:
        n_steps, kinds, values = found
        assert n_steps > 0
        require_finite(*values, *(one.time_s for one in kinds))

    return Format("recording", (content,), load, use)


def run_state() -> Format:
    rng = np.random.default_rng(6)
    weights = Weights(rng.uniform(0, 9, (12, 5)), np.full(5, 5.0))
    index, step = rng.integers(0, 12, 300), np.sort(rng.integers(0, 400, 300))
    content = []
    for how in ({"long_term": STDP}, {"short_term": ShortTermStdp(pull=0.5)}):
        run = simulate_spikes(weights, index, step, 400, circuit=CIRCUIT, **how)
        content.append(written(lambda path, run=run: save_run_state(path, run.weights, run.state, circuit=CIRCUIT)))

    def use(found: Any) -> None:
        weights, state = found
        how: dict[str, Any] = {} if state.traces is None else {"long_term": STDP}
        how |= {} if state.short_term is None else {"short_term": ShortTermStdp(pull=0.5)}
        run = simulate_spikes(weights, index, step, 400, circuit=CIRCUIT, state=state, **how)
        require_finite(run.v_mv, run.weights.resting)

    return Format("run state", tuple(content), lambda path: load_run_state(path, circuit=CIRCUIT), use)


def circuit_state() -> Format:
    rng = np.random.default_rng(7)
    circuit = circuits.Circuit(rng.uniform(0, 1, (4, 3)), neurons=circuits.Lif(), plasticity=circuits.PairStdp())
    spikes = circuits.spikes_at(rng.integers(0, 4, 200), np.sort(rng.uniform(0, 100, 200)), 100.0)
    content = written(circuit.run(spikes).state.save)

    def load(path: Path) -> Any:
        return circuits.CircuitState.load(path)

    def use(state: Any) -> None:
        require_finite(circuit.run(spikes, state=state).state.arrays["v"])

    return Format("circuit state", (content,), load, use)


def preset() -> Format:
    content = tuple(preset_text(make(n_inputs=12, n_neurons=5)).encode() for make in PRESETS.values())
    return Format("preset", content, load_preset, preset_text, sealed=False)


def own_images() -> Format:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, images=FRAMES, labels=np.array(["a", "b", "a", "c"]))

    def use(images: Images) -> None:
        assert len(images) == len(images.labels)

    return Format("own images", (written(write),), load_images_file, use, sealed=False)


FORMATS: dict[str, Callable[[], Format]] = {
    "spiking model": spiking_model,
    "spiking stream": spiking_stream,
    "saved model": saved_model,
    "training checkpoint": training_checkpoint,
    "video": video,
    "record of scores": record,
    "tuned preset": tuned,
    "results": results,
    "baseline model": baseline_model,
    "baseline checkpoint": baseline_checkpoint,
    "shipped model": shipped_model,
    "stream split": stream_split,
    "stream state": stream_state,
    "recording": recording,
    "run state": run_state,
    "circuit state": circuit_state,
    "preset": preset,
    "own images": own_images,
}


def fingerprint(value: Any) -> Any:
    """Something that is equal for two loaded values if nothing in them differs."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Video):
        inside: Any = [*(getattr(value, one.name) for one in fields(value) if one.name != "source"), value.frames]
    elif isinstance(value, torch.nn.Module):
        inside = [one.numpy() for one in value.state_dict().values()]
    elif isinstance(value, SavedModel):
        inside = [*value._parts(), value._state_arrays()]
    elif isinstance(value, SpikingClassifier):
        inside = [value.model_, value.adapts, place_arrays(value.place_)]
    elif isinstance(value, Learner):
        inside = list(value.moments().values())
    elif is_dataclass(value):
        inside = [getattr(value, one.name) for one in fields(value)]
    else:
        inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return [fingerprint(one) for one in inside] if isinstance(inside, list | tuple) else repr(inside)
