"""Fig. 3d: the efficacies of one neuron, frame by frame, while a digit is being hidden and then replaced by noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback.experiments.active_neurons import choose_example, short_term_after_each
from springback.records import Video
from springback.spiking.model_file import SpikingModel
from springback.spiking.presets import Preset


@dataclass(frozen=True, kw_only=True, eq=False)
class SynapseSnapshots:
    """One neuron over the n frames of the example digit.

    label, digit, passed_over, meets_rule  the example, see `active_neurons.ExampleDigit`
    video                                  the name of its video
    neuron, neuron_label                   the neuron that fires most while the digit is shown, and its class
    frames, labels, rows_hidden            (n, height, width) uint8, (n,), (n,) with -1 on noise
    telling                                frames that say all
    spikes                                 (n,) its output spikes in each frame
    time_ms                                (n + 1,) when its efficacies were read: at rest, and at each frame's end
    efficacy                               (n + 1, height, width) G = W + F at these times
    """

    label: int
    digit: int
    passed_over: int
    meets_rule: bool
    video: str
    neuron: int
    neuron_label: int
    frames: NDArray[np.uint8]
    labels: NDArray[np.int64]
    rows_hidden: NDArray[np.int16]
    telling: tuple[int, ...]
    spikes: NDArray[np.int32]
    time_ms: NDArray[np.float64]
    efficacy: NDArray[np.float32]


def run(model: SpikingModel, preset: Preset, video: Video, *, label: int = 0, seed: int = 0) -> SynapseSnapshots:
    """Follow the most active neuron of the example digit (see `active_neurons.choose_example`)."""
    example = choose_example(model, preset, video, label=label, seed=seed)
    shown, neuron = example.video, example.neuron
    resting = model.weights.resting[:, neuron]
    short_term = [now[:, neuron] for now in short_term_after_each(model, preset, shown, seed=seed)]
    efficacy = np.stack([resting, *(resting + one for one in short_term)])
    return SynapseSnapshots(
        label=label,
        digit=example.digit,
        passed_over=example.passed_over,
        meets_rule=example.meets_rule,
        video=video.name,
        neuron=neuron,
        neuron_label=int(model.neuron_labels[neuron]),
        frames=shown.frames,
        labels=shown.labels,
        rows_hidden=shown.rows_hidden,
        telling=example.telling_frames,
        spikes=example.adapting_counts[:, neuron],
        time_ms=np.arange(len(shown) + 1, dtype=np.float64) * preset.streaming.show_ms,
        efficacy=efficacy.reshape(-1, *shown.frame_shape),
    )
