"""From images to a trained model: long-term STDP on still images, without labels; then labels for the neurons."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from springback.files.checkpoints import has_version
from springback.spiking._state import RunState
from springback.spiking.inference import IMAGES_PER_SHARD, LABELLING, respond
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.presets import Preset
from springback.spiking.state_files import load_checkpoint, save_checkpoint
from springback.spiking.training import init_training, learned, train
from springback.spiking.weights import Weights
from springback.streaming import metrics, readout
from springback.streaming.records import Images

OnProgress = Callable[[int, float], None]
"""Receives how many images or frames were just done, and an accuracy estimate (NaN if there is none yet)."""

_IMAGES_PER_CALL = 1000
_CALLS_PER_CHECKPOINT = 5
_WINDOW = 5


def ignore_progress(_done: int, _accuracy: float) -> None:
    """Show no progress."""


def train_model(
    images: Images,
    preset: Preset,
    *,
    classes: NDArray[Any] = readout.DIGITS,
    seed: int = 0,
    data: str = "unnamed",
    checkpoint: Path | None = None,
    on_progress: OnProgress = ignore_progress,
    workers: int = 1,
    recorder: Recorder | None = None,
) -> SpikingModel:
    """Train on the images, as often as the preset says; then label each neuron by the images it responds to most.

    Labels of images are used only for the running estimate and for the labels of neurons.

    Parameters
    ----------
    classes : NDArray[Any]
        All classes there are, sorted; the ten digits if not given.
    data : str
        What the images are; a checkpoint of other data is refused.
    checkpoint : Path | None
        Where to keep unfinished training; if it was interrupted, it resumes from there, with bit-identical results.
    recorder : Recorder | None
        Receives the spikes of training and what its monitors watch.

    Examples
    --------
    >>> from springback.spiking import springback_2026
    >>> images = Images(np.full((20, 2, 2), 200, np.uint8), np.array(["cat", "dog"] * 10))
    >>> model = train_model(images, springback_2026(n_inputs=4, n_neurons=3), classes=np.array(["cat", "dog"]))
    >>> model.n_seen  # each three times
    60
    """
    readout.class_sizes(images.labels, classes)  # Labels that are none of the classes are refused before training.
    stdp, circuit = preset.long_term, preset.circuit
    # What a checkpoint must agree in; other parameters of the preset have no influence on training.
    shown = {"images": data, "shuffled": preset.shuffled, "epochs": preset.epochs, "rate_decay": preset.rate_decay}
    same = {"circuit": circuit, "long_term": stdp, "training": preset.training, "seed": seed, "data": json.dumps(shown)}
    state = init_training(circuit, stdp, seed=seed)
    if checkpoint is not None and has_version(checkpoint):
        state = load_checkpoint(checkpoint, **same)  # type: ignore[arg-type]
        on_progress(state.n_seen, float("nan"))

    def keep(state: RunState) -> None:
        if checkpoint is not None:
            save_checkpoint(state, checkpoint, **same)  # type: ignore[arg-type]

    how: dict[str, Any] = {"seed": seed, "keep": keep, "on_progress": on_progress, "recorder": recorder}
    state = _learn_until(preset.epochs * len(images), state, images, preset, classes, **how)
    model = _unlabelled_model(state, preset, classes, seed=seed, data=_in_words(data, preset))
    return label_model(model, images, on_progress=on_progress, workers=workers)


def train_models(
    images: Images,
    presets: Iterable[Preset],
    *,
    classes: NDArray[Any] = readout.DIGITS,
    seed: int = 0,
    data: str = "unnamed",
    workers: int = 1,
) -> Iterator[SpikingModel]:
    """A sweep: a trained model for each preset, in their order, as soon as it and all before it are done.

    The models are those of `train_model`, for any number of workers. Only those that are being trained are in memory,
    so that presets may be a generator of thousands; `rich.progress.track` shows how far they are.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from springback.spiking import springback_2026
    >>> images = Images(np.full((20, 2, 2), 200, np.uint8), np.arange(20) % 10)
    >>> preset = springback_2026(n_inputs=4, n_neurons=3)
    >>> presets = (replace(preset, epochs=epochs) for epochs in (1, 2))
    >>> [model.n_seen for model in train_models(images, presets, workers=2)]
    [20, 40]
    """
    one = delayed(partial(train_model, images, classes=classes, seed=seed, data=data))
    trained = Parallel(workers, return_as="generator", backend="threading", pre_dispatch="n_jobs")
    yield from trained(map(one, presets))


def partly_trained(
    images: Images, preset: Preset, presentations: Sequence[int], *, seed: int = 0
) -> Iterator[SpikingModel]:
    """The network after given numbers of presentations, one model for each, while it trains as in `train_model`.

    None of its neurons has a label.

    Examples
    --------
    >>> from springback.spiking import springback_2026
    >>> images = Images(np.full((20, 2, 2), 200, np.uint8), np.arange(20) % 10)
    >>> [model.n_seen for model in partly_trained(images, springback_2026(n_inputs=4, n_neurons=3), (5, 30))]
    [5, 30]
    """
    state = init_training(preset.circuit, preset.long_term, seed=seed)
    for stop in presentations:
        state = _learn_until(stop, state, images, preset, readout.DIGITS, seed=seed)
        yield _unlabelled_model(state, preset, readout.DIGITS, seed=seed, data="unnamed")


def _learn_until(
    stop: int, state: RunState, images: Images, preset: Preset, classes: NDArray[Any], *, seed: int, **how: Any
) -> RunState:
    """Learn, from where the state stands, until the network has seen this many images."""
    while state.n_seen < stop:
        epoch, done = divmod(state.n_seen, len(images))
        order = _order(len(images), preset, seed, epoch)[done : done + stop - state.n_seen]
        state = learn_images(state, images[order], _in_epoch(preset, epoch), classes, seed=seed, **how)
    return state


def _in_words(data: str, preset: Preset) -> str:
    """What a model was trained on, for people."""
    shuffled = ", shuffled" if preset.shuffled else ""
    often = f", {preset.epochs} times" if preset.epochs > 1 else ""
    slower = f", rates times {preset.rate_decay:g} after each" if preset.rate_decay < 1 else ""
    return f"{data}{shuffled}{often}{slower}"


def _order(n: int, preset: Preset, seed: int, epoch: int) -> NDArray[np.int64]:
    """The order in which the images are shown in one epoch."""
    if not preset.shuffled:
        return np.arange(n)
    return np.random.default_rng([seed, n, epoch] if epoch else [seed, n]).permutation(n)


def _in_epoch(preset: Preset, epoch: int) -> Preset:
    """The preset with the learning rates of one epoch; thresholds settle at the same value, but more slowly."""
    stdp, factor = preset.long_term, preset.rate_decay**epoch
    slower = replace(
        stdp,
        rate_pre=stdp.rate_pre * factor,
        rate_post=stdp.rate_post * factor,
        theta_step_mv=stdp.theta_step_mv * factor,
        tau_theta_ms=stdp.tau_theta_ms / factor,
    )
    return replace(preset, long_term=slower)


def untrained_model(preset: Preset, classes: NDArray[Any] = readout.DIGITS, *, seed: int = 0) -> SpikingModel:
    """A model with random weights, none of whose neurons has a label.

    Examples
    --------
    >>> from springback.spiking import springback_2026
    >>> untrained_model(springback_2026(n_neurons=3)).headline
    '0 of 3 neurons labelled'
    """
    state = init_training(preset.circuit, preset.long_term, seed=seed)
    return _unlabelled_model(state, preset, classes, seed=seed, data="unnamed")


def _unlabelled_model(state: RunState, preset: Preset, classes: NDArray[Any], *, seed: int, data: str) -> SpikingModel:
    return SpikingModel(
        preset=preset,
        weights=weights_after(state, preset),
        neuron_labels=np.full(preset.circuit.n_neurons, readout.UNLABELLED),
        classes=classes,
        seed=seed,
        data=data,
        n_seen=state.n_seen,
    )


def weights_after(state: RunState, preset: Preset) -> Weights:
    """What has been learned so far, with the thresholds that the preset gives to trained neurons."""
    weights = learned(state, preset.long_term, preset.circuit)
    if preset.threshold_mv is None:
        return weights
    return weights._replace(theta=np.full_like(weights.theta, preset.threshold_mv))


def learn_images(
    state: RunState,
    images: Images,
    preset: Preset,
    classes: NDArray[Any],
    *,
    seed: int,
    keep: Callable[[RunState], None] = lambda _: None,
    on_progress: OnProgress = ignore_progress,
    recorder: Recorder | None = None,
) -> RunState:
    """Learn from the images in the order given; `keep` receives the state now and then, and at the end."""
    window: list[tuple[NDArray[np.float64], NDArray[np.int64]]] = []
    for call, start in enumerate(range(0, len(images), _IMAGES_PER_CALL), start=1):
        part = images[start : start + _IMAGES_PER_CALL]
        state, counts = train(
            state,
            part.pixels,
            circuit=preset.circuit,
            stdp=preset.long_term,
            presentation=preset.training,
            seed=seed,
            recorder=recorder,
        )
        on_progress(len(part), _running_accuracy(window, counts, part.labels, classes))
        responses = readout.class_responses(counts, part.labels, classes)
        window.append((responses, readout.class_sizes(part.labels, classes)))
        del window[:-_WINDOW]
        if call % _CALLS_PER_CHECKPOINT == 0 or start + len(part) == len(images):
            keep(state)
    return state


def label_model(
    model: SpikingModel, images: Images, *, on_progress: OnProgress = ignore_progress, workers: int = 1
) -> SpikingModel:
    """The model with its neurons labelled by the responses of the frozen network to all (training) images.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> label_model(shipped_spiking(), shipped_digits()).neuron_labels.shape
    (400,)
    """
    total = _class_responses(model, images, on_progress, workers)
    labels = readout.label_neurons(total, readout.class_sizes(images.labels, model.classes))
    return replace(model, neuron_labels=labels)


def class_profiles(
    model: SpikingModel, images: Images, *, on_progress: OnProgress = ignore_progress, workers: int = 1
) -> NDArray[np.float64]:
    """Mean spikes of each neuron of the frozen network to (training) images of each class, (classes, n_neurons).

    `readout.vote` and `readout.likeliest` read responses with them; labels are used here alone.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> class_profiles(shipped_spiking(), shipped_digits()).shape
    (10, 400)
    """
    sizes = readout.class_sizes(images.labels, model.classes)
    total = _class_responses(model, images, on_progress, workers)
    return np.asarray(total / np.maximum(sizes, 1)[:, None])


def _class_responses(model: SpikingModel, images: Images, on_progress: OnProgress, workers: int) -> NDArray[np.float64]:
    """Summed responses of the frozen network to the images of each class, (classes, n_neurons)."""
    preset = model.preset
    total = np.zeros((len(model.classes), preset.circuit.n_neurons))
    step = workers * 2 * IMAGES_PER_SHARD
    for start in range(0, len(images), step):
        part = images[start : start + step]
        counts = respond(
            model.weights,
            part.pixels,
            circuit=preset.circuit,
            presentation=preset.testing,
            seed=model.seed,
            purpose=LABELLING,
            first_number=start,
            workers=workers,
        )
        total += readout.class_responses(counts, part.labels, model.classes)
        on_progress(len(part), float("nan"))
    return total


def _running_accuracy(
    window: list[tuple[NDArray[np.float64], NDArray[np.int64]]],
    counts: NDArray[np.int32],
    labels: NDArray[Any],
    classes: NDArray[Any],
) -> float:
    """Accuracy on these images with neurons labelled by those just before them."""
    if not window:
        return float("nan")
    responses = np.sum([one for one, _ in window], axis=0)
    sizes = np.sum([size for _, size in window], axis=0)
    found = readout.classify(counts, readout.label_neurons(responses, sizes), classes)
    return metrics.accuracy(found, labels)
