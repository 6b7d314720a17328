"""The example digit and neuron that Fig. 3c to 3e and the principal path share."""

import warnings
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.model import SpikingModel
from springback.spiking.monitors import Recording
from springback.spiking.recorded_runs import record_stream, short_term_of
from springback.spiking.stream import follow, place_at_rest
from springback.streaming import readout
from springback.streaming.records import NOISE_LABEL, Video

Counts = NDArray[np.int32]
Frames = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class Example:
    """Which digit a figure shows; the results of these figures begin with it.

    Parameters
    ----------
    label, digit : int
        Its class, and which source image of the video it is.
    passed_over : int
        How many digits of its class were tried before it.
    meets_rule : bool
        False if no digit met the rule of `choose_example`; this is then the first of its class.
    video : str
        The name of the video.
    """

    label: int
    digit: int
    passed_over: int
    meets_rule: bool
    video: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ExampleDigit(Example):
    """One digit of a video and the noise after it, shown from rest, with the answers to its n frames.

    Parameters
    ----------
    shown : Video
        The frames of the digit, then those of the noise.
    static_counts : Counts
        (n, n_neurons) output spikes without short-term STDP.
    adapting_counts : Counts
        (n, n_neurons) with it.
    """

    shown: Video
    static_counts: Counts
    adapting_counts: Counts

    def named(self) -> dict[str, Any]:
        """The fields of `Example`."""
        return {one.name: getattr(self, one.name) for one in fields(Example)}

    @property
    def n_shown(self) -> int:
        """How many frames show the digit; the others are noise."""
        return int((self.shown.labels != NOISE_LABEL).sum())

    @property
    def neuron(self) -> int:
        """The neuron that fires most while the digit is shown, with short-term STDP; the first of equals."""
        return int(self.adapting_counts[: self.n_shown].sum(axis=0).argmax())

    @property
    def telling_frames(self) -> tuple[int, ...]:
        """The frames to draw: those in which something new is hidden, the digit's last, and the first two of noise."""
        rows = self.shown.rows_hidden[: self.n_shown]
        new = np.flatnonzero(np.diff(rows, prepend=-1) != 0).tolist()
        noise = range(self.n_shown, min(self.n_shown + 2, len(self.shown)))
        return tuple(dict.fromkeys([*new, self.n_shown - 1, *noise]))


def choose_example(model: SpikingModel, video: Video, *, label: int = 0, seed: int = 0) -> ExampleDigit:
    """The first digit of a class (the paper shows a zero) that short-term STDP keeps and static weights lose.

    Kept: with short-term STDP every frame of the digit and of the noise is answered correctly. Lost: without it, the
    first frame of the digit is answered correctly and its last is not. Every digit is shown from rest.
    """
    stretches = digit_stretches(video, label)
    for passed, shown in enumerate(stretches):
        example = _show(model, shown, video.name, label, passed, seed)
        static = readout.classify(example.static_counts, model.neuron_labels)
        adapting = readout.classify(example.adapting_counts, model.neuron_labels)
        lost = static[0] == label and static[example.n_shown - 1] != label
        if lost and bool((adapting == shown.labels).all()):
            return example
    return replace(_show(model, stretches[0], video.name, label, 0, seed), meets_rule=False)


def digit_stretches(video: Video, label: int) -> list[Video]:
    """Every digit of a class in a video, each with the noise after it; refused if there is none.

    Examples
    --------
    >>> from springback.data import make_omnist
    >>> from springback.streaming.records import Images
    >>> video = make_omnist(Images(np.zeros((3, 28, 28), np.uint8), np.array([4, 7, 4])), seed=0)
    >>> [one.digit[0].item() for one in digit_stretches(video, 4)]
    [0, 2]
    """
    begins = np.flatnonzero((video.digit >= 0) & (np.diff(video.digit, prepend=-1) != 0))
    ends = [*begins[1:].tolist(), len(video)]
    found = [(int(start), stop) for start, stop in zip(begins, ends, strict=True) if video.labels[start] == label]
    check.require(len(found) > 0, "video", f"show a {label}", "none")
    return [video.stretch(start, stop) for start, stop in found]


def spikes_to(model: SpikingModel, frames: Frames, *, adapts: bool = True, seed: int = 0) -> Counts:
    """Output spikes (n, n_neurons) to a few frames, from rest; with short-term STDP if the network `adapts`.

    That no neuron fires is an answer here, and no reason to warn.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no neuron fired")
        return follow(model, place_at_rest(model, adapts=adapts), frames, seed=seed)[1]


def short_term_after_each(model: SpikingModel, frames: Frames, *, seed: int = 0) -> list[NDArray[np.float32]]:
    """F of all synapses (n_inputs, n_neurons) at the end of each of a few frames, from rest."""
    place, kept = place_at_rest(model), []
    for frame in frames:
        place, _ = follow(model, place, frame[None], seed=seed)
        kept.append(short_term_of(place.state, model.preset.circuit))
    return kept


def record_neuron(model: SpikingModel, frames: Frames, neuron: int, *, seed: int, every_steps: int = 1) -> Recording:
    """All spikes while a few frames are shown from rest, and F of one neuron over time."""
    return record_stream(
        model.weights,
        frames,
        circuit=model.preset.circuit,
        presentation=model.preset.streaming,
        short_term=model.preset.short_term,
        seed=seed,
        neurons=[neuron],
        every_steps=every_steps,
    )


def _show(model: SpikingModel, shown: Video, name: str, label: int, passed: int, seed: int) -> ExampleDigit:
    return ExampleDigit(
        digit=int(shown.digit[0]),
        label=label,
        passed_over=passed,
        meets_rule=True,
        video=name,
        shown=shown,
        static_counts=spikes_to(model, shown.frames, adapts=False, seed=seed),
        adapting_counts=spikes_to(model, shown.frames, seed=seed),
    )


def example_in_words(result: Example) -> str:
    """Which digit a figure shows, from its result."""
    rule = "the first that ST-STDP keeps and static weights lose" if result.meets_rule else "the first of its class"
    return (
        f"test digit {result.digit} (a {result.label}; {rule}, after {result.passed_over} others), {result.video}, "
        "shown from rest to the network of the first seed."
    )
