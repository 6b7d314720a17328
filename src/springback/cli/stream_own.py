"""`springback stream --frames`: a trained network follows your own frames."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback import metrics, readout
from springback.atomic import atomic_file
from springback.check import DataError
from springback.cli.display import say, training_progress
from springback.cli.places import writing
from springback.datasets.own_file import load_frames_file
from springback.paper.words import percent
from springback.spiking.gaps import follow, place_at_rest
from springback.spiking.model import SpikingModel

_FRAMES_PER_CALL = 500


def stream_own(
    network: SpikingModel, path: Path, *, adapts: bool, seed: int, limit: int | None, answers: Path | None
) -> None:
    """Follow the frames of a file, print the accuracy if they have labels, and write the class of each frame."""
    frames, labels = load_frames_file(path)
    frames = frames[: limit or None]
    n_inputs = network.preset.circuit.n_inputs
    if frames[0].size != n_inputs:
        raise DataError(f"the model takes {n_inputs} pixels; the frames of {path} have {frames[0].size}")
    if labels is not None:
        labels = labels[: limit or None]
        try:
            readout.class_indices("labels", labels, network.classes)
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}: {error}") from error
    predicted = _follow(network, frames, labels, adapts=adapts, seed=seed)
    say(f"{path.name}: {len(frames):,} frames, {'short-term STDP' if adapts else 'static weights'}")
    if labels is not None:
        say(f"accuracy: {percent(metrics.accuracy(predicted, labels))} %")
    silent = int((predicted == readout.no_answer(network.classes)).sum())
    if silent:
        say(f"no labelled neuron fired in {silent:,} of the frames")
    if answers is not None:
        lines = ["frame,class", *(f"{at},{_quoted(str(one))}" for at, one in enumerate(predicted.tolist()))]
        with writing("--answers", answers), atomic_file(answers) as file:
            file.write(("\n".join(lines) + "\n").encode())
        say(f"the class of each frame is in {answers}")


def _follow(
    network: SpikingModel, frames: NDArray[np.uint8], labels: NDArray[np.generic] | None, *, adapts: bool, seed: int
) -> NDArray[np.generic]:
    place, found = place_at_rest(network, adapts=adapts), []
    with training_progress(len(frames), "streaming") as advance:
        for start in range(0, len(frames), _FRAMES_PER_CALL):
            stretch = slice(start, start + _FRAMES_PER_CALL)
            place, counts = follow(network, place, frames[stretch], seed=seed)
            found.append(readout.classify(counts, network.neuron_labels, network.classes))
            right = float("nan") if labels is None else metrics.accuracy(found[-1], labels[stretch])
            advance(len(found[-1]), right)
    return np.concatenate(found)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(one in text for one in ',"\n\r') else text
