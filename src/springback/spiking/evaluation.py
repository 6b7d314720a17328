"""What a trained model answers to still images, and to a video frame by frame."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from springback.spiking.fitting import OnProgress, ignore_progress
from springback.spiking.inference import Counts, each, flat_frames, respond
from springback.spiking.model import SpikingModel
from springback.spiking.stream import stream_run, warn_if_silent
from springback.streaming import metrics, readout
from springback.streaming.records import Images, Video

_FRAMES_PER_CALL = 1000
_SEEDS_APART = 1_000_003
"""Between the seeds of two shards of one video."""


def recognise_images(model: SpikingModel, images: Images, *, seed: int = 0, workers: int = 1) -> metrics.Score:
    """How well the frozen network recognises still images.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> recognise_images(shipped_spiking(), shipped_digits()[:30]).accuracy > 0.8
    True
    """
    counts = responses_to(model, images, seed=seed, workers=workers)
    predicted = readout.classify(counts, model.neuron_labels, model.classes)
    right = metrics.accuracy(predicted, images.labels)
    return metrics.Score(predicted, right, {}, {}, metrics.confusion(predicted, images.labels, model.classes))


def responses_to(model: SpikingModel, images: Images, *, seed: int = 0, workers: int = 1) -> Counts:
    """Output spikes (n, n_neurons) of the frozen network to still images."""
    return respond(
        model.weights,
        images.pixels,
        circuit=model.preset.circuit,
        presentation=model.preset.testing,
        seed=seed,
        workers=workers,
    )


def follow_video(
    model: SpikingModel,
    video: Video,
    *,
    adapts: bool = True,
    seed: int = 0,
    shards: int = 1,
    workers: int = 1,
    on_progress: OnProgress = ignore_progress,
) -> metrics.Score:
    """How well the network follows a video, frame by frame, in flat memory.

    With `shards` > 1 the video is cut, where a digit begins, into that many streams, each starting at rest; they run
    side by side on `workers` threads, with the same result for any number of them.

    Parameters
    ----------
    adapts : bool
        Whether short-term STDP is on, as the model's preset has it; False: the weights are static.

    Examples
    --------
    >>> from springback.data import make_omnist
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> model, video = shipped_spiking(), make_omnist(shipped_digits()[:2], seed=0)
    >>> follow_video(model, video).predicted.shape == video.labels.shape
    True
    """
    predicted = np.empty(len(video), np.int64)

    def run(shard: int) -> None:
        start, stop = bounds[shard]
        predicted[start:stop] = answers_to(
            model, video.stretch(start, stop), adapts=adapts, seed=shard_seed(seed, shard), on_progress=on_progress
        )

    bounds = video.shard_bounds(shards)
    each(run, range(shards), workers)
    return metrics.score_video(predicted, video)


def answers_to(
    model: SpikingModel, video: Video, *, adapts: bool = True, seed: int, on_progress: OnProgress = ignore_progress
) -> NDArray[np.int64]:
    """The class that the network gives to each frame of a video, from rest."""
    answers = [np.zeros(0, np.int64)]
    for chunk, counts in responses_in(model, video, adapts=adapts, seed=seed):
        answers.append(readout.classify(counts, model.neuron_labels, model.classes))
        on_progress(len(chunk), metrics.accuracy(answers[-1], chunk.labels))
    return np.concatenate(answers)


def responses_in(
    model: SpikingModel, video: Video, *, adapts: bool = True, seed: int
) -> Iterator[tuple[Video, Counts]]:
    """The parts of a video in their order, from rest, each with the output spikes (n, n_neurons) to its frames."""
    run, preset = stream_run(model, adapts=adapts), model.preset
    for chunk in video.chunks(_FRAMES_PER_CALL):
        rows = flat_frames(chunk.frames, preset.circuit.n_inputs)
        counts = run.show(rows, preset.streaming, seed=seed)
        warn_if_silent(rows, counts)
        yield chunk, counts


def shard_seed(seed: int, shard: int) -> int:
    """The seed of one shard of a video.

    Examples
    --------
    >>> shard_seed(3, 0)
    3
    """
    return seed + _SEEDS_APART * shard
