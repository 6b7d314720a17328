"""Fig. 3c: which neurons answer, frame by frame, while a digit is being hidden, with and without short-term STDP.

Also the choice of the example digit and neuron that Fig. 3c-e and the principal path share.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from springback import check, readout
from springback.records import NOISE_LABEL, Video
from springback.spiking.model_file import SpikingModel
from springback.spiking.network import begin_stream, stream
from springback.spiking.params import ShortTermStdp
from springback.spiking.presets import Preset
from springback.spiking.recorded import short_term_of

Floats = NDArray[np.float32]
Counts = NDArray[np.int32]
Labels = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ExampleDigit:
    """One digit of a video and the noise after it, shown from rest, with the answers to its n frames.

    digit            which source image of the video
    passed_over      how many digits of its class were tried before it
    meets_rule       False if no digit met the rule of `choose_example`; this is then the first of its class
    video            the frames of the digit, then those of the noise
    static_counts    (n, n_neurons) output spikes without short-term STDP
    adapting_counts  (n, n_neurons) with it
    """

    digit: int
    label: int
    passed_over: int
    meets_rule: bool
    video: Video
    static_counts: Counts
    adapting_counts: Counts

    @property
    def n_shown(self) -> int:
        """How many frames show the digit; the others are noise."""
        return int((self.video.labels != NOISE_LABEL).sum())

    @property
    def neuron(self) -> int:
        """The neuron that fires most while the digit is shown, with short-term STDP; the first of equals."""
        return int(self.adapting_counts[: self.n_shown].sum(axis=0).argmax())

    @property
    def telling_frames(self) -> tuple[int, ...]:
        """Frames that say all: those in which something new is hidden, the digit's last, and the first two of noise."""
        rows = self.video.rows_hidden[: self.n_shown]
        new = np.flatnonzero(np.diff(rows, prepend=-1) != 0).tolist()
        noise = range(self.n_shown, min(self.n_shown + 2, len(self.video)))
        return tuple(dict.fromkeys([*new, self.n_shown - 1, *noise]))


def choose_example(model: SpikingModel, preset: Preset, video: Video, *, label: int = 0, seed: int = 0) -> ExampleDigit:
    """The first digit of a class (the paper shows a zero) that short-term STDP keeps and static weights lose.

    Kept: with short-term STDP every frame of the digit and of the noise is answered rightly. Lost: without it, the
    first frame of the digit is answered rightly and its last is not. Every digit is shown from rest.
    """
    stretches = digit_stretches(video, label)
    for passed, shown in enumerate(stretches):
        example = _show(model, preset, shown, label, passed, seed)
        static = readout.classify(example.static_counts, model.neuron_labels)
        adapting = readout.classify(example.adapting_counts, model.neuron_labels)
        lost = static[0] == label and static[example.n_shown - 1] != label
        if lost and bool((adapting == shown.labels).all()):
            return example
    return replace(_show(model, preset, stretches[0], label, 0, seed), meets_rule=False)


def digit_stretches(video: Video, label: int) -> list[Video]:
    """Every digit of a class in a video, each with the noise after it; refused if there is none.

    >>> from springback.datasets import make_omnist
    >>> from springback.records import Images
    >>> video = make_omnist(Images(np.zeros((3, 28, 28), np.uint8), np.array([4, 7, 4])), seed=0)
    >>> [one.digit[0].item() for one in digit_stretches(video, 4)]
    [0, 2]
    """
    begins = np.flatnonzero((video.digit >= 0) & (np.diff(video.digit, prepend=-1) != 0))
    ends = [*begins[1:].tolist(), len(video)]
    found = [(int(start), stop) for start, stop in zip(begins, ends, strict=True) if video.labels[start] == label]
    check.require(len(found) > 0, "video", f"show a {label}", "none")
    return [video.stretch(start, stop) for start, stop in found]


def spikes_to(
    model: SpikingModel, preset: Preset, video: Video, short_term: ShortTermStdp | None, *, seed: int = 0
) -> Counts:
    """Output spikes (n, n_neurons) to the frames of a short video, from rest."""
    counts, _ = stream(
        model.weights,
        video.frames,
        begin_stream(model.weights, model.circuit, short_term),
        circuit=model.circuit,
        presentation=preset.streaming,
        short_term=short_term,
        seed=seed,
    )
    return counts


def short_term_after_each(
    model: SpikingModel, preset: Preset, video: Video, *, seed: int = 0
) -> list[NDArray[np.float32]]:
    """F of all synapses (n_inputs, n_neurons) at the end of each frame of a short video, from rest."""
    state = begin_stream(model.weights, model.circuit, preset.short_term)
    kept = []
    for frame in video.frames:
        _, state = stream(
            model.weights,
            frame[None],
            state,
            circuit=model.circuit,
            presentation=preset.streaming,
            short_term=preset.short_term,
            seed=seed,
        )
        kept.append(short_term_of(state, model.circuit))
    return kept


@dataclass(frozen=True, kw_only=True, eq=False)
class ActiveNeurons:
    """The m most active neurons in each of n frames; `static_`: without short-term STDP, `adapting_`: with it.

    label, digit, passed_over, meets_rule   the example, see `ExampleDigit`
    video                                   the name of its video
    frame_ms                                how long each frame is shown
    frames, labels, rows_hidden             (n, height, width) uint8, (n,), (n,) with -1 on noise
    telling                                 frames that say all
    *_neurons, *_spikes                     (n, m) the most active first, and their output spikes in the frame
    *_resting                               (n, m, height, width) their resting weights W
    adapting_efficacy                       (n, m, height, width) their efficacies G = W + F at the end of the frame
    *_answers                               (n,) the class answered, 10 for noise
    """

    label: int
    digit: int
    passed_over: int
    meets_rule: bool
    video: str
    frame_ms: float
    frames: NDArray[np.uint8]
    labels: Labels
    rows_hidden: NDArray[np.int16]
    telling: tuple[int, ...]
    static_neurons: Labels
    static_spikes: Counts
    static_resting: Floats
    static_answers: Labels
    adapting_neurons: Labels
    adapting_spikes: Counts
    adapting_resting: Floats
    adapting_efficacy: Floats
    adapting_answers: Labels


def run(
    model: SpikingModel, preset: Preset, video: Video, *, label: int = 0, seed: int = 0, n_most: int = 9
) -> ActiveNeurons:
    """Show the example digit (see `choose_example`) with and without short-term STDP."""
    check.integer("n_most", n_most, low=1, high=model.circuit.n_neurons)
    example = choose_example(model, preset, video, label=label, seed=seed)
    shown, resting = example.video, model.weights.resting
    short_term = short_term_after_each(model, preset, shown, seed=seed)
    static, adapting = (_most_active(counts, n_most) for counts in (example.static_counts, example.adapting_counts))
    grid = (len(shown), n_most, *shown.frame_shape)
    stretched = [resting[:, row] + now[:, row] for row, now in zip(adapting, short_term, strict=True)]
    return ActiveNeurons(
        label=label,
        digit=example.digit,
        passed_over=example.passed_over,
        meets_rule=example.meets_rule,
        video=video.name,
        frame_ms=preset.streaming.show_ms,
        frames=shown.frames,
        labels=shown.labels,
        rows_hidden=shown.rows_hidden,
        telling=example.telling_frames,
        static_neurons=static,
        static_spikes=np.take_along_axis(example.static_counts, static, axis=1),
        static_resting=resting.T[static].reshape(grid),
        static_answers=readout.classify(example.static_counts, model.neuron_labels),
        adapting_neurons=adapting,
        adapting_spikes=np.take_along_axis(example.adapting_counts, adapting, axis=1),
        adapting_resting=resting.T[adapting].reshape(grid),
        adapting_efficacy=np.stack([one.T for one in stretched]).reshape(grid),
        adapting_answers=readout.classify(example.adapting_counts, model.neuron_labels),
    )


def _show(model: SpikingModel, preset: Preset, shown: Video, label: int, passed: int, seed: int) -> ExampleDigit:
    return ExampleDigit(
        digit=int(shown.digit[0]),
        label=label,
        passed_over=passed,
        meets_rule=True,
        video=shown,
        static_counts=spikes_to(model, preset, shown, None, seed=seed),
        adapting_counts=spikes_to(model, preset, shown, preset.short_term, seed=seed),
    )


def _most_active(counts: Counts, n_most: int) -> Labels:
    """The most active neurons of each frame, the first of equals first, (n, n_most)."""
    return np.argsort(-counts, axis=1, kind="stable")[:, :n_most].astype(np.int64)
