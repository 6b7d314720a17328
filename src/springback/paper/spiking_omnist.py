"""The spiking network: trained on still images without labels, then tested on them and on their occluded video."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback import check, readout
from springback.records import Images, Video
from springback.spiking.checkpoint import load_checkpoint, save_checkpoint
from springback.spiking.model_file import SpikingModel, model_of
from springback.spiking.network import (
    IMAGES_PER_SHARD,
    LABELLING,
    TESTING,
    begin_stream,
    each,
    respond,
    stream,
)
from springback.spiking.params import Presentation, ShortTermStdp
from springback.spiking.presets import Preset
from springback.spiking.training import begin_training, learned, train
from springback.storage import has_version

OnProgress = Callable[[int, float], None]
"""Receives how many images or frames were just done, and an accuracy estimate in percent (NaN if there is none yet)."""

_IMAGES_PER_CALL = 1000
_CALLS_PER_CHECKPOINT = 5
_WINDOW = 5


def _ignore(_done: int, _accuracy: float) -> None:
    pass


@dataclass(frozen=True)
class Score:
    """How a model answered: the class of each image or frame, accuracy in percent, and where it was right."""

    predicted: NDArray[np.int64]
    accuracy: float
    by_rows_hidden: dict[str, float]
    by_ink_hidden: dict[str, float]
    confusion: NDArray[np.int64]


def train_model(
    images: Images,
    preset: Preset,
    *,
    seed: int = 0,
    data: str = "unnamed",
    checkpoint: Path | None = None,
    on_progress: OnProgress = _ignore,
    workers: int = 1,
) -> SpikingModel:
    """Train on the images, each once; then label each neuron by the training images it responds to most.

    Labels of images are used only for the running estimate and for the labels of neurons. With a `checkpoint` path,
    training goes on from there if it was interrupted, to the same bits.
    """
    readout.class_sizes(images.labels)  # A model file names the ten digits only; refuse others before training.
    circuit, stdp, training = preset.circuit, preset.long_term, preset.training
    data = f"{data}, shuffled" if preset.shuffled else data
    naming = {"circuit": circuit, "long_term": stdp, "training": training, "seed": seed, "data": data}
    state = begin_training(circuit, stdp, seed=seed)
    if checkpoint is not None and has_version(checkpoint):
        state = load_checkpoint(checkpoint, **naming)  # type: ignore[arg-type]
        on_progress(state.n_seen, float("nan"))
    order = np.arange(len(images))
    if preset.shuffled:
        order = np.random.default_rng([seed, len(images)]).permutation(len(images))
    window: list[tuple[NDArray[np.float64], NDArray[np.int64]]] = []
    calls = 0
    while state.n_seen < len(images):
        part = images[order[state.n_seen : state.n_seen + _IMAGES_PER_CALL]]
        counts, state = train(state, part.pixels, circuit=circuit, stdp=stdp, presentation=training, seed=seed)
        on_progress(len(part), _running_accuracy(window, counts, part.labels))
        window.append((readout.class_responses(counts, part.labels), readout.class_sizes(part.labels)))
        del window[:-_WINDOW]
        calls += 1
        if checkpoint is not None and (calls % _CALLS_PER_CHECKPOINT == 0 or state.n_seen == len(images)):
            save_checkpoint(state, checkpoint, **naming)  # type: ignore[arg-type]
    weights = learned(state, stdp, circuit)
    model = model_of(preset, weights, np.full(circuit.n_neurons, readout.UNLABELLED), seed=seed, data=data)
    return label_model(model, images, preset.testing, on_progress=on_progress, workers=workers)


def label_model(
    model: SpikingModel,
    images: Images,
    presentation: Presentation,
    *,
    on_progress: OnProgress = _ignore,
    workers: int = 1,
) -> SpikingModel:
    """The model with its neurons labelled by the responses of the frozen network to all (training) images."""
    total = np.zeros((readout.N_CLASSES, model.circuit.n_neurons))
    step = workers * 2 * IMAGES_PER_SHARD
    for start in range(0, len(images), step):
        part = images[start : start + step]
        counts = respond(
            model.weights,
            part.pixels,
            circuit=model.circuit,
            presentation=presentation,
            seed=model.seed,
            purpose=LABELLING,
            first_number=start,
            workers=workers,
        )
        total += readout.class_responses(counts, part.labels)
        on_progress(len(part), float("nan"))
    labels = readout.label_neurons(total, readout.class_sizes(images.labels))
    return replace(model, neuron_labels=labels)


def recognise_images(
    model: SpikingModel, images: Images, presentation: Presentation, *, seed: int = 0, workers: int = 1
) -> Score:
    """How well the frozen network recognises still images."""
    counts = respond(
        model.weights,
        images.pixels,
        circuit=model.circuit,
        presentation=presentation,
        seed=seed,
        purpose=TESTING,
        workers=workers,
    )
    predicted = readout.classify(counts, model.neuron_labels)
    right = readout.accuracy(predicted, images.labels)
    return Score(predicted, right, {}, {}, readout.confusion(predicted, images.labels))


def stream_video(
    model: SpikingModel,
    video: Video,
    presentation: Presentation,
    short_term: ShortTermStdp | None,
    *,
    seed: int = 0,
    shards: int = 1,
    workers: int = 1,
    on_progress: OnProgress = _ignore,
) -> Score:
    """How well the network follows a video, frame by frame, in flat memory.

    With `shards` > 1 the video is cut, where a digit begins, into that many streams, each starting at rest; they run
    side by side on `workers` threads, with the same result for any number of them.
    """
    predicted = np.empty(len(video), np.int64)
    bounds = _shard_bounds(video, shards)

    def run(shard: int) -> None:
        state = begin_stream(model.weights, model.circuit, short_term)
        start = bounds[shard]
        for chunk in video.stretch(start, bounds[shard + 1]).chunks(1000):
            counts, state = stream(
                model.weights,
                chunk.frames,
                state,
                circuit=model.circuit,
                presentation=presentation,
                short_term=short_term,
                seed=seed + 1_000_003 * shard,
            )
            answer = readout.classify(counts, model.neuron_labels)
            predicted[start : start + len(chunk)] = answer
            start += len(chunk)
            on_progress(len(chunk), readout.accuracy(answer, chunk.labels))

    each(run, range(len(bounds) - 1), workers)
    return Score(
        predicted,
        readout.accuracy(predicted, video.labels),
        readout.accuracy_by_rows(predicted, video),
        readout.accuracy_by_ink(predicted, video),
        readout.confusion(predicted, video.labels),
    )


def _shard_bounds(video: Video, shards: int) -> list[int]:
    check.integer("shards", shards, low=1)
    begins = np.flatnonzero(np.diff(video.digit, prepend=-2) * (video.digit >= 0))
    wanted = [len(video) * one // shards for one in range(1, shards)]
    inner = [int(begins[np.searchsorted(begins, at)]) for at in wanted if at <= begins[-1]] if len(begins) else []
    return [0, *dict.fromkeys(inner), len(video)]


def _running_accuracy(
    window: list[tuple[NDArray[np.float64], NDArray[np.int64]]], counts: NDArray[np.int32], labels: NDArray[np.int64]
) -> float:
    """Accuracy on these images with neurons labelled by those just before them."""
    if not window:
        return float("nan")
    responses = np.sum([one for one, _ in window], axis=0)
    sizes = np.sum([size for _, size in window], axis=0)
    return readout.accuracy(readout.classify(counts, readout.label_neurons(responses, sizes)), labels)
